//! Commands on good input: they work, with the same result whichever way the input comes.

use serde_json::Value;

use crate::helper::{Place, bz2, gz, record, records, xz, zst};

#[test]
fn jsonl_is_imported_from_a_file() {
    let place = Place::with(&[("in.jsonl", &(record("a", "one [[b]] two") + &record("b", "three")))]);
    let outcome = place.ok("import jsonl in.jsonl --min-count 1 -o c");
    assert_eq!(outcome.out, "");
    assert!(outcome.err.starts_with("c: 2 documents, 3 words, 1 link at 1 position;"), "{}", outcome.err);
    assert_eq!(place.entries(), ["c", "in.jsonl"]);
}

#[test]
fn several_files_make_one_corpus_with_links_between_them() {
    let place = Place::with(&[("1.jsonl", &record("a", "one [[b]]")), ("2.jsonl", &record("b", "two [[a]]"))]);
    place.ok("import jsonl 1.jsonl 2.jsonl -o c");
    let info = place.json("info c --json");
    assert_eq!((&info["documents"], &info["links"]), (&Value::from(2), &Value::from(2)));
    assert_eq!(info["provenance"]["inputs"], serde_json::json!(["1.jsonl", "2.jsonl"]));
}

#[test]
fn standard_input_and_packed_files_give_the_same_corpus_as_the_plain_file() {
    let text = records(3000);
    let place = Place::with(&[("plain.jsonl", &text)]);
    place.ok("import jsonl plain.jsonl -o plain");
    let fingerprint = place.fingerprint("plain");
    let packed = [("gz", gz(text.as_bytes())), ("bz2", bz2(text.as_bytes())), ("xz", xz(text.as_bytes()))];
    for (name, bytes) in packed.iter().chain([&("zst", zst(text.as_bytes()))]) {
        place.write(&format!("in.jsonl.{name}"), bytes);
        place.ok(&format!("import jsonl in.jsonl.{name} -o {name}"));
        assert_eq!(place.fingerprint(name), fingerprint, "{name}");
        place.run_with(&format!("import jsonl - -o {name}-stdin"), bytes).succeeded(name);
        assert_eq!(place.fingerprint(&format!("{name}-stdin")), fingerprint, "{name} on standard input");
    }
    place.run_with("import jsonl - -o stdin", text.as_bytes()).succeeded("standard input");
    assert_eq!(place.fingerprint("stdin"), fingerprint);
}

#[test]
fn packed_files_may_have_several_parts_and_any_name() {
    let (one, two) = (record("a", "one [[b]]"), record("b", "two"));
    let place = Place::with(&[("plain", &(one.clone() + &two))]);
    place.ok("import jsonl plain -o c");
    for (name, pack) in [("gz", gz as fn(&[u8]) -> Vec<u8>), ("zst", zst), ("bz2", bz2), ("xz", xz)] {
        place.write("parts", [pack(one.as_bytes()), pack(two.as_bytes())].concat());
        place.ok(&format!("import jsonl parts -o {name}"));
        assert_eq!(place.fingerprint(name), place.fingerprint("c"), "{name}");
    }
}

#[test]
fn lines_of_the_paper_are_the_same_corpus_as_their_jsonl() {
    let place = Place::with(&[
        ("in.txt", "A we use =-=B,C-=- here\nB one\nC two =-=A-=-\n"),
        ("in.jsonl", &(record("A", "we use [[B|C]] here") + &record("B", "one") + &record("C", "two [[A]]"))),
    ]);
    place.ok("import lines in.txt -o lines");
    place.ok("import jsonl in.jsonl -o jsonl");
    assert_eq!(place.fingerprint("lines"), place.fingerprint("jsonl"));
}

#[test]
fn a_generated_corpus_tells_of_itself_by_the_contract() {
    let place = Place::new();
    place.ok("generate --docs 200 --links 700 --seed 5 -o made");
    let info = place.json("info made --json");
    assert_eq!(info["kind"], "corpus");
    assert_eq!((&info["documents"], &info["links"]), (&Value::from(200), &Value::from(700)));
    let number = |field: &str| info[field].as_u64().unwrap_or_else(|| panic!("{field} is a number: {info}"));
    assert!(number("words") > 20_000 && number("text_bytes") > number("words"));
    assert!((1..=number("distinct_words")).contains(&number("vocabulary")));
    assert!((1..700).contains(&number("positions")));
    assert!((20..200).contains(&number("newcomers")));
    assert_eq!(number("redirects"), 0);
    assert_eq!(info["dates"]["documents"], 200);
    assert_eq!((&info["dates"]["first"], &info["dates"]["last"]), (&"2000-01".into(), &"2019-11".into()));
    assert_eq!(info["labels"]["documents"], 200);
    let kinds = ["kind:tool", "kind:theory", "kind:data", "kind:rival"];
    let count = |kind: &&str| info["labels"]["counts"][kind].as_u64().expect("a count");
    assert_eq!(kinds.iter().map(count).sum::<u64>(), 200);
    assert_eq!(info["parameters"], serde_json::json!({"lowercase": true, "min_count": 5}));
    assert_eq!(info["provenance"]["format"], "generate");
    assert_eq!(info["provenance"]["program"], env!("CARGO_PKG_VERSION"));

    let doctor = place.json("doctor made --json --links 3");
    assert_eq!((&doctor["kind"], &doctor["intact"]), (&"doctor".into(), &true.into()));
    for loss in ["unknown-target", "duplicate-id", "empty-text", "link-without-context", "self-link"] {
        assert_eq!(doctor["losses"][loss]["count"], 0, "{loss}");
    }
    assert_eq!(doctor["links"].as_array().map(Vec::len), Some(3));
    assert!(doctor["links"][0]["targets"][0].is_string());
}

#[test]
fn what_cat_prints_is_the_same_corpus_again() {
    let place = Place::new();
    place.ok("generate --docs 150 --links 500 -o made");
    let printed = place.ok("cat made").out;
    assert_eq!(printed.lines().count(), 150);
    place.run_with("import jsonl - -o again", printed.as_bytes()).succeeded("import");
    assert_eq!(place.fingerprint("again"), place.fingerprint("made"));
    place.ok("generate --docs 150 --links 500 --jsonl made.jsonl");
    place.ok("import jsonl made.jsonl -o third");
    assert_eq!(place.fingerprint("third"), place.fingerprint("made"));
}

#[test]
fn cat_prints_the_documents_asked_for_in_that_order() {
    let place = Place::with(&[("in", &(record("a", "one [w][[b]]") + &record("b", "two") + &record("c", "x")))]);
    place.ok("import jsonl in -o c");
    assert_eq!(place.ok("cat c b a").out, record("b", "two") + &record("a", "one [w][[b]]"));
    assert_eq!(place.refused("cat c b nobody"), "c: no document has the id \"nobody\"");
}

#[test]
fn import_to_jsonl_writes_a_file_or_stdout() {
    let place = Place::with(&[("in.txt", "A we use =-=B-=- here\nB one\n")]);
    let expected = record("A", "we use [[B]] here") + &record("B", "one");
    assert_eq!(place.ok("import lines in.txt --jsonl -").out, expected);
    place.ok("import lines in.txt --jsonl out.jsonl");
    assert_eq!(std::fs::read_to_string(place.path("out.jsonl")).expect("written"), expected);
    assert_eq!(place.entries(), ["in.txt", "out.jsonl"]);
}

#[test]
fn min_count_sets_the_vocabulary_and_keep_case_tells_capitals_apart() {
    let place = Place::with(&[("in", &record("a", "Fish fish fish soup soup bread"))]);
    let counts = |flags: &str| {
        place.ok(&format!("import jsonl in -o c --force {flags}"));
        let info = place.json("info c --json");
        (info["vocabulary"].as_u64().unwrap_or(9), info["distinct_words"].as_u64().unwrap_or(9))
    };
    assert_eq!(counts(""), (0, 3));
    assert_eq!(counts("--min-count 1"), (3, 3));
    assert_eq!(counts("--min-count 3"), (1, 3));
    assert_eq!(counts("--min-count 2 --keep-case"), (2, 4));
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let place = Place::with(&[("in.jsonl", &records(120_000))]);
    assert!(place.path("in.jsonl").metadata().expect("a file").len() > 8 << 20, "several batches");
    let imported = |threads: usize| {
        place.ok(&format!("import jsonl in.jsonl --threads {threads} --force -o c"));
        place.files("c")
    };
    let made = |threads: usize| {
        place.ok(&format!("generate --docs 3000 --links 9000 --threads {threads} --force -o m"));
        place.files("m")
    };
    let (one, one_made) = (imported(1), made(1));
    for threads in [2, 8] {
        assert!(imported(threads) == one, "import with {threads} threads");
        assert!(made(threads) == one_made, "generate with {threads} threads");
    }
}

#[test]
fn skip_bad_leaves_bad_records_out_and_counts_them() {
    let text = record("a", "one") + "not json\n" + &record("b", "two");
    let place = Place::with(&[("in.jsonl", &text)]);
    let err = place.ok("import jsonl in.jsonl --skip-bad -o c").err;
    assert!(err.contains("1 malformed record left out\n    in.jsonl:2: not a JSON record"), "{err}");
    assert_eq!(place.json("info c --json")["documents"], 2);
    assert_eq!(place.json("doctor c --json")["losses"]["malformed-record"]["count"], 1);
}

#[cfg(unix)]
#[test]
fn a_corpus_may_be_read_by_whoever_may_read_other_files() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::with(&[("in", &record("a", "one"))]);
    place.ok("import jsonl in -o c");
    std::fs::create_dir(place.path("other")).expect("a directory");
    let mode = |name: &str| place.path(name).metadata().expect("there").permissions().mode();
    assert_eq!(mode("c"), mode("other"));
}

#[test]
fn packed_pages_are_read_in_trees_and_by_name_under_their_plain_ids() {
    let place = Place::new();
    for folder in ["plain", "packed", "plain/d", "packed/d"] {
        std::fs::create_dir(place.path(folder)).expect("a directory");
    }
    let pages = [
        ("a", "see [[b]] and [c](d/c.md)", gz as fn(&[u8]) -> Vec<u8>, "gz"),
        ("b", "---\ntitle: Two\naliases: [zwei]\n---\nto [[zwei]] and [[c]]", zst, "zst"),
        ("d/c", "up [a](../a.md)", bz2, "BZ2"),
        ("e", "none", xz, "xz"),
    ];
    for (name, text, pack, ending) in pages {
        place.write(&format!("plain/{name}.md"), text);
        place.write(&format!("packed/{name}.md.{ending}"), pack(text.as_bytes()));
        let html = format!("<p>{name} <a href='/e.html'>link</a>");
        place.write(&format!("plain/{name}.html"), &html);
        place.write(&format!("packed/{name}.html.{ending}"), pack(html.as_bytes()));
    }
    for format in ["markdown", "html"] {
        place.ok(&format!("import {format} plain --jsonl plain.jsonl --force"));
        place.ok(&format!("import {format} packed --jsonl packed.jsonl --force"));
        let read = |name: &str| std::fs::read_to_string(place.path(name)).expect("there");
        assert_eq!(read("packed.jsonl"), read("plain.jsonl"));
        assert_eq!(read("packed.jsonl").lines().count(), if format == "html" { 4 } else { 5 });
    }
    let named = place.ok("import markdown packed/a.md.gz --jsonl -").out;
    assert_eq!(named, "{\"id\":\"a\",\"title\":\"a\",\"text\":\"see [b][[b]] and [c][[d/c]]\"}\n");
    // A page and its packed copy are one page; the copy is counted.
    place.write("plain/e.md.gz", gz(b"other"));
    let err = place.ok("import markdown plain plain/e.md -o c").err;
    assert!(err.contains("1 document left out because its id came before\n    e (e.md.gz)\n"), "{err}");
    assert!(place.ok("cat c e").out.contains("none"));
}

/// A dump of articles, redirects and a category.
const DUMP: &str = r#"<mediawiki xml:lang="en"><siteinfo><base>https://w.example/wiki/Main</base></siteinfo>
<page><title>Cat</title><ns>0</ns><revision><text>A cat eats [[mouse|mice]] &lt;ref&gt;[[Book]]&lt;/ref&gt; {{x}}. [[Category:Animals]]</text></revision></page>
<page><title>Rodent</title><ns>0</ns><redirect title="Mouse" /><revision><text>#REDIRECT [[Mouse]]</text></revision></page>
<page><title>Mouse</title><ns>0</ns><revision><text>The [[cat]]s' prey, a [[rodent]].</text></revision></page>
<page><title>Category:Animals</title><ns>14</ns><revision><text>All [[cat]]s.</text></revision></page>
</mediawiki>
"#;

#[test]
fn a_dump_of_a_wiki_is_imported_from_a_file_and_standard_input_packed_or_not() {
    let place = Place::with(&[("dump.xml", DUMP)]);
    let outcome = place.ok("import mediawiki dump.xml --min-count 1 -o c");
    assert!(outcome.err.contains("c: 2 documents, 9 words, 2 links at 2 positions;"), "{}", outcome.err);
    let lines = place.ok("import mediawiki dump.xml --jsonl -").out;
    assert!(lines.contains(r#""text":"A cat eats [mice][[Mouse]] .""#), "{lines}");
    assert!(lines.contains(r#"{"id":"Rodent","redirect":"Mouse"}"#), "{lines}");
    for (name, bytes) in [("gz", gz(DUMP.as_bytes())), ("zst", zst(DUMP.as_bytes())), ("bz2", bz2(DUMP.as_bytes()))] {
        place.write("packed", &bytes);
        place.ok(&format!("import mediawiki packed --min-count 1 -o {name}"));
        assert_eq!(place.fingerprint(name), place.fingerprint("c"), "{name}");
        place.run_with(&format!("import mediawiki - --min-count 1 -o {name}-in"), &bytes).succeeded(name);
        assert_eq!(place.fingerprint(&format!("{name}-in")), place.fingerprint("c"), "{name} on standard input");
    }
    let lines = place.ok("import mediawiki dump.xml --namespace 14 --jsonl -").out;
    assert!(lines.starts_with(r#"{"id":"Category:Animals""#) && lines.lines().count() == 1, "{lines}");
}

#[test]
fn the_sample_glossary_is_read_without_a_loss_and_answers() {
    let place = Place::new();
    let glossary = concat!(env!("CARGO_MANIFEST_DIR"), "/../../samples/glossary");
    let notes = std::fs::read_dir(glossary).expect("the notes").count();
    place.ok(&format!("import markdown {glossary} -o c"));
    let (info, doctor) = (place.json("info c --json"), place.json("doctor c --json"));
    assert_eq!(info["documents"], notes);
    assert!(info["links"].as_u64() > Some(1000), "{info}");
    let losses = doctor["losses"].as_object().expect("losses");
    assert!(losses.values().all(|loss| loss["count"] == 0), "{doctor}");

    place.ok("train c -o m --no-hybrid");
    let text = "documents with a term are found in the lists of an [[?]] which maps each term to them";
    place.write("question", text);
    let answer = place.json("recommend m --rank bm25-cited --json --file question");
    assert_eq!(answer["hits"][0]["id"], "Inverted index", "{answer}");
}

#[test]
fn the_tour_runs_on_the_glossary_that_the_program_carries() {
    let place = Place::new();
    let outcome = place.ok("demo --glossary --out tour");
    assert!(outcome.err.starts_with("tour/corpus: 218 documents"), "{}", outcome.err);
    let steps: Vec<&str> = outcome.out.lines().filter(|line| line.starts_with("$ hd2v ")).collect();
    assert_eq!(steps.len(), 6, "{steps:?}");
    assert!(steps[0].starts_with("$ hd2v import markdown tour/glossary"), "{}", steps[0]);
    for title in ["Memex", "Co-citation", "Distributional hypothesis", "hybrid, knowing the page"] {
        assert!(outcome.out.contains(title), "{title}: {}", outcome.out);
    }
    assert!(outcome.out.contains("\n  hd2v serve tour/model --corpus tour/corpus --open"), "{}", outcome.out);
    assert_eq!(std::fs::read_dir(place.path("tour/glossary")).expect("notes").count(), 218);
    // What it leaves is of use, and it can be taken again.
    place.ok("similar tour/model BM25 --by out");
}

#[test]
fn the_tour_leaves_notes_of_others_alone() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("vault/glossary")).expect("a folder");
    place.write("vault/glossary/Recall.md", "my own thoughts");
    let told = place.refused("demo --glossary --out vault");
    assert!(told.contains("vault/glossary/Recall.md: already exists with another text"), "{told}");
    assert_eq!(std::fs::read_dir(place.path("vault/glossary")).expect("notes").count(), 1);
    assert_eq!(std::fs::read_to_string(place.path("vault/glossary/Recall.md")).expect("a note"), "my own thoughts");
}

#[test]
fn the_version_tells_the_commit_in_a_checkout() {
    let version = Place::new().ok("--version").out;
    let number = concat!("hd2v ", env!("CARGO_PKG_VERSION"));
    let commit = version.trim_end().strip_prefix(number).expect("the number");
    let hexadecimal = |text: &str| text.len() >= 7 && text.chars().all(|c| c.is_ascii_hexdigit());
    let commit = commit.strip_prefix(" (").and_then(|commit| commit.strip_suffix(')'));
    // A source archive knows no commit.
    assert!(commit.is_none_or(hexadecimal) && version.lines().count() == 1, "{version}");
}
