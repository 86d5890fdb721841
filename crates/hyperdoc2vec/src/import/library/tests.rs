//! Bibliographies made to be slow: time grows with their length, and not with its square; and no short file becomes a
//! long library.

use std::fs;
use std::path::Path;

use super::sqlite::{Database, Value};
use super::work::Work;
use super::*;
use crate::tests::growth::assert_linear;

/// A beginning for so many pieces, the piece, an end.
type Case<'a> = (&'a dyn Fn(usize) -> String, &'a str, &'a str);

/// Reads files of so many pieces.
fn grow(pieces: usize, read: impl Fn(&str, &mut Losses) -> Vec<Work>, cases: &[Case<'_>]) {
    for (start, piece, end) in cases {
        assert_linear(piece, pieces, |pieces| {
            let source = format!("{}{}{end}", start(pieces), piece.repeat(pieces));
            drop(read(&source, &mut Losses::default()));
        });
    }
}

#[test]
fn bib_files_take_time_in_proportion() {
    let read = |source: &str, losses: &mut Losses| bib::read(source, "x.bib", losses);
    grow(
        8_000,
        read,
        &[
            (&|_| String::new(), "@a{k, title={T}, author={A and B}, file={a.pdf}}\n", ""),
            (&|pieces| format!("@p{{p, year={{{}}}}}\n", "1 ".repeat(pieces)), "@a{k, crossref={p}}\n", ""),
            (&|pieces| format!("@string{{s={{{}}}}}\n", "x".repeat(pieces)), "@a{k, title=s}\n", ""),
            (&|_| "@a{k, author={".to_owned(), "A and ", "B}}"),
            (&|_| "@a{k, author={".to_owned(), "family=A, ", "B}}"),
            (&|_| "@a{k, keywords={".to_owned(), "a;", "}}"),
            (&|_| "@a{k, file={".to_owned(), "a:b.pdf:c;", "}}"),
            (&|_| "@a{k, file={".to_owned(), "\\:", "}}"),
        ],
    );
}

#[test]
fn ris_takes_time_in_proportion() {
    let read = |source: &str, losses: &mut Losses| ris::read(source, "x.ris", losses).unwrap_or_default();
    let entry = |_: usize| "TY  - JOUR\nTI  - A title of it\n".to_owned();
    grow(
        16_000,
        read,
        &[
            (&|_| String::new(), "TY  - JOUR\n", ""),
            (&|_| String::new(), "TY  - JOUR\nTI  - A title\nER  -\n", ""),
            (&entry, "AU  - Doe, Ann\n", "ER  -\n"),
            (&entry, "goes on\n", "ER  -\n"),
            (&entry, "KW  - sea\n", "ER  -\n"),
            (&entry, "L1  - a.pdf\n", "ER  -\n"),
        ],
    );
}

#[test]
fn csl_takes_time_in_proportion() {
    let read = |source: &str, losses: &mut Losses| csl::read(source, "x.json", losses).unwrap_or_default();
    let list = |name: &'static str| move |_: usize| format!("[{{\"id\": \"a\", \"{name}\": [");
    grow(
        8_000,
        read,
        &[
            (&|_| "[".to_owned(), "{\"id\": \"a\", \"title\": \"T\"}, ", "0]"),
            (&list("author"), "{\"family\": \"A\"}, ", "0]}]"),
            (&list("attachments"), "{\"path\": \"a.pdf\"}, ", "0]}]"),
            (&list("tags"), "\"a\", ", "0]}]"),
            (&|_| "[{\"id\": \"a\", \"issued\": {\"date-parts\": [[".to_owned(), "1, ", "1]]}}]"),
            (&|_| String::new(), "[", ""),
        ],
    );
}

#[test]
fn tables_of_zotero_take_time_in_proportion() {
    let read = |source: &str, losses: &mut Losses| csv::read(source, "x.csv", losses).unwrap_or_default();
    let head = |_: usize| "Key,Title,Author,Extra\n".to_owned();
    grow(
        8_000,
        read,
        &[
            (&head, "a,T,\"A; B\",x\n", ""),
            (&head, "\"", ""),
            (&|_| "Key,Title,Author\na,T,\"".to_owned(), "A; ", "\"\n"),
            (&|_| "Key,Title,Extra\na,T,\"".to_owned(), "a: b\n", "\"\n"),
            (&|pieces| format!("Key,Title{}\n", ",x".repeat(pieces)), "a,T\n", ""),
        ],
    );
}

/// A whole library: its works are read, catalogued and linked.
#[test]
fn libraries_take_time_in_proportion() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("refs.bib");
    let import = |source: String| {
        fs::write(&path, source).expect("written");
        let library =
            Library::open(Format::Library, std::slice::from_ref(&path), &ImportOptions::default(), &mut |_| Ok(()));
        drop(library.map(|library| library.parse(0..library.len())));
    };
    let same =
        |number: usize| format!("@a{{k{number}, title={{The tides of the sea}}, author={{Doe, Ann}}, year=2001}}\n");
    assert_linear("works of one title", 4_000, |pieces| import((0..pieces).map(same).collect()));
    assert_linear("entries of one key", 4_000, |pieces| import(same(1).repeat(pieces)));
    let files = |pieces| format!("@a{{{}, title={{T}}, file={{{}}}}}", "k".repeat(900), "a.pdf;".repeat(pieces));
    assert_linear("files that are gone", 3_000, |pieces| import(files(pieces)));
}

#[test]
fn cited_works_take_time_in_proportion() {
    let entry = |author: String, title: String| BibRecord {
        title: Some(title),
        year: Some(2001),
        authors: vec![author],
        ..BibRecord::default()
    };
    let found =
        |entries: Vec<BibRecord>| cited::works(entries.iter(), &Catalogue::default(), &mut HashSet::new()).len();
    let letters =
        |number: usize| (0..5).map(|at| char::from(b'a' + (number / 26usize.pow(at) % 26) as u8)).collect::<String>();
    let one_key = |pieces: usize| {
        (0..pieces).map(|n| entry("Doe".into(), format!("Tides {} {}", letters(n * 7919), letters(n)))).collect()
    };
    let one_title =
        |pieces: usize| (0..pieces).map(|n| entry(format!("D{}", letters(n)), "The tides of the sea".into())).collect();
    assert_linear("works of one key", 4_000, |pieces| assert!(found(one_key(pieces)) > 0));
    assert_linear("works of one title", 4_000, |pieces| assert!(found(one_title(pieces)) > 0));
}

/// A number of up to 14 bits as SQLite writes it.
fn varint(number: usize) -> Vec<u8> {
    if number < 128 { vec![number as u8] } else { vec![(number >> 7) as u8 | 128, number as u8 & 127] }
}

/// The cell of a row.
fn cell(number: usize, values: &[Value]) -> Vec<u8> {
    let (mut kinds, mut body) = (Vec::new(), Vec::new());
    for value in values {
        match value {
            Value::Integer(number) => {
                kinds.push(2);
                body.extend((*number as i16).to_be_bytes());
            }
            Value::Text(text) => {
                kinds.extend(varint(13 + 2 * text.len()));
                body.extend(text.as_bytes());
            }
            _ => kinds.push(0),
        }
    }
    let record = [varint(kinds.len() + 1), kinds, body].concat();
    [varint(record.len()), varint(number), record].concat()
}

/// A page of a table: cells from its end, and so many pointers to each.
fn page(size: usize, start: usize, cells: &[Vec<u8>], pointers: usize) -> Vec<u8> {
    let mut page = vec![0; size];
    let (mut end, mut at) = (size, start + 8);
    for cell in cells {
        end -= cell.len();
        page[end..end + cell.len()].copy_from_slice(cell);
        for _ in 0..pointers {
            page[at..at + 2].copy_from_slice(&(end as u16).to_be_bytes());
            at += 2;
        }
    }
    assert!(at <= end, "the page is too small");
    page[start] = 13;
    page[start + 3..start + 5].copy_from_slice(&((cells.len() * pointers) as u16).to_be_bytes());
    page
}

fn text(words: &str) -> Value {
    Value::Text(words.to_owned())
}

/// A table on a page: its name, its columns, cells, pointers to each.
type Table<'a> = (&'a str, &'a str, Vec<Vec<u8>>, usize);

/// A database of these tables.
fn database(path: &Path, size: usize, tables: &[Table<'_>]) {
    let schema = |(number, (name, columns, ..)): (usize, &Table<'_>)| {
        let sql = format!("CREATE TABLE {name} ({columns})");
        cell(number + 1, &[text("table"), text(name), text(name), Value::Integer(number as i64 + 2), text(&sql)])
    };
    let mut bytes = page(size, 100, &tables.iter().enumerate().map(schema).collect::<Vec<_>>(), 1);
    bytes[..16].copy_from_slice(b"SQLite format 3\0");
    bytes[16..18].copy_from_slice(&(if size == 65_536 { 1 } else { size as u16 }).to_be_bytes());
    bytes[56..60].copy_from_slice(&1u32.to_be_bytes());
    tables.iter().for_each(|(_, _, cells, pointers)| bytes.extend(page(size, 0, cells, *pointers)));
    fs::write(path, bytes).expect("written");
}

#[test]
fn a_page_of_cells_that_are_one_row_takes_time_in_proportion() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("a.sqlite");
    assert_linear("bytes of a page", 65_536, |size| {
        let row = cell(1, &[text(&"x".repeat(size / 10))]);
        database(&path, size, &[("t", "a TEXT", vec![row], size / 4)]);
        let mut rows = 0;
        Database::open(&path).expect("a database").rows("t", &["a"], |_, _| rows += 1);
        assert!((1..size / 4).contains(&rows), "{rows} rows");
    });
}

#[test]
fn what_items_share_is_not_copied_without_end() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("zotero.sqlite");
    let (items, long) = (1_600, 8_000);
    let integers = |values: &[i64]| values.iter().map(|&value| Value::Integer(value)).collect::<Vec<_>>();
    let item =
        |number: usize| cell(number, &[Value::Integer(number as i64), Value::Integer(1), text(&format!("K{number}"))]);
    let datum = |number: usize| cell(number, &integers(&[number as i64, 1, 1]));
    let one = |words: &str| vec![cell(1, &[Value::Integer(1), text(words)])];
    let tables = [
        ("fields", "fieldID INT, fieldName TEXT", one("title"), 1),
        ("itemDataValues", "valueID INT, value", one(&"t".repeat(long)), 1),
        ("itemTypes", "itemTypeID INT, typeName TEXT", one("book"), 1),
        ("items", "itemID INT, itemTypeID INT, key TEXT", (1..=items).map(item).collect(), 1),
        ("itemData", "itemID INT, fieldID INT, valueID INT", (1..=items).map(datum).collect(), 1),
    ];
    database(&path, 65_536, &tables);
    let works = zotero::read(dir.path(), &mut Losses::default()).expect("a data directory").expect("a database");
    let titled = works.iter().filter(|work| work.title.is_some()).count();
    assert_eq!((works.len(), titled), (items, 16 * 6 * 65_536 / long));
}
