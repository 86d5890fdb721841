//! Many strings as one run of bytes: numbered as they come while a corpus is built.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

/// Gives each distinct string a number, counting from 0 in the order of first sight.
#[derive(Debug, Default)]
pub struct Interner {
    bytes: Vec<u8>,
    ends: Vec<u64>,
    table: HashTable<u32>,
}

/// Bytes of string `index` in a run of strings with these ends.
fn slice<'a>(bytes: &'a [u8], ends: &[u64], index: usize) -> &'a [u8] {
    let start = if index == 0 { 0 } else { ends[index - 1] as usize };
    &bytes[start..ends[index] as usize]
}

impl Interner {
    /// The number of `text`, a new one if it is new.
    pub fn intern(&mut self, text: &str) -> u32 {
        self.intern_bytes(text.as_bytes())
    }

    fn intern_bytes(&mut self, key: &[u8]) -> u32 {
        let Interner { bytes, ends, table } = self;
        let entry = table.entry(
            xxh3_64(key),
            |&known| slice(bytes, ends, known as usize) == key,
            |&known| xxh3_64(slice(bytes, ends, known as usize)),
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(entry) => *entry.get(),
            hashbrown::hash_table::Entry::Vacant(entry) => {
                let number = ends.len() as u32;
                entry.insert(number);
                bytes.extend_from_slice(key);
                ends.push(bytes.len() as u64);
                number
            }
        }
    }

    /// The numbers that the strings of `other` have here, new ones where they are new.
    pub fn intern_all(&mut self, other: &Interner) -> Vec<u32> {
        (0..other.len()).map(|number| self.intern_bytes(slice(&other.bytes, &other.ends, number))).collect()
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
