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

/// Words of titles that come again, in another year or in another journal.
const SERIALS: [&str; 30] = [
    "abstract",
    "abstracts",
    "announcement",
    "announcements",
    "answers",
    "book",
    "books",
    "conclusion",
    "conclusions",
    "contents",
    "correspondence",
    "discussion",
    "editor",
    "editorial",
    "editors",
    "foreword",
    "index",
    "introduction",
    "letter",
    "letters",
    "news",
    "note",
    "notes",
    "obituary",
    "overview",
    "preface",
    "proceedings",
    "report",
    "review",
    "summary",
];

/// Whether a short title is a work's own: two words or more, none of which is said of many works.
pub(super) fn is_own_title(folded: &str) -> bool {
    let letters = folded.bytes().filter(|&b| b != b' ').count();
    letters >= 9 && folded.contains(' ') && !folded.split(' ').any(|word| SERIALS.contains(&word) || is_number(word))
}

/// How much information a title has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::import) enum Size {
    Short,
    Usual,
    Long,
}

impl Size {
    pub(in crate::import) fn of(folded: &str) -> Size {
        let blanks = folded.bytes().filter(|&b| b == b' ').count();
        let letters = folded.len() - blanks;
        match blanks + 1 {
            words if words >= 5 && letters >= 30 => Size::Long,
            words if words >= 3 && letters >= 20 => Size::Usual,
            _ => Size::Short,
        }
    }
}

/// Whether two folded surnames are one, give or take a letter, or a particle that is written as one word with the name.
pub(in crate::import) fn same_name(a: &str, b: &str) -> bool {
    a == b || is_joined(a, b) || is_joined(b, a) || near(a, b, 5, 1)
}

/// Whether two folded surnames may be one that a scanner misread: `Leen` and `Leon`, `Caruana` and `Camana`. Not
/// enough by itself; the title must be the same.
pub(in crate::import) fn like_name(a: &str, b: &str) -> bool {
    same_name(a, b)
        || near(a, b, 4, 1)
        || near(a, b, 6, 2)
        || (a.len().min(b.len()) >= 4 && strokes(a) == strokes(b))
        || is_swapped(a, b)
}

/// Whether two letters beside each other changed places: `Zhao`, `Zhoa`.
fn is_swapped(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let swapped = |at: usize| a[at..at + 2] == [b[at + 1], b[at]] && a[at + 2..] == b[at + 2..];
    a.len() == b.len() && a.len() >= 3 && same > 0 && same + 2 <= a.len() && swapped(same)
}

/// Whether two names of at least so many letters differ in at most so many.
fn near(a: &str, b: &str, least: usize, most: usize) -> bool {
    a.len().min(b.len()) >= least && edit_distance(a.as_bytes(), b.as_bytes(), most).is_some()
}

/// `lecun` and `cun`, of which the particle was taken off.
fn is_joined(long: &str, short: &str) -> bool {
    let particle = long.strip_suffix(short).unwrap_or_default();
    short.len() >= 3 && ["le", "la", "de", "du", "di", "da", "van", "von", "del", "den", "der"].contains(&particle)
}

/// A folded text as a scanner sees it, blanks aside: letters that it takes for others are written with the same strokes,
/// `m` as `rn`, `d` as `cl`, `e` as `c`.
fn strokes(folded: &str) -> String {
    let mut out = String::with_capacity(folded.len() + 8);
    for c in folded.chars() {
        match c {
            ' ' => {}
            'i' | 'l' | 't' | 'f' | 'j' | 'r' | '1' => out.push('i'),
            'n' | 'u' | 'h' => out.push_str("ii"),
            'm' => out.push_str("iii"),
            'd' => out.push_str("ci"),
            'e' | 'o' | '0' => out.push('c'),
            'w' => out.push_str("vv"),
            '5' => out.push('s'),
            'q' | '9' => out.push('g'),
            '6' => out.push('b'),
            c => out.push(c),
        }
    }
    out
}

/// In how many letters two folded titles differ, if that can be noise: a letter in ten at most, no other numbers, no
/// word replaced by another.
pub(in crate::import) fn noise(a: &str, b: &str) -> Option<usize> {
    if !numbers(a).eq(numbers(b)) {
        return None;
    }
    let compact = |title: &str| title.bytes().filter(|&byte| byte != b' ').collect::<Vec<u8>>();
    let (bytes_a, bytes_b) = (compact(a), compact(b));
    let most = bytes_a.len().max(bytes_b.len()) / 10;
    // Words are parted and joined at will, letters only misread.
    let (strokes_a, strokes_b) = (strokes(a), strokes(b));
    if strokes_a == strokes_b {
        return Some(usize::from(a != b));
    }
    let distance = |most| {
        let plain = edit_distance(&bytes_a, &bytes_b, most);
        plain.or_else(|| edit_distance(strokes_a.as_bytes(), strokes_b.as_bytes(), most))
    };
    let one_word = |(a, b): (&str, &str)| {
        // One letter makes another short word, DNA and RNA, but `wifh` can only be `with`.
        let most = match a.len().max(b.len()) {
            ..5 => usize::from(LITTLE.contains(&a) != LITTLE.contains(&b)),
            length => length / 4,
        };
        let misread = || a.len().min(b.len()) >= 5 && strokes(a) == strokes(b);
        let number = || numbers(a).chain(numbers(b)).count() == 2;
        a == b
            || misread()
            || number()
            || (edit_distance(a.as_bytes(), b.as_bytes(), most).is_some() && !is_prefixed(a, b))
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
        return distance(most.min(1)).filter(|_| !replaced_prefix(a, b));
    }
    let same = words_a.into_iter().zip(words_b).all(one_word);
    if same { distance(most) } else { None }
}

/// Whether two folded titles have the same words that carry a meaning, in any order and any ending: `Classifying maps of
/// rivers` and `A classification of river maps`. The first may lack words that are common among the titles of the set. Two
/// works of the same authors may well be so alike that all other things must agree.
pub(in crate::import) fn same_words(a: &str, b: &str, is_common: impl Fn(&str) -> bool) -> bool {
    let meaning = |title| -> Vec<&str> { str::split(title, ' ').filter(|word| !is_little(word)).collect() };
    let (words_a, mut words_b) = (meaning(a), meaning(b));
    if words_a.len().abs_diff(words_b.len()) > 2 || !numbers(a).eq(numbers(b)) {
        return false;
    }
    let mut shared = 0;
    for word in words_a {
        match words_b.iter().position(|other| same_stem(word, other)) {
            Some(at) => {
                words_b.swap_remove(at);
                shared += 1;
            }
            None => return false,
        }
    }
    shared >= 4 && words_b.into_iter().all(is_common)
}

/// Whether two folded titles have so many sixths of the words in common that carry a meaning, two at least, and the same
/// numbers.
pub(in crate::import) fn share_words(a: &str, b: &str, sixths: usize) -> bool {
    let meaning = |title| -> Vec<&str> { str::split(title, ' ').filter(|word| !is_little(word)).collect() };
    let (words_a, words_b) = (meaning(a), meaning(b));
    let shared = words_a.iter().filter(|word| words_b.iter().any(|other| same_stem(word, other))).count();
    shared >= 2 && shared * 6 >= sixths * words_a.len().min(words_b.len()) && numbers(a).eq(numbers(b))
}

/// Short words without a meaning of their own.
fn is_little(word: &str) -> bool {
    const MORE: [&str; 22] = [
        "a", "an", "of", "in", "on", "to", "by", "as", "at", "is", "or", "using", "use", "through", "via", "between",
        "some", "their", "under", "within", "it", "be",
    ];
    LITTLE.contains(&word) || MORE.contains(&word)
}

/// Whether two words differ in their endings only, or a letter.
fn same_stem(a: &str, b: &str) -> bool {
    let common = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    let (short, long) = (a.len().min(b.len()), a.len().max(b.len()));
    let ending = common >= 5 && common * 2 >= long && short - common <= 4;
    let misspelt = short >= 6 && edit_distance(a.as_bytes(), b.as_bytes(), 1).is_some() && !is_prefixed(a, b);
    let abbreviated = |a, b| matches!((a, b), ("net" | "nets", "network" | "networks"));
    let plural = short >= 3 && common == short && long == short + 1 && (a.ends_with('s') || b.ends_with('s'));
    let misread = short >= 5 && strokes(a) == strokes(b);
    a == b || ending || plural || misspelt || misread || abbreviated(a, b) || abbreviated(b, a)
}

/// Words that are numbers, `two` as `2`.
fn numbers(folded: &str) -> impl Iterator<Item = &str> {
    const DIGITS: [&str; 10] = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];
    let digits = |word| NUMBERS.iter().position(|number| *number == word).map_or(word, |at| DIGITS[at]);
    folded.split(' ').filter(|word| is_number(word)).map(digits)
}

/// `2`, `2nd`, `ii`, `two`; a Roman number up to 39.
pub(in crate::import) fn is_number(word: &str) -> bool {
    let roman = !word.is_empty() && word.len() <= 7 && word.bytes().all(|b| matches!(b, b'i' | b'v' | b'x'));
    roman || word.bytes().any(|b| b.is_ascii_digit()) && !is_misread(word) || NUMBERS.contains(&word)
}

/// `w1th`, `m0del`: a letter among letters that was read as a digit.
fn is_misread(word: &str) -> bool {
    let letters = word.bytes().filter(u8::is_ascii_lowercase).count();
    let inside = word.trim_matches(|c: char| c.is_ascii_lowercase());
    letters >= 3
        && matches!(inside, "1" | "0" | "5")
        && !word.starts_with(|c: char| c.is_ascii_digit())
        && !word.ends_with(|c: char| c.is_ascii_digit())
}

/// Whether there is `part`, `reply`, `erratum` or the like among words, give or take a letter or a blank.
pub(in crate::import) fn has_sequel(words: &[&str]) -> bool {
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
