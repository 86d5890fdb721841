//! Many strings as one run of bytes: numbered as they come, or mapped from a file.
//!
//! Ours, because the tables of interner crates cannot be mapped from a file, and words are nearly all so short that a
//! table which holds them whole saves a cache miss on each.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

/// Gives each distinct string a number, counting from 0 in the order of first sight.
#[derive(Debug, Default)]
pub struct Interner {
    bytes: Vec<u8>,
    ends: Vec<u64>,
    short: ShortTable,
    long: HashTable<u32>,
    /// Whether short strings are found by the smaller table, too.
    compact: bool,
    /// Slots of the larger table beyond which that is so.
    most_slots: Slots,
}

/// Strings of up to 16 bytes, nearly all words, whole in a table with open addressing: one look, and nowhere else.
#[derive(Debug, Default)]
struct ShortTable {
    slots: Vec<Short>,
    used: usize,
}

/// How large a [`ShortTable`] may grow.
#[derive(Debug, Clone, Copy)]
struct Slots(usize);

impl Default for Slots {
    /// 67 MB, for 1.4 million short strings: a table of that size is no longer fast enough to be worth its memory.
    fn default() -> Slots {
        Slots(1 << 21)
    }
}

/// How many strings [`Interner::intern_all`] looks up together.
const TOGETHER: usize = 32;

/// The length in an empty slot.
const EMPTY: u32 = u32::MAX;

/// A string of up to 16 bytes and its number.
#[derive(Debug, Clone, Copy)]
struct Short {
    key: ShortKey,
    number: u32,
}

/// The first and the last eight bytes, which overlap in shorter strings, and the length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ShortKey {
    first: u64,
    last: u64,
    length: u32,
}

impl ShortKey {
    fn new(text: &[u8]) -> Option<ShortKey> {
        let (first, last) = match text.len() {
            0 => (0, 0),
            1..4 => (u64::from(text[0]) | u64::from(text[text.len() / 2]) << 8, u64::from(text[text.len() - 1])),
            4..8 => {
                let four = |bytes: &[u8; 4]| u64::from(u32::from_le_bytes(*bytes));
                (four(text.first_chunk()?), four(text.last_chunk()?))
            }
            8..=16 => (u64::from_le_bytes(*text.first_chunk()?), u64::from_le_bytes(*text.last_chunk()?)),
            _ => return None,
        };
        Some(ShortKey { first, last, length: text.len() as u32 })
    }

    fn hash(self) -> usize {
        let product = u128::from(self.first ^ 0x9e37_79b9_7f4a_7c15)
            * u128::from(self.last.rotate_left(self.length) ^ 0xbf58_476d_1ce4_e5b9);
        product as usize ^ (product >> 64) as usize
    }
}

impl ShortTable {
    /// Whether it must grow before it takes another string.
    fn is_full(&self) -> bool {
        self.used * 3 >= self.slots.len() * 2
    }

    /// The number of `key`: `next` if it is new.
    fn number(&mut self, key: ShortKey, next: u32) -> u32 {
        if self.is_full() {
            let empty = Short { key: ShortKey { first: 0, last: 0, length: EMPTY }, number: 0 };
            let larger = vec![empty; (self.slots.len() * 2).max(16)];
            let smaller = std::mem::replace(&mut self.slots, larger);
            for known in smaller.into_iter().filter(|known| known.key.length != EMPTY) {
                *self.slot(known.key) = known;
            }
        }
        let slot = self.slot(key);
        if slot.key.length == EMPTY {
            *slot = Short { key, number: next };
            self.used += 1;
            return next;
        }
        slot.number
    }

    /// The number in the slot where `key` is looked for first.
    fn peek(&self, key: ShortKey) -> Option<u32> {
        self.slots.get(key.hash() & self.slots.len().wrapping_sub(1)).map(|slot| slot.number)
    }

    /// The slot that holds `key`, or the empty one where it belongs.
    fn slot(&mut self, key: ShortKey) -> &mut Short {
        let last = self.slots.len() - 1;
        let mut at = key.hash() & last;
        while self.slots[at].key != key && self.slots[at].key.length != EMPTY {
            at = (at + 1) & last;
        }
        &mut self.slots[at]
    }
}

/// Bytes of string `index` in a run of strings with these ends.
fn slice<'a>(bytes: &'a [u8], ends: &[u64], index: usize) -> &'a [u8] {
    let start = if index == 0 { 0 } else { ends[index - 1] as usize };
    &bytes[start..ends[index] as usize]
}

impl Interner {
    /// Frees what is needed to find strings; from here on they are known by their numbers only.
    pub fn forget_index(&mut self) {
        (self.short, self.long) = (ShortTable::default(), HashTable::new());
    }

    /// The number of `text`, a new one if it is new.
    pub fn intern(&mut self, text: &str) -> u32 {
        self.intern_bytes(text.as_bytes())
    }

    fn intern_bytes(&mut self, text: &[u8]) -> u32 {
        if self.short.is_full() && self.short.slots.len() >= self.most_slots.0 {
            self.become_compact();
        }
        let Interner { bytes, ends, short, long, compact, .. } = self;
        let next = ends.len() as u32;
        let number = if let Some(key) = ShortKey::new(text).filter(|_| !*compact) {
            short.number(key, next)
        } else {
            let entry = long.entry(
                xxh3_64(text),
                |&known| slice(bytes, ends, known as usize) == text,
                |&known| xxh3_64(slice(bytes, ends, known as usize)),
            );
            *entry.or_insert(next).get()
        };
        if number == next {
            bytes.extend_from_slice(text);
            ends.push(bytes.len() as u64);
        }
        number
    }

    /// Moves the short strings to the table of the long ones, which needs a sixth of the memory and is slower.
    fn become_compact(&mut self) {
        let Interner { bytes, ends, short, long, .. } = self;
        let hash = |&known: &u32| xxh3_64(slice(bytes, ends, known as usize));
        long.reserve(short.used * 2, hash);
        for known in std::mem::take(short).slots.into_iter().filter(|known| known.key.length != EMPTY) {
            long.insert_unique(hash(&known.number), known.number, hash);
        }
        self.compact = true;
    }

    /// The numbers that the strings of `other` have here, new ones where they are new.
    pub fn intern_all(&mut self, other: &Interner) -> Vec<u32> {
        let string = |number| slice(&other.bytes, &other.ends, number);
        let mut numbers = Vec::with_capacity(other.len());
        for first in (0..other.len()).step_by(TOGETHER) {
            let some = first..(first + TOGETHER).min(other.len());
            // The table is larger than the processor's caches: what is needed soon is fetched all at once.
            let fetched = some.clone().filter_map(|number| self.short.peek(ShortKey::new(string(number))?));
            std::hint::black_box(fetched.fold(0, u32::wrapping_add));
            numbers.extend(some.map(|number| self.intern_bytes(string(number))));
        }
        numbers
    }

    /// The bytes of the string with this number.
    pub fn bytes(&self, number: u32) -> &[u8] {
        slice(&self.bytes, &self.ends, number as usize)
    }

    /// The string with this number.
    pub fn get(&self, number: u32) -> &str {
        // Only whole strings are ever put in.
        std::str::from_utf8(self.bytes(number)).unwrap_or_default()
    }

    /// How many strings there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All strings in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len() as u32).map(|number| self.get(number))
    }
}

/// Strings that lie somewhere else, found by number, and by text where there is an index.
#[derive(Debug, Clone, Copy)]
pub struct StringTable<'a> {
    /// The strings, one after the other.
    pub bytes: &'a [u8],
    /// Where each ends.
    pub ends: &'a [u64],
    /// Their hash table, made by [`string_index`]; may be empty.
    pub index: &'a [u32],
}

/// A table for [`StringTable::find`]: open addressing, slots hold number + 1.
pub fn string_index<'a>(count: usize, strings: impl Iterator<Item = &'a str>) -> Vec<u32> {
    let mut slots = vec![0u32; (count * 2).next_power_of_two().max(2)];
    for (number, string) in strings.enumerate() {
        let mut slot = xxh3_64(string.as_bytes()) as usize & (slots.len() - 1);
        while slots[slot] != 0 {
            slot = (slot + 1) & (slots.len() - 1);
        }
        slots[slot] = number as u32 + 1;
    }
    slots
}

impl<'a> StringTable<'a> {
    /// String `number`; empty where there is none.
    pub fn get(&self, number: usize) -> &'a str {
        let start = if number == 0 { Some(0) } else { self.ends.get(number - 1).map(|&end| end as usize) };
        let end = self.ends.get(number).map(|&end| end as usize);
        let bytes = start.zip(end).and_then(|(start, end)| self.bytes.get(start..end));
        std::str::from_utf8(bytes.unwrap_or_default()).unwrap_or_default()
    }

    /// The number of `text`.
    pub fn find(&self, text: &str) -> Option<usize> {
        let last = self.index.len().checked_sub(1)?;
        let mut slot = xxh3_64(text.as_bytes()) as usize & last;
        for _ in 0..self.index.len() {
            let number = self.index.get(slot)?.checked_sub(1)? as usize;
            if self.get(number) == text {
                return Some(number);
            }
            slot = (slot + 1) & last;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_strings_have_one_number() {
        let mut strings = Interner::default();
        let numbers: Vec<u32> = ["a", "", "b", "a", "ü", ""].iter().map(|s| strings.intern(s)).collect();
        assert_eq!(numbers, [0, 1, 2, 0, 3, 1]);
        assert_eq!(strings.iter().collect::<Vec<_>>(), ["a", "", "b", "ü"]);
    }

    #[test]
    fn strings_of_every_length_differ() {
        let mut strings = Interner::default();
        let mut expected = 0;
        for length in 0..40 {
            for text in ["a".repeat(length), format!("{}b", "a".repeat(length)), format!("b{}", "a".repeat(length))] {
                let number = strings.intern(&text);
                assert_eq!(strings.get(number), text);
                expected = expected.max(number + 1);
            }
        }
        assert_eq!(strings.len(), expected as usize);
        // a^n, a^n b, b a^n for n below 40; for n = 0 the last two are both `b`.
        assert_eq!(strings.len(), 3 * 40 - 1);
    }

    #[test]
    fn numbers_do_not_depend_on_the_table() {
        let mut usual = Interner::default();
        let mut small = Interner { most_slots: Slots(16), ..Interner::default() };
        for i in (0..2000).chain(500..2500) {
            let text = format!("{}{i}", "long ".repeat(i % 5));
            assert_eq!(usual.intern(&text), small.intern(&text));
        }
        assert!(small.compact && !usual.compact);
        small.forget_index();
        assert!(small.iter().eq(usual.iter()));
    }

    #[test]
    fn many_strings_are_all_found_again() {
        let mut strings = Interner::default();
        for i in 0..10_000 {
            assert_eq!(strings.intern(&format!("w{i}")), i);
        }
        for i in 0..10_000 {
            assert_eq!(strings.intern(&format!("w{i}")), i);
        }
    }
}
