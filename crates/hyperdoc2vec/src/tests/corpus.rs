//! From text to corpus and back: positions, contexts, counts, losses, damage.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::corpus::split::{Split, SplitPart};
use crate::corpus::{Corpus, CorpusOptions, Position};
use crate::document::Document;
use crate::document::losses::Loss;
use crate::import::{Format, ImportOptions, to_jsonl};
use crate::tests::import;
use crate::{DocId, Error, WordId};
use proptest::prelude::*;
use tempfile::TempDir;

fn options() -> ImportOptions {
    ImportOptions { corpus: CorpusOptions { min_count: 1, ..CorpusOptions::default() }, ..ImportOptions::default() }
}

fn import_text(dir: &TempDir, name: &str, text: &str, options: &ImportOptions) -> Result<Corpus, Error> {
    let input = dir.path().join(format!("{name}.jsonl"));
    fs::write(&input, text).expect("written");
    import(Format::Jsonl, &[input], &dir.path().join(name), options, &mut |_| ControlFlow::Continue(()))
}

/// A corpus of these records, each `id: text` or `id (year): text`.
pub(super) fn corpus(records: &[&str]) -> (TempDir, Corpus) {
    let dir = tempfile::tempdir().expect("a directory");
    let lines: Vec<String> = records
        .iter()
        .map(|record| {
            let (id, text) = record.split_once(": ").expect("id: text");
            let (id, date) = id.split_once(" (").map_or((id, ""), |(id, date)| (id, date.trim_end_matches(')')));
            serde_json::json!({"id": id, "date": date, "text": text}).to_string()
        })
        .collect();
    let corpus = import_text(&dir, "corpus", &lines.join("\n"), &options()).expect("imported");
    corpus.verify().expect("intact");
    (dir, corpus)
}

fn words(corpus: &Corpus, words: &[WordId]) -> String {
    words.iter().map(|&word| corpus.word(word)).collect::<Vec<_>>().join(" ")
}

/// A position as `before [anchor] after → targets`.
fn shown(corpus: &Corpus, position: &Position<'_>, window: usize) -> String {
    let (before, after) = corpus.context(position, window);
    let (before, anchor) = before.split_at(before.len() - position.anchor.min(before.len()));
    let targets: Vec<&str> = position.targets.iter().map(|&doc| corpus.name(doc)).collect();
    format!("{} [{}] {} → {}", words(corpus, before), words(corpus, anchor), words(corpus, after), targets.join(","))
}

fn positions(corpus: &Corpus, doc: &str, window: usize) -> Vec<String> {
    let doc = corpus.find(doc).expect("a document");
    corpus.positions(doc).map(|position| shown(corpus, &position, window)).collect()
}

#[test]
fn links_stand_between_words_and_contexts_do_not_count_them() {
    let (_dir, corpus) = corpus(&[
        "a: [[b]] one two [[c]][[b]] three [[b|c]]. Four, [five six][[c]]; seven [[b]]",
        "b: x",
        "c: y [[b]]",
    ]);
    assert_eq!(
        positions(&corpus, "a", 2),
        [
            " [] one two → b",
            "one two [] three four → c",
            "one two [] three four → b",
            "two three [] four five → b,c",
            " [five six] seven → c",
            "six seven []  → b",
        ]
    );
    assert_eq!(positions(&corpus, "a", 50)[3], "one two three [] four five six seven → b,c");
    assert_eq!(positions(&corpus, "a", 0)[3], " []  → b,c");
    assert_eq!(positions(&corpus, "c", 5), ["y []  → b"]);
    assert_eq!(positions(&corpus, "b", 5), Vec::<String>::new());
    let counts = &corpus.manifest().counts;
    assert_eq!((counts.positions, counts.links, counts.newcomers), (7, 8, 1));
}

#[test]
fn positions_hold_in_other_scripts_and_inside_words() {
    let (_dir, corpus) = corpus(&["ä: Größe [[ß]] naïve 机器翻译[[ß]]很好 un[link][[ß]]ed", "ß: x"]);
    assert_eq!(
        positions(&corpus, "ä", 3),
        ["größe [] naïve 机器 翻译 → ß", "naïve 机器 翻译 [] 很好 un link → ß", "很好 un [link] ed → ß"]
    );
}

#[test]
fn the_vocabulary_falls_by_count_then_by_word() {
    let dir = tempfile::tempdir().expect("a directory");
    let options = ImportOptions { corpus: CorpusOptions { lowercase: true, min_count: 2 }, ..options() };
    let text = r#"{"id":"1","text":"b a c B zz a c z C"}"#;
    let corpus = import_text(&dir, "c", text, &options).expect("imported");
    let all: Vec<(&str, u64)> =
        (0..corpus.distinct_words() as u32).map(|w| (corpus.word(WordId(w)), corpus.count(WordId(w)))).collect();
    assert_eq!(all, [("c", 3), ("a", 2), ("b", 2), ("z", 1), ("zz", 1)]);
    assert_eq!(corpus.vocabulary(), 3);
    assert_eq!(corpus.find_word("b"), Some(WordId(2)));
    assert_eq!(corpus.find_word("B"), None);
}

#[test]
fn nothing_is_lost_without_a_line() {
    let dir = tempfile::tempdir().expect("a directory");
    let text = concat!(
        r#"{"id":"a","text":"w [[a]] [[nowhere]] [[b|nowhere|gone]] [[ open [[]]","x":1}"#,
        "\n",
        r#"{"id":"b","text":"[[a]]"}"#,
        "\n",
        "not json\n",
        r#"{"id":"a","text":"again only_here [[b]]"}"#,
        "\n",
        r#"{"id":"old","redirect":"a"}"#,
        "\n",
        r#"{"id":"c","text":"to [[old]] and [[loop]]"}"#,
        "\n",
        r#"{"id":"loop","redirect":"loop2"}"#,
        "\n",
        r#"{"id":"loop2","redirect":"loop"}"#,
        "\n",
    );
    let options = ImportOptions { skip_bad: true, ..options() };
    let corpus = import_text(&dir, "c", text, &options).expect("imported");
    let lost = |loss| corpus.manifest().losses.count(loss);
    assert_eq!(lost(Loss::SelfLink), 1);
    assert_eq!(lost(Loss::UnknownTarget), 4);
    assert_eq!(lost(Loss::DuplicateId), 1);
    assert_eq!(lost(Loss::EmptyText), 1);
    assert_eq!(lost(Loss::MalformedRecord), 1);
    assert_eq!(lost(Loss::LinkWithoutContext), 1);
    assert_eq!(lost(Loss::BrokenMark), 2);
    assert_eq!(lost(Loss::BrokenRedirect), 2);
    assert_eq!(lost(Loss::IgnoredField), 1);
    let unknown = corpus.manifest().losses.iter().find(|(loss, _)| *loss == Loss::UnknownTarget);
    assert_eq!(unknown.expect("counted").1.samples, ["nowhere (2)", "gone (1)", "loop (1)"]);
    assert_eq!(positions(&corpus, "c", 9), ["to [] and → a"]);
    assert_eq!(corpus.redirects().collect::<Vec<_>>(), [("old", DocId(0))]);
    assert_eq!(corpus.find("old"), Some(DocId(0)));
    assert_eq!(corpus.find("loop"), None);
    assert_eq!(corpus.find_word("only_here"), None, "words of a document left out do not count");
    assert_eq!(corpus.find_word("again"), None);
}

#[test]
fn redirects_whose_id_came_before_are_counted_and_links_without_context_one_by_one() {
    let dir = tempfile::tempdir().expect("a directory");
    let lines = [
        r#"{"id":"a","text":"some words"}"#,
        r#"{"id":"b","text":"[[a|c]]"}"#,
        r#"{"id":"c","text":"to [[old]]"}"#,
        r#"{"id":"old","redirect":"a"}"#,
        r#"{"id":"old","redirect":"c"}"#,
        r#"{"id":"b","redirect":"a"}"#,
    ];
    let corpus = import_text(&dir, "c", &lines.join("\n"), &options()).expect("imported");
    let losses = &corpus.manifest().losses;
    let samples: Vec<_> = losses.iter().filter(|(loss, _)| *loss == Loss::DuplicateRedirect).collect();
    assert_eq!(samples[0].1.samples, ["old → c", "b → a"]);
    assert_eq!(losses.count(Loss::DuplicateRedirect), 2);
    assert_eq!(corpus.redirects().collect::<Vec<_>>(), [("old", DocId(0))]);
    assert_eq!(losses.count(Loss::LinkWithoutContext), 2, "two links at one position");
}

#[test]
fn documents_keep_their_title_date_labels_and_url() {
    let dir = tempfile::tempdir().expect("a directory");
    let line =
        r#"{"id":"a","title":"A title","date":"2001-02-03","labels":["x","y","x"],"url":"http://x/","text":"w"}"#;
    let corpus =
        import_text(&dir, "c", &format!("{line}\n{{\"id\":\"b\",\"text\":\"w\"}}"), &options()).expect("imported");
    let (a, b) = (DocId(0), DocId(1));
    assert_eq!((corpus.title(a), corpus.title(b)), (Some("A title"), None));
    assert_eq!((corpus.url(a), corpus.url(b)), (Some("http://x/"), None));
    assert_eq!(corpus.date(a).map(|d| d.to_string()).as_deref(), Some("2001-02-03"));
    assert_eq!(corpus.date(b), None);
    assert_eq!(corpus.labels(a).collect::<Vec<_>>(), ["x", "y"]);
    assert_eq!(corpus.labels(b).count(), 0);
}

#[test]
fn a_document_of_a_million_words_is_whole() {
    let dir = tempfile::tempdir().expect("a directory");
    let text = "word ".repeat(1_000_000) + "[[b]] end";
    let json = serde_json::json!({"id": "a", "text": text}).to_string() + "\n{\"id\":\"b\",\"text\":\"x\"}";
    let corpus = import_text(&dir, "c", &json, &options()).expect("imported");
    assert_eq!(corpus.words(DocId(0)).len(), 1_000_001);
    assert_eq!(corpus.positions(DocId(0)).next().map(|p| p.at), Some(1_000_000));
    assert_eq!(corpus.document(DocId(0)).expect("readable").text, text.replace("[[b]]", ""));
}

#[test]
fn a_split_by_date_makes_queries_of_later_links() {
    let (_dir, corpus) = corpus(&[
        "a (2001): w [[b]]",
        "b (2002-05): w",
        "c (2002-12-31): w [[d]]",
        "d (2003): w [[a]] [[e]] x [[e|b|a]]",
        "e (2004): w [[d]]",
        "f: w [[a]]",
    ]);
    let split = Split::by_date(&corpus, "2002".parse().expect("a date")).expect("split");
    let parts: Vec<SplitPart> = corpus.documents().map(|doc| split.part(doc)).collect();
    use SplitPart::{Test, Training, Unused};
    assert_eq!(parts, [Training, Training, Training, Test, Test, Unused]);
    let newcomers: Vec<&str> = corpus.documents().filter(|&d| split.is_newcomer(d)).map(|d| corpus.name(d)).collect();
    assert_eq!(newcomers, ["a", "c"]);
    let queries = split.queries(&corpus);
    let truths: Vec<Vec<&str>> = queries.iter().map(|q| q.truths.iter().map(|&d| corpus.name(d)).collect()).collect();
    assert_eq!(truths, [vec!["a"], vec!["b", "a"]]);
    let error = Split::by_date(&corpus, "1999".parse().expect("a date")).expect_err("nothing to train on");
    assert!(error.to_string().contains("dates go from 2001 to 2004"), "{error}");
}

#[test]
fn a_split_by_share_takes_that_share_and_follows_the_seed() {
    let records: Vec<String> = (0..50).map(|i| format!("d{i}: w [[d{}]]", (i + 1) % 50)).collect();
    let (_dir, corpus) = corpus(&records.iter().map(String::as_str).collect::<Vec<_>>());
    let split = Split::by_share(&corpus, 0.1, 1).expect("split");
    assert_eq!(split.documents(SplitPart::Test).count(), 5);
    assert_eq!(split, Split::by_share(&corpus, 0.1, 1).expect("split"));
    assert_ne!(split, Split::by_share(&corpus, 0.1, 2).expect("split"));
    let tests: Vec<DocId> = split.documents(SplitPart::Test).collect();
    assert!(split.queries(&corpus).iter().all(|q| tests.contains(&corpus.position(q.position).source)));
    assert!(Split::by_share(&corpus, 1.0, 1).is_err());
    let error = Split::by_date(&corpus, "2000".parse().expect("a date")).expect_err("no dates").to_string();
    assert!(error.contains("no dates"), "{error}");
}

fn files(corpus: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(corpus)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| (PathBuf::from(path.file_name().expect("a name")), fs::read(&path).expect("readable")))
        .collect();
    files.sort();
    files
}

#[test]
fn a_corpus_cut_short_or_altered_is_refused() {
    let (dir, corpus) = corpus(&["a: one two [[b]] three", "b: four [[a]]"]);
    let path = corpus.path().to_owned();
    drop(corpus);
    for (name, bytes) in files(&path) {
        let file = path.join(&name);
        if bytes.is_empty() {
            continue;
        }
        fs::write(&file, &bytes[..bytes.len().saturating_sub(2)]).expect("written");
        let error = Corpus::open(&path).map(|_| ()).expect_err(&format!("{} cut short", name.display()));
        assert!(error.to_string().contains("import"), "{error}");
        for at in 0..bytes.len() {
            let mut altered = bytes.clone();
            altered[at] ^= 0x04;
            fs::write(&file, &altered).expect("written");
            let result = Corpus::open(&path).and_then(|corpus| corpus.verify());
            assert!(result.is_err(), "{} with byte {at} altered", name.display());
        }
        fs::write(&file, &bytes).expect("written");
    }
    Corpus::open(&path).and_then(|corpus| corpus.verify()).expect("intact again");
    drop(dir);
}

#[test]
fn a_corpus_of_another_layout_is_refused_with_advice() {
    let (dir, corpus) = corpus(&["a: one"]);
    let path = corpus.path().join("corpus.json");
    let json = fs::read_to_string(&path).expect("readable");
    let refused = |version: u32| {
        let altered = json.replace("\"version\": 3", &format!("\"version\": {version}"));
        fs::write(&path, altered).expect("written");
        let error = Corpus::open(corpus.path()).expect_err("another layout");
        assert!(matches!(error, Error::Foreign { .. }), "{error:?}");
        error.to_string()
    };
    let (newer, older) = (refused(4), refused(1));
    assert!(newer.contains("layout 4") && newer.contains("newer program"), "{newer}");
    assert!(older.contains("layout 1") && older.ends_with("; import the corpus again"), "{older}");
    let force = ImportOptions { force: true, ..options() };
    import_text(&dir, "corpus", r#"{"id":"a","text":"two"}"#, &force).expect("imported again in its place");
}

#[test]
fn an_import_that_is_stopped_leaves_nothing() {
    let dir = tempfile::tempdir().expect("a directory");
    let input = dir.path().join("in.jsonl");
    fs::write(&input, "{\"id\":\"a\",\"text\":\"w\"}\n").expect("written");
    let result = import(Format::Jsonl, &[input], &dir.path().join("c"), &options(), &mut |_| ControlFlow::Break(()));
    assert!(matches!(result, Err(Error::Interrupted)));
    assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 1, "only the input is there");
}

#[test]
fn all_that_jsonl_says_of_a_document_comes_back() {
    let dir = tempfile::tempdir().expect("a directory");
    let text = concat!(
        r#"{"id":"a","title":"A","date":"2001-02","language":"pt-BR","labels":["x","y"],"url":"http://a","text":"one [two][[b]]"}"#,
        "\n",
        r#"{"id":"b","text":"three [[b]] [[nowhere]]"}"#,
        "\n",
        r#"{"id":"c","language":"en","text":"four"}"#,
        "\n",
        r#"{"id":"d","language":"en","labels":["y"],"text":""}"#,
        "\n",
    );
    let corpus = import_text(&dir, "c", text, &options()).expect("imported");
    corpus.verify().expect("intact");
    let languages: Vec<_> = corpus.documents().map(|doc| corpus.language(doc)).collect();
    assert_eq!(languages, [Some("pt-BR"), None, Some("en"), Some("en")]);
    assert_eq!(corpus.language_counts().expect("intact"), [("en", 2), ("pt-BR", 1)]);
    let documents: Vec<_> = corpus.documents().map(|doc| corpus.document(doc).expect("readable")).collect();
    let again = to_jsonl(&documents, &[]);
    assert_eq!(String::from_utf8(again).expect("UTF-8"), text);
}

/// Documents with links among them, some unknown, over a small alphabet.
fn documents() -> impl Strategy<Value = Vec<(String, String)>> {
    let piece = prop_oneof![
        4 => "[a-dA-D.,' \\n]{1,12}".prop_map(|s| s),
        2 => "[0-9]".prop_map(|id| format!("[[d{id}]]")),
        1 => "[a-d ]{1,6}".prop_map(|s| format!("[{s}][[d1]]")),
        1 => "[0-9]".prop_map(|id| format!("[[d{id}|d0|x]]")),
        1 => "\\PC{0,8}".prop_map(|s| s.replace(['[', ']', '\\'], " ")),
        1 => Just("\\[[ ]]".to_owned()),
    ];
    let text = prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat());
    prop::collection::vec(text, 1..10)
        .prop_map(|texts| texts.into_iter().enumerate().map(|(i, text)| (format!("d{i}"), text)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn jsonl_to_corpus_to_jsonl_to_corpus_is_the_same(
        (documents, title, language) in (documents(), "\\PC{0,10}", "[a-zA-Z]{2}([-_][a-zA-Z0-9]{1,5}){0,3}|\\PC{0,3}")
    ) {
        let dir = tempfile::tempdir().expect("a directory");
        let lines: Vec<String> = documents.iter()
            .map(|(id, text)| serde_json::json!({"id": id, "title": title, "date": "2001", "language": language, "labels": ["l"], "text": text}).to_string())
            .collect();
        let first = import_text(&dir, "first", &lines.join("\n"), &options()).expect("imported");
        first.verify().expect("intact");
        for doc in first.documents() {
            for position in first.positions(doc) {
                prop_assert!(position.at <= first.words(doc).len() && position.anchor <= position.at);
                prop_assert!(!position.targets.is_empty() && !position.targets.contains(&doc));
            }
        }
        let documents: Vec<_> = first.documents().map(|doc| first.document(doc).expect("readable")).collect();
        let text = to_jsonl(&documents, &[]);
        let second = import_text(&dir, "second", std::str::from_utf8(&text).expect("UTF-8"), &options()).expect("imported");
        prop_assert_eq!(&first.manifest().fingerprint, &second.manifest().fingerprint);
        prop_assert_eq!(&first.manifest().counts, &second.manifest().counts);
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let dir = tempfile::tempdir().expect("a directory");
    // Several batches: two mebibytes each.
    let lines: Vec<String> = (0..9000)
        .map(|i| {
            let body: String = (0..200).map(|j| format!("w{} ", (i * 31 + j * j * 7) % 5000)).collect();
            serde_json::json!({"id": format!("d{i}"), "text": format!("{body} [[d{}]] [[missing{}]]", i * 7 % 9000, i % 3)}).to_string()
        })
        .collect();
    let text = lines.join("\n");
    let of = |threads: usize| {
        let options = ImportOptions { threads, force: true, ..options() };
        let corpus = import_text(&dir, "c", &text, &options).expect("imported");
        files(corpus.path())
    };
    let one = of(1);
    assert!(text.len() > 10 << 20 && one.len() > 20);
    assert!(one == of(2), "two threads");
    assert!(one == of(8), "eight threads");
}

#[test]
fn a_corpus_of_layout_2_opens_and_has_no_authors() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/corpora/v2");
    let corpus = Corpus::open(golden).expect("a corpus");
    corpus.verify().expect("intact");
    let document = corpus.document(corpus.find("a").expect("a document")).expect("its text");
    assert_eq!((document.title.as_deref(), document.authors.len()), (Some("Alpha"), 0));
    assert_eq!(document.links[0].targets, ["b"]);
}

#[test]
fn authors_are_kept_in_order() {
    let folder = tempfile::tempdir().expect("a directory");
    let document = Document::new("a", "words").authors(["Ann Doe", "Jan van\nder Berg"]);
    let documents = [document, Document::new("b", "more")];
    let corpus =
        crate::import::Import::documents(documents).min_count(1).build(folder.path().join("c")).expect("built");
    let authors = |id: &str| corpus.authors(corpus.find(id).expect("a document")).collect::<Vec<_>>();
    assert_eq!(authors("a"), ["Ann Doe", "Jan van der Berg"]);
    assert!(authors("b").is_empty());
}
