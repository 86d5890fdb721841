//! Generated documents as papers that came out of a PDF: bibliographies in seven styles, marks that fit them, running
//! heads, page numbers, words parted at line ends, ligatures, misprints. The truth is known.

use std::collections::{BTreeMap, HashMap};

use crate::Document;

/// How a paper cites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Ieee,
    Plain,
    Apa,
    Acl,
    Lncs,
    Nature,
    Keys,
}

pub const STYLES: [Style; 7] =
    [Style::Ieee, Style::Plain, Style::Apa, Style::Acl, Style::Lncs, Style::Nature, Style::Keys];

/// A paper that is cited, in the set or not.
#[derive(Debug, Clone)]
pub struct Cited {
    /// Its id, if it is in the set.
    pub id: Option<String>,
    pub title: String,
    /// Given and family names.
    pub authors: Vec<(String, String)>,
    pub year: i32,
}

/// A rendered paper.
pub struct Rendered {
    pub text: String,
    /// For each target at each position: the word before the mark, and the target.
    pub truth: Vec<(String, String)>,
}

/// A small generator of random numbers.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % sides
    }

    pub fn percent(&mut self, chance: usize) -> bool {
        self.roll(100) < chance
    }

    fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items[self.roll(items.len())]
    }
}

const GIVEN: [&str; 16] = [
    "Marta", "Oren", "Jules", "Kofi", "Petra", "Ana", "Wei", "Bo", "Ingrid", "Hans", "Élodie", "Laura", "Tomás",
    "Yuki", "Amir", "Rosa",
];
const STARTS: [&str; 18] = [
    "Lind", "Tal", "Ver", "Men", "Bro", "Rui", "Zhan", "Falk", "Müll", "Dup", "O'Ha", "Okaf", "Stein", "Garc", "Quis",
    "Mill", "Har", "Nov",
];
const ENDS: [&str; 14] =
    ["qvist", "berg", "hoeven", "sah", "ek", "ez", "er", "on", "mann", "ara", "or", "ström", "ová", "ley"];

/// Invented authors; particles now and then.
pub fn authors(dice: &mut Dice) -> Vec<(String, String)> {
    let count = [1, 1, 2, 2, 3, 4][dice.roll(6)];
    let mut names: Vec<(String, String)> = Vec::new();
    while names.len() < count {
        let particle = if dice.percent(6) { "van den " } else { "" };
        let family = format!("{particle}{}{}", dice.pick(&STARTS), dice.pick(&ENDS));
        if names.iter().all(|(_, known)| *known != family) {
            names.push((dice.pick(&GIVEN).to_owned(), family));
        }
    }
    names
}

fn initial(given: &str) -> String {
    given.chars().take(1).collect::<String>() + "."
}

/// A list as `a, b, and c`, with what stands before the last.
fn list(names: &[String], last: &str) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., end] => format!("{}{last}{end}", rest.join(", ")),
    }
}

impl Style {
    fn numbered(self) -> bool {
        matches!(self, Style::Ieee | Style::Plain | Style::Lncs | Style::Nature)
    }

    /// An entry as this style writes it, with its label.
    fn entry(self, cited: &Cited, title: &str, number: usize, letter: &str, key: &str, dice: &mut Dice) -> String {
        let Cited { authors, year, .. } = cited;
        let map = |form: fn(&str, &str) -> String| {
            authors.iter().map(|(given, family)| form(given, family)).collect::<Vec<_>>()
        };
        let direct = || map(|given, family| format!("{} {family}", initial(given)));
        let full = || map(|given, family| format!("{given} {family}"));
        let inverted = || map(|given, family| format!("{family}, {}", initial(given)));
        let and = if authors.len() > 2 { ", and " } else { " and " };
        let (page, volume) = (1 + dice.roll(400), 1 + dice.roll(60));
        let end = page + 1 + dice.roll(20);
        match self {
            Style::Ieee => format!(
                "[{number}] {}, “{title},” in Proc. Conf. Sands, Uppsala, {year}, pp. {page}–{end}.",
                list(&direct(), and)
            ),
            Style::Plain => {
                format!(
                    "[{number}] {}. {title}. In Proceedings of the Conference on Sands, pages {page}–{end}, {year}.",
                    list(&full(), and)
                )
            }
            Style::Apa => format!(
                "{} ({year}{letter}). {title}. Journal of Sands, {volume}(3), {page}–{end}.",
                list(&inverted(), ", & ")
            ),
            Style::Acl => format!(
                "{}. {year}{letter}. {title}. In Proceedings of the Conference on Sands, pages {page}–{end}, Uppsala.",
                list(&full(), and)
            ),
            Style::Lncs => {
                format!(
                    "{number}. {}: {title}. In: Proc. Sands. LNCS, vol. {volume}, pp. {page}–{end}. Springer ({year})",
                    list(&inverted(), ", ")
                )
            }
            Style::Nature => {
                format!("{number}. {} {title}. Nat. Sands {volume}, {page}–{end} ({year}).", list(&inverted(), " & "))
            }
            Style::Keys => {
                format!("[{key}] {}. {title}. Journal of Sands, {volume}:{page}–{end}, {year}.", list(&direct(), and))
            }
        }
    }

    /// A short form of the authors: `Doe`, `Doe and Roe`, `Doe et al.`
    fn short(self, cited: &Cited, and: &str) -> String {
        match &cited.authors[..] {
            [(_, one)] => one.clone(),
            [(_, one), (_, two)] => format!("{one} {and} {two}"),
            [(_, one), ..] => format!("{one} et al."),
            [] => String::new(),
        }
    }
}

/// One letter wrong, or one left out.
fn misprint(text: &str, dice: &mut Dice) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let at = 1 + dice.roll(letters.len() - 1);
    if letters[at].is_lowercase() {
        if dice.percent(30) {
            letters.remove(at);
        } else {
            letters[at] = 'e';
        }
    }
    letters.into_iter().collect()
}

/// Renders a document that cites papers; `others` are cited too, and are not in the set.
pub fn paper(
    document: &Document,
    known: &HashMap<String, Cited>,
    others: &[Cited],
    style: Style,
    dice: &mut Dice,
) -> Rendered {
    // Where marks stand, and what they cite.
    let mut places: BTreeMap<usize, Vec<&Cited>> = BTreeMap::new();
    for link in &document.links {
        places.entry(link.at).or_default().extend(link.targets.iter().filter_map(|target| known.get(target)));
    }
    let spaces: Vec<usize> = document.text.match_indices(' ').map(|(at, _)| at).collect();
    for other in others {
        places.entry(spaces[dice.roll(spaces.len())]).or_default().push(other);
    }
    let mut entries: Vec<&Cited> = Vec::new();
    for cited in places.values().flatten() {
        if !entries.iter().any(|known| known.title == cited.title) {
            entries.push(cited);
        }
    }
    if !style.numbered() {
        entries.sort_by(|a, b| (&a.authors[0].1, a.year, &a.title).cmp(&(&b.authors[0].1, b.year, &b.title)));
    }
    let place = |cited: &Cited| entries.iter().position(|known| known.title == cited.title).expect("an entry");
    let letters: Vec<String> = entries
        .iter()
        .enumerate()
        .map(|(at, cited)| {
            let same =
                |other: &&&Cited| other.year == cited.year && style.short(other, "and") == style.short(cited, "and");
            let before = entries[..at].iter().filter(same).count();
            let all = entries.iter().filter(same).count();
            if all > 1 { ["a", "b", "c", "d", "e"][before.min(4)].to_owned() } else { String::new() }
        })
        .collect();
    let keys: Vec<String> = entries
        .iter()
        .enumerate()
        .map(|(at, cited)| {
            let start: String = cited.authors[0].1.chars().filter(|c| c.is_ascii_alphabetic()).take(3).collect();
            format!("{start}{:02}{}", cited.year % 100, (b'a' + (at % 26) as u8) as char)
        })
        .collect();
    let mut body = String::new();
    // The same without marks.
    let mut plain = String::new();
    let mut truth = Vec::new();
    let mut from = 0;
    for (&at, cited) in &places {
        body.push_str(document.text[from..at].trim_end());
        plain.push_str(&document.text[from..at]);
        from = at;
        let mut numbers: Vec<usize> = cited.iter().map(|cited| place(cited) + 1).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let named = numbers.iter().map(|number| entries[number - 1]);
        let names = |and: &str| {
            let one = |number: &usize| {
                format!(
                    "{}, {}{}",
                    style.short(entries[number - 1], and),
                    entries[number - 1].year,
                    letters[number - 1]
                )
            };
            numbers.iter().map(one).collect::<Vec<_>>().join("; ")
        };
        let narrative = numbers.len() == 1 && dice.percent(30);
        if narrative && matches!(style, Style::Apa | Style::Acl) {
            let number = numbers[0];
            let named = format!(" by {}", style.short(entries[number - 1], "and"));
            body.push_str(&named);
            plain.push_str(&named);
        }
        let word = last_word(&plain);
        truth.extend(named.filter_map(|cited| Some((word.clone(), cited.id.clone()?))));
        let joined = |separator: &str| numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(separator);
        let mark = match style {
            Style::Ieee if numbers.len() > 2 && numbers[numbers.len() - 1] - numbers[0] == numbers.len() - 1 => {
                format!(" [{}–{}]", numbers[0], numbers[numbers.len() - 1])
            }
            Style::Ieee | Style::Lncs => format!(" [{}]", joined(", ")),
            Style::Plain => format!(" [{}]", joined("][")),
            Style::Apa | Style::Acl if narrative => {
                format!(" ({}{})", entries[numbers[0] - 1].year, letters[numbers[0] - 1])
            }
            Style::Apa => format!(" ({})", names("&")),
            Style::Acl => format!(" ({})", names("and")),
            Style::Nature => joined(","),
            Style::Keys => {
                format!(" [{}]", numbers.iter().map(|number| keys[number - 1].as_str()).collect::<Vec<_>>().join(", "))
            }
        };
        body.push_str(&mark);
        if dice.percent(8) {
            let more = dice.pick(&[
                " where x ∈ [0, 1]",
                " as in equation (2)",
                " for t in the interval [1, 2]",
                " in Figure 3",
            ]);
            body.push_str(more);
            plain.push_str(more);
        }
    }
    body.push_str(&document.text[from..]);
    let mut out = wrap(&body, 72, true, dice);
    out.push(String::new());
    out.push(dice.pick(&["References", "REFERENCES", "7. References", "Bibliography", "R EFERENCES"]).to_owned());
    for (at, cited) in entries.iter().enumerate() {
        let title = if dice.percent(15) { misprint(&cited.title, dice) } else { cited.title.clone() };
        let entry = style.entry(cited, &title, at + 1, &letters[at], &keys[at], dice);
        out.extend(wrap(&entry, 60, true, dice));
    }
    Rendered { text: pages(&out, document, dice), truth }
}

/// The last word of a text, letters only.
pub fn last_word(text: &str) -> String {
    let word =
        text.trim_end_matches(|c: char| !c.is_alphanumeric()).rsplit(char::is_whitespace).next().unwrap_or_default();
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Lines of a text; words are parted at their ends now and then.
fn wrap(text: &str, width: usize, part: bool, dice: &mut Dice) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let word = word.replace("fi", "ﬁ");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            let plain = word.len() > 5 && word.bytes().all(|b| b.is_ascii_lowercase());
            if part && plain && dice.percent(40) {
                let at = 2 + dice.roll(word.len() - 4);
                lines.push(format!("{line} {}-", &word[..at]));
                line = word[at..].to_owned();
                continue;
            }
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    lines.push(line);
    lines
}

/// Lines cut into pages with running heads and numbers.
fn pages(lines: &[String], document: &Document, dice: &mut Dice) -> String {
    let mut out = String::new();
    let first = 1 + dice.roll(300);
    for (number, page) in lines.chunks(9).enumerate() {
        if number > 0 {
            out.push('\u{c}');
            let head = if number % 2 == 0 {
                "Journal of Sands, Vol. 12".to_owned()
            } else {
                document.title.clone().unwrap_or_default()
            };
            out.push_str(&format!("{head}\n\n"));
        }
        page.iter().for_each(|line| out.push_str(&format!("{line}\n")));
        out.push_str(&format!("\n{}\n", first + number));
    }
    out
}
