//! Zotero's data directory: `zotero.sqlite` and `storage/`, read as they stand, whether Zotero runs or not.
//!
//! Changes that wait in a write-ahead log are seen; where a journal says that Zotero is about to change the database, that
//! is counted. Items in the bin and those of feeds are left out; those of group libraries are read too. A PDF that stands
//! alone is a work. A work is called by its citation key, which Zotero or Better BibTeX keeps, else by Zotero's own key.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use super::sqlite::{Database, Value};
use super::work::{self, Work};
use crate::document::losses::{Loss, Losses};
use crate::import::sniff::has_ending;

/// Bytes of names and values that may be copied to the items that share them, for each byte of the database.
const COPIES: usize = 16;

/// The works of a data directory; `None` if it is none.
pub(super) fn read(directory: &Path, losses: &mut Losses) -> Option<Result<Vec<Work>, String>> {
    let path = directory.join("zotero.sqlite");
    if !path.is_file() {
        return None;
    }
    let below = |path: &Path| Some(path.canonicalize().ok()?.starts_with(directory.canonicalize().ok()?));
    if below(&path) != Some(true) {
        return Some(Err(
            "zotero.sqlite is a link that leads out of the directory; give the directory that it is in".into()
        ));
    }
    let journal = "zotero.sqlite-journal";
    if directory.join(journal).metadata().is_ok_and(|file| file.len() > 0) {
        let what = "Zotero is changing its database; if works are missing, end Zotero and import again";
        losses.add(Loss::UnreadFile, format!("{journal}: {what}"));
    }
    Some(Database::open(&path).map(|database| works(&database, cite_keys(directory, losses))))
}

/// The cite keys that Better BibTeX keeps in a database of its own, by the numbers and keys of the items; newer versions
/// put them into Zotero's.
fn cite_keys(directory: &Path, losses: &mut Losses) -> HashMap<(i64, String), String> {
    let (name, mut keys) = ("better-bibtex.sqlite", HashMap::new());
    let path = directory.join(name);
    // A link may lead anywhere.
    if !path.symlink_metadata().is_ok_and(|file| file.is_file()) {
        return keys;
    }
    match Database::open(&path) {
        Ok(database) => database.rows("citationkey", &["itemID", "itemKey", "citationKey"], |_, row| {
            if let (Some(item), Some(own), Some(key)) = (row[0].integer(), row[1].text(), row[2].text()) {
                keys.insert((item, own), key);
            }
        }),
        Err(why) => losses.add(Loss::UnreadFile, format!("{name}: {why}")),
    }
    keys.retain(|_, key| !key.trim().is_empty());
    keys
}

fn works(database: &Database, mut cite_keys: HashMap<(i64, String), String>) -> Vec<Work> {
    let left = Cell::new(COPIES * database.size());
    let copied = |text: &String| {
        left.set(left.get().checked_sub(text.len())?);
        Some(text.clone())
    };
    let named = |table: &str, number: &str, name: &str| {
        let mut names = HashMap::new();
        database.rows(table, &[number, name], |_, row| {
            if let (Some(number), Some(name)) = (row[0].integer(), row[1].text()) {
                names.insert(number, name);
            }
        });
        names
    };
    let (fields, values) = (named("fields", "fieldID", "fieldName"), named("itemDataValues", "valueID", "value"));
    let (types, tags) = (named("itemTypes", "itemTypeID", "typeName"), named("tags", "tagID", "name"));
    let mut left_out = HashSet::new();
    for table in ["deletedItems", "feedItems"] {
        database.rows(table, &["itemID"], |number, row| {
            left_out.insert(row[0].integer().unwrap_or(number));
        });
    }
    // Items by number, with their keys; notes and attachments are no works.
    let (mut keys, mut attached) = (BTreeMap::new(), HashMap::new());
    database.rows("items", &["itemID", "itemTypeID", "key"], |number, row| {
        let item = row[0].integer().unwrap_or(number);
        let Some(key) = row[2].text().filter(|_| !left_out.contains(&item)) else { return };
        match row[1].integer().and_then(|kind| types.get(&kind)).map(String::as_str) {
            Some("attachment") => drop(attached.insert(item, key)),
            Some("note" | "annotation") => {}
            _ => drop(keys.insert(item, key)),
        }
    });
    let mut data: HashMap<i64, HashMap<&str, String>> = HashMap::new();
    database.rows("itemData", &["itemID", "fieldID", "valueID"], |_, row| {
        let [item, field, value] = [0, 1, 2].map(|at: usize| row[at].integer());
        let field = field.and_then(|field| fields.get(&field));
        let value = value.and_then(|value| values.get(&value)).and_then(copied);
        if let (Some(item), Some(field), Some(value)) = (item, field, value) {
            data.entry(item).or_default().insert(field, value);
        }
    });
    let mut people: HashMap<i64, String> = HashMap::new();
    database.rows("creators", &["creatorID", "firstName", "lastName"], |number, row| {
        let part = |value: &Value| value.text().unwrap_or_default();
        let name = format!("{} {}", part(&row[1]), part(&row[2])).trim().to_owned();
        people.insert(row[0].integer().unwrap_or(number), name);
    });
    let kinds = named("creatorTypes", "creatorTypeID", "creatorType");
    let mut creators: HashMap<i64, Vec<(i64, bool, i64, String)>> = HashMap::new();
    database.rows("itemCreators", &["itemID", "creatorID", "creatorTypeID", "orderIndex"], |_, row| {
        let [item, person, kind, order] = [0, 1, 2, 3].map(|at: usize| row[at].integer());
        let name = person.and_then(|person| people.get(&person)).and_then(copied);
        if let (Some(item), Some(name)) = (item, name) {
            let is_author = kind.and_then(|kind| kinds.get(&kind)).is_none_or(|kind| kind == "author");
            creators.entry(item).or_default().push((order.unwrap_or(0), is_author, kind.unwrap_or(0), name));
        }
    });
    let mut keywords: HashMap<i64, Vec<String>> = HashMap::new();
    database.rows("itemTags", &["itemID", "tagID"], |_, row| {
        let tag = row[1].integer().and_then(|tag| tags.get(&tag)).and_then(copied);
        if let (Some(item), Some(tag)) = (row[0].integer(), tag) {
            keywords.entry(item).or_default().push(tag);
        }
    });
    let mut files: HashMap<i64, Vec<String>> = HashMap::new();
    database.rows("itemAttachments", &["itemID", "parentItemID", "path"], |number, row| {
        let item = row[0].integer().unwrap_or(number);
        let (Some(path), Some(key)) = (row[2].text(), attached.get(&item)) else { return };
        let parent = row[1].integer().unwrap_or_else(|| {
            if has_ending(&path, &["pdf"]) {
                keys.insert(item, key.clone());
            }
            item
        });
        let path = match path.strip_prefix("storage:") {
            Some(name) => format!("storage/{key}/{name}"),
            None => path.trim_start_matches("attachments:").to_owned(),
        };
        files.entry(parent).or_default().push(path);
    });
    let mut works = Vec::with_capacity(keys.len());
    for (item, own) in keys {
        let fields = data.remove(&item).unwrap_or_default();
        let field =
            |name: &str| fields.get(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        // Some types of items have their own names for title and date.
        let any = |names: &[&str]| names.iter().find_map(|name| field(name));
        let extra = field("extra").unwrap_or_default();
        let noted = |wanted: &str| {
            let value = extra.lines().filter_map(|line| line.split_once(':'));
            value
                .filter(|(name, _)| name.trim().eq_ignore_ascii_case(wanted))
                .map(|(_, value)| value.trim().to_owned())
                .next()
        };
        let mut authors = creators.remove(&item).unwrap_or_default();
        authors.sort();
        // Without authors, those who do what the first one does: editors, inventors, directors.
        let has_authors = authors.iter().any(|(_, is_author, ..)| *is_author);
        let first = authors.first().map(|(_, _, kind, _)| *kind);
        authors.retain(|(_, is_author, kind, _)| if has_authors { *is_author } else { Some(*kind) == first });
        works.push(Work {
            key: field("citationKey")
                .or_else(|| noted("citation key"))
                .or_else(|| cite_keys.remove(&(item, own.clone())))
                .unwrap_or(own),
            // An attachment is called "PDF" or by its file.
            title: any(&["title", "caseName", "nameOfAct", "subject"]).filter(|_| !attached.contains_key(&item)),
            authors: authors.into_iter().map(|(.., name)| name).collect(),
            date: any(&["date", "dateDecided", "dateEnacted", "issueDate"]).and_then(|date| work::date(&date)),
            summary: field("abstractNote"),
            keywords: keywords.remove(&item).unwrap_or_default(),
            language: field("language"),
            arxiv: work::arxiv(&extra).or_else(|| work::arxiv(&field("url")?)),
            doi: field("DOI").or_else(|| noted("doi")).and_then(|doi| work::doi(&doi)),
            pmid: noted("pmid"),
            url: field("url"),
            files: files.remove(&item).unwrap_or_default(),
            place: format!("zotero.sqlite, item {item}"),
        });
    }
    works
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_directory_becomes_works_with_files() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/library/zotero");
        let mut losses = Losses::default();
        let works = read(&directory, &mut losses).expect("a data directory").expect("a database");
        let keys: Vec<&str> = works.iter().map(|work| &*work.key).collect();
        assert_eq!(keys[..3], ["doe2001tides", "ITEM0002", "roe1999"]);
        assert_eq!(works.len(), 204, "of 206 one is in the bin, and one comes from a feed");
        let alone = works.last().expect("a PDF without an item");
        assert_eq!(
            (&*alone.key, alone.title.as_deref(), &*alone.files),
            ("ALONE001", None, &["storage/ALONE001/alone.pdf".to_owned()][..])
        );
        assert_eq!(works[0].title.as_deref(), Some("The tides of the northern sea"));
        assert_eq!(works[0].authors, ["Ann Doe", "Jan van der Berg"]);
        assert_eq!(works[0].date.map(|date| date.to_string()).as_deref(), Some("2001-05"));
        assert_eq!(works[0].files, ["storage/ATTACH01/tides.pdf"]);
        assert_eq!(works[0].keywords, ["sea", "moon"]);
        assert!(works[0].summary.as_deref().is_some_and(|text| text.len() > 2000), "longer than a page");
        assert_eq!(works[1].authors, ["Eve Editor"]);
        assert!(losses.is_empty());
        assert!(read(Path::new("/no/such/folder"), &mut losses).is_none());
    }

    /// The database and its log were copied while another process had a transaction open. The log holds one that was
    /// completed: the work that it adds.
    #[test]
    fn works_that_are_only_in_the_log_are_read() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/library/zotero-wal");
        let keys = |directory: &Path| {
            let works = read(directory, &mut Losses::default()).expect("a data directory").expect("a database");
            works.into_iter().map(|work| work.key).collect::<Vec<_>>()
        };
        assert_eq!(keys(&directory), ["doe2001tides", "GRUP0001", "FRSH0001"]);
        let copy = tempfile::tempdir().expect("a directory");
        let (base, log) = (copy.path().join("zotero.sqlite"), copy.path().join("zotero.sqlite-wal"));
        std::fs::copy(directory.join("zotero.sqlite"), &base).expect("copied");
        let whole = std::fs::read(directory.join("zotero.sqlite-wal")).expect("a log");
        let without = ["doe2001tides", "GRUP0001"];
        for cut in [0, 20, 32, whole.len() / 2, whole.len() - 1] {
            std::fs::write(&log, &whole[..cut]).expect("written");
            assert_eq!(keys(copy.path()), without, "a transaction that is not whole is none: {cut}");
        }
        let mut altered = whole.clone();
        altered[32 + 24 + 100] ^= 1;
        std::fs::write(&log, altered).expect("written");
        assert_eq!(keys(copy.path()), without, "a checksum does not hold");
    }

    #[test]
    fn a_damaged_or_locked_database_is_no_disaster() {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/library/zotero");
        let whole = std::fs::read(directory.join("zotero.sqlite")).expect("a database");
        let copy = tempfile::tempdir().expect("a directory");
        let path = copy.path().join("zotero.sqlite");
        for step in 1..40 {
            let mut bytes = whole.clone();
            bytes.truncate(whole.len() * step / 40);
            for at in (step * 13..bytes.len()).step_by(97 + step) {
                bytes[at] = bytes[at].wrapping_mul(31).wrapping_add(step as u8);
            }
            std::fs::write(&path, &bytes).expect("written");
            drop(read(copy.path(), &mut Losses::default()).expect("a data directory"));
        }
        std::fs::write(&path, &whole).expect("written");
        std::fs::write(copy.path().join("zotero.sqlite-journal"), "x").expect("written");
        let mut losses = Losses::default();
        assert_eq!(read(copy.path(), &mut losses).expect("one").expect("works").len(), 204);
        assert_eq!(losses.count(Loss::UnreadFile), 1);
    }
}
