//! `.bib` files as Zotero, Better BibTeX, JabRef, Mendeley and Google Scholar write them. The reader itself is that of
//! `latex`: see there why it is ours.

use std::collections::HashMap;

use super::ris::made_key;
use super::work::{self, Work};
use crate::document::losses::{Loss, Losses};
use crate::import::latex::bibliography::{LatexEntry, bib_entries};
use crate::import::latex::plain;

/// Bytes of the longest date.
const LONGEST_DATE: usize = 100;

/// The works of a `.bib` file; entries that break off are counted, and what they have is used.
pub(super) fn read(source: &str, name: &str, losses: &mut Losses) -> Vec<Work> {
    let entries = bib_entries(source);
    let keyed = entries.iter().enumerate().filter(|(_, entry)| !entry.key.is_empty());
    let by_key: HashMap<String, usize> = keyed.map(|(at, entry)| (entry.key.to_lowercase(), at)).collect();
    let mut works = Vec::with_capacity(entries.len());
    for entry in &entries {
        let place = format!("{name}:{}", entry.line);
        if let Some(fault) = entry.fault.filter(|_| !entry.key.is_empty() || !entry.fields.is_empty()) {
            let named = if entry.key.is_empty() { "an entry" } else { "the entry " };
            losses.add(Loss::BrokenEntry, format!("{place}: {named}{} {fault}", entry.key));
        }
        let parent = entry.fields.get("crossref").and_then(|key| by_key.get(&key.trim().to_lowercase()));
        let parent = parent.map(|&at| &entries[at]).filter(|parent| parent.key != entry.key);
        let mut work = of_entry(entry, parent, place);
        if work.key.is_empty() {
            let Some(key) = made_key(&work.authors, work.date, work.title.as_deref()) else {
                losses.add(Loss::MalformedRecord, format!("{}: an entry without a key or a title", work.place));
                continue;
            };
            work.key = key;
        }
        works.push(work);
    }
    works
}

fn of_entry(entry: &LatexEntry, parent: Option<&LatexEntry>, place: String) -> Work {
    let raw = |name: &str| entry.fields.get(name).map(|value| value.trim()).filter(|value| !value.is_empty());
    let field = |name: &str| raw(name).map(|value| plain(value, false)).filter(|value| !value.is_empty());
    let inherited = |name: &str| {
        // Many may have one parent: what is longer is no date.
        let of_parent = || Some(plain(parent?.fields.get(name).filter(|value| value.len() <= LONGEST_DATE)?, false));
        field(name).or_else(of_parent).filter(|value| !value.is_empty())
    };
    let people = raw("author").or_else(|| raw("editor")).unwrap_or_default();
    let people = people.split_whitespace().collect::<Vec<_>>().join(" ");
    let authors = people.split(" and ").map(|name| work::person(&plain(&in_order(name), false)));
    let authors = authors.filter(|name| !name.is_empty() && name != "others").take(256).collect();
    let title = field("title").map(|title| match field("subtitle") {
        Some(subtitle) => format!("{title}: {subtitle}"),
        None => title,
    });
    let prefix = field("archiveprefix").or_else(|| field("eprinttype")).unwrap_or_default().to_lowercase();
    let eprint = raw("eprint").or_else(|| raw("arxivid")).or_else(|| raw("arxiv"));
    let eprint = eprint.filter(|_| prefix.is_empty() || prefix == "arxiv").map(str::to_owned);
    let noted = ["url", "note", "journal", "howpublished"].iter().find_map(|name| work::arxiv(raw(name)?));
    let year = || inherited("date").or_else(|| inherited("year"));
    let month = || field("month").and_then(|month| number_of_month(&month));
    let date = year().and_then(|year| {
        let dated = month().and_then(|month| work::date(&format!("{}-{month:02}", year.trim())));
        dated.or_else(|| work::date(&year))
    });
    Work {
        key: entry.key.clone(),
        title,
        authors,
        date,
        summary: field("abstract"),
        keywords: ["keywords", "keyword", "mendeley-tags"]
            .iter()
            .filter_map(|name| field(name))
            .flat_map(|text| work::keywords(&text))
            .collect(),
        language: raw("langid").or_else(|| raw("language")).map(str::to_owned),
        url: raw("url").map(|url| url.replace('\\', "")),
        doi: raw("doi").and_then(|doi| work::doi(&doi.replace('\\', ""))),
        arxiv: eprint.or(noted),
        pmid: raw("pmid").map(str::to_owned),
        files: raw("file").map(files).unwrap_or_default(),
        place,
    }
}

/// A name in the extended form of biblatex, `family=Berg, given=Jan, prefix=van der`, as `van der Berg, Jan`.
fn in_order(name: &str) -> String {
    let part = |wanted: &str| {
        let parts = name.split(',').filter_map(|part| part.split_once('='));
        parts.filter(|(known, _)| known.trim() == wanted).map(|(_, value)| value.trim().trim_matches('"')).next()
    };
    match part("family") {
        Some(family) => {
            let prefix = part("prefix").map(|prefix| format!("{prefix} ")).unwrap_or_default();
            format!("{prefix}{family}, {}", part("given").unwrap_or_default())
        }
        None => name.to_owned(),
    }
}

fn number_of_month(month: &str) -> Option<u32> {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let start: String = month.trim().to_lowercase().chars().take(3).collect();
    let named = MONTHS.iter().position(|known| *known == start).map(|at| at as u32 + 1);
    named.or_else(|| month.trim().parse().ok().filter(|month| (1..=12).contains(month)))
}

/// The paths in a `file` field: `path`, `path:type`, `name:path:type`, several parted by `;`, with `\` before signs.
pub(super) fn files(field: &str) -> Vec<String> {
    let field = &field.replace("$\\backslash$", "\\");
    let one = |text: String| {
        let parts = split(&text, ':');
        // A drive's letter is a part of the path.
        let mut whole: Vec<String> = Vec::new();
        for part in parts {
            match whole.last_mut() {
                Some(last) if last.len() == 1 && part.starts_with(['/', '\\']) => {
                    last.push(':');
                    last.push_str(&part);
                }
                _ => whole.push(part),
            }
        }
        let is_path = |part: &&String| part.contains('.') && !part.trim().is_empty();
        // The last part is the type, the first a name.
        let path = match whole.len() {
            0 | 1 => whole.first(),
            2 => whole.iter().find(is_path),
            _ => whole[1..whole.len() - 1].iter().find(is_path).or_else(|| whole.iter().find(is_path)),
        };
        path.map(|path| unescaped(path)).filter(|path| !path.is_empty())
    };
    split(field, ';').into_iter().filter_map(one).collect()
}

/// The parts between a sign, unless there is a `\` before it.
fn split(text: &str, sign: char) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let last = parts.len() - 1;
        match c {
            '\\' if chars.peek() == Some(&sign) => {
                chars.next();
                parts[last].push(if sign == ':' { ':' } else { c });
                if sign != ':' {
                    parts[last].push(sign);
                }
            }
            c if c == sign => parts.push(String::new()),
            c => parts[last].push(c),
        }
    }
    parts
}

fn unescaped(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut chars = path.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some(&next @ (';' | ':' | '_' | '&' | '%' | '#' | '{' | '}' | '\\'))) => {
                chars.next();
                out.push(if next == '\\' { '/' } else { next });
            }
            ('\\', _) => out.push('/'),
            ('{' | '}', _) => {}
            (c, _) => out.push(c),
        }
    }
    out.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_fields_of_all_programs_are_read() {
        for (field, paths) in [
            ("files/a.pdf:application/pdf", vec!["files/a.pdf"]),
            (
                "Full Text PDF:files/12/a b.pdf:application/pdf;Snapshot:files/13/x.html:text/html",
                vec!["files/12/a b.pdf", "files/13/x.html"],
            ),
            (":papers/a.pdf:PDF", vec!["papers/a.pdf"]),
            (":home/me/a.pdf:pdf", vec!["home/me/a.pdf"]),
            ("/home/me/a.pdf;/home/me/b.pdf", vec!["/home/me/a.pdf", "/home/me/b.pdf"]),
            (r"PDF:C\:\\Users\\me\\a.pdf:application/pdf", vec!["C:/Users/me/a.pdf"]),
            (r"On a\:b:dir/a\;b.pdf:PDF", vec!["dir/a;b.pdf"]),
            ("", vec![]),
        ] {
            assert_eq!(files(field), paths, "{field}");
        }
    }

    #[test]
    fn entries_become_works_and_broken_ones_are_counted() {
        let source = "@string{cacm = {Communications}}\n@article{a, title={{On} Tides}, author={M{\\\"u}ller, Ann and Doe, J. and others},\n \
                      journal=cacm, year=1969, month=oct, keywords={sea, moon}, abstract={Water rises.}, doi={10.1/x\\_y}}\n\
                      @inproceedings{b, title={B}, crossref={p}}\n@proceedings{p, title={Proc}, year={1999}}\n@misc{c, title={open";
        let mut losses = Losses::default();
        let works = read(source, "x.bib", &mut losses);
        assert_eq!(works.iter().map(|work| &*work.key).collect::<Vec<_>>(), ["a", "b", "p", "c"]);
        assert_eq!(works[0].title.as_deref(), Some("On Tides"));
        assert_eq!(works[0].authors, ["Ann Müller", "J. Doe"]);
        assert_eq!(works[0].date.map(|date| date.to_string()).as_deref(), Some("1969-10"));
        assert_eq!((works[0].doi.as_deref(), works[0].keywords.len()), (Some("10.1/x_y"), 2));
        assert_eq!(works[0].words(), "On Tides\nWater rises.\nsea, moon");
        assert_eq!(works[1].date.map(|date| date.to_string()).as_deref(), Some("1999"));
        assert_eq!(losses.count(Loss::BrokenEntry), 1);
        let source = "@book{torn, title = {Never closed, again, author = {Poe, E.},\n  year = 2003,\n}\n@book{, title={No key}, author={Kay, Al}, \
                      year=1980}\n@book{,year=1980}\n@book{line, title = {Open line,\n  year = \"1999,\n  note = {x}\n}\n@book{z, title={Z}}";
        let mut losses = Losses::default();
        let works = read(source, "x.bib", &mut losses);
        let year = |work: &Work| work.date.map(crate::document::Date::year);
        let shown: Vec<_> = works.iter().map(|work| (&*work.key, work.title.as_deref(), year(work))).collect();
        assert_eq!(
            shown,
            [
                ("torn", Some("Never closed, again"), Some(2003)),
                ("kay1980no", Some("No key"), Some(1980)),
                ("line", Some("Open line"), Some(1999)),
                ("z", Some("Z"), None),
            ]
        );
        assert_eq!((losses.count(Loss::BrokenEntry), losses.count(Loss::MalformedRecord)), (2, 1));
    }

    #[test]
    fn the_dialects_of_five_programs_are_read() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/library/dialects.bib");
        let mut losses = Losses::default();
        let works = read(&std::fs::read_to_string(path).expect("a file"), "dialects.bib", &mut losses);
        let shown = |work: &Work| {
            let date = work.date.map(|date| date.to_string()).unwrap_or_default();
            let title = work.title.as_deref().unwrap_or_default();
            format!("{}|{title}|{}|{date}|{}", work.key, work.authors.join(", "), work.files.join(", "))
        };
        assert_eq!(
            works.iter().map(shown).collect::<Vec<_>>(),
            [
                "doe_tides_2001|The Tides of the northern sea|Ann Doe, Jörg Müller|2001-05|files/12/Doe and Müller - 2001 - The Tides.pdf, files/13/tides.html",
                "roeFordsFord1999|Fords: A Ford|Jan van der Berg, Rita Roe|1999-06-03|/home/me/Zotero/storage/ABCD1234/Roe - Fords.pdf",
                "Weir2010|On weirs|W. Weir|2010-12|papers/Weir2010 - On Weirs.pdf, notes/weir.txt",
                "Lock1988|Locks|L Lock, K Key|1988|C:/Users/me/Documents/Lock, Key - 1988 - Locks.pdf",
                "ford1975river|River crossings|Harry Ford, B Bridge|1975|",
            ]
        );
        assert_eq!((works[0].keywords.join(","), works[1].arxiv.as_deref()), ("moon,sea".into(), Some("2001.01234")));
        assert!(losses.is_empty());
    }
}
