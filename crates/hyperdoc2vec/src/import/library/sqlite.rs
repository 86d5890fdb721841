//! The tables of an SQLite database, read from the bytes of its file: no locks, no writes, no SQL.
//!
//! Zotero holds its database locked while it runs, and its users should not have to end it. Reading tables takes
//! one page of code, and no library in C that opens files of strangers. The layout: <https://www.sqlite.org/fileformat2.html>.
//! Changes that stand in a write-ahead log beside it are read, too (`log`).
//! Damage costs the rows behind it, which are counted by nobody: a page that is none ends its branch.

use std::cell::Cell;
use std::collections::HashMap;
use std::path::Path;

use super::log::WriteAheadLog;
use crate::import::source::read_file;

/// Larger databases are not read.
const LARGEST: u64 = 4 << 30;
/// How often a database is read that changes meanwhile.
const TRIES: usize = 5;
/// Deeper trees of pages do not occur.
const DEEPEST: usize = 24;
/// Longer values do not occur in bibliographies.
const LONGEST: usize = 16 << 20;

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
}

impl Value {
    pub(super) fn integer(&self) -> Option<i64> {
        match self {
            Value::Integer(number) => Some(*number),
            Value::Real(number) => Some(*number as i64),
            Value::Text(text) => text.trim().parse().ok(),
            Value::Null => None,
        }
    }

    pub(super) fn text(&self) -> Option<String> {
        match self {
            Value::Text(text) => Some(text.clone()),
            Value::Integer(number) => Some(number.to_string()),
            Value::Real(number) => Some(number.to_string()),
            Value::Null => None,
        }
    }
}

/// A row: columns by their place, of which an integer primary key has the number of the row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SqlRow {
    pub(super) number: i64,
    values: Vec<Value>,
}

/// A database in memory.
pub(super) struct Database {
    bytes: Vec<u8>,
    page: usize,
    usable: usize,
    /// Pages that are newer than those of the file.
    log: WriteAheadLog,
    /// The first page of each table, and its columns.
    tables: HashMap<String, (u32, Vec<String>)>,
    /// Bytes of rows that are still read: in a damaged file, many may lead to the same ones.
    patience: Cell<usize>,
}

impl Database {
    /// Reads the file; an error is the reason why it is no database.
    pub(super) fn open(path: &Path) -> Result<Database, String> {
        let mut tries = TRIES;
        let (bytes, log) = loop {
            let before = WriteAheadLog::bytes_beside(path);
            let bytes = read_file(path, LARGEST).map_err(|error| error.to_string())?;
            let log = WriteAheadLog::bytes_beside(path);
            tries -= 1;
            // If the log was taken up and begun anew meanwhile, changes may be in neither.
            if WriteAheadLog::is_continued(&before, &log) || tries == 0 {
                break (bytes, log);
            }
        };
        let bytes = bytes.ok_or("expected a database of at most 4 GB, found more")?;
        if !bytes.starts_with(b"SQLite format 3\0") || bytes.len() < 512 {
            return Err("expected an SQLite database, found another file".to_owned());
        }
        let page = match u16::from_be_bytes([bytes[16], bytes[17]]) {
            1 => 65_536,
            size => usize::from(size),
        };
        if !page.is_power_of_two() || page < 512 {
            return Err("the database is damaged".to_owned());
        }
        if bytes[56..60] != [0, 0, 0, 1] {
            return Err("expected a database in UTF-8".to_owned());
        }
        let usable = page.saturating_sub(usize::from(bytes[20])).max(480);
        let log = WriteAheadLog::read(log, page);
        let patience = Cell::new(4 * (bytes.len() + log.len() * page));
        let mut database = Database { bytes, page, usable, log, tables: HashMap::new(), patience };
        let mut tables = HashMap::new();
        database.walk(1, &mut |row| {
            let text = |at: usize| row.values.get(at).and_then(Value::text);
            if let (Some("table"), Some(name), Some(root), Some(sql)) =
                (text(0).as_deref(), text(1), row.values.get(3).and_then(Value::integer), text(4))
            {
                tables.insert(name.to_lowercase(), (u32::try_from(root).unwrap_or(0), columns(&sql)));
            }
        });
        database.tables = tables;
        Ok(database)
    }

    /// Every row of a table, with the values of these columns; nothing if there is no such table.
    pub(super) fn rows(&self, table: &str, wanted: &[&str], mut each: impl FnMut(i64, Vec<Value>)) {
        let Some((root, columns)) = self.tables.get(&table.to_lowercase()) else { return };
        let places: Vec<Option<usize>> =
            wanted.iter().map(|name| columns.iter().position(|column| column.eq_ignore_ascii_case(name))).collect();
        self.walk(*root, &mut |row| {
            let value =
                |place: &Option<usize>| place.and_then(|place| row.values.get(place)).cloned().unwrap_or(Value::Null);
            each(row.number, places.iter().map(value).collect());
        });
    }

    /// Bytes of the file and of its log.
    pub(super) fn size(&self) -> usize {
        self.bytes.len() + self.log.len() * self.page
    }

    fn page(&self, number: u32) -> Option<&[u8]> {
        let start = (number as usize).checked_sub(1)?.checked_mul(self.page)?;
        self.log.page(number).or_else(|| self.bytes.get(start..start + self.page))
    }

    /// The rows of the tree of pages that begins at a page, in order.
    fn walk(&self, root: u32, each: &mut dyn FnMut(&SqlRow)) {
        let mut left = self.bytes.len() / self.page + self.log.len() + 1;
        let mut open = vec![(root, 0)];
        while let Some((number, depth)) = open.pop() {
            // A page that comes twice would go round in a circle.
            left = match left.checked_sub(1) {
                Some(left) => left,
                None => return,
            };
            let Some(page) = self.page(number).filter(|_| depth < DEEPEST) else { continue };
            let start = if number == 1 { 100 } else { 0 };
            let two = |at: usize| page.get(at..at + 2).map(|b| usize::from(u16::from_be_bytes([b[0], b[1]])));
            let four = |at: usize| page.get(at..at + 4).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]));
            let Some(cells) = two(start + 3) else { continue };
            let (kind, first) = (page[start], start + if page[start] == 5 { 12 } else { 8 });
            let places = (0..cells).map_while(|cell| two(first + 2 * cell)).filter(|&at| at < page.len());
            match kind {
                5 => {
                    let below: Vec<u32> = places.filter_map(&four).chain(four(start + 8)).collect();
                    open.extend(below.into_iter().rev().map(|page| (page, depth + 1)));
                }
                13 => places.filter_map(|at| self.row(&page[at..])).for_each(|row| each(&row)),
                _ => {}
            }
        }
    }

    /// The row whose cell begins here.
    fn row(&self, cell: &[u8]) -> Option<SqlRow> {
        let (size, at) = varint(cell)?;
        let (number, more) = varint(&cell[at..])?;
        let rest = &cell[at + more..];
        let size = usize::try_from(size).ok().filter(|&size| size <= LONGEST)?;
        let most = self.usable - 35;
        let local = if size <= most {
            size
        } else {
            let least = (self.usable - 12) * 32 / 255 - 23;
            let fits = least + (size - least) % (self.usable - 4);
            if fits <= most { fits } else { least }
        };
        self.patience.set(self.patience.get().checked_sub(size)?);
        let mut payload = rest.get(..local)?.to_vec();
        let mut next = if local < size { rest.get(local..local + 4)? } else { &[0; 4] };
        while payload.len() < size {
            let page = self.page(u32::from_be_bytes([next[0], next[1], next[2], next[3]]))?;
            let piece = &page[4..self.usable.min(page.len())];
            payload.extend_from_slice(&piece[..piece.len().min(size - payload.len())]);
            next = &page[..4];
        }
        Some(SqlRow { number, values: values(&payload, number)? })
    }
}

/// The values of a record.
fn values(record: &[u8], number: i64) -> Option<Vec<Value>> {
    let (header, mut at) = varint(record)?;
    let header = usize::try_from(header).ok().filter(|&header| header <= record.len())?;
    let mut body = header;
    let mut values = Vec::new();
    while at < header {
        let (kind, length) = varint(&record[at..header])?;
        at += length;
        let size = match kind {
            0 | 8 | 9 => 0,
            1..=4 => kind as usize,
            5 => 6,
            6 | 7 => 8,
            12.. => usize::try_from((kind - 12) / 2).ok()?,
            _ => return None,
        };
        let bytes = record.get(body..body.checked_add(size)?)?;
        body += size;
        let whole = || {
            bytes.iter().fold(if bytes.first().is_some_and(|b| b & 128 > 0) { -1i64 } else { 0 }, |sum, &b| {
                sum << 8 | i64::from(b)
            })
        };
        values.push(match kind {
            0 => Value::Null,
            1..=6 => Value::Integer(whole()),
            7 => Value::Real(f64::from_bits(whole() as u64)),
            8 => Value::Integer(0),
            9 => Value::Integer(1),
            kind if kind % 2 == 1 => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
            _ => Value::Null,
        });
    }
    // An integer primary key is written as nothing: it is the number of the row.
    if let Some(first @ Value::Null) = values.first_mut() {
        *first = Value::Integer(number);
    }
    Some(values)
}

/// A number of one to nine bytes, and how many they are.
fn varint(bytes: &[u8]) -> Option<(i64, usize)> {
    let mut number = 0i64;
    for (at, &byte) in bytes.iter().take(9).enumerate() {
        if at == 8 {
            return Some((number << 8 | i64::from(byte), 9));
        }
        number = number << 7 | i64::from(byte & 127);
        if byte & 128 == 0 {
            return Some((number, at + 1));
        }
    }
    None
}

/// The names of the columns in `CREATE TABLE name (a INT, b, PRIMARY KEY (a))`.
fn columns(sql: &str) -> Vec<String> {
    let sql = sql.lines().map(|line| line.split("--").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    let Some(open) = sql.find('(') else { return Vec::new() };
    let mut columns = Vec::new();
    let (mut depth, mut start) = (0, open + 1);
    let inner = &sql[open..];
    for (at, c) in inner.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if (c == ',' && depth == 1) || (c == ')' && depth == 0) {
            let words = sql[start..open + at].trim();
            let name = words.split(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
            let name = name.trim_matches(['"', '`', '\'', '[', ']']);
            let rule = ["primary", "foreign", "unique", "check", "constraint"];
            if !rule.contains(&name.to_lowercase().as_str()) {
                columns.push(name.to_owned());
            }
            start = open + at + 1;
        }
        if depth == 0 {
            break;
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_records_and_columns_are_read() {
        assert_eq!(varint(&[0x7f]), Some((127, 1)));
        assert_eq!(varint(&[0x81, 0x00]), Some((128, 2)));
        assert_eq!(varint(&[0xff; 9]), Some((-1, 9)));
        assert_eq!(varint(&[0x80]), None);
        let record = [5, 0, 1, 2, 15, 0xfe, 1, 2, b'x'];
        let found = values(&record, 7).expect("a record");
        assert_eq!(found, [Value::Integer(7), Value::Integer(-2), Value::Integer(258), Value::Text("x".into())]);
        let sql = "CREATE TABLE t (\n  a INTEGER PRIMARY KEY, -- (one, two)\n \"b\" TEXT DEFAULT (1, 2),\n c, UNIQUE (b, c), FOREIGN KEY (c) REFERENCES u(c))";
        assert_eq!(columns(sql), ["a", "b", "c"]);
    }
}
