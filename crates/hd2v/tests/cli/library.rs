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
fn snowball_finds_what_is_cited_what_cites_and_what_is_recommended() {
    let place = place();
    place.ok("import library refs.bib --min-count 1 -o refs.corpus");
    place.ok("train refs.corpus -o refs.model --dim 8");
    let from = place.ok("snowball refs.model tides --top 0");
    assert!(from.err.contains("2 works: 2 cited, 0 citing, 0 recommended; 0 left out as doubles"), "{}", from.err);
    let lines: Vec<&str> = from.out.lines().collect();
    assert!(lines.contains(&"<    hoare  An Axiomatic Basis for Computer Programming (1969)"), "{lines:?}");
    assert!(
        lines.iter().any(|line| line.contains("lamport1978time") && line.ends_with("[not in your library]")),
        "{lines:?}"
    );
    let back = place.json("snowball refs.model hoare --top 1 --json");
    assert_eq!((&back["works"][0]["id"], &back["works"][0]["cites"][0]), (&"tides".into(), &"hoare".into()));
    let bib = place.ok("snowball refs.model tides --top 0 --format bibtex").out;
    assert!(bib.contains("@misc{hoare,") && bib.contains("C. A. R.") && bib.contains("year = {1969}"), "{bib}");
    let ris = place.ok("snowball refs.model tides --top 0 --format ris").out;
    assert!(ris.contains("AU  - Hoare, C. A. R.") && ris.matches("ER  -").count() == 2, "{ris}");
    place.write("found.bib", bib);
    let again = place.ok("import library found.bib --jsonl -").out;
    assert!(again.lines().count() == 2 && again.contains("\"id\":\"hoare\""), "{again}");
    assert!(place.refused("snowball refs.model tydes").contains("tides"));
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

#[cfg(unix)]
#[test]
fn links_are_not_followed_out_of_the_folders_given() {
    let place = place();
    let outside = Place::with(&[("hoare.txt", "nobody may read this")]);
    std::fs::create_dir(place.path("texts")).expect("a folder");
    std::os::unix::fs::symlink(outside.path("hoare.txt"), place.path("texts/hoare.txt")).expect("a link");
    std::os::unix::fs::symlink(outside.path(""), place.path("texts/more")).expect("a link");
    std::os::unix::fs::symlink(outside.path("hoare.txt"), place.path("gone.pdf")).expect("a link");
    let done = place.ok("import library refs.bib --files texts --jsonl - --report report.json");
    assert!(!done.out.contains("nobody may read this"), "{}", done.out);
    let report = std::fs::read_to_string(place.path("report.json")).expect("a report");
    for part in ["hoare.txt: a link; not followed", "more: a link; not followed", "gone.pdf is outside the folders"] {
        assert!(report.contains(part), "{part}: {report}");
    }
}

/// A PDF with a page for each list of lines, each at a place, in the order of the lists.
fn pdf(pages: &[Vec<(u32, u32, &str)>]) -> Vec<u8> {
    pdf_with(pages, None)
}

/// [`pdf`], perhaps with a description of how it is encrypted.
fn pdf_with(pages: &[Vec<(u32, u32, &str)>], encrypted: Option<String>) -> Vec<u8> {
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        String::new(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    let mut kids = String::new();
    for lines in pages {
        let show = |(x, y, words): &(u32, u32, &str)| format!("BT /F1 8 Tf 1 0 0 1 {x} {y} Tm ({words}) Tj ET\n");
        let stream: String = lines.iter().map(show).collect();
        objects.push(format!("<< /Length {} >>\nstream\n{stream}\nendstream", stream.len()));
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {} 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
            objects.len()
        ));
        kids.push_str(&format!("{} 0 R ", objects.len()));
    }
    objects[1] = format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", pages.len());
    let mut more = String::new();
    if let Some(encrypted) = encrypted {
        objects.push(encrypted);
        let id = "<00112233445566778899aabbccddeeff>";
        more = format!(" /Encrypt {} 0 R /ID [{id} {id}]", objects.len());
    }
    let (mut out, mut places) = ("%PDF-1.4\n".to_owned(), Vec::new());
    for (number, object) in objects.iter().enumerate() {
        places.push(out.len());
        out.push_str(&format!("{} 0 obj\n{object}\nendobj\n", number + 1));
    }
    let (start, size) = (out.len(), objects.len() + 1);
    let table: String = places.iter().map(|place| format!("{place:010} 00000 n \n")).collect();
    out.push_str(&format!(
        "xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R{more} >>\n"
    ));
    out.push_str(&format!("startxref\n{start}\n%%EOF\n"));
    out.into_bytes()
}

/// Lines below each other.
fn column<'a>(x: u32, lines: &[&'a str]) -> Vec<(u32, u32, &'a str)> {
    lines.iter().zip(0..).map(|(line, number)| (x, 740 - 10 * number, *line)).collect()
}

/// The readers that are there; one that is not is said to be left out.
fn readers() -> Vec<&'static str> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).any(|folder| folder.join("pdftotext").is_file());
    if !found {
        eprintln!("SKIPPED: pdftotext is not installed (package poppler-utils); only the built-in reader is tested");
    }
    if found { vec!["built-in", "pdftotext"] } else { vec!["built-in"] }
}

#[test]
fn every_reader_keeps_the_entries_of_two_columns_whole() {
    let body = [
        "The tides of the northern sea and their causes",
        "Ann Doe",
        "We follow the axioms of programs [1], the order of events [3] and all the others [2, 4].",
    ];
    let left = [
        "References",
        "[1] C. A. R. Hoare. An axiomatic basis for",
        "computer programming. Communications, 1969.",
        "[2] E. Dijkstra. Solution of a problem in",
        "concurrent programming control. 1965.",
    ];
    let right = [
        "",
        "[3] L. Lamport. Time, clocks, and the ordering",
        "of events in a distributed system. 1978.",
        "[4] M. Fischer and N. Lynch. Impossibility of",
        "distributed consensus with one process. 1985.",
    ];
    let list = [column(60, &left), column(330, &right)].concat();
    let place = Place::new();
    place.write("tides.pdf", pdf(&[column(60, &body), list]));
    place.write("refs.bib", "@article{tides, title={The tides of the northern sea and their causes}, author={Doe, Ann}, year=2001, file={tides.pdf}}");
    for reader in readers() {
        let found = place.ok(&format!("import library refs.bib --pdf-reader {reader} --jsonl -")).out;
        let first = found.lines().next().expect("a document");
        for key in ["hoare1969axiomatic", "lamport1978time", "dijkstra1965solution|fischer1985impossibility"] {
            assert!(first.contains(&format!("[[{key}]]")), "{reader}, {key}: {first}");
        }
    }
}

#[test]
fn every_reader_puts_columns_in_order_that_are_written_line_by_line() {
    let halves =
        ["infor", "docu", "rele", "mea", "com", "pro", "gene", "algo", "per", "sys", "net", "pre", "con", "con"];
    let ends = [
        "mation", "ment", "vance", "sure", "pute", "gram", "rate", "rithm", "form", "tem", "work", "dict", "text",
        "tain",
    ];
    let whole: Vec<String> = halves.iter().zip(ends).map(|(half, end)| format!("{half}{end}")).collect();
    let pairs: Vec<(&str, &str)> = halves.into_iter().zip(ends).collect();
    let lines = |word: &str, pairs: &mut dyn Iterator<Item = &(&str, &str)>| {
        let two =
            |(half, end): &(&str, &str)| [format!("the {word} column says {half}-"), format!("{end} and goes on")];
        pairs.flat_map(two).collect::<Vec<_>>()
    };
    // Read across, no half would find its other.
    let (left, right) = (lines("left", &mut pairs.iter()), lines("right", &mut pairs.iter().rev()));
    let all = whole.join(" ");
    let mut page = vec![(60, 760, all.as_str())];
    for (number, (left, right)) in (0..).zip(left.iter().zip(&right)) {
        page.extend([(60, 740 - 10 * number, left.as_str()), (330, 740 - 10 * number, right.as_str())]);
    }
    let place = Place::new();
    place.write("mixed.pdf", pdf(&[page]));
    for reader in readers() {
        let found = place.ok(&format!("import pdf mixed.pdf --pdf-reader {reader} --jsonl -")).out;
        let (left, right) =
            (found.find("the left column says network"), found.find("the right column says information"));
        assert!(left.is_some() && left < right, "{reader}: {found}");
    }
}

#[test]
fn bad_pdfs_are_named_and_the_others_read() {
    let place = Place::new();
    let page = column(60, &["The tides of the northern sea", "Water rises and falls with the moon."]);
    let whole = pdf(std::slice::from_ref(&page));
    // A password that nobody knows.
    let key = "0123456789abcdef".repeat(4);
    let locked = format!("<< /Filter /Standard /V 1 /R 2 /O <{key}> /U <{key}> /P -44 >>");
    place.write("locked.pdf", pdf_with(&[page], Some(locked)));
    place.write("whole.pdf", &whole);
    place.write("cut.pdf", &whole[..whole.len() / 2]);
    place.write("empty.pdf", "");
    place.write("picture.pdf", pdf(&[vec![], vec![]]));
    // Lines that come again on every page would be taken for its head.
    let parts = ["ba", "de", "fi", "go", "lu", "me", "no", "ra", "su", "ti"];
    let word = |number: usize| [1, 10, 100, 1000].map(|unit| parts[number / unit % 10]).concat();
    let lines: Vec<String> = (0..2000).map(|page| (0..9).map(|n| word(page * 3 + n * 7) + " ").collect()).collect();
    let pages: Vec<_> = lines.iter().map(|line| column(60, &[line])).collect();
    place.write("long.pdf", pdf(&pages));
    for reader in readers() {
        let done = place.ok(&format!(
            "import pdf . --pdf-reader {reader} --min-count 1 --force -o bad.corpus --report report.json"
        ));
        let report = std::fs::read_to_string(place.path("report.json")).expect("a report");
        for part in [
            "cut (cut.pdf): a damaged PDF",
            "empty (empty.pdf): expected a PDF, found an empty file",
            "locked (locked.pdf): an encrypted PDF",
        ] {
            assert!(report.contains(part), "{reader}, {part}: {report}");
        }
        assert!(done.err.contains("hold little text"), "{}", done.err);
        let words = place.json("info bad.corpus --json")["words"].as_u64().expect("a number");
        assert!((17_000..=2000 * 9 + 13).contains(&words), "{reader}, {words}: {}", done.err);
    }
}
