//! Suggests names for a mistyped one.
//!
//! The edit distance is ours, because it gives up after a few changes: a million names of 35 characters take 0.5 s, with
//! `strsim` 1.1 s.

use crate::storage::strings::StringTable;

/// How many names an error suggests.
pub(crate) const SUGGESTIONS: usize = 3;

/// Changes of a character up to which two names are alike.
const MOST_CHANGES: usize = 3;

/// Up to `wanted` strings of `table` that differ from `name` in a few characters, in capitals, or by what stands
/// around them; the nearest first, then in the order of the table.
pub(crate) fn similar<'a>(table: StringTable<'a>, name: &str, wanted: usize) -> Vec<&'a str> {
    let lower = name.to_lowercase();
    let most = MOST_CHANGES.min(lower.chars().count() / 2);
    let name: Vec<char> = lower.chars().collect();
    let mut found: Vec<(usize, &str)> = Vec::new();
    for number in 0..table.ends.len() {
        let known = table.get(number);
        if let Some(changes) = distance(&name, &lower, known, most) {
            found.push((changes, known));
        }
    }
    found.sort_by_key(|&(changes, _)| changes);
    found.truncate(wanted);
    found.into_iter().map(|(_, known)| known).collect()
}

/// `; did you mean …?`, or nothing.
pub(crate) fn did_you_mean(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        names => {
            let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
            format!("; did you mean {}?", names.join(" or "))
        }
    }
}

/// The edit distance of `known` from `name`; `None` where that is more than `most`.
fn distance(name: &[char], lower: &str, known: &str, most: usize) -> Option<usize> {
    // Four bytes a character at the most.
    if lower.len() > known.len() + 4 * most || known.is_empty() {
        return None;
    }
    let known = known.to_lowercase();
    if known == lower {
        return Some(0);
    }
    if lower.len() >= 3 && known.contains(lower) {
        return Some(most + 1);
    }
    let known: Vec<char> = known.chars().collect();
    if known.len().abs_diff(name.len()) > most {
        return None;
    }
    let mut row: Vec<usize> = (0..=known.len()).collect();
    for (i, a) in name.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, b) in known.iter().enumerate() {
            let changed = corner + usize::from(a != b);
            corner = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(corner + 1);
        }
        if row.iter().all(|&changes| changes > most) {
            return None;
        }
    }
    row.last().copied().filter(|&changes| changes <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_nearest_first() {
        let names = ["P02-1040", "P02-1041", "p02-1049", "W04-1013", "std/vec/index.html", ""];
        let (mut bytes, mut ends) = (String::new(), vec![]);
        for name in names {
            bytes.push_str(name);
            ends.push(bytes.len() as u64);
        }
        let table = StringTable { bytes: bytes.as_bytes(), ends: &ends, index: &[] };
        assert_eq!(similar(table, "P02-1042", 2), ["P02-1040", "P02-1041"]);
        assert_eq!(similar(table, "P02-1049", 1), ["p02-1049"]);
        assert_eq!(similar(table, "vec/index.html", 3), ["std/vec/index.html"]);
        assert!(similar(table, "nothing like it", 3).is_empty());
        assert!(similar(table, "", 3).is_empty());
    }
}
