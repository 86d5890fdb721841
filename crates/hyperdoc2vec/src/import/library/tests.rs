//! Libraries read; bibliographies made to be slow: time grows with their length, and not with its square; and no short file becomes a
//! long library.

use std::fs;
use std::path::Path;

use super::sqlite::{Database, Value};
use super::work::Work;
use super::*;
use crate::tests::growth::assert_linear;

/// A PDF with a page for each text, a line for each of its lines.
fn pdf(pages: &[&str]) -> Vec<u8> {
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        String::new(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    let mut kids = String::new();
    for text in pages {
        let show = |line: &str| format!("({}) Tj T*\n", line.replace(['(', ')'], ""));
        let lines: String = text.lines().map(show).collect();
        let stream = format!("BT /F1 10 Tf 12 TL 50 750 Td\n{lines}ET");
        objects.push(format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()));
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {} 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
            objects.len()
        ));
        kids.push_str(&format!("{} 0 R ", objects.len()));
    }
    objects[1] = format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", pages.len());
    let (mut out, mut places) = (b"%PDF-1.4\n".to_vec(), Vec::new());
    for (number, object) in objects.iter().enumerate() {
        places.push(out.len());
        out.extend(format!("{} 0 obj\n{object}\nendobj\n", number + 1).into_bytes());
    }
    let start = out.len();
    let table: String = places.iter().map(|place| format!("{place:010} 00000 n \n")).collect();
    let size = objects.len() + 1;
    out.extend(format!("xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n").into_bytes());
    out
}

const BODY: &str = "The tides of the northern sea and their causes\nAnn Doe\nAbstract\nWater rises and falls with the moon, as was shown by others before us.\n\
                    We follow the axioms of programs [1] and the order of events [2], and go on.\n";
const LIST: &str = "References\n[1] C. A. R. Hoare. An axiomatic basis for computer programming. Communications, 1969.\n\
                    [2] L. Lamport. Time, clocks, and the ordering of events in a distributed system. Communications, 1978.\n";

fn import(format: Format, dir: &Path, input: &str, options: &ImportOptions) -> Result<Parsed> {
    let library = Library::open(format, &[dir.join(input)], options, &mut |_| Ok(()))?;
    Ok(library.parse(0..library.len()))
}

fn shown(parsed: &Parsed) -> Vec<String> {
    let targets = |document: &Document| document.links.iter().flat_map(|link| link.targets.clone()).collect::<Vec<_>>();
    parsed
        .batch
        .documents
        .iter()
        .map(|document| format!("{} -> {}", document.id, targets(document).join(" ")))
        .collect()
}

const BIB: &str = "@article{doe, title={The tides of the northern sea and their causes}, author={Doe, Ann}, year=2001, file={:files/tides.pdf:PDF}}\n\
                   @article{hoare, title={An Axiomatic Basis for Computer Programming}, author={Hoare, C. A. R.}, year={1969}, abstract={Axioms.}, keywords={logic}}\n\
                   @article{gone, title={A work whose file is gone}, year=1999, file={gone.pdf}}\n\
                   @article{doe, title={Another of this key}}\n";

#[test]
fn a_library_has_works_with_and_without_files_and_works_that_are_cited() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir(dir.path().join("files")).expect("made");
    fs::write(dir.path().join("files/tides.pdf"), pdf(&[BODY, LIST])).expect("written");
    fs::write(dir.path().join("refs.bib"), BIB).expect("written");
    let parsed = import(Format::Library, dir.path(), "refs.bib", &ImportOptions::default()).expect("a library");
    assert_eq!(shown(&parsed), ["doe -> hoare lamport1978time", "hoare -> ", "gone -> ", "lamport1978time -> "]);
    let [doe, hoare, _, cited] = &parsed.batch.documents[..] else { panic!("four documents") };
    assert!(doe.text.contains("Water rises and falls") && !doe.text.contains("1969"), "{}", doe.text);
    assert_eq!(hoare.text, "An Axiomatic Basis for Computer Programming\nAxioms.\nlogic");
    assert_eq!((hoare.authors.concat(), cited.labels.concat()), ("C. A. R. Hoare".into(), CITED_ONLY.into()));
    let count = |loss| parsed.batch.losses.count(loss);
    assert_eq!((count(Loss::MissingFile), count(Loss::DuplicateId)), (1, 1));
    let alone = ImportOptions { cited_works: Some(false), ..ImportOptions::default() };
    let parsed = import(Format::Library, dir.path(), "refs.bib", &alone).expect("a library");
    assert_eq!(shown(&parsed), ["doe -> hoare", "hoare -> ", "gone -> "]);
}

#[test]
fn files_without_a_name_in_the_bibliography_are_found_by_what_they_say() {
    let dir = tempfile::tempdir().expect("a directory");
    fs::create_dir(dir.path().join("pdfs")).expect("made");
    fs::write(dir.path().join("pdfs/1234.pdf"), pdf(&[BODY, LIST])).expect("written");
    fs::write(dir.path().join("pdfs/other.txt"), "Nothing that is in the library.").expect("written");
    fs::write(dir.path().join("refs.bib"), BIB.replace("files/tides.pdf", "")).expect("written");
    let options = ImportOptions { files: vec![dir.path().join("pdfs")], ..ImportOptions::default() };
    let parsed = import(Format::Library, dir.path(), "refs.bib", &options).expect("a library");
    assert_eq!(shown(&parsed)[0], "doe -> hoare lamport1978time");
    assert_eq!(parsed.batch.losses.count(Loss::TextWithoutRow), 1);
}

#[test]
fn pdfs_link_by_the_titles_they_begin_with_and_bad_ones_are_named() {
    let dir = tempfile::tempdir().expect("a directory");
    let list = "References\n[1] A. Doe. The tides of the northern sea and their causes. Waters, 2001.\n";
    let body = "On measuring tides in harbours\nJan Roe\nAbstract\nWe measure what others have only described in many words [1] before.\n";
    let whole = pdf(&[BODY, LIST]);
    fs::write(dir.path().join("a.pdf"), &whole).expect("written");
    fs::write(dir.path().join("b.pdf"), pdf(&[body, list])).expect("written");
    fs::write(dir.path().join("cut.pdf"), &whole[..whole.len() / 3]).expect("written");
    fs::write(dir.path().join("empty.pdf"), "").expect("written");
    fs::write(dir.path().join("page.pdf"), "<html>").expect("written");
    fs::write(dir.path().join("scan.pdf"), pdf(&["", "1", "2"])).expect("written");
    let parsed = import(Format::Pdf, dir.path(), "", &ImportOptions::default()).expect("PDFs");
    let links = shown(&parsed);
    assert_eq!(links[..2], ["a -> ", "b -> a"], "{links:?}");
    let [cited, citing] = &parsed.batch.documents[..2] else { panic!("two papers") };
    assert_eq!(citing.title.as_deref(), Some("On measuring tides in harbours"));
    let year = cited.date.map(crate::document::Date::year);
    assert_eq!((&*cited.authors, year), (&["Doe".to_owned()][..], Some(2001)), "as the other cites it");
    assert_eq!(parsed.batch.losses.count(Loss::UnreadFile), 3);
    assert!(parsed.batch.losses.count(Loss::LittleText) >= 1);
    assert_eq!(parsed.batch.losses.count(Loss::TitleOnly), 0, "they have no title, either");
}

#[test]
fn a_file_that_goes_away_between_two_looks_is_named() {
    let dir = tempfile::tempdir().expect("a directory");
    let tides = dir.path().join("tides.txt");
    fs::write(&tides, BODY).expect("written");
    fs::write(dir.path().join("refs.bib"), BIB.replace(":files/tides.pdf:PDF", "tides.txt")).expect("written");
    let inputs = [dir.path().join("refs.bib")];
    let library =
        Library::open(Format::Library, &inputs, &ImportOptions::default(), &mut |_| Ok(())).expect("a library");
    fs::remove_file(&tides).expect("removed");
    let losses = library.parse(0..library.len()).batch.losses;
    assert_eq!(losses.count(Loss::UnreadFile), 1, "{losses:?}");
}

#[test]
fn a_bibliography_in_latin_1_is_read_and_what_is_none_is_told() {
    let dir = tempfile::tempdir().expect("a directory");
    let write = |name: &str, bytes: &[u8]| fs::write(dir.path().join(name), bytes).expect("written");
    write("latin.bib", b"@book{a, title={\xdcber Gezeiten}, author={M\xfcller, A.}, year=1999}");
    let parsed = import(Format::Library, dir.path(), "latin.bib", &ImportOptions::default()).expect("a library");
    assert_eq!(parsed.batch.documents[0].title.as_deref(), Some("Über Gezeiten"));
    assert_eq!(parsed.batch.losses.count(Loss::ReplacedBytes), 1);
    write("empty.bib", b"");
    write("words.txt", b"no entries at all");
    write("broken.json", b"[{\"id\": ");
    for (name, word) in
        [("empty.bib", "@article"), ("words.txt", "@article"), ("broken.json", "CSL-JSON"), ("", "zotero.sqlite")]
    {
        let error =
            import(Format::Library, dir.path(), name, &ImportOptions::default()).map(|_| ()).expect_err("no works");
        assert!(error.to_string().contains(word), "{name}: {error}");
    }
}

/// Entries as they stand in 82 real papers: the work of the library that each means, read by a person.
#[test]
fn references_of_real_papers_are_linked_and_to_the_right_works() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/library");
    let rows = |name: &str| {
        let text = fs::read_to_string(data.join(name)).expect("a table");
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    let mut catalogue = CatalogueBuilder::default();
    for row in rows("works.tsv") {
        let work = Work {
            key: row[0].clone(),
            authors: row[1].split("; ").map(str::to_owned).collect(),
            date: work::date(&row[2]),
            title: Some(row[3].clone()),
            ..Work::default()
        };
        catalogue.add(&work.key, &work.record());
    }
    let catalogue = catalogue.finish();
    let (mut meant, mut right, mut wrong) = (0, 0, 0);
    for row in rows("references.tsv") {
        let found = catalogue.look_up(&BibRecord::read(&row[2])).ok().map(|found| catalogue.id(found.document));
        let expected = Some(row[1].as_str()).filter(|key| *key != "-");
        meant += usize::from(expected.is_some());
        right += usize::from(found.is_some() && found == expected);
        wrong += usize::from(found.is_some() && found != expected);
        if found != expected {
            eprintln!("{} → {expected:?}, found {found:?}: {}", row[0], row[2]);
        }
    }
    eprintln!("recall {right} of {meant}, wrong {wrong}");
    assert_eq!((meant, wrong), (60, 0));
    assert!(right * 100 >= meant * 95, "{right} of {meant}");
}

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
    let found = |entries: Vec<BibRecord>| {
        cited::works(entries.iter(), &[], &Catalogue::default(), &mut HashSet::new()).works.len()
    };
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
fn cite_keys_of_better_bibtex_and_creators_of_each_kind_are_read() {
    let dir = tempfile::tempdir().expect("a directory");
    let numbers = |number: usize, values: &[i64]| {
        cell(number, &values.iter().map(|&value| Value::Integer(value)).collect::<Vec<_>>())
    };
    let named = |names: &[&str]| {
        let row = |(at, name): (usize, &&str)| cell(at + 1, &[Value::Integer(at as i64 + 1), text(name)]);
        names.iter().enumerate().map(row).collect::<Vec<_>>()
    };
    let item =
        |number: usize| cell(number, &[Value::Integer(number as i64), Value::Integer(1), text(&format!("K{number}"))]);
    let person = |(at, name): (usize, &&str)| cell(at + 1, &[Value::Integer(at as i64 + 1), text(""), text(name)]);
    // Item, person, kind, place: an inventor and a lawyer; an editor before an author; an editor of two.
    let creators = [[1, 1, 3, 0], [1, 2, 4, 1], [2, 3, 2, 0], [2, 4, 1, 1], [3, 3, 2, 0], [3, 1, 2, 1], [3, 2, 5, 2]];
    let tables: [Table<'_>; 9] = [
        ("fields", "fieldID INT, fieldName TEXT", named(&["title"]), 1),
        ("itemDataValues", "valueID INT, value", named(&["A <i>buoy</i>", "Rivers &amp; harbours"]), 1),
        ("itemTypes", "itemTypeID INT, typeName TEXT", named(&["book"]), 1),
        ("items", "itemID INT, itemTypeID INT, key TEXT", (1..=3).map(item).collect(), 1),
        ("itemData", "itemID INT, fieldID INT, valueID INT", vec![numbers(1, &[1, 1, 1]), numbers(2, &[2, 1, 2])], 1),
        (
            "creators",
            "creatorID INT, firstName TEXT, lastName TEXT",
            ["Ventor", "Torney", "Ditor", "Thor"].iter().enumerate().map(person).collect(),
            1,
        ),
        (
            "creatorTypes",
            "creatorTypeID INT, creatorType TEXT",
            named(&["author", "editor", "inventor", "attorneyAgent", "seriesEditor"]),
            1,
        ),
        (
            "itemCreators",
            "itemID INT, creatorID INT, creatorTypeID INT, orderIndex INT",
            creators.iter().enumerate().map(|(at, row)| numbers(at + 1, row)).collect(),
            1,
        ),
        ("itemTags", "itemID INT, tagID INT", Vec::new(), 1),
    ];
    database(&dir.path().join("zotero.sqlite"), 4_096, &tables);
    let key = |number: usize, item: i64, own: &str, key: &str| {
        cell(number, &[Value::Integer(item), text(own), text(key), Value::Integer(1)])
    };
    // The second row is of another library's item.
    let keys = vec![key(1, 1, "K1", "ventor1990buoy"), key(2, 2, "K9", "wrong")];
    let columns = "itemID, itemKey, citationKey, pinned";
    database(&dir.path().join("better-bibtex.sqlite"), 4_096, &[("citationkey", columns, keys, 1)]);
    let parsed = import(Format::Library, dir.path(), "", &ImportOptions::default()).expect("a library");
    let shown = parsed.batch.documents.iter().map(|document| {
        format!("{}|{}|{}", document.id, document.title.as_deref().unwrap_or_default(), document.authors.join(", "))
    });
    let shown: Vec<String> = shown.collect();
    assert_eq!(shown, ["ventor1990buoy|A buoy|Ventor", "K2|Rivers & harbours|Thor", "K3||Ditor, Ventor"]);
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
