//! Parts of an import and of embeddings, altered within their frames, with checksums made to fit: refused, or merged.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use hyperdoc2vec::generate::{GenerateParams, Generator};
use hyperdoc2vec::import::{Merge, TextFormat};
use hyperdoc2vec::internals::import::jsonl;
use hyperdoc2vec::{EmbeddedParts, Embedding, Format, Import, Inferrer, Shard, Training};
use hyperdoc2vec_fuzz::Change;
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// A part, unpacked: its head, its frames with the input and the piece that each is, its foot.
#[derive(Clone)]
struct Unpacked {
    head: Vec<u8>,
    frames: Vec<(u64, Vec<u8>)>,
    foot: Vec<u8>,
}

impl Unpacked {
    fn read(path: PathBuf) -> Unpacked {
        let bytes = fs::read(path).expect("readable");
        let whole = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let mut at = bytes.iter().position(|&byte| byte == b'\n').expect("a head") + 1;
        let (head, last) = (bytes[..at].to_vec(), bytes.len() - 16);
        let foot = last - whole(last + 8) as usize;
        let mut frames = Vec::new();
        while at < foot {
            let packed = whole(at + 16) as usize;
            let content = zstd::bulk::decompress(&bytes[at + 32..][..packed], whole(at + 8) as usize);
            frames.push((whole(at), content.expect("packed")));
            at += 32 + packed;
        }
        Unpacked { head, frames, foot: bytes[foot..last].to_vec() }
    }

    fn altered(&self, changes: &[Change]) -> Vec<u8> {
        let Unpacked { mut head, mut frames, mut foot } = self.clone();
        for &(at, byte) in changes.iter().take(8) {
            let number = at as usize / 8 % frames.len();
            // Most changes go to the frames.
            let bytes = match at % 8 {
                0 => &mut head,
                1 => &mut foot,
                _ => &mut frames[number].1,
            };
            let place = at as usize / 64 % bytes.len();
            bytes[place] = byte;
        }
        let mut out = head.clone();
        for (place, content) in frames {
            let packed = zstd::bulk::compress(&content, 1).expect("packed");
            // The place is two halves; as a seed, the first of them stands above the second.
            let sum = xxh3_64_with_seed(&packed, place.rotate_left(32));
            [place, content.len() as u64, packed.len() as u64, sum].iter().for_each(|n| out.extend(n.to_le_bytes()));
            out.extend(packed);
        }
        let sum = xxh3_64(&[&head[..], &foot].concat());
        out.extend(&foot);
        [sum, foot.len() as u64].iter().for_each(|n| out.extend(n.to_le_bytes()));
        out
    }
}

struct Intact {
    dir: TempDir,
    import: Unpacked,
    embedded: Unpacked,
}

static INTACT: LazyLock<Intact> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("a directory");
    let path = |name: &str| dir.path().join(name);
    let mut params = GenerateParams::default();
    (params.docs, params.links, params.words) = (12, 40, 60);
    let documents = Generator::new(&params).expect("a plan").documents(0..12);
    fs::write(path("in.jsonl"), jsonl::to_jsonl(&documents, &[])).expect("written");
    let only = Shard::new(1, 1).expect("a shard");
    Import::files(Format::Jsonl, [path("in.jsonl")]).shard(only).write_part(path("import.part")).expect("a part");
    let corpus = Import::documents(documents).min_count(1).build(path("corpus")).expect("a corpus");
    let model = Training::new(&corpus).dim(4).epochs(1).threads(1).run(path("model")).expect("a model");
    let inferrer = Inferrer::new(&model).expect("vectors");
    let embedding = Embedding::new(&inferrer, TextFormat::Jsonl, [path("in.jsonl")]);
    embedding.shard(only).write_part(path("embedded.part")).expect("a part");
    let [import, embedded] = ["import.part", "embedded.part"].map(|name| Unpacked::read(path(name)));
    Intact { import, embedded, dir }
});

fuzz_target!(|input: (bool, Vec<Change>)| {
    let (intact, (import, changes)) = (&*INTACT, input);
    let path = |name: &str| intact.dir.path().join(name);
    let part = if import { &intact.import } else { &intact.embedded };
    fs::write(path("altered.part"), part.altered(&changes)).expect("written");
    if import {
        if let Ok(corpus) = Merge::parts([path("altered.part")]).threads(1).build(path("merged")) {
            corpus.verify().expect("what was merged is whole");
            drop(corpus);
            fs::remove_dir_all(path("merged")).expect("removed");
        }
        assert!(!path("merged").exists(), "something is left of a merge that failed");
    } else if let Ok(parts) = EmbeddedParts::open([path("altered.part")]) {
        let dim = parts.dim();
        let _ = parts.each(|_, vector| {
            assert_eq!(vector.vector.len(), dim);
            Ok(())
        });
    }
});
