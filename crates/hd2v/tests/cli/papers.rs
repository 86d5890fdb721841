//! Papers as plain text, S2ORC and unarXive through the program.

use serde_json::{Value, json};

use crate::helper::{Place, gz};

const TABLE: &str = "id,title,authors,year\n\
    rivers,Parsing rivers with shallow nets,Marta Lindqvist; Oren Tal,2016\n\
    tides,A grammar of tides and of their turning,Oren Tal,2011\n\
    stones,Counting stones by the sea at night,Jules Verhoeven,2009\n";

const RIVERS: &str = "Parsing rivers\n\nRivers turn as tides do [1], and stones\nare counted [2, 3] in a transla-\ntion of them.\n\n\
    References\n[1] O. Tal. A grammar of tides and of their turning. Shores, 2011.\n\
    [2] J. Verhoeven. Counting stones by the sea at night. Stones,\n2009.\n\
    [3] N. Body. A book that nobody has. Press, 1950.\n";

const TIDES: &str = "Tides turn, as Verhoeven (2009) and others\u{c}say (Verhoeven, 2009).\n\nReferences\n\
    Jules Verhoeven. 2009. Counting stones by the sea at night. Stones 1.\n";

/// A directory with texts in `texts/` and a table.
fn place() -> Place {
    let place = Place::new();
    std::fs::create_dir(place.path("texts")).expect("a directory");
    place.write("table.csv", TABLE);
    place.write("texts/rivers.txt", RIVERS);
    place.write("texts/tides.txt.gz", gz(TIDES.as_bytes()));
    place
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn texts_and_a_table_become_documents_with_links() {
    let place = place();
    let documents = lines(&place.ok("import papers texts --metadata table.csv --jsonl -").out);
    let texts: Vec<&Value> = documents.iter().map(|document| &document["text"]).collect();
    assert_eq!(
        texts,
        [
            &json!(
                "Parsing rivers\nRivers turn as tides do[[tides]], and stones are counted[[stones]] in a translation of them."
            ),
            &json!("Tides turn, as Verhoeven[[stones]] and others say[[stones]]."),
            &json!("Counting stones by the sea at night"),
        ]
    );
    assert_eq!(
        (&documents[0]["title"], &documents[0]["date"]),
        (&json!("Parsing rivers with shallow nets"), &json!("2016"))
    );
}

#[test]
fn a_corpus_of_papers_tells_what_was_lost_and_is_the_same_with_any_threads() {
    let place = place();
    place.write("texts/README.txt", "not a paper");
    place.ok("import papers texts --metadata table.csv --min-count 1 --threads 1 -o one --report report.json");
    place.ok("import papers texts --metadata table.csv --min-count 1 --threads 4 -o four");
    assert_eq!(place.files("one"), place.files("four"));
    let doctor = place.ok("doctor one").out;
    for said in ["only the title", "no row of the table", "no document of the set"] {
        assert!(doctor.contains(said), "{said} in {doctor}");
    }
    let info = place.json("info one --json");
    assert_eq!((&info["documents"], &info["links"]), (&json!(3), &json!(4)));
    let report: Value =
        serde_json::from_slice(&std::fs::read(place.path("report.json")).expect("a report")).expect("JSON");
    assert!(report.to_string().contains("A book that nobody has"), "{report}");
}

#[test]
fn a_table_that_does_not_fit_is_refused_with_what_is_missing() {
    let place = place();
    assert!(place.run("import papers texts -o c").err.contains("`metadata`"));
    assert!(place.run("import jsonl table.csv --metadata table.csv -o c").err.contains("`metadata`"));
    place.write("bad.csv", "id,name,when\nrivers,x,2001\n");
    let error = place.refused("import papers texts --metadata bad.csv -o c");
    assert!(error.contains("bad.csv") && error.contains("authors") && error.contains("id, name, when"), "{error}");
    place.write("other.csv", TABLE.replace("rivers,", "r1,").replace("tides,", "t1,").replace("stones,", "s1,"));
    let error = place.refused("import papers texts --metadata other.csv -o c");
    assert!(error.contains("r1") && error.contains("rivers.txt"), "{error}");
}

#[test]
fn garbage_and_pdfs_among_the_texts_are_counted_and_the_others_are_read() {
    let place = place();
    place.write("texts/stones.txt", [0u8, 1, 2, 3, 255, 254, 7, 8].repeat(50));
    let outcome = place.ok("import papers texts --metadata table.csv --min-count 1 -o c");
    assert!(outcome.err.contains("stones.txt: is no text"), "{}", outcome.err);
    place.write("texts/stones.txt", "%PDF-1.4 and so on");
    let outcome = place.ok("import papers texts --metadata table.csv --min-count 1 -o d");
    assert!(outcome.err.contains("is a PDF"), "{}", outcome.err);
}

#[test]
fn s2orc_and_unarxive_are_read_from_directories_and_files() {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../hyperdoc2vec/tests/data");
    let place = Place::new();
    let sample = std::fs::read(format!("{data}/s2orc/2020.jsonl")).expect("a sample");
    std::fs::create_dir(place.path("shards")).expect("a directory");
    place.write("shards/all.jsonl.gz", gz(&sample));
    let documents = lines(&place.ok("import s2orc shards --jsonl -").out);
    assert_eq!(documents.len(), 4);
    assert_eq!(documents[2]["text"], json!("Tides turn; see rivers[[10]], and others."));
    place.write("papers.jsonl", std::fs::read(format!("{data}/unarxive/sample.jsonl")).expect("a sample"));
    place.ok("import unarxive papers.jsonl --min-count 1 -o c");
    assert_eq!(place.json("info c --json")["links"], json!(5));
    assert!(place.refused("import s2orc - -o d").contains("twice"));
}

#[test]
fn json_that_is_cut_short_stops_the_import_or_is_left_out() {
    let place = Place::new();
    place.write(
        "in.jsonl",
        "{\"paper_id\": \"1\", \"title\": \"A title\"}\n{\"paper_id\": \"2\", \"body_text\": [{\"te\n",
    );
    let error = place.refused("import s2orc in.jsonl -o c");
    assert!(error.contains("in.jsonl:2"), "{error}");
    place.ok("import s2orc in.jsonl --skip-bad --min-count 1 -o c");
    assert_eq!(place.json("info c --json")["documents"], json!(1));
}
