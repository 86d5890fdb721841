//! The part that most titles of a site share, such as ` - Rust`: the name of the site, which says nothing of a page.

use std::collections::{BTreeMap, HashSet};

/// Titles from which the name of a site can be seen.
const ENOUGH: usize = 5;
/// Signs between a title and the name of its site.
const SEPARATORS: [&str; 12] = [" - ", " — ", " – ", " | ", " · ", " :: ", " » ", " « ", ": ", " • ", " ‹ ", " › "];

/// The start and the end that most titles have.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SharedTitle {
    start: String,
    end: String,
}

impl SharedTitle {
    /// The part that three in five of these titles share at an end, up to a separator.
    pub(super) fn of(titles: &[String]) -> SharedTitle {
        let titles: HashSet<&str> = titles.iter().map(String::as_str).filter(|title| !title.is_empty()).collect();
        let (mut starts, mut ends): (BTreeMap<&str, usize>, BTreeMap<&str, usize>) = Default::default();
        for title in &titles {
            for separator in SEPARATORS {
                for (at, _) in title.match_indices(separator) {
                    *starts.entry(&title[..at + separator.len()]).or_default() += 1;
                    *ends.entry(&title[at..]).or_default() += 1;
                }
            }
        }
        let most = |counts: BTreeMap<&str, usize>| {
            let shared =
                counts.into_iter().filter(|(_, count)| titles.len() >= ENOUGH && count * 5 >= titles.len() * 3);
            shared.map(|(text, _)| text).max_by_key(|text| text.len()).unwrap_or_default().to_owned()
        };
        SharedTitle { start: most(starts), end: most(ends) }
    }

    /// A title without them.
    pub(super) fn cut(&self, title: String) -> String {
        let short = title.strip_suffix(&*self.end).unwrap_or(&title);
        let short = short.strip_prefix(&*self.start).unwrap_or(short).trim();
        if short.is_empty() { title } else { short.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_most_titles_share_is_cut() {
        let titles = [
            "Vec in std::vec - Rust",
            "std::fmt - Rust",
            "String in std::string - Rust",
            "u8 - Rust",
            "Iterator - Rust",
            "Index",
        ];
        let titles = titles.map(str::to_owned);
        let shared = SharedTitle::of(&titles);
        assert_eq!(shared.cut("Vec in std::vec - Rust".into()), "Vec in std::vec");
        assert_eq!(shared.cut("Index".into()), "Index");
        assert_eq!(shared.cut(" - Rust".into()), " - Rust");
        let manual: Vec<String> =
            (0..6).map(|n| format!("PostgreSQL: Documentation: 18: Chapter {n}. Tables")).collect();
        assert_eq!(SharedTitle::of(&manual).cut(manual[3].clone()), "Chapter 3. Tables");
        assert_eq!(SharedTitle::of(&titles[..4]), SharedTitle::default());
    }
}
