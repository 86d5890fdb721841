//! RIS: lines of a two-letter tag and a value, an entry from `TY` to `ER`. Dialects differ in which tag a title, an
//! abstract or a date has; lines without a tag go on with the one before.
//!
//! Ours, because it takes a page, and entries that are not whole must be counted with their lines.

use super::work::{self, Work};
use crate::document::losses::{Loss, Losses};
use crate::import::text::collapsed;

/// The works of a file; an error is the reason why it holds none.
pub(super) fn read(source: &str, name: &str, losses: &mut Losses) -> Result<Vec<Work>, String> {
    let mut works: Vec<Work> = Vec::new();
    let mut fields: Vec<(String, String)> = Vec::new();
    let mut start = 0;
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    for (number, line) in source.lines().enumerate().map(|(at, line)| (at + 1, line)) {
        match tagged(line) {
            Some(("TY", kind)) => {
                if !fields.is_empty() {
                    unended(&fields, format!("{name}:{start}"), &mut works, losses);
                }
                fields = vec![("TY".to_owned(), kind.to_owned())];
                start = number;
            }
            Some(("ER", _)) => {
                let place = format!("{name}:{start}");
                match of_fields(&fields, place.clone()) {
                    Some(work) => works.push(work),
                    None if fields.is_empty() => {}
                    None => losses.add(Loss::MalformedRecord, format!("{place}: neither a key nor a title")),
                }
                fields.clear();
            }
            Some((tag, value)) if !fields.is_empty() => fields.push((tag.to_owned(), value.to_owned())),
            None if !line.trim().is_empty() => {
                if let Some((_, value)) = fields.last_mut().filter(|(_, value)| value.len() < 1 << 20) {
                    value.push(' ');
                    value.push_str(line.trim());
                }
            }
            _ => {}
        }
    }
    if !fields.is_empty() {
        unended(&fields, format!("{name}:{start}"), &mut works, losses);
    }
    if works.is_empty() { Err("expected entries of RIS (TY  - …), found none".to_owned()) } else { Ok(works) }
}

/// Takes what an entry has that does not end.
fn unended(fields: &[(String, String)], place: String, works: &mut Vec<Work>, losses: &mut Losses) {
    let work = of_fields(fields, place.clone());
    let loss = if work.is_some() { Loss::BrokenEntry } else { Loss::MalformedRecord };
    losses.add(loss, format!("{place}: the entry has no end (ER)"));
    works.extend(work);
}

/// `TI  - value`.
fn tagged(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let (tag, rest) = line.split_at_checked(2)?;
    let valid = |at: usize, b: u8| b.is_ascii_uppercase() || (at == 1 && b.is_ascii_digit());
    let value = rest.trim_start().strip_prefix('-')?;
    let spaced = rest.starts_with(' ');
    (spaced && tag.bytes().enumerate().all(|(at, b)| valid(at, b))).then(|| (tag, value.trim()))
}

fn of_fields(fields: &[(String, String)], place: String) -> Option<Work> {
    let all = |tags: &'static [&'static str]| {
        tags.iter()
            .flat_map(move |tag| fields.iter().filter(move |(known, value)| known == tag && !value.is_empty()))
            .map(|(_, value)| collapsed(value))
    };
    let first = |tags: &'static [&'static str]| all(tags).next();
    let title = first(&["TI", "T1", "CT", "BT"]);
    let title = title.map(|title| title.trim_end_matches('.').to_owned());
    let names: Vec<String> = all(&["AU"]).chain(all(&["A1"])).map(|name| work::person(&name)).collect();
    let names = if names.is_empty() { all(&["A2", "ED"]).map(|name| work::person(&name)).collect() } else { names };
    let date = first(&["DA", "PY", "Y1"]).and_then(|date| work::date(&date));
    let url = first(&["UR", "LK"]);
    let key = first(&["ID", "LB", "AN"]).or_else(|| made_key(&names, date, title.as_deref()))?;
    Some(Work {
        key,
        title,
        authors: names,
        date,
        summary: first(&["AB", "N2"]),
        keywords: all(&["KW"]).collect(),
        language: first(&["LA"]),
        doi: first(&["DO", "M3"]).and_then(|doi| work::doi(&doi)),
        arxiv: url.as_deref().and_then(work::arxiv),
        pmid: None,
        url,
        files: all(&["L1", "L4"]).collect(),
        place,
    })
}

/// A key of surname, year and first word, for an entry that has none.
pub(super) fn made_key(authors: &[String], date: Option<crate::document::Date>, title: Option<&str>) -> Option<String> {
    let folded = crate::import::reference::fold(title?);
    let word = folded.split(' ').find(|word| word.len() > 3).or_else(|| folded.split(' ').next())?;
    let surname = authors
        .first()
        .map(|name| crate::import::reference::fold(crate::import::reference::surname(name)).replace(' ', ""));
    let year = date.map(|date| date.year().to_string()).unwrap_or_default();
    Some(format!("{}{year}{word}", surname.unwrap_or_default())).filter(|key| !key.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_several_dialects_become_works() {
        let source = "TY  - JOUR\nAU  - Hoare, C. A. R.\nTI  - An axiomatic basis\n for programs.\nPY  - 1969/10//\nDO  - 10.1/x\nAB  - Words.\nKW  - logic\nID  - hoare\nL1  - files/a.pdf\nER  - \n\n\
                      TY  - CHAP\nA1  - Doe, Ann\nT1  - Tides of time\nY1  - 2001\nN2  - More.\nER  -\nTY  - JOUR\nTI  - Open\n";
        let mut losses = Losses::default();
        let works = read(source, "x.ris", &mut losses).expect("works");
        assert_eq!(works.iter().map(|work| &*work.key).collect::<Vec<_>>(), ["hoare", "doe2001tides", "open"]);
        assert_eq!(works[0].title.as_deref(), Some("An axiomatic basis for programs"));
        assert_eq!((works[0].authors[0].as_str(), works[0].files[0].as_str()), ("C. A. R. Hoare", "files/a.pdf"));
        assert_eq!(works[1].summary.as_deref(), Some("More."));
        assert_eq!(losses.count(Loss::BrokenEntry), 1);
        assert!(read("no entries", "x", &mut losses).is_err());
    }
}
