//! Bibliographies: `\bibitem`s in the text or a `.bbl`, biblatex's `.bbl`, and `.bib` files.
//!
//! All are read leniently: an entry that does not close costs that entry, not the file.
//!
//! Ours, not a crate: biblatex fails the whole file at the first fault; bibtex-parser, tolerant, loses entries with a
//! missing or doubled comma or an accent in the key, and takes 60 to 90 times as long for 8 times as many open entries.

use std::collections::HashMap;

use super::source::{PaperFiles, without_comments};
use super::strip::plain;
use super::tokens::{after_options, command, group, short_argument};
use crate::import::reference::words::first_year;
use crate::import::reference::{BibRecord, surname};
use crate::import::text::collapsed;

/// Fields and entries longer than this are broken.
const LONGEST: usize = 20_000;
/// Fields inside an entry longer than this are broken.
const LONGEST_INFO: usize = 2000;

/// The bibliography of a paper: from its text and `.bbl`, completed by its `.bib` files. And how many of the entries are
/// its own; those after them stand in a `.bib` alone, which may hold what the paper does not cite.
pub(super) fn entries(folder: &PaperFiles<'_>, main: usize, text: &str) -> (Vec<(String, BibRecord)>, usize) {
    let mut entries: Vec<(String, BibRecord)> = items(text);
    if let Some(source) = folder.bbl(main) {
        let source = if source.contains("\\entry{") { source } else { without_comments(&source) };
        entries.extend(if source.contains("\\entry{") { biblatex(&source) } else { items(&source) });
    }
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut list: Vec<(String, BibRecord)> = Vec::new();
    for (key, record) in entries {
        if let std::collections::hash_map::Entry::Vacant(place) = places.entry(key.clone()) {
            place.insert(list.len());
            list.push((key, record));
        }
    }
    let own = list.len();
    for (key, record) in bib_files(folder, text).iter().flat_map(|source| bib(source)) {
        match places.get(&key).map(|&place| &mut list[place].1) {
            // The entry's text is from the `.bbl`, its fields are from the `.bib`.
            Some(known) => *known = BibRecord { text: known.text.take().or(record.text), ..record },
            None => {
                places.insert(key.clone(), list.len());
                list.push((key, record));
            }
        }
    }
    (list, own)
}

/// The `.bib` files that a paper names.
fn bib_files(folder: &PaperFiles<'_>, text: &str) -> Vec<String> {
    let mut files = Vec::new();
    for command in ["\\bibliography", "\\addbibresource"] {
        for (at, _) in text.match_indices(command).take(20) {
            let Some((names, _)) = short_argument(after_options(&text[at + command.len()..]), 4096) else { continue };
            files.extend(names.split(',').filter_map(|called| folder.read(called, &[".bib"])));
        }
    }
    files
}

/// `\bibitem[label]{key} text`.
fn items(source: &str) -> Vec<(String, BibRecord)> {
    let mut found = Vec::new();
    let mut places = memchr::memmem::find_iter(source.as_bytes(), "\\bibitem").peekable();
    while let Some(at) = places.next() {
        let end = places.peek().copied().unwrap_or(source.len());
        let item = &source[at + "\\bibitem".len()..end];
        let item = &item[..item.find("\\end{thebibliography}").unwrap_or(item.len())];
        let after = match group(item.trim_start(), b'[', b']', LONGEST) {
            Some(length) => &item.trim_start()[length..],
            None => item,
        };
        let Some((key, text)) = short_argument(after, 1000) else { continue };
        let cut = (0..=text.len().min(LONGEST)).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
        let source = &text[..cut];
        let text = plain(source, true);
        let record = BibRecord {
            title: infos(source, "title").into_iter().next().map(|title| plain(title, false)),
            year: infos(source, "year").into_iter().find_map(first_year),
            authors: infos(source, "author").into_iter().take(32).map(author).collect(),
            text: Some(text.clone()).filter(|text| !text.is_empty()),
            ..BibRecord::default()
        };
        // Fields without a command are read from the text.
        let record = record.or(BibRecord::read(&text));
        found.push((key.trim().to_owned(), record));
    }
    found
}

/// The values of `\bibinfo {kind} {…}` in an item, as REVTeX and Elsevier's styles write it.
fn infos<'a>(item: &'a str, kind: &str) -> Vec<&'a str> {
    let of_kind = |(at, command): (usize, &str)| {
        let (found, rest) = short_argument(&item[at + command.len()..], LONGEST_INFO)?;
        let (value, _) = short_argument(rest, LONGEST_INFO).filter(|_| found.trim() == kind)?;
        Some(value).filter(|value| !value.trim().is_empty())
    };
    item.match_indices("\\bibinfo").filter_map(of_kind).collect()
}

/// The surname of one person.
fn author(name: &str) -> String {
    match command(name, "bibnamefont") {
        Some(surname) => plain(surname, false),
        None => surname(&plain(name, false)).to_owned(),
    }
}

/// The `.bbl` that biber writes.
fn biblatex(source: &str) -> Vec<(String, BibRecord)> {
    let mut found = Vec::new();
    for entry in source.split("\\entry{").skip(1) {
        let Some((key, entry)) = entry.split_once('}') else { continue };
        let entry = &entry[..entry.find("\\endentry").unwrap_or(entry.len())];
        let field = |name: &str| {
            let start = format!("\\field{{{name}}}");
            let at = entry.find(&start)? + start.len();
            short_argument(&entry[at..], LONGEST).map(|(value, _)| plain(value, false))
        };
        let verbatim = |name: &str| {
            let start = format!("\\verb{{{name}}}");
            let rest = entry[entry.find(&start)? + start.len()..].trim_start().strip_prefix("\\verb")?;
            Some(rest[..rest.find("\\endverb")?].trim().to_owned())
        };
        let authors = entry.find("\\name{author}").map(|at| &entry[at..]).unwrap_or_default();
        let authors =
            &authors[..authors.get(1..).and_then(|rest| rest.find("\\name{")).map_or(authors.len(), |end| end + 1)];
        let families = authors.match_indices("family={").filter_map(|(at, start)| {
            let rest = &authors[at + start.len() - 1..];
            short_argument(rest, 1000).map(|(name, _)| plain(name.trim_matches(['{', '}']), false))
        });
        let record = BibRecord {
            title: field("title").map(|title| match field("subtitle") {
                Some(subtitle) => format!("{title}: {subtitle}"),
                None => title,
            }),
            year: field("year").or_else(|| field("date")).and_then(|date| first_year(&date)),
            authors: families.take(32).collect(),
            doi: verbatim("doi"),
            arxiv: verbatim("eprint").or_else(|| field("eprint")),
            text: verbatim("url").filter(|url| url.contains("arxiv") || url.contains("acl") || url.contains("doi")),
            ..BibRecord::default()
        };
        found.push((key.trim().to_owned(), record));
    }
    found
}

/// Entries of a `.bib` file.
pub(super) fn bib(source: &str) -> Vec<(String, BibRecord)> {
    let entries = bib_entries(source).into_iter().filter(|entry| !entry.key.is_empty());
    entries.map(|entry| (entry.key, record(&entry.fields))).collect()
}

/// An entry of a `.bib` file, as it stands there.
pub(in crate::import) struct LatexEntry {
    /// Empty if it has none.
    pub(in crate::import) key: String,
    /// Names in lower case, values with their LaTeX.
    pub(in crate::import) fields: HashMap<String, String>,
    /// What is wrong with it.
    pub(in crate::import) fault: Option<&'static str>,
    /// The line it begins in, counted from 1.
    pub(in crate::import) line: usize,
}

/// Entries of a `.bib` file with all their fields.
pub(in crate::import) fn bib_entries(source: &str) -> Vec<LatexEntry> {
    let mut found = Vec::new();
    let (mut line, mut counted) = (1, 0);
    let mut strings: HashMap<String, String> = HashMap::new();
    let mut rest = source;
    let mut budget = ByteBudget { vain: 4 * source.len() + LONGEST, strings: 8 * source.len() + LONGEST, torn: 0 };
    let mut next_line = 0;
    while let Some(at) = memchr::memchr(b'@', rest.as_bytes()) {
        rest = &rest[at + 1..];
        let here = source.len() - rest.len();
        line += source[counted..here].matches('\n').count();
        counted = here;
        let kind = rest[..rest.bytes().take_while(u8::is_ascii_alphabetic).count()].to_ascii_lowercase();
        let after = rest[kind.len()..].trim_start();
        if kind.is_empty() || !after.starts_with(['{', '(']) || matches!(kind.as_str(), "comment" | "preamble") {
            continue;
        }
        let mut inside = &after[1..];
        let (mut key, mut fault) = (String::new(), None);
        if kind != "string" {
            let is_end = |b| matches!(b, b',' | b'}' | b'=' | b'@' | b'{' | b'"');
            let end = inside.bytes().take(1000).position(is_end).unwrap_or(0);
            match inside.as_bytes().get(end) {
                Some(b',' | b'}') => {
                    key = inside[..end].trim().to_owned();
                    inside = &inside[end..];
                }
                Some(b'=') => {
                    fault = Some("has no comma after its key");
                    let start = inside[..end].trim_end();
                    let name = start.rfind(char::is_whitespace).map_or(0, |at| at + 1);
                    key = start[..name].trim().to_owned();
                    inside = &inside[name..];
                }
                _ => {
                    // An address in a text is no entry.
                    if source[..here - 1].ends_with('\n') || here == 1 {
                        let fault = Some("has no key");
                        found.push(LatexEntry { key, fields: HashMap::new(), fault, line });
                    }
                    continue;
                }
            }
        }
        // An entry that does not close ends before the next line with an `@`.
        let start = source.len() - inside.len();
        if next_line < start {
            next_line = memchr::memmem::find(inside.as_bytes(), b"\n@").map_or(source.len(), |end| start + end);
        }
        let end = next_line - start;
        let (fields, after, closed) = fields(&inside[..end], &strings, &mut budget);
        rest = &inside[end - after.len()..];
        if kind == "string" {
            strings.extend(fields);
        } else if !key.is_empty() || !fields.is_empty() {
            let fault = if closed { fault } else { Some("does not close") };
            found.push(LatexEntry { key, fields, fault, line });
        }
    }
    found
}

/// Bytes that may still be spent: a short file can ask for much.
struct ByteBudget {
    /// On what is looked at in vain.
    vain: usize,
    /// On the values of `@string`s, put in for their names.
    strings: usize,
    /// Values that do not close, so far.
    torn: usize,
}

/// The fields of an entry, names in lower case, up to its end or to where it breaks; and whether it has an end.
fn fields<'a>(
    mut rest: &'a str,
    strings: &HashMap<String, String>,
    budget: &mut ByteBudget,
) -> (HashMap<String, String>, &'a str, bool) {
    let mut fields = HashMap::new();
    let torn = budget.torn;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        let length =
            rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b':' | b'+')).count();
        let name = rest[..length].to_ascii_lowercase();
        let Some(value) = rest[length..].trim_start().strip_prefix('=').filter(|_| length > 0) else {
            let after = rest.strip_prefix(['}', ')']);
            return (fields, after.unwrap_or(rest), after.is_some() && budget.torn == torn);
        };
        let text = value.trim_start();
        let (mut value, mut after) = value_of(text, strings, budget);
        // The brace that ends the entry may have closed a value instead.
        let whole = &text[..text.len() - after.len()];
        if after.trim().is_empty()
            && whole.starts_with('{')
            && whole.match_indices(',').any(|(at, _)| is_field(&whole[at + 1..]))
        {
            let length = torn_length(whole);
            whole[1..length].trim_end_matches([',', '\r']).clone_into(&mut value);
            after = &text[length..];
            budget.torn += 1;
        }
        fields.entry(name).or_insert(value);
        if after.len() == rest.len() {
            return (fields, rest, false);
        }
        rest = after;
    }
}

/// A value: braces, quotes, a word, or several joined by `#`.
fn value_of<'a>(mut rest: &'a str, strings: &HashMap<String, String>, budget: &mut ByteBudget) -> (String, &'a str) {
    let mut value = String::new();
    loop {
        let bytes = rest.as_bytes();
        let most = LONGEST.min(budget.vain);
        let length = match bytes.first() {
            Some(b'{') => group(rest, b'{', b'}', most),
            Some(b'"') => quoted(rest, most),
            _ => None,
        };
        if length.is_none() && rest.starts_with(['{', '"']) {
            budget.vain -= most.min(rest.len());
        }
        if let Some(length) = length {
            value.push_str(&rest[1..length - 1]);
            rest = &rest[length..];
        } else if rest.starts_with(['{', '"']) {
            let length = torn_length(rest);
            value.push_str(rest[1..length].trim_end_matches([',', '}', '"', '\r']));
            rest = &rest[length..];
            budget.torn += 1;
        } else {
            let length = bytes
                .iter()
                .take_while(|&&b| !(b.is_ascii_whitespace() || matches!(b, b',' | b'}' | b')' | b'#')))
                .count();
            let word = &rest[..length];
            let known = strings.get(&word.to_ascii_lowercase()).filter(|known| known.len() <= budget.strings);
            budget.strings -= known.map_or(0, String::len);
            value.push_str(known.map_or(word, String::as_str));
            rest = &rest[length..];
        }
        match rest.trim_start().strip_prefix('#').filter(|_| value.len() < LONGEST) {
            Some(more) => rest = more.trim_start(),
            None => return (value, rest),
        }
    }
}

/// Whether a field begins here: `name =`.
fn is_field(text: &str) -> bool {
    let text = text.trim_start();
    let name = text.bytes().take(40).take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')).count();
    name > 0 && text[name..].trim_start().starts_with('=')
}

/// The length of a value that does not close: up to the next field or the end of its line.
fn torn_length(text: &str) -> usize {
    let ends = |(at, byte): (usize, u8)| byte == b'\n' || (byte == b',' && is_field(&text[at + 1..]));
    let end = text.bytes().enumerate().skip(1).take(LONGEST).find(|&place| ends(place)).map(|(at, _)| at);
    let most = || (0..=text.len().min(LONGEST)).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(text.len());
    end.unwrap_or_else(most).max(1)
}

/// The length of a text in quotes, in which quotes may stand in braces.
fn quoted(text: &str, most: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, byte) in text.bytes().enumerate().skip(1).take(most) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b'"' if depth == 0 => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn record(fields: &HashMap<String, String>) -> BibRecord {
    let field = |name: &str| fields.get(name).map(|value| plain(value, false)).filter(|value| !value.is_empty());
    let raw = |name: &str| fields.get(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    let people = fields.get("author").or_else(|| fields.get("editor")).map(String::as_str).unwrap_or_default();
    let people = collapsed(people);
    let names =
        people.split(" and ").map(|name| plain(name, false)).filter(|name| !name.is_empty() && name != "others");
    let eprint = raw("eprint").or_else(|| raw("arxivid")).or_else(|| raw("arxiv"));
    // Other places in which ids stand.
    let places = ["journal", "journaltitle", "url", "note", "howpublished", "volume", "pmid"];
    let text = places.iter().filter_map(|name| Some(format!("{name} {}", raw(name)?))).collect::<Vec<_>>().join("; ");
    BibRecord {
        title: field("title"),
        year: field("year").or_else(|| field("date")).and_then(|date| first_year(&date)),
        authors: names.take(32).map(|name| surname(&name).to_owned()).collect(),
        doi: raw("doi"),
        pmid: raw("pmid"),
        arxiv: eprint,
        text: Some(text)
            .filter(|text| ["arxiv", "arXiv", "doi", "aclanthology", "aclweb"].iter().any(|word| text.contains(word))),
        ..BibRecord::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::growth::assert_linear;

    #[test]
    fn a_bib_entry_is_read_in_all_its_forms() {
        let source = "@string{acl = \"Proc. of \" # {ACL}}\n@comment{x}\n@InProceedings{k1,\n title = {{BLEU}: a \
                      M\\'ethod}, author = \"Papineni, Kishore and {van} der Berg, J. and others\", year = 2002,\n booktitle = acl # { 40},\
                      doi={10.3115/1.2}}\n@article(k2, title={T}, date={2001-05}, eprint={1706.03762})\n";
        let found = bib(source);
        assert_eq!(found.len(), 2);
        let (key, record) = &found[0];
        assert_eq!((key.as_str(), record.title.as_deref()), ("k1", Some("BLEU: a Méthod")));
        assert_eq!((record.authors.join("; ").as_str(), record.year), ("Papineni; van der Berg", Some(2002)));
        assert_eq!(record.doi.as_deref(), Some("10.3115/1.2"));
        assert_eq!((found[1].1.year, found[1].1.arxiv.as_deref()), (Some(2001), Some("1706.03762")));
    }

    #[test]
    fn a_broken_bib_entry_costs_itself_alone() {
        let found =
            bib("@article{a, title={open\n\n@article{b, title={B}}\nmail me@here.org @ @x{\n@misc{c, title=\"C\"}");
        let keys: Vec<&str> = found.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["a", "b", "c"]);
        assert_eq!(found[2].1.title.as_deref(), Some("C"));
        let entries =
            bib_entries("@a{my key title={A}, year=1}\n@b{title={B}}\n@c{\"x\"}\nme@d{\"x\"} @e{k, title={E}}");
        let shown: Vec<_> = entries.iter().map(|entry| (&*entry.key, entry.fields.len(), entry.fault)).collect();
        let comma = Some("has no comma after its key");
        assert_eq!(shown, [("my key", 2, comma), ("", 1, comma), ("", 0, Some("has no key")), ("k", 1, None)]);
    }

    #[test]
    fn bibitems_are_read_with_their_texts() {
        let found = items(
            "\\begin{thebibliography}{9}\\bibitem[{Doe [1](2001)}]{doe}\nJ.~Doe.\n\\newblock {\\em A title}.\n\\newblock 2001. \
             \\url{https://doi.org/10.1/x}\n\\bibitem{roe} R.\\end{thebibliography} rest",
        );
        let texts: Vec<_> = found.iter().map(|(key, record)| (key.as_str(), record.text.as_deref())).collect();
        assert_eq!(texts, [("doe", Some("J. Doe.\nA title.\n2001. https://doi.org/10.1/x")), ("roe", Some("R."))]);
    }

    #[test]
    fn a_bbl_of_revtex_says_what_is_what() {
        let item = r"\bibitem [{\citenamefont {Doe}(2015)}]{doe}%
              \BibitemOpen
              \bibfield  {author} {\bibinfo {author} {\bibfnamefont {J.}~\bibnamefont {Doe}}\ and\ \bibinfo {author} {\bibfnamefont {A.}~\bibnamefont {van~Roe}},\ }
              \bibfield  {title} {\enquote {\bibinfo {title} {{V}ectors of links},}\ }\href {\doibase 10.1000/xyz} {\bibfield  {journal} {\bibinfo  {journal} {J. Link.}\ }
              \textbf {\bibinfo {volume} {1}} (\bibinfo {year} {2015}{\natexlab{a}})},\ \Eprint {http://arxiv.org/abs/hep-th/9901001} {hep-th/9901001}\BibitemShut {NoStop}";
        let (key, record) = &items(&without_comments(item))[0];
        assert_eq!((key.as_str(), record.title.as_deref(), record.year), ("doe", Some("Vectors of links"), Some(2015)));
        assert_eq!(record.authors, ["Doe", "van Roe"]);
        let expected = "J. Doe and A. van Roe, \"Vectors of links,\" 10.1000/xyz J. Link. 1 (2015a), \
                        http://arxiv.org/abs/hep-th/9901001 hep-th/9901001";
        assert_eq!(record.text.as_deref(), Some(expected));
        let (_, record) =
            &items(r"\bibitem{a}\bibinfo{author}{Hinton, G.E.}, \bibinfo{year}{2006}. \href@noop{x}{y}")[0];
        assert_eq!(
            (record.authors.join(";").as_str(), record.text.as_deref()),
            ("Hinton", Some("Hinton, G.E., 2006. y"))
        );
    }

    #[test]
    fn a_bbl_of_biblatex_is_read() {
        let source = "\\entry{k}{article}{}\n\\name{author}{2}{}{%\n{{hash=1}{%\nfamily={Müller},\nfamilyi={M\\bibinitperiod},\ngiven={A}}}%\n\
                      {{hash=2}{%\nfamily={Roe},}}%\n}\n\\field{title}{A {Title}}\n\\field{year}{2011}\n\\verb{doi}\n\\verb 10.1234/ab\n\\endverb\n\\endentry";
        let found = biblatex(source);
        let record = &found[0].1;
        assert_eq!((found[0].0.as_str(), record.title.as_deref(), record.year), ("k", Some("A Title"), Some(2011)));
        assert_eq!((record.authors.join(" ").as_str(), record.doi.as_deref()), ("Müller Roe", Some("10.1234/ab")));
    }

    #[test]
    fn time_grows_with_what_never_closes() {
        for piece in [
            "@a{b,c={",
            "\\bibinfo{title}{",
            "@a{b,c=\"",
            "\\bibitem[",
            "\\bibitem{",
            "\\entry{a}\\field{title}{",
            "@string{a=a#",
        ] {
            for read in [bib, items, biblatex] {
                assert_linear(piece, 32_000, |pieces| drop(read(&piece.repeat(pieces))));
            }
        }
    }
}
