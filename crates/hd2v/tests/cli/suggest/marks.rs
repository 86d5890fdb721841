//! Marks in drafts, answered by `recommend`.

use serde_json::{Value, json};

use super::manual;

const LATEX: &str = "\\section{Search}\nThe decoder keeps the best hypotheses in a set of a given width~\\cite{?}.\n\
                     The grammar of a sentence gives leaves that are words, see \\citep[p.~2]{TODO}, \\cite{guide/bleu}.\n";
/// The pages that others link to.
const TOPICS: &str = "--only notes/tree notes/beam guide/bleu guide/moses";

fn first(answer: &Value) -> &str {
    answer["hits"][0]["id"].as_str().expect("a hit")
}

#[test]
fn every_mark_of_a_draft_is_answered() {
    let place = manual();
    place.write("draft.tex", LATEX);
    let found = place.json(&format!("recommend m draft.tex --json --top 3 --explain {TOPICS}"));
    let answers = found["answers"].as_array().expect("answers");
    let places: Vec<Value> = answers.iter().map(|one| json!([one["line"], one["column"], one["mark"]])).collect();
    assert_eq!(places, [json!([2, 65, "\\cite{?}"]), json!([3, 60, "\\citep[p.~2]{TODO}"])]);
    assert_eq!([first(&answers[0]), first(&answers[1])], ["notes/beam", "notes/tree"]);
    assert_eq!((&answers[0]["path"], &answers[0]["ranking"]), (&json!("draft.tex"), &json!("hybrid")));
    // As it was written.
    let context = answers[0]["hits"][0]["contexts"][0]["text"].as_str().expect("a context");
    assert!(context.starts_with("On this page the decoder keeps") && context.ends_with("width."), "{context}");
    assert!(context.contains("in a beam search [this] of a given width"), "{context}");
    // For people.
    let table = place.ok(&format!("recommend m draft.tex --top 2 {TOPICS}")).out;
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "draft.tex:2:65: \\cite{?}");
    assert_eq!(lines[1].split_whitespace().collect::<Vec<_>>(), ["#", "p", "id", "title"]);
    assert!(lines[2].starts_with("1  ") && lines[2].ends_with("notes/beam  Beam search"), "{table}");
    assert_eq!((lines[4], lines[5]), ("", "draft.tex:3:60: \\citep[p.~2]{TODO}"));
    let explained = place.ok(&format!("recommend m draft.tex --top 1 --explain {TOPICS}")).out;
    assert!(explained.contains("in a [beam search] of a given width."), "{explained}");
    // A passage with several marks.
    let passage = place.json("recommend m --json --top 1 --file draft.tex");
    assert_eq!(passage["answers"].as_array().map(Vec::len), Some(2));
    let passage = "the decoder keeps the best hypotheses [[?]]. The grammar of a sentence has leaves [?]";
    let two = place.run_with(&format!("recommend m - --json --top 1 {TOPICS}"), passage.as_bytes());
    let two: Value = serde_json::from_str(&two.succeeded("two marks").out).expect("JSON");
    assert_eq!((first(&two["answers"][0]), first(&two["answers"][1])), ("notes/beam", "notes/tree"));
    assert_eq!(two["answers"][1]["column"], json!(passage.find(" [?]").map(|at| at + 2)));
    // Links of a draft are links, not words, and code is none.
    place.write("links.md", "`xyzzy` [BLEU](guide/bleu.md) the best hypotheses of the decoder [[?]]\n");
    let found = place.json(&format!("recommend m links.md --json --top 1 {TOPICS}"));
    assert_eq!(first(&found["answers"][0]), "notes/beam");
    // A file that is a document is no answer to itself.
    place
        .write("docs/notes/beam.md", "# Beam search\n\nThe decoder keeps the best hypotheses in a [[?]] of a width.\n");
    let found = place.json("recommend m docs/notes/beam.md --json --top 9");
    assert!(!found["answers"][0]["hits"].to_string().contains("\"notes/beam\""), "{found}");
    let message = place.refused("recommend m nothing[[?]]");
    assert!(message.contains("give a text with --text"), "{message}");
    formats(&place);
}

fn formats(place: &crate::helper::Place) {
    let ask =
        |format: &str| place.ok(&format!("recommend m draft.tex links.md --top 1 --format {format} {TOPICS}")).out;
    let lines = |format: &str| ask(format).lines().map(str::to_owned).collect::<Vec<_>>();
    let tsv = lines("tsv");
    let columns = "file\tline\tcolumn\trank\tscore\tvalue\tid\ttitle\tauthors\tdate\tlinks\turl\tcited_only";
    assert_eq!((tsv[0].as_str(), tsv.len()), (columns, 4));
    let cells: Vec<&str> = tsv[1].split('\t').collect();
    assert_eq!([cells[0], cells[1], cells[2], cells[3], cells[4]], ["draft.tex", "2", "65", "1", "p"]);
    assert_eq!([cells[6], cells[7], cells[12]], ["notes/beam", "Beam search", ""]);
    let cite = lines("cite");
    assert!(cite[1].starts_with("\\cite{notes/beam} % p 0.") && cite[1].ends_with(" Beam search"), "{cite:?}");
    assert!(cite[5].starts_with("[@notes/beam] <!-- p 0."), "{cite:?}");
    let markdown = ask("markdown");
    assert!(markdown.contains("- [Beam search](notes/beam.md) (p 0."), "{markdown}");
    let bibtex = ask("bibtex");
    assert_eq!(bibtex.matches("@misc{notes/beam,").count(), 1, "each once: {bibtex}");
    assert!(bibtex.contains("title = {{Parse tree}}"), "{bibtex}");
    assert_eq!(ask("ris").matches("TY  - GEN").count(), 2);
    let csl: Value = serde_json::from_str(&ask("csl")).expect("JSON");
    assert_eq!(csl.as_array().map(Vec::len), Some(2));
    assert_eq!(place.run("recommend m draft.tex --explain --format cite").code, Some(2));
}

/// Works that are only cited are marked.
#[test]
fn works_that_are_not_in_the_library_are_marked() {
    let mut lines = String::new();
    for n in 0..40 {
        let (target, words) = [("codd", "relational data banks"), ("knuth", "sorting and searching")][n % 2];
        let text = format!("We follow {words} closely [[{target}]] in part {n}.");
        lines.push_str(&format!("{}\n", json!({"id": format!("d{n}"), "text": text})));
    }
    let cited = json!({"id": "codd", "title": "A relational model", "authors": ["Edgar Codd"], "date": "1970",
        "labels": ["not in the library"], "text": "relational"});
    let own = json!({"id": "knuth", "title": "Sorting", "authors": ["Donald Knuth"], "text": "sorting"});
    lines.push_str(&format!("{cited}\n{own}\n"));
    let place = crate::helper::Place::with(&[("in.jsonl", &lines)]);
    place.ok("import jsonl in.jsonl --min-count 2 -o c");
    place.ok("train c -o m --dim 4 --epochs 2 --content-epochs 1");
    let ask = |words: &str| format!("recommend m --text {words} --rank bm25-cited --top 1");
    let hit = place.json(&format!("{} --json", ask("relational")))["hits"][0].clone();
    assert_eq!(
        (&hit["id"], &hit["cited_only"], &hit["authors"]),
        (&json!("codd"), &json!(true), &json!(["Edgar Codd"]))
    );
    let hit = place.json(&format!("{} --json", ask("sorting")))["hits"][0].clone();
    assert_eq!((&hit["id"], hit.get("cited_only")), (&json!("knuth"), None));
    let table = place.ok(&ask("relational")).out;
    assert!(table.contains("bm25-cited") && table.ends_with("A relational model (not in the library)\n"), "{table}");
    let bibtex = place.ok(&format!("{} --format bibtex", ask("relational"))).out;
    assert!(bibtex.contains("author = {Codd, Edgar}") && bibtex.contains("note = {not in the library}"), "{bibtex}");
}
