//! Why a document is a hit, for people.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::IsTerminal;

use hyperdoc2vec::recommend::{QuerySummary, Why, WordShares};

use crate::output::cell;

/// Words of the text shown on each side of the mark.
const SHOWN_WORDS: usize = 15;
/// Terms of BM25 that are shown.
const SHOWN_TERMS: usize = 6;

/// The explanation below a hit.
pub fn why_text(query: &QuerySummary, why: &Why, shade: bool) -> String {
    let mut out = String::new();
    let shares: BTreeMap<&str, f32> =
        why.embedding.shares.iter().map(|(word, share)| (word.as_str(), *share)).collect();
    let most = shares.values().fold(0.0f32, |most, share| most.max(share.abs()));
    if !shares.is_empty() && shade {
        let (words, before) = (&query.words, query.before);
        let start = before.saturating_sub(SHOWN_WORDS);
        let end = (before + if query.marked { SHOWN_WORDS } else { 2 * SHOWN_WORDS }).min(words.len());
        let words = words[start..end].iter().map(|word| {
            let share = shares.get(word.as_str()).copied().unwrap_or(0.0);
            shaded(&cell(word), share / most.max(1e-9))
        });
        let mut words: Vec<String> = words.collect();
        if query.marked {
            words.insert(before - start, "[[?]]".to_owned());
        }
        out.push_str(&format!("     words  {}\n", words.join(" ")));
    }
    let list = |sum: &WordShares| {
        let shown = sum.shares.iter().take(SHOWN_TERMS);
        let shown: Vec<String> = shown.map(|(word, share)| format!("{} {share:+.3}", cell(word))).collect();
        let more = sum.shares.len().saturating_sub(SHOWN_TERMS);
        let more = if more > 0 { format!(", {more} more") } else { String::new() };
        format!("{:.3} = {}{more}", sum.score, shown.join(", "))
    };
    for (name, sum) in [("embedding", &why.embedding), ("bm25", &why.bm25)] {
        if !sum.shares.is_empty() {
            out.push_str(&format!("     {name}  {}\n", list(sum)));
        }
    }
    if why.source != 0.0 {
        out.push_str(&format!("     source  {:+.3} by embedding\n", why.source));
    }
    for quote in &why.contexts {
        let title = quote.title.as_ref().unwrap_or(&quote.source);
        let sentence = format!("{}{}{}", quote.before, quote.shown_anchor(), quote.after);
        let words: Vec<String> = sentence.split_whitespace().map(cell).collect();
        out.push_str(&format!("     linked by {}: {}\n", cell(title), words.join(" ")));
    }
    out
}

/// A word on a green background if its share is positive, on red if negative; `share` is from −1 to 1.
fn shaded(word: &str, share: f32) -> String {
    // Shades from the 256 colours of terminals, faint to strong, with white or black text: legible on any background.
    const WHITE: u8 = 15;
    const BLACK: u8 = 16;
    let level = ((share.abs() * 4.0).round() as usize).min(4);
    let (colour, text) = match (level, share > 0.0) {
        (0, _) => return word.to_owned(),
        (level, true) => [(22, WHITE), (28, WHITE), (34, BLACK), (40, BLACK)][level - 1],
        (level, false) => [(52, WHITE), (88, WHITE), (124, WHITE), (160, WHITE)][level - 1],
    };
    format!("\x1b[48;5;{colour};38;5;{text}m{word}\x1b[0m")
}

/// Whether words are shaded here.
pub fn shades_here() -> bool {
    let [no_color, term] = ["NO_COLOR", "TERM"].map(std::env::var_os);
    shades(std::io::stdout().is_terminal(), no_color.as_deref(), term.as_deref())
}

/// Whether words are shaded: on terminals with colours, unless NO_COLOR is set.
fn shades(terminal: bool, no_color: Option<&OsStr>, term: Option<&OsStr>) -> bool {
    terminal && no_color.is_none_or(OsStr::is_empty) && term.is_none_or(|term| term != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_shaded_by_their_size_and_sign() {
        assert_eq!(shaded("word", 0.1), "word");
        assert_eq!(shaded("word", 1.0), "\x1b[48;5;40;38;5;16mword\x1b[0m");
        assert_eq!(shaded("word", 0.3), "\x1b[48;5;22;38;5;15mword\x1b[0m");
        assert_eq!(shaded("word", -0.5), "\x1b[48;5;88;38;5;15mword\x1b[0m");
        assert_eq!(shaded("word", f32::NAN), "word");
    }

    #[test]
    fn only_a_terminal_is_shaded_and_not_against_ones_will() {
        let set = |value: &'static str| Some(OsStr::new(value));
        assert!(shades(true, None, None) && shades(true, set(""), set("xterm-256color")));
        assert!(!shades(false, None, None) && !shades(true, set("1"), None) && !shades(true, None, set("dumb")));
    }
}
