//! A bibliography with its files, folders of PDFs, and trees of documentation, through the program.

use crate::helper::Place;

const BIB: &str = "@article{tides, title={The tides of the northern sea and their causes}, author={Doe, Ann}, year=2001, file={tides.txt:text/plain}}\n\
    @article{hoare, title={An Axiomatic Basis for Computer Programming}, author={Hoare, C. A. R.}, year=1969}\n\
    @article{gone, title={A work whose file is gone}, author={Roe, R.}, year=1999, file={:gone.pdf:PDF}}\n\
    @article{scan, title={A scan that is no PDF}, year=1998, file={scan.pdf}}\n";

const TIDES: &str = "The tides\n\nWe follow the axioms of programs [1] and the order of events [2].\n\nReferences\n\
    [1] C. A. R. Hoare. An axiomatic basis for computer programming. Communications, 1969.\n\
    [2] L. Lamport. Time, clocks, and the ordering of events in a distributed system. Communications, 1978.\n";

fn place() -> Place {
    Place::with(&[("refs.bib", BIB), ("tides.txt", TIDES), ("scan.pdf", "not a PDF")])
}

#[test]
fn a_library_counts_apart_what_is_only_cited_and_names_what_is_wrong() {
    let place = place();
    let done = place.ok("import library refs.bib --min-count 1 -o refs.corpus");
    for part in ["gone.pdf is not there", "scan (scan.pdf): expected a PDF", "what to do about", "--files DIR"] {
        assert!(done.err.contains(part), "{part}: {}", done.err);
    }
    let info = place.ok("info refs.corpus").out;
    assert!(info.contains("cited only") && info.contains("1 document not in the library"), "{info}");
    let documents = place.ok("cat refs.corpus").out;
    assert!(documents.contains(r#""authors":["Ann Doe"]"#) && documents.contains("[[lamport1978time]]"), "{documents}");
    let without = place.ok("import library refs.bib --cited-works=false --jsonl -").out;
    assert_eq!(without.lines().count(), 4, "{without}");
}

#[test]
fn wrong_uses_of_a_library_are_refused() {
    let place = place();
    assert!(place.refused("import library tides.txt --jsonl -").contains("@article"));
    assert!(place.refused("import pdf tides.txt --jsonl -").contains("expected PDFs"));
    assert!(place.refused("pdf-text scan.pdf").contains("damaged PDF"));
    for (usage, part) in [
        ("import library refs.bib --grobid localhost --jsonl -", "http://localhost:8070"),
        ("import html refs.bib --files . --jsonl -", "library and pdf"),
    ] {
        let refused = place.run(usage);
        assert!(refused.code == Some(2) && refused.err.contains(part), "{}", refused.err);
    }
}
