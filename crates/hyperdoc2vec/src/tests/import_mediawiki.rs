//! The mediawiki importer on a small dump with a bit of everything; what comes out stands beside it as `expected.txt`.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::document::losses::Loss;
use crate::document::{Document, markup};
use crate::import::mediawiki::{PageBatches, parse};
use crate::import::{Format, Import, ImportOptions, Parsed};
use crate::tests::import;
use crate::{Corpus, Error};

const HEAD: &str = "<mediawiki xml:lang=\"en\"><siteinfo><case>first-letter</case></siteinfo>\n";
const TAIL: &str = "</mediawiki>\n";

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mediawiki/sample.xml")
}

/// All that is read of some dumps.
fn read(inputs: &[PathBuf], namespaces: &[i32]) -> Result<Parsed, Error> {
    let mut batches = PageBatches::new(inputs, namespaces, 1 << 20, Arc::default())?;
    let mut all = Parsed::default();
    while let Some(batch) = batches.next_batch()? {
        let part = parse(&batch);
        all.batch.documents.extend(part.batch.documents);
        all.batch.aliases.extend(part.batch.aliases);
        all.batch.losses.merge(part.batch.losses);
        all.batch.first_bad = all.batch.first_bad.or(part.batch.first_bad);
    }
    Ok(all)
}

/// A dump of these bytes, read.
fn read_bytes(bytes: &[u8]) -> Result<Parsed, Error> {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("dump.xml");
    fs::write(&path, bytes).expect("written");
    read(&[path], &[0])
}

fn page(title: &str, text: &str) -> String {
    format!("<page><title>{title}</title><ns>0</ns><revision><text>{text}</text></revision></page>\n")
}

fn show(parsed: &Parsed) -> String {
    let mut out = String::new();
    for document in &parsed.batch.documents {
        writeln!(out, "=== {}", document.id).expect("a string");
        let date = document.date.map(|date| date.to_string());
        let labels = (!document.labels.is_empty()).then(|| document.labels.join(", "));
        let Document { title, language, url, .. } = document;
        for (name, value) in
            [("title", title), ("date", &date), ("language", language), ("labels", &labels), ("url", url)]
        {
            if let Some(value) = value {
                writeln!(out, "{name}: {value}").expect("a string");
            }
        }
        let marked = markup::render(&document.text, &document.links).replace("\\[[", "[[");
        writeln!(out, "\n{marked}\n").expect("a string");
    }
    for (from, to) in &parsed.batch.aliases {
        writeln!(out, "alias {from} -> {to}").expect("a string");
    }
    for (loss, tally) in parsed.batch.losses.iter() {
        for sample in &tally.samples {
            writeln!(out, "loss {loss:?}: {sample}").expect("a string");
        }
    }
    out
}

fn bz2(bytes: &[u8]) -> Vec<u8> {
    let mut packer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    packer.write_all(bytes).and_then(|()| packer.finish()).expect("packed")
}

fn imported(input: &Path, to: &Path, options: &ImportOptions) -> Result<Corpus, Error> {
    import(Format::MediaWiki, &[input.to_owned()], to, options, &mut |_| ControlFlow::Continue(()))
}

#[test]
fn a_dump_becomes_documents_aliases_and_losses() {
    let parsed = read(&[sample()], &[0]).expect("readable");
    let expected = include_str!("../../tests/data/mediawiki/expected.txt");
    let found = show(&parsed);
    assert!(found == expected, "found:\n{found}");
    assert_eq!(parsed.batch.first_bad, None);
}

#[test]
fn other_namespaces_are_read_when_asked_for() {
    let parsed = read(&[sample()], &[14]).expect("readable");
    assert_eq!(parsed.batch.documents.iter().map(|d| &*d.id).collect::<Vec<_>>(), ["Kategorie:Tiere"]);
    assert_eq!(parsed.batch.documents[0].links, []);
    let parsed = read(&[sample()], &[0, 14]).expect("readable");
    let targets = |id: &str| {
        let document = parsed.batch.documents.iter().find(|d| d.id == id).expect("a document");
        document.links.iter().map(|link| link.targets.join(",")).collect::<Vec<_>>()
    };
    assert_eq!(targets("Kategorie:Tiere"), ["Hauskatze"]);
    assert!(targets("Hauskatze").contains(&"Kategorie:Tiere".to_owned()));
}

#[test]
fn links_go_through_chains_of_redirects_and_circles_are_counted() {
    let folder = tempfile::tempdir().expect("a directory");
    let corpus = imported(&sample(), &folder.path().join("c"), &ImportOptions::default()).expect("imported");
    let losses = &corpus.manifest().losses;
    // Haustier, Maus, Große Ratte; Mieze → Katze → Hauskatze; Maus, Hauskatze.
    assert_eq!((corpus.len(), corpus.manifest().counts.links), (4, 6));
    assert_eq!(corpus.manifest().counts.redirects, 2);
    assert_eq!(losses.count(Loss::BrokenRedirect), 2);
    assert_eq!(losses.count(Loss::SelfLink), 1);
    // Vogel, Hund, Matte (Boden), Kreis A.
    assert_eq!(losses.count(Loss::UnknownTarget), 4);
}

#[test]
fn any_packing_and_any_number_of_threads_give_the_same_documents() {
    let folder = tempfile::tempdir().expect("a directory");
    let pages: String =
        (0..3000).map(|i| page(&format!("P{i}"), &format!("word{} [[p{}]]s", i % 97, i * 7 % 3000))).collect();
    let xml = format!("{HEAD}{pages}{TAIL}");
    let whole = bz2(xml.as_bytes());
    // As Wikipedia packs them: a stream of its own for the head, for some pages each, for the end.
    let mut streams = bz2(HEAD.as_bytes());
    for some in pages.lines().collect::<Vec<_>>().chunks(100) {
        streams.extend(bz2((some.join("\n") + "\n").as_bytes()));
    }
    streams.extend(bz2(TAIL.as_bytes()));
    // As others do: streams that end anywhere.
    let anywhere: Vec<u8> = xml.as_bytes().chunks(7919).flat_map(bz2).collect();
    let mut fingerprints = Vec::new();
    for (name, bytes) in
        [("plain", xml.clone().into_bytes()), ("whole", whole), ("streams", streams), ("anywhere", anywhere)]
    {
        let input = folder.path().join("dump.xml");
        fs::write(&input, bytes).expect("written");
        for threads in [1, 3] {
            let options = ImportOptions { threads, ..ImportOptions::default() };
            let corpus = imported(&input, &folder.path().join(format!("{name}-{threads}")), &options).expect(name);
            assert_eq!(corpus.len(), 3000, "{name}");
            fingerprints.push(corpus.manifest().fingerprint.clone());
        }
    }
    fingerprints.dedup();
    assert_eq!(fingerprints.len(), 1);
}

#[test]
fn a_dump_cut_short_is_refused_or_read_as_far_as_it_goes() {
    let folder = tempfile::tempdir().expect("a directory");
    let pages: Vec<String> = (0..500).map(|i| page(&format!("P{i}"), "some words")).collect();
    let xml = format!("{HEAD}{}{TAIL}", pages.concat());
    let streams: Vec<u8> = xml.as_bytes().chunks(4000).flat_map(bz2).collect();
    for (name, bytes) in [
        ("cut.xml", &xml.as_bytes()[..xml.len() / 2]),
        ("cut.xml.bz2", &streams[..streams.len() * 2 / 3]),
        ("end.xml", &xml.as_bytes()[..xml.len() - TAIL.len()]),
    ] {
        let input = folder.path().join(name);
        fs::write(&input, bytes).expect("written");
        let to = folder.path().join(format!("{name}.corpus"));
        let error = imported(&input, &to, &ImportOptions::default()).expect_err("cut short").to_string();
        assert!(
            error.starts_with(name) && error.contains("cut short") && error.contains("skip bad records"),
            "{error}"
        );
        assert!(!to.exists());
        let options = ImportOptions { skip_bad: true, ..ImportOptions::default() };
        let corpus = imported(&input, &to, &options).expect("what is there");
        assert!((200..=500).contains(&corpus.len()), "{name}: {}", corpus.len());
        assert_eq!(corpus.manifest().losses.count(Loss::MalformedRecord), 1);
    }
}

#[test]
fn malformed_pages_are_left_out_and_the_others_read() {
    let mut pages: Vec<String> = (0..100).map(|i| page(&format!("P{i}"), "words")).collect();
    pages[20] = pages[20].replace("</text>", "</txt>");
    pages[40] = pages[40].replace("</page>", "");
    pages[60] = pages[60].replace("words", "a &undefined; b");
    pages[80] = pages[80].replace("P80", "a | b");
    pages[90] = page("long", &"long ".repeat(300_000));
    let parsed = read_bytes(format!("{HEAD}{}{TAIL}", pages.concat()).as_bytes()).expect("readable");
    assert_eq!(parsed.batch.documents.len(), 95);
    assert_eq!(parsed.batch.losses.count(Loss::MalformedRecord), 5);
    assert_eq!(parsed.batch.first_bad, None);
    let samples = &parsed.batch.losses.iter().next().expect("losses").1.samples;
    let offset = HEAD.len() + pages[..20].concat().len() + pages[20].find("</txt>").expect("there");
    assert!(samples[0].starts_with(&format!("dump.xml (byte {offset} of the XML)")), "{}", samples[0]);
}

#[test]
fn bytes_that_are_no_text_are_replaced_and_counted() {
    let mut bytes = format!("{HEAD}{}{TAIL}", page("A", "a ? b")).into_bytes();
    let at = bytes.iter().position(|&b| b == b'?').expect("there");
    bytes[at] = 0xff;
    let parsed = read_bytes(&bytes).expect("readable");
    assert_eq!(parsed.batch.documents[0].text, "a \u{fffd} b");
    assert_eq!(parsed.batch.losses.count(Loss::ReplacedBytes), 1);
}

#[test]
fn entities_that_a_dump_defines_are_not_expanded() {
    let bomb: String = (1..30).map(|i| format!("<!ENTITY e{i} \"&e{};&e{};\">", i - 1, i - 1)).collect();
    let xml = format!(
        "<!DOCTYPE mediawiki [<!ENTITY e0 \"lol\">{bomb}]>{HEAD}{}{}{TAIL}",
        page("A", "&e29;"),
        page("B", "b")
    );
    let parsed = read_bytes(xml.as_bytes()).expect("readable");
    assert_eq!(parsed.batch.documents.iter().map(|d| &*d.id).collect::<Vec<_>>(), ["B"]);
    assert_eq!(parsed.batch.losses.count(Loss::MalformedRecord), 1);
}

#[test]
fn what_is_no_dump_or_has_no_pages_is_told() {
    for (bytes, what) in [
        (
            "<html><body>x</body></html>",
            "expected a MediaWiki dump, which is XML that begins with <mediawiki; found <html>",
        ),
        ("616:10:AccessibleComputing\n", "found text: \"616:10:AccessibleComputing\""),
        ("", "found no element at all"),
    ] {
        let error = read_bytes(bytes.as_bytes()).expect_err("no dump").to_string();
        assert!(error.contains(what), "{error}");
    }
    let folder = tempfile::tempdir().expect("a directory");
    let input = folder.path().join("empty.xml");
    fs::write(&input, format!("{HEAD}{TAIL}")).expect("written");
    let error =
        imported(&input, &folder.path().join("c"), &ImportOptions::default()).expect_err("no pages").to_string();
    assert_eq!(error, "empty.xml: no documents found; nothing was written");
}

#[test]
fn a_page_of_a_hundred_thousand_open_brackets_is_read_and_each_is_counted() {
    let text = "[[a {{b {| ".repeat(100_000) + &"\n{|".repeat(100_000);
    let folder = tempfile::tempdir().expect("a directory");
    let input = folder.path().join("deep.xml");
    fs::write(&input, format!("{HEAD}{}{TAIL}", page("A", &text))).expect("written");
    let mut out = Vec::new();
    let options = ImportOptions::default();
    let report = Import::files(Format::MediaWiki, [input]).options(options).write_jsonl(&mut out).expect("read");
    assert_eq!(report.documents, 1);
    assert_eq!(report.losses.count(Loss::BrokenMark), 100_000);
}
