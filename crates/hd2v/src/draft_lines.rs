//! Places of a draft as people count them: lines and columns.
//!
//! Ours, not a crate for line indexes: columns count characters, in time that does not depend on the length of a line.

/// Where lines begin, and how many characters stand before every so many bytes.
pub struct DraftLines<'a> {
    text: &'a str,
    starts: Vec<usize>,
    characters: Vec<usize>,
}

/// Bytes between places whose number of characters is kept: a file may be one line.
const STRIDE: usize = 1024;

impl<'a> DraftLines<'a> {
    pub fn new(text: &'a str) -> DraftLines<'a> {
        let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(ends).collect();
        let before = |before: &mut usize, piece: &[u8]| {
            *before += characters(piece);
            Some(*before - characters(piece))
        };
        DraftLines { text, starts, characters: text.as_bytes().chunks(STRIDE).scan(0, before).collect() }
    }

    /// The characters that begin before a byte.
    fn before(&self, at: usize) -> usize {
        let at = at.min(self.text.len());
        let Some(known) = self.characters.get(at / STRIDE).or(self.characters.last()) else { return 0 };
        let from = (at / STRIDE).min(self.characters.len() - 1) * STRIDE;
        known + characters(&self.text.as_bytes()[from..at])
    }

    /// Line and column of a byte, counting from 1; columns count characters, of which a byte-order mark is none.
    pub fn place(&self, at: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|&start| start <= at);
        let mark = usize::from(line == 1 && at > 0 && self.text.starts_with('\u{feff}'));
        (line, self.before(at) - self.before(self.starts[line - 1]) + 1 - mark)
    }
}

/// The characters that begin in some bytes of UTF-8.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_characters_from_one() {
        let text = "één\r\ntwee [[?]]";
        let lines = DraftLines::new(text);
        assert_eq!(lines.place(0), (1, 1));
        assert_eq!(lines.place(4), (1, 3));
        assert_eq!(lines.place(text.find('[').expect("a mark")), (2, 6));
        assert_eq!(lines.place(text.len()), (2, 11));
        assert_eq!(DraftLines::new("").place(0), (1, 1));
        assert_eq!(DraftLines::new("\u{feff}one\ntwo").place(4), (1, 2));
        let long = "é".repeat(4 * STRIDE) + "\nx";
        let lines = DraftLines::new(&long);
        assert_eq!(lines.place(6 * STRIDE), (1, 3 * STRIDE + 1));
        assert_eq!(lines.place(long.len()), (2, 2));
    }
}
