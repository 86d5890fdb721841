//! Shards and their merge: for every format, the bytes of an import in one go.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use hyperdoc2vec::import::pdf::TextCommand;
use hyperdoc2vec::import::{ImportReport, Merge};
use hyperdoc2vec::{Document, Format, Import, ImportOptions, Shard};
use strum::VariantArray;

/// Bytes of lines, so that there are several batches of 2 MiB.
const LINES: usize = 9 << 20;
/// Pages of a tree, so that there are more batches of 32 than shards.
const PAGES: usize = 32 * 8;

/// Inputs of a format with enough of everything to be divided, and options for them.
struct Sample {
    inputs: Vec<PathBuf>,
    options: ImportOptions,
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn write(path: &Path, bytes: impl AsRef<[u8]>) -> PathBuf {
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, bytes).expect("written");
    path.to_owned()
}

/// Copies a folder into `copies` folders below `to`.
fn copies(from: &Path, to: &Path, copies: usize) {
    for copy in 0..copies {
        for entry in walkdir::WalkDir::new(from) {
            let entry = entry.expect("an entry");
            let below = entry.path().strip_prefix(from).expect("below");
            let path = to.join(format!("copy-{copy}")).join(below);
            if entry.file_type().is_file() {
                write(&path, fs::read(entry.path()).expect("read"));
            }
        }
    }
}

/// Lines, again and again, until there are enough.
fn repeated(lines: &str) -> String {
    lines.repeat(LINES.div_ceil(lines.len()))
}

fn jsonl() -> String {
    let mut lines = String::new();
    for n in 0.. {
        let (next, far, words) = (n + 1, n * 7919 % 20_000, "word other ".repeat(10 + n % 17));
        let text =
            format!("w{} {words} [some anchor][[d{next}]] and [[alias{far}]], [[nowhere]] [[d{n}]] end", n % 997);
        // Some ids come twice, some dates are none.
        let id = if n % 501 == 500 { n - 400 } else { n };
        let date = if n % 300 == 0 { "no date".to_owned() } else { format!("{}", 1990 + n % 30) };
        let label = ["a", "b", "c"][n % 3];
        writeln!(
            lines,
            r#"{{"id": "d{id}", "text": "{text}", "title": "Title {n}", "date": "{date}", "language": "en", "labels": ["{label}", "l{}"], "authors": ["A. Author", "B{n}"]}}"#,
            n / 4000
        )
        .expect("written");
        if n % 3 == 0 {
            writeln!(lines, r#"{{"id": "alias{n}", "redirect": "d{}"}}"#, n % 2000).expect("written");
        }
        if lines.len() > LINES {
            return lines;
        }
    }
    lines
}

/// A paper as plain text, with marks and a list of references.
fn paper(n: usize) -> String {
    let others = [n + 1, n + 40, n + 300];
    let mut text =
        format!("Title of the long study number {n}\n\nAlice Author{n}\n\nAbstract\n\nA study of things.\n\n");
    for (mark, _) in others.iter().enumerate() {
        writeln!(text, "This was shown before [{}] for many words and other things.\n", mark + 1).expect("written");
    }
    text.push_str("References\n\n");
    for (mark, other) in others.iter().enumerate() {
        let entry = format!("Alice Author{other}. 2001. Title of the long study number {other}. In Proceedings.");
        writeln!(text, "[{}] {entry}\n", mark + 1).expect("written");
    }
    text
}

fn sample(format: Format, dir: &Path) -> Sample {
    let mut options = ImportOptions::default();
    options.corpus.min_count = 2;
    options.skip_bad = true;
    let tree = |folder: &str, pages: usize| {
        copies(&data(folder), &dir.join("tree"), PAGES.div_ceil(pages));
        vec![dir.join("tree")]
    };
    let packed = |text: &str| zstd::encode_all(text.as_bytes(), 1).expect("packed");
    let inputs = match format {
        Format::Jsonl => {
            let (all, half) = (jsonl(), LINES / 2);
            let cut = half + all[half..].find('\n').expect("a line") + 1;
            vec![
                write(&dir.join("a.jsonl"), &all[..cut]),
                write(&dir.join("empty.jsonl"), ""),
                write(&dir.join("b.jsonl.zst"), packed(&all[cut..])),
            ]
        }
        Format::Lines => {
            let line =
                |n: usize| format!("d{n} word{} =-=d{},d{}-=- {}\n", n % 99, n + 1, n + 9, "and more ".repeat(30));
            let lines: String = (0..LINES / 300).map(line).collect();
            vec![write(&dir.join("lines.txt"), &lines), write(&dir.join("more.txt"), lines.replace('d', "e"))]
        }
        Format::Html => {
            let mut roots = tree("html/site", 8);
            roots.push(data("html/roots/one"));
            roots
        }
        Format::Markdown => tree("markdown/notes", 8),
        Format::Rst => tree("rst", 3),
        Format::MediaWiki => {
            let dump = fs::read_to_string(data("mediawiki/sample.xml")).expect("read");
            let (head, rest) = dump.split_at(dump.find("<page>").expect("a page"));
            let (pages, end) = rest.split_at(rest.rfind("</mediawiki>").expect("an end"));
            let dump = format!("{head}{}{end}", repeated(pages));
            vec![write(&dir.join("wiki.xml"), &dump), write(&dir.join("wiki2.xml.zst"), packed(&dump))]
        }
        Format::Tei => tree("tei", 2),
        Format::Jats => tree("jats", 2),
        Format::Latex => tree("latex", 4),
        Format::Papers => {
            let mut table = "id,title,authors,year\n".to_owned();
            for n in 0..PAGES {
                writeln!(table, "P{n},Title of the long study number {n},Alice Author{n},2001").expect("written");
                if n % 9 != 0 {
                    write(&dir.join(format!("texts/P{n}.txt")), paper(n));
                }
            }
            options.metadata = Some(write(&dir.join("papers.csv"), table));
            vec![dir.join("texts")]
        }
        Format::Library => {
            let entry = |n: usize| {
                let file = format!("texts/P{n}.txt");
                write(&dir.join(&file), paper(n));
                let fields = format!("title = {{Title of the long study number {n}}}, year = 2001, file = {{{file}}}");
                format!("@article{{key{n}, author = {{Author{n}, Alice}}, {fields}}}\n")
            };
            vec![write(&dir.join("refs.bib"), (0..PAGES).map(entry).collect::<String>())]
        }
        Format::Pdf => {
            (0..PAGES)
                .for_each(|n| drop(write(&dir.join(format!("pdfs/p{n}.pdf")), format!("%PDF-1.4\n{}", paper(n)))));
            options.pdf.commands = vec![TextCommand::new("tail", "tail", ["-n", "+2", "{}"])];
            options.pdf.texts = Some(dir.join("texts"));
            options.cited_works = Some(true);
            vec![dir.join("pdfs")]
        }
        Format::S2orc => {
            let [old, new] =
                ["s2orc/2019.jsonl", "s2orc/2020.jsonl"].map(|n| fs::read_to_string(data(n)).expect("read"));
            write(&dir.join("s2orc/one/2019.jsonl"), repeated(&old));
            write(&dir.join("s2orc/two/2020.jsonl.zst"), packed(&repeated(&new)));
            vec![dir.join("s2orc")]
        }
        Format::OpenAlex => {
            let work = |n: usize| {
                let words: BTreeMap<String, Vec<usize>> =
                    (0..80).map(|at| (format!("w{}x", (n + at) % 700), vec![at])).collect();
                let index = serde_json::to_string(&words).expect("json");
                let id = |n: usize| format!("https://openalex.org/W{n}");
                format!(
                    "{{\"id\":{:?},\"title\":\"Work {n}\",\"publication_year\":2001,\"abstract_inverted_index\":{index},\"referenced_works\":[{:?},{:?}]}}\n",
                    id(n),
                    id(n + 1),
                    id(n / 2)
                )
            };
            vec![write(&dir.join("works.jsonl"), (0..LINES / 1200).map(work).collect::<String>())]
        }
        Format::Unarxive => {
            let lines = fs::read_to_string(data("unarxive/sample.jsonl")).expect("read");
            vec![write(&dir.join("unarxive.jsonl"), repeated(&lines))]
        }
        other => panic!("{other} needs a sample of its own"),
    };
    Sample { inputs, options }
}

/// The files of a corpus and their bytes.
fn files(corpus: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(corpus).expect("a corpus").map(|entry| entry.expect("an entry").path());
    let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
    entries.map(|path| (name(&path), fs::read(&path).expect("read"))).collect()
}

fn same(one: &Path, other: &Path, what: &str) {
    let (one, other) = (files(one), files(other));
    assert!(one.keys().eq(other.keys()), "{what}");
    for (name, bytes) in &one {
        assert!(bytes == &other[name], "{what}: {name} differs");
    }
}

/// Makes the parts of `n` shards and merges them; returns the reports of the shards and of the whole.
fn sharded<'a>(import: &dyn Fn() -> Import<'a>, n: u32, dir: &Path, to: &Path) -> (Vec<ImportReport>, ImportReport) {
    let path = |i: u32| dir.join(format!("{n}-{i}.part"));
    let part = |i: u32| {
        let shard = Shard::new(i, n).expect("a shard");
        import().shard(shard).threads(1 + i as usize % 2).write_part(path(i)).expect("a part")
    };
    // Neither the order in which they are made nor that in which they are given matters.
    let reports = (1..=n).rev().map(part).collect();
    let (_, report) = Merge::parts((1..=n).rev().map(path)).build_with_report(to).expect("merged");
    (reports, report)
}

fn every_number_of_shards_gives_the_same_bytes(format: Format) {
    let dir = tempfile::tempdir().expect("a directory");
    let Sample { inputs, options } = sample(format, dir.path());
    let import = || Import::files(format, &inputs).options(options.clone());
    let whole = dir.path().join("whole.corpus");
    let (corpus, report) = import().build_with_report(&whole).expect("imported");
    assert!(corpus.len() > 1, "{format}");
    for n in [1, 2, 3, 7] {
        let merged = dir.path().join(format!("{n}.corpus"));
        let (shards, of_merge) = sharded(&import, n, dir.path(), &merged);
        same(&whole, &merged, &format!("{format} in {n} shards"));
        assert_eq!(of_merge, report, "{format} in {n} shards");
        if n == 2 {
            assert!(shards.iter().all(|shard| shard.documents > 0), "{format}: every shard has something to do");
        }
    }
}

macro_rules! formats {
    ($($name:ident $format:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            every_number_of_shards_gives_the_same_bytes(Format::$format);
        })*

        #[test]
        fn no_format_is_left_out() {
            let tested = [$(Format::$format),*];
            assert!(Format::VARIANTS.iter().all(|format| tested.contains(format)));
        }
    };
}

formats! {
    jsonl_in_shards Jsonl, lines_in_shards Lines, html_in_shards Html, markdown_in_shards Markdown, rst_in_shards Rst,
    mediawiki_in_shards MediaWiki, tei_in_shards Tei, jats_in_shards Jats, latex_in_shards Latex,
    papers_in_shards Papers, library_in_shards Library, pdf_in_shards Pdf, s2orc_in_shards S2orc,
    openalex_in_shards OpenAlex, unarxive_in_shards Unarxive,
}

#[test]
fn sections_in_shards() {
    let dir = tempfile::tempdir().expect("a directory");
    copies(&data("html/site"), &dir.path().join("tree"), PAGES / 8);
    let import = || {
        let mut options = ImportOptions::default();
        (options.sections, options.corpus.min_count) = (true, 1);
        Import::files(Format::Html, [dir.path().join("tree")]).options(options)
    };
    let whole = dir.path().join("whole.corpus");
    import().build(&whole).expect("imported");
    let merged = dir.path().join("merged.corpus");
    sharded(&import, 3, dir.path(), &merged);
    same(&whole, &merged, "sections");
}

#[test]
fn documents_from_memory_in_shards() {
    let dir = tempfile::tempdir().expect("a directory");
    let import = || {
        let text = |n: usize| format!("some words {n} [[d{}]]", n * 31 % 5000);
        Import::documents((0..3000).map(move |n| Document::new(format!("d{n}"), text(n)))).min_count(1)
    };
    let whole = dir.path().join("whole.corpus");
    import().build(&whole).expect("imported");
    for n in [1, 2, 7, 40] {
        let merged = dir.path().join(format!("{n}.corpus"));
        sharded(&import, n, dir.path(), &merged);
        same(&whole, &merged, "documents");
    }
}

#[test]
fn parts_of_different_work_are_refused_and_nothing_is_written() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = |name: &str| dir.path().join(name);
    let input = write(
        &path("in.jsonl"),
        "{\"id\": \"a\", \"text\": \"some words [[b]]\"}\n{\"id\": \"b\", \"text\": \"more\"}\n",
    );
    let import = || Import::files(Format::Jsonl, [&input]).replace();
    let shard = |i, n| Shard::new(i, n).expect("a shard");
    import().shard(shard(1, 2)).write_part(path("1")).expect("a part");
    import().shard(shard(2, 2)).write_part(path("2")).expect("a part");
    import().shard(shard(2, 2)).min_count(1).write_part(path("other-options")).expect("a part");
    import().shard(shard(2, 3)).write_part(path("of-three")).expect("a part");
    fs::create_dir(path("elsewhere")).expect("made");
    let other = write(&path("elsewhere/in.jsonl"), "{\"id\": \"a\", \"text\": \"other words\"}\n");
    Import::files(Format::Jsonl, [&other]).shard(shard(2, 2)).write_part(path("other-input")).expect("a part");
    write(&path("no-part"), "something else");
    let mut cut = fs::read(path("2")).expect("read");
    cut.truncate(cut.len() - 3);
    write(&path("cut"), cut);
    let before = fs::read_dir(dir.path()).expect("read").count();
    for (parts, what) in [
        (&["1"][..], "the part of shard 2/2 is missing"),
        (&["2"], "the part of shard 1/2 is missing"),
        (&["1", "1"], "merge each once"),
        (&["1", "2", "2"], "merge each once"),
        (&["1", "other-options"], "made with min_count 1, but"),
        (&["1", "of-three"], "of the same division"),
        (&["1", "other-input"], "made from another input"),
        (&["1", "no-part"], "not a part"),
        (&["1", "cut"], "make the part of shard 2/2 again"),
        (&["1", "absent"], "absent"),
        (&[], "no parts"),
    ] {
        let merge = Merge::parts(parts.iter().map(|name| path(name)));
        let message = merge.build(path("corpus")).expect_err("refused").to_string();
        assert!(message.contains(what), "{parts:?}: {message}");
        assert_eq!(fs::read_dir(dir.path()).expect("read").count(), before, "{parts:?} left something behind");
    }
    let refused = import().shard(shard(1, 2)).build(path("corpus")).expect_err("refused").to_string();
    assert!(refused.contains("written as a part"), "{refused}");
    let refused = import().write_part(path("part")).expect_err("refused").to_string();
    assert!(refused.contains("say which"), "{refused}");
    assert_eq!(fs::read_dir(dir.path()).expect("read").count(), before);
}

#[test]
fn a_bad_record_stops_its_shard() {
    let dir = tempfile::tempdir().expect("a directory");
    let input = write(&dir.path().join("in.jsonl"), "{\"id\": \"a\", \"text\": \"words\"}\nno json\n");
    let shard = Shard::new(1, 1).expect("a shard");
    let refused = Import::files(Format::Jsonl, [&input]).shard(shard).write_part(dir.path().join("part"));
    assert!(refused.expect_err("refused").to_string().contains("in.jsonl:2"));
    assert_eq!(fs::read_dir(dir.path()).expect("read").count(), 1);
}
