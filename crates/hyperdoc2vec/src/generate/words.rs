//! The words of a generated corpus: made by rule from syllables, so that no two classes of words share one.

use crate::rng::Rng;

/// Words of the background vocabulary, the function words included.
pub(super) const BACKGROUND: usize = 30_000;
/// Words that every document of a topic draws from.
pub(super) const TOPIC_WORDS: usize = 300;

/// The most frequent words of the background, most frequent first.
pub(super) const FUNCTION_WORDS: [&str; 48] = [
    "the", "of", "and", "to", "in", "a", "is", "that", "for", "we", "it", "as", "was", "with", "be", "by", "on", "are",
    "this", "or", "from", "at", "which", "an", "not", "can", "has", "were", "but", "their", "one", "all", "also",
    "each", "both", "if", "when", "other", "many", "these", "there", "been", "into", "only", "such", "what", "then",
    "most",
];

/// The names of topics; the second round of topics is called `optics-2` and so on.
const TOPIC_NAMES: [&str; 32] = [
    "optics",
    "botany",
    "logic",
    "phonology",
    "cartography",
    "metallurgy",
    "genetics",
    "acoustics",
    "cryptography",
    "hydrology",
    "robotics",
    "ceramics",
    "astronomy",
    "syntax",
    "topology",
    "entomology",
    "navigation",
    "immunology",
    "typography",
    "seismology",
    "economics",
    "databases",
    "mycology",
    "compilers",
    "translation",
    "archaeology",
    "combinatorics",
    "meteorology",
    "networks",
    "linguistics",
    "pharmacology",
    "statistics",
];

const CONSONANTS: &[u8; 13] = b"bfgklmnprstvz";
const VOWELS: &[u8; 5] = b"aeiou";
const SYLLABLES: usize = CONSONANTS.len() * VOWELS.len();
/// Has no factor in common with [`SYLLABLES`], so that multiplying by it permutes the words of one length.
const STRIDE: u64 = 618_037;

/// A class of words; each has its own ending, so that the classes are disjoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordClass {
    /// Shared by all documents: ends in a vowel.
    Background,
    /// Shared by the documents of a topic: ends in `n`.
    Topic,
    /// Of one document or a few of the same topic: ends in `r`.
    Own,
    /// A name that others give a document: a capital, and `x` at the end.
    Nickname,
}

/// Appends word `number` of `class` to `text`: a different word for each number.
pub(super) fn push_made_word(text: &mut String, class: WordClass, mut number: usize) {
    let (mut syllables, ending) = match class {
        WordClass::Background => (2, None),
        WordClass::Topic => (2, Some('n')),
        WordClass::Own => (3, Some('r')),
        WordClass::Nickname => (2, Some('x')),
    };
    let mut count = SYLLABLES.pow(syllables);
    while number >= count {
        number -= count;
        syllables += 1;
        count = SYLLABLES.pow(syllables);
    }
    // Neighbours in number should not look alike. The product stays below 2^64 up to 65^7 words.
    let mut code = (number as u64 * STRIDE % count as u64) as usize;
    let start = text.len();
    for _ in 0..syllables {
        let syllable = code % SYLLABLES;
        code /= SYLLABLES;
        text.push(char::from(CONSONANTS[syllable / VOWELS.len()]));
        text.push(char::from(VOWELS[syllable % VOWELS.len()]));
    }
    text.extend(ending);
    if class == WordClass::Nickname {
        text[start..=start].make_ascii_uppercase();
    }
}

/// Appends the background word of a rank, 0 being the most frequent: real function words, then made ones.
pub(super) fn push_background_word(text: &mut String, rank: usize) {
    match FUNCTION_WORDS.get(rank) {
        Some(word) => text.push_str(word),
        None => push_made_word(text, WordClass::Background, rank - FUNCTION_WORDS.len()),
    }
}

/// One made word as a string.
pub(super) fn made_word(class: WordClass, number: usize) -> String {
    let mut word = String::new();
    push_made_word(&mut word, class, number);
    word
}

/// The readable name of a topic.
pub(super) fn topic_name(topic: usize) -> String {
    let name = TOPIC_NAMES[topic % TOPIC_NAMES.len()];
    match topic / TOPIC_NAMES.len() {
        0 => name.to_owned(),
        round => format!("{name}-{}", round + 1),
    }
}

/// A rank from 0 up to but not including `count`, rank r with probability in proportion to 1/(r + 1).
///
/// Exact and in whole numbers, hence the same on every machine: the octave [2^b, 2^(b+1)) of r + 1 is drawn evenly,
/// a number in it evenly, and that is kept with probability 2^b / (r + 1).
pub(super) fn zipf(rng: &mut Rng, count: usize) -> usize {
    if count < 2 {
        return 0;
    }
    let octaves = count.ilog2() as usize + 1;
    loop {
        let first = 1usize << rng.below(octaves);
        let one_based = first + rng.below(first);
        if one_based <= count && rng.below(one_based) < first {
            return one_based - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Kind;
    use std::collections::BTreeSet;

    #[test]
    fn no_word_stands_for_two_things() {
        let mut seen = BTreeSet::new();
        let made = [WordClass::Background, WordClass::Topic, WordClass::Own, WordClass::Nickname].into_iter();
        let made = made.flat_map(|class| (0..300_000).map(move |number| made_word(class, number)));
        let phrases = Kind::ALL.into_iter().flat_map(Kind::phrases).flat_map(|phrase| phrase.split(' '));
        let english: BTreeSet<&str> = phrases.filter(|&word| word != "*").chain(FUNCTION_WORDS).collect();
        for word in made.chain(english.into_iter().map(str::to_owned)) {
            let word = word.to_lowercase();
            assert!(!seen.contains(&word), "{word} is there twice");
            seen.insert(word);
        }
    }

    #[test]
    fn a_zipf_draw_has_the_odds_of_one_over_the_rank() {
        let mut rng = Rng::keyed(3, &[]);
        let mut seen = [0f64; 10];
        for _ in 0..200_000 {
            seen[zipf(&mut rng, 10)] += 1.0;
        }
        for rank in 1..10 {
            let odds = seen[0] / seen[rank];
            assert!((odds / (rank + 1) as f64 - 1.0).abs() < 0.05, "rank {rank}: {odds}");
        }
        assert_eq!((zipf(&mut rng, 0), zipf(&mut rng, 1)), (0, 0));
    }

    #[test]
    fn topics_have_distinct_names() {
        let names: BTreeSet<String> = (0..200).map(topic_name).collect();
        assert_eq!(names.len(), 200);
        assert!(names.contains("optics") && names.contains("optics-2"));
    }
}
