//! Hand-made lines of each layout, and the documents that they are, worked out by hand.

use super::*;
use crate::document::markup;
use crate::tests::growth::assert_linear;

fn import(lines: &str) -> Parsed {
    let batch = LineBatch::new("s2orc", lines);
    let mut first = FirstPass::default();
    first.add(heads(&batch));
    first.finish().parse(&batch)
}

/// Each document in a line: id, title, year, labels, text with links.
fn shown(parsed: &Parsed) -> Vec<String> {
    let show = |document: &Document| {
        let year = document.date.map(|date| date.to_string()).unwrap_or_default();
        let title = document.title.as_deref().unwrap_or_default();
        let text = markup::render(&document.text, &document.links).replace('\n', " / ");
        format!("{}|{title}|{year}|{}|{text}", document.id, document.labels.join(","))
    };
    parsed.batch.documents.iter().map(show).collect()
}

#[test]
fn metadata_and_parses_of_2020_belong_together() {
    let parsed = import(include_str!("../../../tests/data/s2orc/2020.jsonl"));
    assert_eq!(
        shown(&parsed),
        [
            "30|Counting stones by the sea|2009||Counting stones by the sea / How many there are.",
            "10|Parsing rivers with shallow nets|2016|Computer Science|We parse rivers. / Dogs are happier cats[[20|30]]. See Figure 3 for naïve 𝒳 words, as Tal[[20]] says[[30]].",
            "20|A grammar of tides|2011|Geology|Tides turn; see rivers[[10]], and others.",
            "40||||Nobody knows me.",
        ]
    );
    assert_eq!(parsed.references.entries_resolved(), 4, "{:?}", parsed.references);
    assert_eq!(parsed.batch.losses.count(Loss::UnmatchedReference), 1);
    assert_eq!(parsed.batch.losses.count(Loss::BrokenMark), 1);
}

#[test]
fn a_line_of_2019_holds_metadata_and_parse() {
    let parsed = import(include_str!("../../../tests/data/s2orc/2019.jsonl"));
    assert_eq!(
        shown(&parsed),
        [
            "10|Parsing rivers with shallow nets|2016||Rivers flow. / As was shown[[20]], they do.",
            "20|A grammar of tides|2011||A grammar of tides / Tides are told.",
        ]
    );
}

#[test]
fn annotated_text_of_the_api_is_cut_into_paragraphs() {
    let parsed = import(include_str!("../../../tests/data/s2orc/api.jsonl"));
    assert_eq!(
        shown(&parsed),
        [
            "20|A grammar of tides|2011||A grammar of tides",
            "10|Parsing rivers|||Rivers fløw. / They were parsed[[20|30]] before.",
            "30|Counting stones by the sea|2009||Stones are counted[[10]] here.",
        ]
    );
}

#[test]
fn annotated_titles_and_authors_of_entries_are_used() {
    let text = r#"{"corpusid": 2, "content": {"text": "Linking [1] is old.\nA Arbor\nLinking texts with vectors. J Text. 2014", "annotations": {
        "paragraph": "[{\"start\": 0, \"end\": 19}]", "bibref": "[{\"start\": 8, \"end\": 11, \"attributes\": {\"ref_id\": \"b0\"}}]",
        "bibauthor": "[{\"start\": 20, \"end\": 27}]", "bibtitle": "[{\"start\": 28, \"end\": 54}]",
        "bibentry": "[{\"start\": 20, \"end\": 68, \"attributes\": {\"id\": \"b0\"}}]"}}}"#;
    let paper = r#"{"corpusid": 1, "title": "Linking texts with vectors", "authors": [{"name": "Ann Arbor"}], "year": 2014,
        "s2fieldsofstudy": [{"category": "Law", "source": "a"}, {"category": "Law", "source": "b"}, {"category": "Art"}]}"#;
    let parsed = import(&[paper, text].map(|json| json.replace('\n', "")).join("\n"));
    assert_eq!(
        shown(&parsed),
        ["1|Linking texts with vectors|2014|Law,Art|Linking texts with vectors", "2||||Linking[[1]] is old."]
    );
}

#[test]
fn a_line_of_unarxive_is_told_by_its_name() {
    let parsed = import(include_str!("../../../tests/data/unarxive/sample.jsonl").lines().next().expect("a line"));
    let (_, what) = parsed.batch.first_bad.expect("a bad line");
    assert!(parsed.batch.documents.is_empty() && what.contains("found one of unarxive"), "{what}");
}

#[test]
fn lines_that_cannot_be_read_are_named() {
    let parsed =
        import("{\"paper_id\": \"1\", \"title\": \"A\"}\n{\"paper_id\": \"2\", \"body_te\n{\"title\": \"B\"}\n[1]\n");
    assert_eq!((parsed.batch.documents.len(), parsed.batch.losses.count(Loss::MalformedRecord)), (1, 3));
    assert_eq!(parsed.batch.first_bad.expect("a bad line").0, "s2orc:2");
}

#[test]
fn annotations_in_great_number_take_time_in_proportion() {
    let list = |one: &dyn Fn(usize) -> String, pieces: usize| {
        Value::from(format!("[{}]", (0..pieces).map(one).collect::<Vec<_>>().join(","))).to_string()
    };
    // Marks side by side; then entries, titles and authors that all stand over the whole text.
    assert_linear("marks", 20_000, |pieces| {
        let marks =
            list(&|at| format!(r#"{{"start":{},"end":{},"attributes":{{"ref_id":"b"}}}}"#, at * 2, at * 2 + 1), pieces);
        let text = "a ".repeat(pieces);
        drop(import(&format!(r#"{{"corpusid":1,"content":{{"text":"{text}","annotations":{{"bibref":{marks}}}}}}}"#)));
    });
    assert_linear("entries", 20_000, |pieces| {
        let whole = |at: usize| format!(r#"{{"start":0,"end":{},"attributes":{{"id":"b{at}"}}}}"#, pieces * 2);
        let all = list(&whole, pieces);
        let text = "a ".repeat(pieces);
        let parsed = import(&format!(
            r#"{{"corpusid":1,"content":{{"text":"{text}","annotations":{{"bibentry":{all},"bibtitle":{all},"bibauthor":{all}}}}}}}"#
        ));
        assert!(parsed.batch.losses.count(Loss::BrokenMark) > pieces as u64 / 2);
    });
}
