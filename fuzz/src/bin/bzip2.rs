//! Texts packed as bzip2 streams, altered: unpacked in parallel they are what they are in order, and so are errors.
#![no_main]

use std::io::{Read, Write};

use bzip2::bufread::MultiBzDecoder;
use bzip2::write::BzEncoder;
use hyperdoc2vec::internals::import::bzip::streams;
use hyperdoc2vec_fuzz::Change;
use libfuzzer_sys::fuzz_target;

/// As much is read of what unpacks to more.
const MOST: u64 = 8 << 20;

/// The bytes, and whether an error ended them.
fn read(from: impl Read) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    let failed = from.take(MOST).read_to_end(&mut bytes).is_err();
    (bytes, failed)
}

fuzz_target!(|input: (Vec<&[u8]>, Vec<Change>, u16)| {
    let (texts, changes, piece) = input;
    let mut packed = Vec::new();
    for text in texts.iter().take(6) {
        let mut packer = BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        // Anything that is not packed, too.
        match text {
            [b'!', raw @ ..] => packed.extend_from_slice(raw),
            text => packed.extend(packer.write_all(text).and_then(|()| packer.finish()).expect("packed")),
        }
    }
    for (at, byte) in changes.into_iter().take(4) {
        let place = at as usize % packed.len().max(1);
        packed.get_mut(place).into_iter().for_each(|there| *there = byte);
    }
    // The reader is chosen by the first bytes.
    if !matches!(packed.as_slice(), [b'B', b'Z', b'h', b'1'..=b'9', ..]) {
        return;
    }
    let (in_order, order_failed) = read(MultiBzDecoder::new(packed.as_slice()));
    let (parallel, failed) = read(streams(packed, usize::from(piece) + 1));
    assert_eq!(failed, order_failed, "{} and {} bytes", parallel.len(), in_order.len());
    if failed {
        assert!(in_order.starts_with(&parallel) || parallel.starts_with(&in_order));
    } else {
        assert!(in_order == parallel);
    }
});
