//! Whether an extracted text can be used: scans hold little text, and columns may be read across.

/// A fault of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ailment {
    /// Its pages hold little text: a scan, or pictures of text.
    LittleText,
    /// Its lines do not follow each other: columns were read across.
    MixedColumns,
}

/// Letters of a page that holds text.
const FEW_LETTERS: usize = 200;
/// Parted words from which an order can be judged.
const ENOUGH: usize = 12;

/// The faults of the text of a PDF, whose pages are parted by form feeds.
pub(crate) fn ailments(text: &str) -> Vec<Ailment> {
    let mut found = Vec::new();
    let pages = text.split('\u{c}').filter(|page| !page.is_empty()).count().max(1);
    let letters = text.chars().filter(|c| c.is_alphanumeric()).count();
    if letters < FEW_LETTERS * pages {
        found.push(Ailment::LittleText);
    } else if is_mixed(text) {
        found.push(Ailment::MixedColumns);
    }
    found
}

/// Whether the halves of words that are parted at line ends seldom make words: `infor-` is not followed by `mation`.
fn is_mixed(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words: std::collections::HashSet<&str> = lower.split(|c: char| !c.is_alphabetic()).collect();
    let (mut parted, mut whole) = (0, 0);
    let lines: Vec<&str> = lower.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    for pair in lines.windows(2) {
        let Some(first) = pair[0].strip_suffix(['-', '\u{ad}']) else { continue };
        let first = first.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        let second = pair[1].split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        if first.len() >= 2 && second.len() >= 2 {
            parted += 1;
            whole += usize::from(words.contains(format!("{first}{second}").as_str()));
        }
    }
    parted >= ENOUGH && whole * 8 < parted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scan_and_mixed_columns_are_seen() {
        let page = "Rivers run to the sea, and the sea is not full. ".repeat(10);
        assert_eq!(ailments(&page), []);
        assert_eq!(ailments("3\u{c}4\u{c}5"), [Ailment::LittleText]);
        assert_eq!(ailments(""), [Ailment::LittleText]);
        let halves = ["infor", "docu", "rele", "mea", "com", "pro", "gene", "algo", "per", "sys", "net", "pre", "con"];
        let ends =
            ["mation", "ment", "vance", "sure", "pute", "gram", "rate", "rithm", "form", "tem", "work", "dict", "text"];
        let all: String = halves.iter().zip(ends).map(|(a, b)| format!("{a}{b} ")).collect();
        let right: String = halves.iter().zip(ends).map(|(a, b)| format!("{all}{a}-\n{b} and so on\n")).collect();
        let wrong: String =
            halves.iter().zip(ends.iter().rev()).map(|(a, b)| format!("{all}{a}-\n{b} and so on\n")).collect();
        assert_eq!(ailments(&right), []);
        assert_eq!(ailments(&wrong), [Ailment::MixedColumns]);
    }
}
