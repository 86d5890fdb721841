//! bzip2 files of many streams, as Wikipedia's dumps are, unpacked in parallel.
//!
//! A stream begins at a byte, with `BZh`, a digit and six bytes that mark its first block. Where these ten bytes stand, a
//! stream may begin; it does if what lies before unpacks to its very end. Where that does not hold (a damaged file, ten
//! bytes that stand there by chance, a stream that is large once unpacked), all from there on is read in order, and
//! the order of reading finds the error, if there is one. Nothing depends on the number of threads.
//!
//! Only the cutting is ours, blocks are unpacked by the bzip2 crate; bzip2-rs, which unpacks in parallel, is an alpha.

use std::collections::VecDeque;
use std::io::{self, BufRead, Cursor, Read};

use bzip2::bufread::{BzDecoder, MultiBzDecoder};
use rayon::prelude::*;

/// How the first block of a stream begins.
const BLOCK: &[u8; 6] = b"1AY&SY";
/// `BZh` and the size of blocks.
const HEAD: usize = 4;
/// Streams that are unpacked at once, for each thread.
const STREAMS_A_THREAD: usize = 2;
/// Packed bytes that are held at once; longer streams are read in order.
const MOST_PACKED: usize = 32 << 20;
/// Bytes of a stream, unpacked, that are held at once.
const MOST_UNPACKED: u64 = 64 << 20;

/// A packed input as it is unpacked.
pub(crate) struct Streams<R: BufRead> {
    /// The input, until it is read to its end or in order.
    raw: Option<R>,
    /// Bytes that are not unpacked yet; a stream begins with them.
    packed: Vec<u8>,
    /// Where streams may begin in `packed`, beside its beginning, and how far that is known.
    starts: Vec<usize>,
    searched: usize,
    ready: VecDeque<Cursor<Vec<u8>>>,
    in_order: Option<Box<dyn Read + Send>>,
}

impl<R: BufRead + Send + 'static> Streams<R> {
    /// Prepares to read `raw`, which begins with a stream.
    pub(crate) fn new(raw: R) -> Streams<R> {
        Streams {
            raw: Some(raw),
            packed: Vec::new(),
            starts: Vec::new(),
            searched: 0,
            ready: VecDeque::new(),
            in_order: None,
        }
    }

    /// Reads some streams and unpacks them; there is nothing more if that changes nothing.
    fn fill(&mut self) -> io::Result<bool> {
        let most = rayon::current_num_threads() * STREAMS_A_THREAD;
        let mut ended = false;
        while self.starts.len() < most && self.packed.len() < MOST_PACKED && !ended {
            let Some(raw) = &mut self.raw else { return Ok(false) };
            let some = raw.fill_buf()?;
            let length = some.len();
            self.packed.extend_from_slice(some);
            raw.consume(length);
            ended = length == 0;
            self.search();
        }
        let mut ends = std::mem::take(&mut self.starts);
        if ended {
            ends.push(self.packed.len());
        }
        let bounds: Vec<(usize, usize)> = std::iter::once(0).chain(ends.iter().copied()).zip(ends.clone()).collect();
        let unpacked: Vec<Option<Vec<u8>>> =
            bounds.par_iter().map(|&(start, end)| unpack(&self.packed[start..end])).collect();
        let whole = unpacked.iter().position(Option::is_none).unwrap_or(unpacked.len());
        self.ready.extend(unpacked.into_iter().flatten().take(whole).map(Cursor::new));
        let done = if whole == 0 { 0 } else { bounds[whole - 1].1 };
        self.packed.drain(..done);
        self.searched = self.searched.saturating_sub(done);
        if whole < bounds.len() || bounds.is_empty() {
            let rest = Cursor::new(std::mem::take(&mut self.packed));
            self.in_order = self.raw.take().map(|raw| Box::new(MultiBzDecoder::new(rest.chain(raw))) as Box<_>);
        } else if ended {
            self.raw = None;
        }
        Ok(true)
    }

    /// Looks for streams in what was added.
    fn search(&mut self) {
        let from = self.searched.max(1);
        let Some(tail) = self.packed.get(from..) else { return };
        for found in memchr::memmem::find_iter(tail, BLOCK) {
            let at = from + found;
            let begins = at > HEAD && matches!(&self.packed[at - HEAD..at], [b'B', b'Z', b'h', b'1'..=b'9']);
            if begins && self.starts.last() != Some(&(at - HEAD)) {
                self.starts.push(at - HEAD);
            }
        }
        self.searched = self.packed.len().saturating_sub(BLOCK.len() - 1);
    }
}

/// The bytes of whole streams; `None` if the last does not end with `packed`, or there are too many bytes.
fn unpack(packed: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = packed;
    while !rest.is_empty() {
        let mut decoder = BzDecoder::new(rest);
        let room = MOST_UNPACKED - bytes.len() as u64;
        let read = decoder.by_ref().take(room + 1).read_to_end(&mut bytes).ok()?;
        if read as u64 > room {
            return None;
        }
        rest = rest.get(usize::try_from(decoder.total_in()).ok()?..)?;
    }
    Some(bytes)
}

impl<R: BufRead + Send + 'static> Read for Streams<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(first) = self.ready.front_mut() {
                let read = first.read(buffer)?;
                if read > 0 || buffer.is_empty() {
                    return Ok(read);
                }
                self.ready.pop_front();
            } else if let Some(in_order) = &mut self.in_order {
                return in_order.read(buffer);
            } else if !self.fill()? {
                return Ok(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, Write};

    fn pack(bytes: &[u8]) -> Vec<u8> {
        let mut packer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        packer.write_all(bytes).and_then(|()| packer.finish()).expect("packed")
    }

    /// The bytes that are read of `packed`, given piece by piece, and the error that ends it.
    fn read(packed: &[u8], piece: usize) -> (Vec<u8>, Option<String>) {
        let mut streams = Streams::new(BufReader::with_capacity(piece, Cursor::new(packed.to_vec())));
        let mut bytes = Vec::new();
        let error = streams.read_to_end(&mut bytes).err().map(|error| error.to_string());
        (bytes, error)
    }

    #[test]
    fn many_streams_give_what_they_hold_in_order() {
        let texts: Vec<String> = (0..50).map(|i| format!("stream {i} ").repeat(i * 7 % 90)).collect();
        let packed: Vec<u8> = texts.iter().flat_map(|text| pack(text.as_bytes())).collect();
        for piece in [1, 7, 1000, 1 << 20] {
            let (bytes, error) = read(&packed, piece);
            assert_eq!((bytes == texts.concat().into_bytes(), error), (true, None), "pieces of {piece}");
        }
    }

    #[test]
    fn one_stream_is_read_too() {
        assert_eq!(read(&pack(b"one"), 5), (b"one".to_vec(), None));
        assert_eq!(read(&pack(b""), 5), (Vec::new(), None));
    }

    #[test]
    fn what_only_looks_like_a_stream_is_none() {
        // Random bytes are packed into themselves, more or less; the mark is put into what follows the first stream.
        let first = pack(b"before");
        let mark = b"BZh91AY&SY";
        let (bytes, error) = read(&[&first[..], mark, b"no stream at all"].concat(), 1 << 20);
        assert_eq!(bytes, b"before");
        assert!(error.is_some());
        // Ten bytes of a stream's inside, cut out by hand: the pieces do not unpack, the whole does.
        let whole = pack(&(0..40_000u32).flat_map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes()).collect::<Vec<_>>());
        let mut streams = Streams::new(BufReader::new(Cursor::new(Vec::new())));
        (streams.packed, streams.starts, streams.searched) = (whole.clone(), vec![whole.len() / 2], whole.len());
        let mut bytes = Vec::new();
        streams.read_to_end(&mut bytes).expect("the stream is whole");
        assert_eq!(bytes.len(), 160_000);
    }

    #[test]
    fn a_file_cut_short_gives_what_came_before_and_an_error() {
        let packed = [pack(b"first "), pack(b"second "), pack(&b"third".repeat(1000))].concat();
        let (bytes, error) = read(&packed[..packed.len() - 3], 100);
        assert!(bytes.starts_with(b"first second "), "{}", String::from_utf8_lossy(&bytes));
        assert!(error.is_some());
    }
}
