//! Importing papers, and the report of what became of their references.

use serde_json::Value;

use crate::helper::Place;

const CITED: &str = "<TEI><teiHeader><fileDesc><titleStmt><title>The growth of trees in forests</title></titleStmt>\
    <sourceDesc><biblStruct><analytic><author><persName><surname>Oak</surname></persName></author></analytic>\
    <monogr><imprint><date when='2001'/></imprint></monogr></biblStruct></sourceDesc></fileDesc></teiHeader>\
    <text><body><p>Trees grow.</p></body></text></TEI>";
const CITING: &str = "<TEI><text><body><p>They grow <ref type='bibr' target='#b0'>[1]</ref> and die \
    <ref type='bibr' target='#b1'>[2]</ref>.</p></body><back><listBibl>\
    <biblStruct xml:id='b0'><analytic><title>The growth of trees in forests</title><author><persName><surname>Oak\
    </surname></persName></author></analytic><monogr><imprint><date when='2002'/></imprint></monogr></biblStruct>\
    <biblStruct xml:id='b1'><analytic><title>The death of trees in forests</title></analytic></biblStruct>\
    </listBibl></back></text></TEI>";

fn papers() -> Place {
    Place::with(&[("cited.tei.xml", CITED), ("citing.tei.xml", CITING)])
}

#[test]
fn a_report_tells_what_became_of_references() {
    let place = papers();
    let outcome = place.ok("import tei . --min-count 1 --report r.json -o c");
    assert!(outcome.err.contains("1 of 2 references matched to a paper of the set (50.0 %)"), "{}", outcome.err);
    let report: Value = serde_json::from_slice(&std::fs::read(place.path("r.json")).expect("a report")).expect("JSON");
    assert_eq!((report["documents"].as_u64(), report["links"].as_u64()), (Some(2), Some(1)));
    let title = &report["references"]["resolved"]["title"];
    assert_eq!((title["count"].as_u64(), title["samples"][0]["target"].as_str()), (Some(1), Some("cited")));
    assert_eq!(report["references"]["unresolved"]["not-in-set"]["count"].as_u64(), Some(1));
    assert_eq!(report["losses"]["unmatched-reference"]["count"].as_u64(), Some(1));
}

#[test]
fn jsonl_and_report_can_be_had_together() {
    let place = papers();
    place.ok("import tei . --jsonl out.jsonl --report r.json");
    let lines = std::fs::read_to_string(place.path("out.jsonl")).expect("lines");
    assert!(lines.contains("They grow[[cited]] and die."), "{lines}");
    assert!(place.path("r.json").is_file());
}

#[test]
fn every_reference_can_be_had_with_its_outcome() {
    let place = papers();
    for output in ["-o c", "--jsonl out.jsonl"] {
        place.ok(&format!("import tei . --min-count 1 --references r.jsonl --force {output}"));
        let lines = std::fs::read_to_string(place.path("r.jsonl")).expect("lines");
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let shown = |line: &Value| format!("{} {} {}", line["key"], line["outcome"], line["target"]);
        let shown: Vec<String> = lines.iter().map(shown).collect();
        assert_eq!(shown, [r#""b0" "title" "cited""#, r#""b1" "not-in-set" null"#]);
    }
}

#[test]
fn a_report_that_is_there_is_not_replaced() {
    let place = papers();
    place.write("r.json", "mine");
    let outcome = place.run("import tei . --report r.json -o c");
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.err.contains("r.json: already exists"), "{}", outcome.err);
    assert!(!place.path("c").exists());
}

#[test]
fn a_format_without_references_has_a_report_too() {
    let place = Place::with(&[("in.jsonl", "{\"id\":\"a\",\"text\":\"x [[b]]\"}\n{\"id\":\"b\",\"text\":\"y\"}\n")]);
    let outcome = place.ok("import jsonl in.jsonl --min-count 1 --report - -o c");
    let report: Value = serde_json::from_str(&outcome.out).expect("JSON on stdout");
    assert_eq!((report["format"].as_str(), report["links"].as_u64()), (Some("jsonl"), Some(1)));
    assert!(report.get("references").is_none());
}
