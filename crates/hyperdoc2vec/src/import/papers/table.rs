//! The table of metadata: csv, tsv or jsonl with the columns id, title, authors, year, and some that may be there.

use std::collections::HashSet;
use std::io::{BufRead, Read};
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::document::losses::{Loss, Losses};
use crate::document::{self, Date, markup};
use crate::error::{Error, Result};
use crate::import::reference::{BibRecord, names, surname};
use crate::import::source;
use crate::import::text::collapsed;

/// The row of a paper.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) title: Option<String>,
    pub(super) authors: Vec<String>,
    pub(super) date: Option<Date>,
    pub(super) labels: Vec<String>,
    pub(super) url: Option<String>,
    pub(super) language: Option<String>,
    /// The name of its text, if the table gives it.
    pub(super) file: Option<String>,
    doi: Option<String>,
    pmid: Option<String>,
    pmcid: Option<String>,
    arxiv: Option<String>,
    acl: Option<String>,
    /// File and line.
    pub(super) place: String,
}

impl Row {
    /// Its bibliographic record, for the linker.
    pub(super) fn record(&self) -> BibRecord {
        BibRecord {
            own: None,
            doi: self.doi.clone(),
            pmid: self.pmid.clone(),
            pmcid: self.pmcid.clone(),
            arxiv: self.arxiv.clone(),
            acl: self.acl.clone(),
            title: self.title.clone(),
            year: self.date.map(Date::year),
            authors: self.authors.clone(),
            text: None,
        }
    }
}

/// Columns that are known, with the names that they may have; the first four are required.
const COLUMNS: [(&str, &[&str]); 13] = [
    ("id", &["id", "paper_id", "paperid", "paper", "key", "corpusid", "document_id", "doc_id"]),
    ("title", &["title", "paper_title", "name"]),
    ("authors", &["authors", "author", "author_names", "creators", "creator"]),
    ("year", &["year", "date", "published", "publication_year", "pub_year", "publication_date", "publicationdate"]),
    ("doi", &["doi"]),
    ("pmid", &["pmid", "pubmed_id", "pubmed"]),
    ("pmcid", &["pmcid", "pmc_id", "pmc"]),
    ("arxiv", &["arxiv", "arxiv_id"]),
    ("acl", &["acl", "acl_id", "anthology_id"]),
    ("labels", &["labels", "label", "class", "categories"]),
    ("url", &["url", "link"]),
    ("language", &["language", "lang"]),
    ("file", &["file", "filename", "file_name", "path", "text_file"]),
];
const REQUIRED: usize = 4;

/// Longest line of a table in bytes.
const LONGEST: u64 = 64 << 20;
/// A row after the last: if the last cell swallows it, a quotation mark was not closed.
const END: &str = "\u{1}end";

/// Reads a table; rows that cannot be used are counted.
pub(super) fn read(path: &Path, losses: &mut Losses) -> Result<Vec<Row>> {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let mut reader = source::open(path, Arc::default())?;
    let bare = source::split_packed(&name).0.to_lowercase();
    let json = [".jsonl", ".ndjson", ".json"].iter().any(|ending| bare.ends_with(ending));
    let head = reader.fill_buf().map_err(Error::io("read", path))?;
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    if let Some(what) = no_table(head) {
        return Err(Error::input(name, format!("expected csv, tsv or jsonl in UTF-8, found {what}")));
    }
    let mut table = TableReader { name, rows: Vec::new(), seen: HashSet::new(), losses };
    if json || head.first() == Some(&b'{') {
        table.read_json(path, reader)?;
    } else {
        let delimiter = delimiter(head, &bare);
        table.read_separated(reader, delimiter)?;
    }
    if table.rows.is_empty() {
        return Err(Error::input(table.name, "expected a row a paper, found none"));
    }
    Ok(table.rows)
}

/// The kind of file that begins in this way, if it is no text.
fn no_table(head: &[u8]) -> Option<&'static str> {
    let begins = |start: &[u8]| head.starts_with(start);
    if begins(b"PK\x03\x04") {
        Some("a spreadsheet (.xlsx, .ods) or a zip archive; save it as csv")
    } else if begins(b"\xd0\xcf\x11\xe0") {
        Some("a spreadsheet (.xls); save it as csv")
    } else if begins(b"%PDF-") {
        Some("a PDF")
    } else if begins(b"\xff\xfe") || begins(b"\xfe\xff") {
        Some("UTF-16; save it as UTF-8")
    } else if head[..head.len().min(1000)].contains(&0) {
        Some("bytes that are no UTF-8 (UTF-16, or no text)")
    } else {
        None
    }
}

/// The sign between columns, by the ending or by the first line.
fn delimiter(head: &[u8], name: &str) -> u8 {
    if [".tsv", ".tab"].iter().any(|ending| name.ends_with(ending)) {
        return b'\t';
    }
    let first = head.split(|&b| b == b'\n').next().unwrap_or_default();
    let count = |delimiter: u8| first.iter().filter(|&&b| b == delimiter).count();
    [b',', b'\t', b';'].into_iter().rev().max_by_key(|&delimiter| count(delimiter)).unwrap_or(b',')
}

/// Which known column a name means.
fn column(name: &str) -> Option<usize> {
    let name = name.trim().trim_start_matches('\u{feff}').to_lowercase().replace([' ', '-'], "_");
    COLUMNS.iter().position(|(_, names)| names.contains(&name.as_str()))
}

/// A table while it is read.
struct TableReader<'a> {
    name: String,
    rows: Vec<Row>,
    seen: HashSet<String>,
    losses: &'a mut Losses,
}

impl TableReader<'_> {
    fn read_separated(&mut self, reader: impl Read, delimiter: u8) -> Result<()> {
        let mut builder = csv::ReaderBuilder::new();
        builder.delimiter(delimiter).quoting(delimiter != b'\t').flexible(true);
        let mut reader = builder.from_reader(reader.chain("\n".as_bytes()).chain(END.as_bytes()));
        let wrong = |name: &str, error: &csv::Error| Error::input(name, format!("no table: {error}"));
        let head = reader.byte_headers().map_err(|error| wrong(&self.name, &error))?.clone();
        let names: Vec<String> = head.iter().map(|name| String::from_utf8_lossy(name).trim().to_owned()).collect();
        let mut places: [Option<usize>; COLUMNS.len()] = [None; COLUMNS.len()];
        for (at, name) in names.iter().enumerate() {
            match column(name) {
                Some(known) if places[known].is_none() => places[known] = Some(at),
                _ => self.losses.add(Loss::IgnoredField, format!("column {name:?} of {}", self.name)),
            }
        }
        self.require(|known| places[known].is_some(), &names)?;
        let mut record = csv::ByteRecord::new();
        loop {
            let line = reader.position().line();
            match reader.read_byte_record(&mut record) {
                Ok(false) => return Ok(()),
                Ok(true) if record.len() == 1 && &record[0] == END.as_bytes() => return Ok(()),
                Ok(true) => {}
                Err(error) => {
                    return Err(Error::input(format!("{}:{line}", self.name), format!("unreadable: {error}")));
                }
            }
            let line = record.position().map_or(line, csv::Position::line);
            if record.iter().any(|cell| cell.ends_with(END.as_bytes())) {
                let what = "a quotation mark opens in this row, or after it, that does not close";
                return Err(Error::input(format!("{}:{line}", self.name), what));
            }
            if let Some(wrong) = misshapen(&record, names.len()) {
                self.losses.add(Loss::MalformedRecord, format!("{}:{line}: {wrong}", self.name));
                continue;
            }
            let cell = |known: usize| {
                let bytes = places[known].and_then(|at| record.get(at)).unwrap_or_default();
                String::from_utf8_lossy(bytes).trim().to_owned()
            };
            let authors = authors(&cell(2));
            let labels =
                cell(9).split([';', '|']).map(str::trim).filter(|label| !label.is_empty()).map(str::to_owned).collect();
            self.add(line, &cell, authors, labels);
        }
    }

    fn read_json(&mut self, path: &Path, reader: Box<dyn BufRead + Send>) -> Result<()> {
        let mut reader = reader;
        let mut ignored: HashSet<String> = HashSet::new();
        let mut bytes = Vec::new();
        for line in 1.. {
            bytes.clear();
            if reader.by_ref().take(LONGEST).read_until(b'\n', &mut bytes).map_err(Error::io("read", path))? == 0 {
                break;
            }
            let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes).trim_ascii();
            if text.is_empty() {
                continue;
            }
            let place = format!("{}:{line}", self.name);
            let Ok(Value::Object(fields)) = serde_json::from_slice::<Value>(text) else {
                return Err(Error::input(place, "expected a JSON object a line, found something else"));
            };
            let mut cells: [Option<&Value>; COLUMNS.len()] = [None; COLUMNS.len()];
            for (name, value) in &fields {
                match column(name) {
                    Some(known) if cells[known].is_none() => cells[known] = Some(value),
                    _ if ignored.insert(name.clone()) => {
                        self.losses.add(Loss::IgnoredField, format!("field {name:?} of {}", self.name));
                    }
                    _ => {}
                }
            }
            if self.rows.is_empty() {
                let names: Vec<String> = fields.keys().cloned().collect();
                self.require(|known| cells[known].is_some(), &names)?;
            }
            let cell = |known: usize| cells[known].map(plain).unwrap_or_default();
            let authors = match cells[2] {
                Some(Value::Array(names)) => names.iter().map(author).filter(|name| !name.is_empty()).collect(),
                _ => authors(&cell(2)),
            };
            let labels = match cells[9] {
                Some(Value::Array(labels)) => labels.iter().map(plain).filter(|label| !label.is_empty()).collect(),
                _ => Some(cell(9)).filter(|label| !label.is_empty()).into_iter().collect(),
            };
            self.add(line, &cell, authors, labels);
        }
        Ok(())
    }

    fn require(&self, has: impl Fn(usize) -> bool, names: &[String]) -> Result<()> {
        let Some(missing) = (0..REQUIRED).find(|&known| !has(known)) else { return Ok(()) };
        let (column, known) = COLUMNS[missing];
        let (known, names) = (known.join(", "), names.join(", "));
        let what = format!("expected a column for the {column} (one of {known}), found the columns {names}");
        Err(Error::input(&self.name, what))
    }

    fn add(&mut self, line: u64, cell: &dyn Fn(usize) -> String, authors: Vec<String>, labels: Vec<String>) {
        let place = format!("{}:{line}", self.name);
        let id = cell(0);
        if id.is_empty() && (1..COLUMNS.len()).all(|known| cell(known).is_empty()) {
            return;
        }
        let wrong = if id.is_empty() { Some("is empty") } else { markup::unlinkable(&id) };
        if let Some(wrong) = wrong {
            return self.losses.add(Loss::MalformedRecord, format!("{place}: the id {id:?} {wrong}"));
        }
        if !self.seen.insert(id.clone()) {
            return self.losses.add(Loss::DuplicateId, format!("{id} ({place})"));
        }
        let filled = |known: usize| Some(cell(known)).filter(|text| !text.is_empty());
        let date = filled(3).and_then(|text| {
            let date = date(&text);
            if date.is_none() {
                self.losses.add(Loss::UnreadableDate, format!("{text:?} ({place})"));
            }
            date
        });
        self.rows.push(Row {
            title: filled(1).map(|title| collapsed(&title)),
            authors,
            date,
            labels,
            url: filled(10),
            language: filled(11).and_then(|text| document::language_tag(&text)),
            file: filled(12),
            doi: filled(4),
            pmid: filled(5),
            pmcid: filled(6),
            arxiv: filled(7),
            acl: filled(8),
            id,
            place,
        });
    }
}

/// The reason why the cells of a row do not fit the columns, if so. Empty ones at the end may be
/// missing, or too many.
fn misshapen(record: &csv::ByteRecord, columns: usize) -> Option<String> {
    let cells = record.iter().rposition(|cell| !cell.trim_ascii().is_empty()).map_or(0, |last| last + 1);
    if cells > columns {
        return Some(format!("{cells} cells, but {columns} columns (is a cell with a comma or a quote not quoted?)"));
    }
    // A cell that swallowed lines has the quotation mark at which it ended, and its row may lack cells.
    let over_lines = |cell: &[u8]| cell.trim_ascii().contains(&b'\n');
    let odd = |cell: &[u8]| cell.iter().filter(|&&b| b == b'"').count() % 2 == 1;
    let slipped = record.iter().any(|cell| over_lines(cell) && (record.len() < columns || odd(cell)));
    slipped.then(|| "a cell that goes over several lines (is a quotation mark not closed?)".to_owned())
}

/// A date, or the one year in a text: `2009-06-30`, `June 2009`, `2009.0`.
fn date(text: &str) -> Option<Date> {
    text.parse().ok().or_else(|| {
        let years = || {
            text.split(|c: char| !c.is_ascii_digit())
                .filter(|part| crate::import::reference::words::year(part).is_some())
        };
        let year = years().next().filter(|first| years().all(|year| year == *first))?;
        year.parse().ok()
    })
}

/// Family names out of a list in one cell: `Smith, J.; Doe, A.`, `J. Smith and A. Doe`, `John Smith, Anna Doe`.
fn authors(cell: &str) -> Vec<String> {
    let surnames = |names: Vec<&str>| {
        names.into_iter().map(|name| surname(name.trim()).to_owned()).filter(|name| !name.is_empty()).collect()
    };
    if cell.contains([';', '|']) {
        return surnames(cell.split([';', '|']).collect());
    }
    let pieces: Vec<&str> = cell.split(" and ").collect();
    let commas = |piece: &str| piece.matches(',').count();
    let inverted =
        |piece: &&str| commas(piece) == 1 && !piece.split(',').next().unwrap_or_default().trim().contains(' ');
    if cell.is_empty() || pieces.iter().all(|piece| commas(piece) == 0 || inverted(piece)) {
        return surnames(pieces);
    }
    let list = names::authors(cell);
    if list.end >= cell.len() { list.surnames } else { surnames(cell.split([',', '&']).collect()) }
}

/// An author as JSON has it: a name, or an object that holds one.
fn author(value: &Value) -> String {
    let field = |name: &str| value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    match value {
        Value::String(name) => surname(name).to_owned(),
        Value::Object(_) => ["last", "family", "surname", "last_name"]
            .iter()
            .find_map(|name| field(name))
            .map(str::to_owned)
            .or_else(|| field("name").map(|name| surname(name).to_owned()))
            .unwrap_or_default(),
        _ => String::new(),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join("; "),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, text: &str) -> (Result<Vec<Row>>, Losses) {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join(name);
        std::fs::write(&path, text).expect("written");
        let mut losses = Losses::default();
        (read(&path, &mut losses), losses)
    }

    #[test]
    fn csv_tsv_and_jsonl_say_the_same() {
        let csv = "ID,Title,Author,Date\nP1,\"Rivers, and tides\",\"Lindqvist, M.; Tal, O.\",2016\n";
        let tsv = "paper_id\ttitle\tauthors\tyear\nP1\tRivers, and tides\tM. Lindqvist and O. Tal\t2016\n";
        let semicolons = "id;title;authors;year\nP1;Rivers, and tides;Marta Lindqvist, Oren Tal;2016.0\n";
        let jsonl = r#"{"id": "P1", "title": "Rivers, and tides", "authors": ["Marta Lindqvist", {"last": "Tal"}], "year": 2016}"#;
        for (name, text) in [("t.csv", csv), ("t.tsv", tsv), ("t.txt", semicolons), ("t.jsonl", jsonl)] {
            let (rows, losses) = table(name, text);
            let rows = rows.expect(name);
            assert_eq!((rows[0].id.as_str(), rows[0].title.as_deref()), ("P1", Some("Rivers, and tides")), "{name}");
            assert_eq!(rows[0].authors, ["Lindqvist", "Tal"], "{name}");
            assert_eq!(rows[0].date.map(Date::year), Some(2016), "{name}");
            assert!(losses.is_empty(), "{name}: {losses:?}");
        }
    }

    #[test]
    fn a_missing_column_is_named_with_those_that_are_there() {
        let error = table("t.csv", "id,title,when\n1,2,3\n").0.expect_err("no authors").to_string();
        assert!(error.contains("authors") && error.contains("id, title, when"), "{error}");
        let error = table("t.jsonl", "{\"title\": \"x\"}\n").0.expect_err("no id").to_string();
        assert!(error.contains("column for the id"), "{error}");
        assert!(table("t.csv", "").0.is_err() && table("t.csv", "id,title,authors,year\n").0.is_err());
        assert!(table("t.jsonl", "{\"id\": \"a\", \"ti").0.is_err());
    }

    #[test]
    fn what_is_no_table_is_named() {
        for (start, kind) in [
            (&b"PK\x03\x04\x14"[..], ".xlsx"),
            (b"\xd0\xcf\x11\xe0\xa1", ".xls"),
            (b"\xff\xfei\0d\0", "UTF-16"),
            (b"i\0d\0,\0", "UTF-16"),
            (b"%PDF-1.4", "PDF"),
        ] {
            let dir = tempfile::tempdir().expect("a directory");
            let path = dir.path().join("table.csv");
            std::fs::write(&path, start).expect("written");
            let error = read(&path, &mut Losses::default()).expect_err(kind).to_string();
            assert!(error.contains(kind), "{kind}: {error}");
        }
    }

    #[test]
    fn rows_whose_cells_slipped_are_left_out_and_named() {
        let head = "id,title,authors,year\n";
        let (rows, losses) = table("t.csv", &format!("{head}a,One, two,Doe,2001\nb,Two,Doe,2001,,\nc,Three\n"));
        assert_eq!(rows.expect("rows").iter().map(|row| row.id.clone()).collect::<Vec<_>>(), ["b", "c"]);
        let sample = &losses.iter().next().expect("a loss").1.samples[0];
        assert!(sample.starts_with("t.csv:2: 5 cells, but 4 columns"), "{sample}");
        // The mark that opens in one row is closed by the next that opens.
        let slipped = format!("{head}a,\"One,Doe,2001\nb,\"Two\",Doe,2001\nc,Three,Doe,2001\n");
        let (rows, losses) = table("t.csv", &slipped);
        assert_eq!(rows.expect("rows").iter().map(|row| row.id.clone()).collect::<Vec<_>>(), ["c"]);
        assert_eq!(losses.count(Loss::MalformedRecord), 1);
        // A line break inside a cell is good.
        let (rows, losses) = table("t.csv", &format!("{head}a,\"One\ntwo\",Doe,2001\n"));
        assert_eq!((rows.expect("rows")[0].title.as_deref(), losses.is_empty()), (Some("One two"), true));
    }

    #[test]
    fn a_quote_that_never_closes_is_an_error_with_its_line() {
        let text = "id,title,authors,year\na,One,Doe,2001\nb,\"Two,Doe,2001\nc,Three,Doe,2001\n";
        let error = table("t.csv", text).0.expect_err("not closed").to_string();
        assert!(error.starts_with("t.csv:3: a quotation mark"), "{error}");
    }

    #[test]
    fn doubtful_rows_are_counted() {
        let text = "id,title,authors,year,shelf\na,A title,,soon,3\na,Again,,2001,3\n,Nameless,,2001,3\nx|y,Odd,,2001,3\n\nb,B,,June 2009,3\n";
        let (rows, losses) = table("t.csv", text);
        let rows = rows.expect("rows");
        assert_eq!(rows.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!((rows[0].date, rows[1].date.map(Date::year)), (None, Some(2009)));
        let counts = [Loss::UnreadableDate, Loss::DuplicateId, Loss::MalformedRecord, Loss::IgnoredField]
            .map(|loss| losses.count(loss));
        assert_eq!(counts, [1, 1, 2, 1]);
    }
}
