//! Links suggested for drafts and for marks in them, as users ask for them: `suggest` and `recommend` with paths.

mod bad_input;
mod formats;
mod marks;
mod options;
mod round_trip;

use std::fmt::Write as _;
use std::fs;

use crate::helper::Place;

/// What pages are about: the folder and name of a page, its title, and words around links to it.
const TOPICS: [(&str, &str, &str); 4] = [
    ("notes/tree", "Parse tree", "the grammar of a sentence gives a {} whose leaves are its words"),
    ("notes/beam", "Beam search", "the decoder keeps the best hypotheses in a {} of a given width"),
    ("guide/bleu", "BLEU score", "we compare each translation with its references by the {} of the system"),
    ("guide/moses", "Moses toolkit", "our phrase tables were made by the {} and tuned on news"),
];

/// The pages of a manual in Markdown: each topic is linked at its first mention on a page, and never at the second.
fn pages() -> Vec<(String, String)> {
    let mut pages: Vec<(String, String)> = TOPICS
        .iter()
        .map(|(name, title, words)| {
            let words = words.replace("{}", "thing");
            (format!("{name}.md"), format!("# {title}\n\nThis page says what it is: {words}.\n"))
        })
        .collect();
    for n in 0..160 {
        let mut text = format!("# Page {n}\n\n");
        for (name, title, words) in [TOPICS[n % 4], TOPICS[(n / 4 + n + 1) % 4]] {
            let phrase = title.to_lowercase();
            let linked = words.replace("{}", &format!("[{phrase}](../{name}.md)"));
            let _ =
                write!(text, "On this page {linked}. Then {}. Number {n} is done.\n\n", words.replace("{}", &phrase));
        }
        pages.push((format!("pages/p{n}.md"), text));
    }
    pages
}

/// A directory with the manual in `docs`, its corpus `c` and a model `m`.
fn manual() -> Place {
    let place = Place::new();
    for (name, text) in pages() {
        let path = place.path(format!("docs/{name}"));
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("written");
    }
    place.ok("import markdown docs -o c --min-count 2");
    place.ok("train c -o m --dim 8 --epochs 3 --content-epochs 1");
    place
}

/// What any change of the learner may move: probabilities become `P`, and documents behind the first are left out.
fn masked(text: &str) -> String {
    let kept = |line: &str| line.split("; or ").next().unwrap_or_default().to_owned();
    let text: String = text.split_inclusive('\n').map(|line| kept(line.trim_end_matches('\n')) + "\n").collect();
    let mut out = String::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find("0.") {
        let digits = rest[at + 2..].bytes().take_while(u8::is_ascii_digit).count();
        let begins = !rest[..at].ends_with(|c: char| c.is_ascii_digit() || c == '.');
        out.push_str(&rest[..at]);
        out.push_str(if digits > 0 && begins { "P" } else { &rest[at..at + 2 + digits] });
        rest = &rest[at + 2 + digits..];
    }
    out.push_str(rest);
    out
}

#[test]
fn probabilities_are_masked() {
    assert_eq!(masked("p 0.53, 10.5, \"2.1.0\", v0.1; or x 0.2\n"), "p P, 10.5, \"2.1.0\", vP\n");
}
