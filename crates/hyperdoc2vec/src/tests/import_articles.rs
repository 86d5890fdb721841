//! The importers of papers on small trees; what comes out stands beside them as `expected.txt`.
//!
//! To accept a change: `HD2V_ACCEPT=1 cargo test -p hyperdoc2vec --lib import_articles`, then read the difference.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::document::losses::Loss;
use crate::import::latex::Latex;
use crate::import::{Format, Import, ImportOptions, Pages, Parsed, jats, tei};
use crate::tests::growth::assert_linear;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn open(format: Format, root: &Path) -> Box<dyn Pages> {
    let (roots, options) = ([root.to_owned()], ImportOptions::default());
    match format {
        Format::Tei => Box::new(tei::open(&roots, &options).expect("files")),
        Format::Jats => Box::new(jats::open(&roots, &options).expect("files")),
        _ => Box::new(Latex::open(&roots, &options).expect("files")),
    }
}

fn all(format: Format, root: &Path) -> Parsed {
    let pages = open(format, root);
    let mut all = Parsed::default();
    for part in pages.batches().into_iter().map(|batch| pages.parse(batch)) {
        all.batch.documents.extend(part.batch.documents);
        all.batch.losses.merge(part.batch.losses);
        all.references.merge(part.references);
    }
    all
}

fn show(parsed: &Parsed) -> String {
    let mut out = String::new();
    for document in &parsed.batch.documents {
        writeln!(out, "=== {}", document.id).expect("a string");
        let date = document.date.map(|date| date.to_string());
        let labels = (!document.labels.is_empty()).then(|| document.labels.join(", "));
        let (title, language, url) = (&document.title, &document.language, &document.url);
        let fields = [("title", title), ("date", &date), ("language", language), ("labels", &labels), ("url", url)];
        for (name, value) in fields {
            value.iter().for_each(|value| writeln!(out, "{name}: {value}").expect("a string"));
        }
        let mut text = document.text.clone();
        for link in document.links.iter().rev() {
            text.insert_str(link.at, &format!("[[{}]]", link.targets.join("|")));
        }
        writeln!(out, "{text}").expect("a string");
    }
    writeln!(out, "=== losses").expect("a string");
    for (loss, tally) in parsed.batch.losses.iter() {
        writeln!(out, "{} {}", tally.count, loss.describe_count(tally.count)).expect("a string");
        tally.samples.iter().for_each(|sample| writeln!(out, "  {sample}").expect("a string"));
    }
    let references = &parsed.references;
    let name = |kind: &dyn erased::Kind| kind.shown();
    let found: Vec<String> =
        references.resolved.iter().map(|(how, sampled)| format!("{} {}", name(how), sampled.count)).collect();
    let missed: Vec<String> =
        references.unresolved.iter().map(|(miss, sampled)| format!("{} {}", name(miss), sampled.count)).collect();
    writeln!(
        out,
        "=== references\n{} of {} entries found: {}; {}\n{} marks linked, {} to unresolved, {} without entry, {} without \
         target",
        references.entries_resolved(),
        references.entries(),
        found.join(", "),
        missed.join(", "),
        references.mark_linked,
        references.mark_to_unresolved,
        references.mark_without_entry,
        references.mark_without_target,
    )
    .expect("a string");
    out
}

/// Kinds as they are called in a report.
mod erased {
    pub trait Kind {
        fn shown(&self) -> String;
    }

    impl<T: serde::Serialize> Kind for T {
        fn shown(&self) -> String {
            serde_json::to_value(self).ok().and_then(|value| Some(value.as_str()?.to_owned())).expect("a name")
        }
    }
}

fn compare(format: Format) {
    let root = data(format.name());
    let (shown, path) = (show(&all(format, &root)), root.join("expected.txt"));
    if std::env::var_os("HD2V_ACCEPT").is_some() {
        fs::write(&path, &shown).expect("written");
    }
    let expected = fs::read_to_string(&path).expect("expected.txt");
    assert!(shown == expected, "{} is not as expected:\n{shown}", path.display());
}

#[test]
fn tei_becomes_documents() {
    compare(Format::Tei);
}

#[test]
fn jats_becomes_documents() {
    compare(Format::Jats);
}

#[test]
fn latex_becomes_documents() {
    compare(Format::Latex);
}

#[test]
fn corpus_jsonl_and_report_tell_the_same_for_any_number_of_threads() {
    let dir = tempfile::tempdir().expect("a directory");
    for format in [Format::Tei, Format::Jats, Format::Latex] {
        let root = [data(format.name())];
        let mut seen = Vec::new();
        for threads in [1, 3] {
            let options = ImportOptions { threads, force: true, ..ImportOptions::default() };
            let corpus = dir.path().join("c");
            let (corpus, report) =
                Import::files(format, &root).options(options.clone()).build_with_report(&corpus).expect("a corpus");
            let mut lines = Vec::new();
            let jsonl = Import::files(format, &root).options(options.clone()).write_jsonl(&mut lines).expect("lines");
            assert_eq!((report.documents, &report.references), (jsonl.documents, &jsonl.references));
            assert_eq!(report.links, corpus.manifest().counts.links);
            seen.push((report, String::from_utf8(lines).expect("UTF-8")));
        }
        assert_eq!(seen[0], seen[1]);
        let report = serde_json::to_value(&seen[0].0).expect("JSON");
        let resolved = report["references"]["resolved"].as_object().expect("kinds");
        let sample = &resolved.values().next().expect("a kind")["samples"][0];
        assert!(["source", "entry", "target", "title"].iter().all(|field| sample[field].is_string()), "{sample}");
    }
}

/// Writes one file and reads it.
fn of_file(format: Format, name: &str, text: &[u8]) -> Parsed {
    let dir = tempfile::tempdir().expect("a directory");
    fs::write(dir.path().join(name), text).expect("written");
    all(format, dir.path())
}

#[test]
fn one_bad_article_among_ten_thousand_costs_itself_alone() {
    let mut source = String::from("<pmc-articleset>");
    let mut bad = 0;
    for number in 1..=10_000 {
        let body = if number == 5_000 { "<p>a</sec>" } else { "<p>a</p>" };
        if number == 5_000 {
            bad = source.len() + format!("<article><front><article-meta><article-id pub-id-type='pmc'>{number}</article-id></article-meta></front><body><p>a").len();
        }
        write!(source, "<article><front><article-meta><article-id pub-id-type='pmc'>{number}</article-id></article-meta></front><body>{body}</body></article>").expect("a string");
    }
    source.push_str("</pmc-articleset>");
    let parsed = of_file(Format::Jats, "set.xml", source.as_bytes());
    assert_eq!(parsed.batch.documents.len(), 9_999);
    let lost: Vec<_> = parsed.batch.losses.iter().collect();
    assert_eq!((lost.len(), lost[0].0, lost[0].1.count), (1, Loss::MalformedRecord, 1));
    assert!(lost[0].1.samples[0].starts_with(&format!("set.xml, byte {bad}: ")), "{:?}, not {bad}", lost[0].1.samples);
}

#[test]
fn an_entity_bomb_does_not_go_off() {
    let mut source = String::from("<!DOCTYPE article [<!ENTITY a0 \"lol\">");
    for n in 1..30 {
        write!(source, "<!ENTITY a{n} \"&a{0};&a{0};&a{0};&a{0};&a{0};&a{0};&a{0};&a{0};&a{0};&a{0};\">", n - 1)
            .expect("a string");
    }
    source.push_str("]><article><front><article-meta/></front><body><p>x &a29; y</p></body></article>");
    let parsed = of_file(Format::Jats, "bomb.xml", source.as_bytes());
    assert_eq!(parsed.batch.documents[0].text, "x y");
    assert_eq!(parsed.batch.losses.count(Loss::IgnoredField), 1);
}

#[test]
fn five_thousand_references_are_no_trouble() {
    let mut source = String::from("<TEI><teiHeader/><text><body><p>");
    for n in 0..5_000 {
        write!(source, "<ref type='bibr' target='#b{n}'>[{n}]</ref>, ").expect("a string");
    }
    source.push_str("</p></body><back><listBibl>");
    for n in 0..5_000 {
        write!(source, "<biblStruct xml:id='b{n}'><analytic><title>The title number {n} of many works</title><author><persName><surname>Doe</surname></persName></author></analytic></biblStruct>").expect("a string");
    }
    source.push_str("</listBibl></back></text></TEI>");
    let parsed = of_file(Format::Tei, "many.xml", source.as_bytes());
    assert_eq!(parsed.batch.losses.count(Loss::UnmatchedReference), 5_000);
    assert_eq!(parsed.references.entries(), 5_000);
}

#[test]
fn a_file_of_another_format_is_told_by_its_name() {
    let tei = "<TEI><teiHeader/><text><body><p>a</p></body></text></TEI>";
    let jats = "<article><front/><body><p>a</p></body></article>";
    for (format, source, hint) in [(Format::Jats, tei, "its format is tei"), (Format::Tei, jats, "its format is jats")]
    {
        let parsed = of_file(format, "a.xml", source.as_bytes());
        let (loss, tally) = parsed.batch.losses.iter().next().expect("a loss");
        assert_eq!((parsed.batch.documents.len(), loss), (0, Loss::UnreadFile));
        assert!(tally.samples[0].ends_with(hint), "{:?}", tally.samples);
    }
}

#[test]
fn nothing_is_found_to_mean_an_article_that_is_cut_short() {
    let dir = tempfile::tempdir().expect("a directory");
    let header = "<titleStmt><title>The growth of trees in forests</title></titleStmt><sourceDesc><biblStruct><analytic>\
        <author><persName><surname>Oak</surname></persName></author></analytic></biblStruct></sourceDesc>";
    let cited =
        format!("<TEI><teiHeader><fileDesc>{header}</fileDesc></teiHeader><text><body><p>a</p></body></text></TEI>");
    let citing = "<TEI><teiHeader/><text><body><p><s>Oak <ref type='bibr' target='#b0'>[1]</ref> grew.</s><s>So did \
        <ref type='bibr' target='#b0'>Oak (2003)</ref>, too.</s></p></body><back><listBibl><biblStruct xml:id='b0'><analytic>\
        <title>The growth of trees in forests</title><author><persName><surname>Oak</surname></persName></author></analytic>\
        </biblStruct></listBibl></back></text></TEI>";
    fs::write(dir.path().join("a.xml"), citing).expect("written");
    for (length, linked) in [(cited.len(), 2), (cited.len() - 20, 0)] {
        fs::write(dir.path().join("b.xml"), &cited[..length]).expect("written");
        let parsed = all(Format::Tei, dir.path());
        assert_eq!(parsed.batch.documents[0].text, "Oak grew. So did Oak, too.");
        assert_eq!((parsed.references.mark_linked, parsed.batch.documents[0].links.len() as u64), (linked, linked));
    }
}

#[test]
fn odd_files_are_told_and_harm_nothing() {
    let empty = of_file(Format::Jats, "empty.xml", b"");
    assert_eq!((empty.batch.documents.len(), empty.batch.losses.count(Loss::UnreadFile)), (0, 1));
    let deep = of_file(Format::Tei, "deep.xml", format!("<TEI>{}", "<p>".repeat(100_000)).as_bytes());
    assert_eq!((deep.batch.documents.len(), deep.batch.losses.count(Loss::MalformedRecord)), (0, 1));
    let latin = of_file(
        Format::Tei,
        "latin.xml",
        b"<?xml version='1.0' encoding='latin1'?><TEI><text><body><p>caf\xe9</p></body></text></TEI>",
    );
    assert_eq!((latin.batch.documents[0].id.as_str(), latin.batch.documents[0].text.as_str()), ("latin", "café"));
    let binary = of_file(Format::Tei, "binary.xml", b"<TEI><text><body><p>\xff</p></body></text></TEI>");
    assert_eq!(binary.batch.losses.count(Loss::ReplacedBytes), 1);
}

#[test]
fn marks_and_entries_of_one_id_take_time_in_proportion() {
    let files = |article: &dyn Fn(usize) -> String| {
        [500, 4000].map(|pieces| {
            let dir = tempfile::tempdir().expect("a directory");
            let file = dir.path().join("a.xml");
            fs::write(&file, article(pieces)).expect("written");
            (dir, file)
        })
    };
    let jats = files(&|pieces| {
        let marks = "<p>word <xref ref-type=\"bibr\" rid=\"r\">1</xref> more</p>".repeat(pieces);
        let entries = "<ref id=\"r\"><mixed-citation>Some work</mixed-citation></ref>".repeat(pieces);
        let subjects: String = (0..pieces).map(|number| format!("<subject>{number}</subject>")).collect();
        format!(
            "<article><front><article-meta><article-categories>{subjects}</article-categories></article-meta></front>\
             <body>{marks}</body><back><ref-list>{entries}</ref-list></back></article>"
        )
    });
    let tei = files(&|pieces| {
        let marks = "<p>word <ref type=\"bibr\" target=\"#b\">1</ref> more</p>".repeat(pieces);
        let entries = "<biblStruct xml:id=\"b\"><analytic><title>Work</title></analytic></biblStruct>".repeat(pieces);
        format!("<TEI><text><body>{marks}</body><back><listBibl>{entries}</listBibl></back></text></TEI>")
    });
    for (format, files) in [(Format::Jats, jats), (Format::Tei, tei)] {
        assert_linear(format.name(), 4000, |pieces| {
            let parsed = all(format, &files[usize::from(pieces == 4000)].1);
            assert_eq!(parsed.batch.losses.count(Loss::AmbiguousReference), pieces as u64);
        });
    }
}
