//! Whether two folded titles, or names, are one with noise or two.
//!
//! The edit distance is ours, not strsim's, which has no limit to stop at: 11 µs for two titles where this takes 1.1,
//! and an entry is compared with up to 24.

/// Parts of words that turn a title into another one.
const PREFIXES: [&str; 20] = [
    "un", "non", "in", "im", "dis", "semi", "multi", "bi", "mono", "sub", "super", "inter", "intra", "pre", "post",
    "de", "re", "anti", "self", "cross",
];

/// Short words without a meaning of their own.
const LITTLE: [&str; 12] = ["the", "for", "and", "with", "from", "into", "over", "its", "are", "use", "can", "that"];

/// Words that make another work of a title beside which they stand: a sequel, an answer to it, a mended or longer one.
const SEQUELS: [&str; 26] = [
    "part",
    "parts",
    "reply",
    "replies",
    "response",
    "responses",
    "rejoinder",
    "comment",
    "comments",
    "commentary",
    "correction",
    "corrections",
    "erratum",
    "errata",
    "corrigendum",
    "corrigenda",
    "addendum",
    "addenda",
    "supplement",
    "sequel",
    "revisited",
    "continued",
    "extended",
    "retraction",
    "retracted",
    "update",
];
const NUMBERS: [&str; 10] = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/// How much information a title has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    Short,
    Usual,
    Long,
}

impl Size {
    pub(super) fn of(folded: &str) -> Size {
        let blanks = folded.bytes().filter(|&b| b == b' ').count();
        let letters = folded.len() - blanks;
        match blanks + 1 {
            words if words >= 5 && letters >= 30 => Size::Long,
            words if words >= 3 && letters >= 20 => Size::Usual,
            _ => Size::Short,
        }
    }
}

/// Whether two folded surnames are one, give or take a letter.
pub(super) fn same_name(a: &str, b: &str) -> bool {
    a == b || (a.len().min(b.len()) >= 5 && edit_distance(a.as_bytes(), b.as_bytes(), 1).is_some())
}

/// In how many letters two folded titles differ, if that can be noise: a letter in ten at most, no other numbers, no
/// word replaced by another.
pub(super) fn noise(a: &str, b: &str) -> Option<usize> {
    if !numbers(a).eq(numbers(b)) {
        return None;
    }
    let compact = |title: &str| title.bytes().filter(|&byte| byte != b' ').collect::<Vec<u8>>();
    let (bytes_a, bytes_b) = (compact(a), compact(b));
    let most = bytes_a.len().max(bytes_b.len()) / 10;
    let one_word = |(a, b): (&str, &str)| {
        // One letter makes another short word, DNA and RNA, but `wifh` can only be `with`.
        let most = match a.len().max(b.len()) {
            ..5 => usize::from(LITTLE.contains(&a) != LITTLE.contains(&b)),
            length => length / 4,
        };
        a == b || (edit_distance(a.as_bytes(), b.as_bytes(), most).is_some() && !is_prefixed(a, b))
    };
    let words = |title| -> Vec<&str> { str::split(title, ' ').collect() };
    let (mut words_a, mut words_b) = (words(a), words(b));
    if words_a.len() != words_b.len() {
        // An article that was left out.
        let article = |word: &&str| !matches!(*word, "a" | "an" | "the");
        words_a.retain(article);
        words_b.retain(article);
    }
    if words_a.len() != words_b.len() {
        // Words that were parted or joined.
        return edit_distance(&bytes_a, &bytes_b, most.min(1)).filter(|_| !replaced_prefix(a, b));
    }
    let same = words_a.into_iter().zip(words_b).all(one_word);
    if same { edit_distance(&bytes_a, &bytes_b, most) } else { None }
}

/// Words that are numbers.
fn numbers(folded: &str) -> impl Iterator<Item = &str> {
    folded.split(' ').filter(|word| is_number(word))
}

/// `2`, `2nd`, `ii`, `two`; a Roman number up to 39.
pub(super) fn is_number(word: &str) -> bool {
    let roman = !word.is_empty() && word.len() <= 7 && word.bytes().all(|b| matches!(b, b'i' | b'v' | b'x'));
    roman || word.bytes().any(|b| b.is_ascii_digit()) || NUMBERS.contains(&word)
}

/// Whether there is `part`, `reply`, `erratum` or the like among words, give or take a letter or a blank.
pub(super) fn has_sequel(words: &[&str]) -> bool {
    let pair = |at: usize| words.get(at + 1).map(|next| format!("{}{next}", words[at])).unwrap_or_default();
    let numbered = |at: usize| words.get(at + 1).is_some_and(|next| is_number(next));
    (0..words.len()).any(|at| is_sequel(words[at], numbered(at)) || is_sequel(&pair(at), numbered(at + 1)))
}

/// A short word may be another one: it counts with a letter wrong only if a number follows.
fn is_sequel(word: &str, numbered: bool) -> bool {
    let glued = || word.strip_prefix("part").is_some_and(is_number);
    let like = |sequel: &&str| {
        let most = usize::from(sequel.len() > 5 || numbered);
        edit_distance(word.as_bytes(), sequel.as_bytes(), most).is_some()
            || (sequel.len() > 4 && word.ends_with(*sequel))
    };
    glued() || SEQUELS.iter().any(like)
}

/// `supervised` and `unsupervised`.
fn is_prefixed(a: &str, b: &str) -> bool {
    PREFIXES.iter().any(|prefix| a.strip_prefix(prefix) == Some(b) || b.strip_prefix(prefix) == Some(a))
}

/// Whether `a` and `b` differ by a prefix that stands as a word of its own: `non linear`.
fn replaced_prefix(a: &str, b: &str) -> bool {
    let extra = |a: &str, b: &str| {
        let words: Vec<&str> = b.split(' ').collect();
        a.split(' ').any(|word| word != "in" && PREFIXES.contains(&word) && !words.contains(&word))
    };
    let compact = |title: &str| title.replace(' ', "");
    (extra(a, b) || extra(b, a)) && compact(a) != compact(b)
}

/// The Levenshtein distance of two byte strings, if it is at most `most`.
pub(in crate::import) fn edit_distance(a: &[u8], b: &[u8], most: usize) -> Option<usize> {
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[same..], &b[same..]);
    let same = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[..a.len() - same], &b[..b.len() - same]);
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    // Only cells within `most` of the diagonal can count; those outside are too large as they are.
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let (from, to) = (i.saturating_sub(most).max(1), (i + most).min(b.len()));
        let mut diagonal = row[from - 1];
        row[from - 1] = if from == 1 { i } else { most + 1 };
        let mut least = row[from - 1];
        for j in from..=to {
            let cell = (diagonal + usize::from(a[i - 1] != b[j - 1])).min(row[j] + 1).min(row[j - 1] + 1);
            diagonal = row[j];
            row[j] = cell;
            least = least.min(cell);
        }
        if least > most {
            return None;
        }
    }
    Some(row[b.len()]).filter(|&distance| distance <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_is_levenshteins_up_to_a_limit() {
        for (a, b, expected) in
            [("", "", 0), ("kitten", "sitting", 3), ("abc", "", 3), ("flaw", "lawn", 2), ("ab", "ba", 2)]
        {
            for most in 0..6 {
                let wanted = (expected <= most).then_some(expected);
                assert_eq!(edit_distance(a.as_bytes(), b.as_bytes(), most), wanted, "{a} {b} {most}");
            }
        }
    }
}
