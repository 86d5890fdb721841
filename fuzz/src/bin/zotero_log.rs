//! The write-ahead log beside the database of Zotero: any bytes, or altered pages of the database in frames whose checksums
//! fit. Refused with an error, or sound documents; as jsonl they are the same.
#![no_main]

use std::sync::LazyLock;

use hyperdoc2vec_fuzz::Books;
use libfuzzer_sys::fuzz_target;

const DATABASE: &[u8] = include_bytes!("../../seeds/zotero/zotero.sqlite");
const HEADER: usize = 32;

static BOOKS: LazyLock<Books> = LazyLock::new(|| {
    let books = Books::new("zotero.sqlite-wal", "");
    books.place("zotero.sqlite", DATABASE);
    books
});

fuzz_target!(|bytes: &[u8]| match bytes.split_first() {
    Some((0, log)) => BOOKS.check(log),
    Some((kind, changes)) => BOOKS.check(&log(kind % 2 == 0, changes)),
    None => {}
});

/// A log with one frame for each six bytes: the page, whether a transaction ends there, where the page is changed, to what.
fn log(is_big: bool, changes: &[u8]) -> Vec<u8> {
    let size = usize::from(u16::from_be_bytes([DATABASE[16], DATABASE[17]]));
    let pages = DATABASE.len() / size;
    let mut log = Vec::with_capacity(HEADER + changes.len() / 6 * (size + 24));
    for number in [0x377f_0682 + u32::from(is_big), 3_007_000, size as u32, 0, 7, 9] {
        log.extend(number.to_be_bytes());
    }
    let mut sum = checksum(is_big, [0, 0], &log);
    log.extend(sum.iter().flat_map(|part| part.to_be_bytes()));
    for change in changes.chunks_exact(6).take(64) {
        // Pages that the database does not have yet, too.
        let number = usize::from(change[0]) % (pages + 2) + 1;
        let mut page = DATABASE.get((number - 1) * size..number * size).unwrap_or(&DATABASE[..size]).to_vec();
        let at = usize::from(u16::from_le_bytes([change[2], change[3]])) % (size - 1);
        page[at..at + 2].copy_from_slice(&change[4..]);
        let mut frame = (number as u32).to_be_bytes().to_vec();
        let length = if change[1] % 4 == 0 { 0 } else { pages as u32 + 2 };
        frame.extend(length.to_be_bytes());
        sum = checksum(is_big, checksum(is_big, sum, &frame), &page);
        frame.extend([7_u32, 9, sum[0], sum[1]].iter().flat_map(|number| number.to_be_bytes()));
        log.extend(frame);
        log.extend(page);
    }
    log
}

/// The running checksum of SQLite's log, over words of four bytes.
fn checksum(is_big: bool, mut sum: [u32; 2], bytes: &[u8]) -> [u32; 2] {
    let word = |bytes: &[u8]| {
        let four = [bytes[0], bytes[1], bytes[2], bytes[3]];
        if is_big { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) }
    };
    for pair in bytes.chunks_exact(8) {
        sum[0] = sum[0].wrapping_add(word(pair)).wrapping_add(sum[1]);
        sum[1] = sum[1].wrapping_add(word(&pair[4..])).wrapping_add(sum[0]);
    }
    sum
}
