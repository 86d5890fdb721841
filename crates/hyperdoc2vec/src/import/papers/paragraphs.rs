//! Broken lines put together again: words that were parted at the end of a line, lines of one paragraph.

use std::collections::HashSet;

use super::clean::PaperLine;

/// Words that were seen whole: by them, a word parted at the end of a line is joined.
#[derive(Debug, Default)]
pub(in crate::import) struct Seen(HashSet<String>);

impl Seen {
    /// The words inside the lines of a paper.
    pub(super) fn of_lines(lines: &[PaperLine]) -> Seen {
        let mut seen = Seen::default();
        let mut broken = false;
        for line in lines.iter().filter(|line| !line.text.is_empty()) {
            let parted = line.text.ends_with('-');
            let mut words: Vec<&str> = line.text.split(' ').collect();
            if parted {
                words.pop();
            }
            words.iter().skip(usize::from(broken)).for_each(|word| seen.add(word));
            broken = parted;
        }
        seen
    }

    /// Takes note of a word.
    pub(in crate::import) fn add(&mut self, word: &str) {
        let word = bare(word);
        if word.chars().count() > 3 {
            self.0.insert(word.to_lowercase());
        }
    }

    fn has(&self, word: &str) -> bool {
        self.0.contains(&word.to_lowercase())
    }
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// Longest start of a word that is looked at where the word is parted, in bytes: text without blanks takes no longer.
const LONGEST: usize = 64;

/// Adds a line to a text: a blank between them, unless a word goes over the end of the line.
pub(super) fn append(out: &mut String, line: &str, seen: &[&Seen]) {
    let Some(first) = line.chars().next() else { return };
    let from = (out.len().saturating_sub(LONGEST)..).find(|&at| out.is_char_boundary(at)).unwrap_or(0);
    let before = out[from..].trim_end_matches(['-', '–']);
    let dash = &out[from + before.len()..];
    let letter = before.chars().next_back();
    if dash.is_empty() || letter.is_none_or(|c| !c.is_alphanumeric()) {
        if !out.is_empty() {
            out.push(' ');
        }
    } else if dash == "-" && first.is_lowercase() && letter.is_some_and(char::is_alphabetic) {
        let head = bare(before.rsplit(' ').next().unwrap_or_default());
        let tail = bare(line.split(' ').next().unwrap_or_default());
        let known = |word: String| seen.iter().any(|seen| seen.has(&word));
        let joined = known(format!("{head}{tail}"));
        let hyphenated = known(format!("{head}-{tail}"));
        // Both parts are words of their own: `phrase-` `based`.
        let apart = || known(head.rsplit('-').next().unwrap_or(head).to_owned()) && known(tail.to_owned());
        if !hyphenated && (joined || !apart()) {
            out.pop();
        }
    }
    out.push_str(line);
}

/// Paragraphs, one a line.
pub(super) fn paragraphs(lines: &[PaperLine], seen: &[&Seen]) -> String {
    let mut out = String::new();
    let mut paragraph = String::new();
    let mut blank = false;
    for PaperLine { text, .. } in lines {
        if text.is_empty() {
            blank = true;
            continue;
        }
        let ended = paragraph.ends_with(['.', '!', '?', ':', '"', '”', ')']);
        let goes_on = !ended && text.starts_with(char::is_lowercase);
        if blank && !goes_on && !paragraph.is_empty() {
            out.push_str(&paragraph);
            out.push('\n');
            paragraph.clear();
        }
        blank = false;
        append(&mut paragraph, text, seen);
    }
    out.push_str(&paragraph);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(text: &str) -> String {
        let lines: Vec<PaperLine> = text.lines().map(|text| PaperLine { text: text.to_owned(), indent: 0 }).collect();
        paragraphs(&lines, &[&Seen::of_lines(&lines)])
    }

    #[test]
    fn a_word_parted_at_the_end_of_a_line_is_joined_as_it_is_written_elsewhere() {
        assert_eq!(joined("a transla-\ntion is"), "a translation is");
        assert_eq!(joined("phrase-based here, a phrase-\nbased one"), "phrase-based here, a phrase-based one");
        assert_eq!(joined("based on a phrase, a phrase-\nbased one"), "based on a phrase, a phrase-based one");
        assert_eq!(joined("rerank phrase based, they re-\nrank, rerank"), "rerank phrase based, they rerank, rerank");
        assert_eq!(joined("by Kneser-\nNey and 1998–\n2001"), "by Kneser-Ney and 1998–2001");
        assert_eq!(joined("an aside -\nhere"), "an aside - here");
    }

    #[test]
    fn lines_that_all_end_in_a_hyphen_are_joined_in_time_that_grows_with_them() {
        assert_eq!(joined(&"a-\n".repeat(300_000)), "a".repeat(300_000) + "-");
        assert_eq!(
            joined(&format!("a{}", "-\n".repeat(300_000))).replace(' ', ""),
            "a".to_owned() + &"-".repeat(300_000)
        );
    }

    #[test]
    fn a_blank_line_ends_a_paragraph_unless_the_sentence_goes_on() {
        assert_eq!(joined("One.\n\nTwo goes\n\non here.\n\n\nThree"), "One.\nTwo goes on here.\nThree");
    }
}
