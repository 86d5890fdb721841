//! The table that Zotero exports as CSV.

use std::collections::HashMap;

use super::work::{self, Work};
use crate::document::losses::{Loss, Losses};

/// The works of a table; an error is the reason why it is none.
pub(super) fn read(source: &str, name: &str, losses: &mut Losses) -> Result<Vec<Work>, String> {
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    let mut reader = ::csv::ReaderBuilder::new().flexible(true).from_reader(source.as_bytes());
    let columns: HashMap<String, usize> = match reader.headers() {
        Ok(headers) => headers.iter().enumerate().map(|(at, name)| (name.trim().to_lowercase(), at)).collect(),
        Err(error) => return Err(format!("not CSV: {error}")),
    };
    if !columns.contains_key("title") || !columns.contains_key("key") {
        return Err("expected the columns that Zotero exports (Key, Title, Author, …)".to_owned());
    }
    let mut works = Vec::new();
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                losses.add(Loss::MalformedRecord, format!("{name}: {error}"));
                continue;
            }
        };
        let line = record.position().map_or(0, ::csv::Position::line);
        let field = |column: &str| {
            let value = record.get(*columns.get(column)?)?.trim();
            (!value.is_empty()).then(|| value.to_owned())
        };
        let several = |column: &str| {
            field(column)
                .map(|text| {
                    text.split(';')
                        .map(|part| part.trim().to_owned())
                        .filter(|part| !part.is_empty())
                        .collect::<Vec<_>>()
                })
                .unwrap_or_default()
        };
        let Some(own) = field("key") else {
            losses.add(Loss::MalformedRecord, format!("{name}:{line}: no key"));
            continue;
        };
        let extra = field("extra").unwrap_or_default();
        let cited = extra.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.trim().eq_ignore_ascii_case("citation key").then(|| value.trim().to_owned())
        });
        works.push(Work {
            key: cited.filter(|key| !key.is_empty()).unwrap_or(own),
            title: field("title"),
            authors: several("author").iter().map(|name| work::person(name)).collect(),
            date: field("date").and_then(|date| work::date(&date)).or_else(|| work::date(&field("publication year")?)),
            summary: field("abstract note"),
            keywords: several("manual tags").into_iter().chain(several("automatic tags")).collect(),
            language: field("language"),
            arxiv: work::arxiv(&extra).or_else(|| work::arxiv(&field("url")?)),
            url: field("url"),
            doi: field("doi").and_then(|doi| work::doi(&doi)),
            pmid: None,
            files: several("file attachments"),
            place: format!("{name}:{line}"),
        });
    }
    Ok(works)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_works_called_by_their_cite_keys() {
        let source = "\u{feff}Key,Item Type,Publication Year,Author,Title,DOI,Extra,File Attachments,Manual Tags\n\
                      X1,book,1969,\"Hoare, C. A. R.; Doe, Ann\",\"An, Axiomatic Basis\",10.1/x,Citation Key: hoare69,a.pdf; b.html,to-read; logic\n\
                      X2,book,,,Untitled,,,,\n,,,,,,,,\n";
        let mut losses = Losses::default();
        let works = read(source, "x.csv", &mut losses).expect("works");
        assert_eq!((works[0].key.as_str(), works[1].key.as_str()), ("hoare69", "X2"));
        assert_eq!(works[0].authors, ["C. A. R. Hoare", "Ann Doe"]);
        assert_eq!(
            (works[0].files.join(" "), works[0].keywords.join(" ")),
            ("a.pdf b.html".into(), "to-read logic".into())
        );
        assert_eq!(losses.count(Loss::MalformedRecord), 1);
        assert!(read("a,b\n1,2\n", "x", &mut losses).is_err());
    }
}
