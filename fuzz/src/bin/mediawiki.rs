//! Any bytes as a dump of a wiki, and as the text of a page: no panic, sound documents; as jsonl they are the same.
#![no_main]

use std::sync::{Arc, LazyLock};

use hyperdoc2vec::internals::import::mediawiki::{PageBatch, PageBatches, Wiki, parse};
use hyperdoc2vec_fuzz::{Folder, check_all};
use libfuzzer_sys::fuzz_target;

static FOLDER: LazyLock<Folder> = LazyLock::new(|| Folder::new("dump.xml", &[]));

fuzz_target!(|bytes: &[u8]| {
    match bytes {
        // A dump with everything in it.
        [b'<', ..] => {
            FOLDER.write(bytes);
            let inputs = [FOLDER.roots()[0].join("dump.xml")];
            let Ok(mut batches) = PageBatches::new(&inputs, &[0, 14], 1 << 20, Arc::default()) else { return };
            while let Ok(Some(batch)) = batches.next_batch() {
                check_all(&parse(&batch));
            }
        }
        // Wikitext, which is most of what a dump holds.
        _ => {
            let text = String::from_utf8_lossy(bytes).replace('&', "&amp;").replace('<', "&lt;");
            let xml = format!("<page><title>A</title><ns>0</ns><revision><text>{text}</text></revision></page>");
            let mut site = Wiki::new(&[0]);
            site.add_namespace(14, "Kategorie", true);
            let batch = PageBatch {
                order: Default::default(),
                input: "fuzz".into(),
                site: Arc::new(site),
                offset: 0,
                bytes: xml.into_bytes(),
                too_long: Vec::new(),
                longest: 1 << 20,
                cut: None,
            };
            check_all(&parse(&batch));
        }
    }
});
