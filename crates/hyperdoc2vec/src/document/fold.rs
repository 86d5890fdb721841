//! Titles and names in the form in which they are compared: lower-case letters and digits, words apart by one blank.

use std::borrow::Cow;

use icu_normalizer::DecomposingNormalizer;

use super::tokenize::Tokenizer;

/// Words of the name that belong to the surname, but are often left out or written in another place.
const PARTICLES: [&str; 22] = [
    "van", "von", "der", "den", "de", "la", "le", "di", "da", "del", "della", "dos", "du", "el", "al", "bin", "ten",
    "ter", "zu", "do", "das", "vander",
];
/// Words that follow a name without being part of it.
const SUFFIXES: [&str; 6] = ["jr", "sr", "ii", "iii", "iv", "phd"];

/// Folds a title: lower case, without accents, punctuation, LaTeX commands and braces; `&` is `and`.
///
/// `fold("{BLEU}: a M\\'ethod")` is `bleu a method`; `ﬁ` is `fi`, `ß` is `ss`, `ø` is `o`.
pub fn fold(text: &str) -> String {
    let plain = if text.contains(['\\', '{', '$']) { Cow::Owned(without_latex(text)) } else { Cow::Borrowed(text) };
    let mut out = String::with_capacity(plain.len());
    if plain.is_ascii() {
        plain.chars().for_each(|c| push(&mut out, c));
    } else {
        DecomposingNormalizer::new_nfkd().normalize_iter(plain.chars()).for_each(|c| push(&mut out, c));
    }
    out.truncate(out.trim_end().len());
    out
}

fn push(out: &mut String, c: char) {
    let blank = |out: &mut String| {
        if !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
        }
    };
    match c {
        'a'..='z' | '0'..='9' => out.push(c),
        'A'..='Z' => out.push(c.to_ascii_lowercase()),
        // Apostrophes and soft hyphens stand inside words, combining accents on letters.
        '\'' | '’' | '‘' | '`' | '´' | '\u{ad}' | '\u{300}'..='\u{36f}' => {}
        '&' => {
            blank(out);
            out.push_str("and ");
        }
        'ß' | 'ẞ' => out.push_str("ss"),
        'æ' | 'Æ' => out.push_str("ae"),
        'œ' | 'Œ' => out.push_str("oe"),
        'ø' | 'Ø' => out.push('o'),
        'ł' | 'Ł' => out.push('l'),
        'đ' | 'Đ' | 'ð' | 'Ð' => out.push('d'),
        'þ' | 'Þ' => out.push_str("th"),
        'ı' => out.push('i'),
        c if !c.is_ascii() && c.is_alphanumeric() => out.extend(c.to_lowercase()),
        _ => blank(out),
    }
}

/// Braces, dollars and commands taken out; accents (`\"o`, `\c{c}`, `\v s`) and letters (`\o`, `\ss`) resolved to
/// letters without accents.
fn without_latex(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '{', '}', '$']) {
        out.push_str(&rest[..at]);
        let backslash = rest[at..].starts_with('\\');
        rest = &rest[at + 1..];
        if !backslash {
            continue;
        }
        let name = &rest[..rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len())];
        rest = &rest[name.len()..];
        let letters = match name {
            "ss" => "ss",
            "o" | "O" => "o",
            "l" | "L" => "l",
            "ae" | "AE" => "ae",
            "oe" | "OE" => "oe",
            "aa" | "AA" => "a",
            "i" | "j" => name,
            "th" | "TH" => "th",
            "dh" | "DH" | "dj" | "DJ" => "d",
            // An accent, or `\&`: the sign is gone, unless it is one of its own.
            "" => {
                let sign = rest.chars().next().unwrap_or(' ');
                rest = &rest[sign.len_utf8().min(rest.len())..];
                if matches!(sign, '\'' | '`' | '^' | '"' | '~' | '=' | '.') {
                    rest = rest.trim_start();
                } else {
                    out.push(if sign == '\\' { ' ' } else { sign });
                }
                continue;
            }
            "c" | "v" | "u" | "H" | "r" | "k" | "d" | "b" | "t" => {
                rest = rest.trim_start();
                continue;
            }
            _ => {
                out.push(' ');
                rest = rest.trim_start();
                continue;
            }
        };
        out.push_str(letters);
        rest = rest.trim_start();
    }
    out.push_str(rest);
    out
}

/// The surname in a name as people write it: `Ada Lovelace`, `Lovelace, Ada`, `van der Berg, J.`, `A. B. Doe Jr.`.
pub fn surname(name: &str) -> &str {
    if let Some((surname, _)) = name.split_once(',') {
        return surname.trim();
    }
    let mut words: Vec<(usize, &str)> = Vec::new();
    for word in name.split_whitespace() {
        words.push((word.as_ptr() as usize - name.as_ptr() as usize, word));
    }
    let is_initial = |word: &str| {
        word.ends_with('.') && word.chars().filter(|c| c.is_alphabetic()).count() <= 2
            || word.chars().count() == 1
            || word.chars().count() <= 3 && word.contains('.')
    };
    while words.len() > 1
        && words.last().is_some_and(|(_, word)| SUFFIXES.contains(&fold(word).as_str()) || is_initial(word))
    {
        words.pop();
    }
    let Some(&(mut start, last)) = words.last() else { return name.trim() };
    let end = start + last.len();
    for &(at, word) in words[..words.len() - 1].iter().rev() {
        // `Juan de la Cruz`, but not `De Smith` alone.
        if at == 0 || !PARTICLES.contains(&word.to_lowercase().as_str()) {
            break;
        }
        start = at;
    }
    name[start..end].trim_end_matches([',', ';', '.'])
}

/// A surname as it is compared: folded, without particles and suffixes, without blanks.
pub(crate) fn fold_surname(name: &str) -> String {
    let folded = fold(name);
    let words = || folded.split(' ');
    let real = |word: &&str| !PARTICLES.contains(word) && !SUFFIXES.contains(word);
    if words().any(|word| real(&word)) { words().filter(real).collect() } else { words().collect() }
}

/// Tells the words of the surname of a name, as a text would have them: without particles, and without accents beside
/// those that it is written with.
pub(crate) fn surname_words(name: &str, tokenizer: &Tokenizer, mut tell: impl FnMut(&str)) {
    let mut words = Vec::<String>::new();
    tokenizer.words(surname(name), |word| words.push(word.to_owned()));
    let real = |word: &String| !PARTICLES.contains(&word.to_lowercase().as_str());
    let all = !words.iter().any(real);
    for word in words.iter().filter(|word| all || real(word)) {
        tell(word);
        let folded = fold(word);
        if folded != word.to_lowercase() && !folded.is_empty() && !folded.contains(' ') {
            tell(&folded);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_surnames_are_those_that_texts_have() {
        for (name, expected) in [
            ("Leslie Lamport", &["lamport"][..]),
            ("van der Maaten, Laurens", &["maaten"]),
            ("Hector García-Molina", &["garcía", "garcia", "molina"]),
            ("de la", &["la"]),
            ("", &[]),
        ] {
            let mut words = Vec::new();
            surname_words(name, &Tokenizer::default(), |word| words.push(word.to_owned()));
            assert_eq!(words, expected, "{name}");
        }
    }

    #[test]
    fn a_title_is_folded_the_same_however_it_is_written() {
        let expected = "naive bayes and the efficient fst";
        for title in [
            "Naive Bayes and the efficient FST",
            "Naïve Bayes & the eﬃcient FST.",
            "{N}a\\\"{\\i}ve {Bayes} \\& the \\emph{efficient} $FST$",
            "“Naive  Bayes,\nand the efficient FST”",
        ] {
            assert_eq!(fold(title), expected, "{title}");
        }
        assert_eq!(fold("Erd\\H{o}s and Stra\\ss e, \\v{S}koda, \\o re"), "erdos and strasse skoda ore");
        assert_eq!(fold("深層学習 λ-calculus"), "深層学習 λ calculus");
        assert_eq!(fold("\\"), "");
        assert_eq!(fold("a\\"), "a");
    }

    #[test]
    fn a_surname_is_found_in_a_name() {
        for (name, expected) in [
            ("Ada Lovelace", "Lovelace"),
            ("Lovelace, Ada", "Lovelace"),
            ("L. van der Maaten", "van der Maaten"),
            ("Kishore A. Papineni Jr.", "Papineni"),
            ("Papineni K.", "Papineni"),
            ("Plato", "Plato"),
            ("", ""),
        ] {
            assert_eq!(surname(name), expected);
        }
    }

    #[test]
    fn surnames_are_compared_without_particles() {
        assert_eq!(fold_surname("van der Maaten"), fold_surname("Maaten"));
        assert_eq!(fold_surname("García-Molina"), fold_surname("Garcia Molina"));
        assert_eq!(fold_surname("de la"), "dela");
    }
}
