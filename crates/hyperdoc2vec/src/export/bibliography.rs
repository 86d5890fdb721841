//! Documents as entries of a bibliography, for reference managers and typesetters: BibTeX, RIS, CSL-JSON.
//!
//! A model knows the id, title, authors, date and address of a document, and not what kind of publication it is: entries
//! are `@misc`, `GEN` and `document`. A DOI and an arXiv id are read from the address. The id is the key.
//!
//! Ours, because crates for bibliographies write one of these formats at most, and each takes a few lines.

use std::fmt::Write as _;

use serde_json::{Value, json};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use crate::document::{Date, is_hidden};
use crate::import::CITED_ONLY;
use crate::model::Model;

/// A format of bibliographies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Display, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
#[non_exhaustive]
pub enum BibFormat {
    /// `.bib` files of BibTeX and biblatex.
    Bibtex,
    /// RIS, which every reference manager reads.
    Ris,
    /// CSL-JSON, of Zotero and pandoc.
    Csl,
}

/// A document as an entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BibEntry {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: Option<String>,
    /// `Ada Lovelace` or `Lovelace, Ada`.
    pub authors: Vec<String>,
    /// Its date.
    pub date: Option<Date>,
    /// Where readers find it.
    pub url: Option<String>,
    /// Whether it is cited by documents of a library, and is not there itself.
    pub cited_only: bool,
}

impl BibEntry {
    /// A document of a model, by its row.
    pub fn of(model: &Model, row: usize) -> BibEntry {
        let known = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        BibEntry {
            id: model.names().get(row).to_owned(),
            title: known(model.titles().get(row)),
            authors: model.authors(row).map(str::to_owned).collect(),
            date: model.date(row),
            url: known(model.urls().get(row)),
            cited_only: model.has_label(row, CITED_ONLY),
        }
    }

    /// The DOI, if the address is one.
    fn doi(&self) -> Option<&str> {
        let (_, doi) = self.url.as_deref()?.split_once("doi.org/")?;
        doi.starts_with("10.").then_some(doi)
    }

    /// The arXiv id, if the address has one.
    fn arxiv(&self) -> Option<&str> {
        let url = self.url.as_deref()?;
        let (_, id) = url.split_once("arxiv.org/abs/").or_else(|| url.split_once("arxiv.org/pdf/"))?;
        Some(id.trim_end_matches(".pdf")).filter(|id| !id.is_empty())
    }
}

/// Writes entries of a bibliography; one without any is empty but for what the format asks for.
pub fn bibliography(entries: &[BibEntry], format: BibFormat) -> String {
    match format {
        BibFormat::Bibtex => entries.iter().map(bibtex).collect::<Vec<_>>().join("\n"),
        BibFormat::Ris => entries.iter().map(ris).collect::<Vec<_>>().join("\n"),
        BibFormat::Csl => {
            let all = Value::Array(entries.iter().map(csl).collect());
            serde_json::to_string_pretty(&all).unwrap_or_default() + "\n"
        }
    }
}

/// The key of a document in `\cite{…}` and `.bib` files: its id, without the characters that end or break a key.
///
/// ```
/// # use hyperdoc2vec::export::cite_key;
/// assert_eq!(cite_key("notes/a b,c"), "notes/a_b_c");
/// ```
pub fn cite_key(id: &str) -> String {
    let breaks = |c: char| c.is_whitespace() || is_hidden(c) || "\"#%&'(),={}~\\^$[]<>|`".contains(c);
    id.chars().map(|c| if breaks(c) { '_' } else { c }).collect()
}

/// Family and given names; a name of one word, or of an organisation, is a family name.
fn parted(name: &str) -> (String, String) {
    let name = one_line(name);
    if name.split(' ').any(|word| matches!(word, "and" | "&" | "of" | "for")) {
        return (name, String::new());
    }
    if let Some((family, given)) = name.split_once(',') {
        return (family.trim().to_owned(), given.trim().to_owned());
    }
    let words: Vec<&str> = name.split(' ').collect();
    // `Guido van Rossum`: what is written small belongs to the family name.
    let small = |word: &&str| word.starts_with(char::is_lowercase);
    let family = (1..words.len()).find(|&at| small(&words[at])).unwrap_or(words.len() - 1);
    (words[family..].join(" "), words[..family].join(" "))
}

/// White space and hidden characters become single spaces.
fn one_line(text: &str) -> String {
    let plain = text.replace(|c: char| c.is_control() || is_hidden(c), " ");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// As TeX reads it. BibTeX counts braces, even with a backslash before them, so these are spelt out.
fn tex(text: &str) -> String {
    let mut out = String::new();
    for c in one_line(text).chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' => out.extend(['\\', c]),
            '{' => out.push_str("\\textbraceleft{}"),
            '}' => out.push_str("\\textbraceright{}"),
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            c => out.push(c),
        }
    }
    out
}

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Year, month and day, as far as they are known.
fn parts(date: Date) -> Vec<i32> {
    let packed = date.packed();
    [packed / 10_000, packed / 100 % 100, packed % 100].into_iter().take_while(|&part| part > 0).collect()
}

fn bibtex(entry: &BibEntry) -> String {
    let mut out = format!("@misc{{{}", cite_key(&entry.id));
    let mut field = |name: &str, value: &str| {
        let _ = write!(out, ",\n  {name} = {value}");
    };
    if let Some(title) = &entry.title {
        // The second braces keep its capitals.
        field("title", &format!("{{{{{}}}}}", tex(title)));
    }
    let author = |name: &String| match parted(name) {
        (family, given) if given.is_empty() => format!("{{{}}}", tex(&family)),
        (family, given) => format!("{}, {}", tex(&family), tex(&given)),
    };
    if !entry.authors.is_empty() {
        let authors: Vec<String> = entry.authors.iter().map(author).collect();
        field("author", &format!("{{{}}}", authors.join(" and ")));
    }
    if let Some(date) = entry.date {
        let parts = parts(date);
        field("year", &format!("{{{}}}", parts[0]));
        if let Some(month) = parts.get(1).and_then(|&month| MONTHS.get(month as usize - 1)) {
            field("month", month);
        }
    }
    let address = |text: &str| one_line(text).replace('{', "%7B").replace('}', "%7D").replace(' ', "%20");
    if let Some(doi) = entry.doi() {
        field("doi", &format!("{{{}}}", address(doi)));
    } else if let Some(arxiv) = entry.arxiv() {
        field("eprint", &format!("{{{}}}", address(arxiv)));
        field("archiveprefix", "{arXiv}");
    }
    if let Some(url) = &entry.url {
        field("url", &format!("{{{}}}", address(url)));
    }
    if entry.cited_only {
        field("note", &format!("{{{CITED_ONLY}}}"));
    }
    out + "\n}\n"
}

fn ris(entry: &BibEntry) -> String {
    let mut out = "TY  - GEN\n".to_owned();
    let mut line = |tag: &str, value: &str| {
        let _ = writeln!(out, "{tag}  - {}", one_line(value));
    };
    line("ID", &cite_key(&entry.id));
    entry.title.iter().for_each(|title| line("TI", title));
    for author in &entry.authors {
        let (family, given) = parted(author);
        line("AU", &if given.is_empty() { family } else { format!("{family}, {given}") });
    }
    if let Some(date) = entry.date {
        let parts = parts(date);
        line("PY", &format!("{}", parts[0]));
        let part = |number: usize| parts.get(number).map_or(String::new(), |part| format!("{part:02}"));
        line("DA", &format!("{}/{}/{}/", parts[0], part(1), part(2)));
    }
    entry.doi().into_iter().for_each(|doi| line("DO", doi));
    entry.url.iter().for_each(|url| line("UR", url));
    if entry.cited_only {
        line("N1", CITED_ONLY);
    }
    out + "ER  - \n"
}

fn csl(entry: &BibEntry) -> Value {
    let mut item = json!({"id": cite_key(&entry.id), "type": "document"});
    let author = |name: &String| match parted(name) {
        (family, given) if given.is_empty() => json!({"literal": family}),
        (family, given) => json!({"family": family, "given": given}),
    };
    if let Some(title) = &entry.title {
        item["title"] = json!(one_line(title));
    }
    if !entry.authors.is_empty() {
        item["author"] = entry.authors.iter().map(author).collect();
    }
    if let Some(date) = entry.date {
        item["issued"] = json!({"date-parts": [parts(date)]});
    }
    if let Some(doi) = entry.doi() {
        item["DOI"] = json!(doi);
    }
    if let Some(url) = &entry.url {
        item["URL"] = json!(one_line(url));
    }
    if entry.cited_only {
        item["note"] = json!(CITED_ONLY);
    }
    item
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Corpus, Format, Import};

    fn two() -> Vec<BibEntry> {
        let strings = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        vec![
            BibEntry {
                id: "codd70".to_owned(),
                title: Some("A {relational} model: 100% of data_banks & C~ \\ ^".to_owned()),
                authors: strings(&["Edgar Frank Codd", "Guido van Rossum", "Smith and Sons", "Plato", "Lovelace, Ada"]),
                date: "1970-06-12".parse().ok(),
                url: Some("https://doi.org/10.1145/362384.362685".to_owned()),
                cited_only: false,
            },
            BibEntry {
                id: "a b".to_owned(),
                title: Some("Attention\nis all".to_owned()),
                url: Some("https://arxiv.org/abs/1706.03762".to_owned()),
                date: "2017".parse().ok(),
                cited_only: true,
                ..BibEntry::default()
            },
        ]
    }

    #[test]
    fn bibtex_by_hand() {
        let expected = "\
@misc{codd70,
  title = {{A \\textbraceleft{}relational\\textbraceright{} model: 100\\% of data\\_banks \\& C\\textasciitilde{} \\textbackslash{} \\textasciicircum{}}},
  author = {Codd, Edgar Frank and van Rossum, Guido and {Smith and Sons} and {Plato} and Lovelace, Ada},
  year = {1970},
  month = jun,
  doi = {10.1145/362384.362685},
  url = {https://doi.org/10.1145/362384.362685}
}

@misc{a_b,
  title = {{Attention is all}},
  year = {2017},
  eprint = {1706.03762},
  archiveprefix = {arXiv},
  url = {https://arxiv.org/abs/1706.03762},
  note = {not in the library}
}
";
        assert_eq!(bibliography(&two(), BibFormat::Bibtex), expected);
    }

    #[test]
    fn ris_by_hand() {
        let expected = "\
TY  - GEN
ID  - codd70
TI  - A {relational} model: 100% of data_banks & C~ \\ ^
AU  - Codd, Edgar Frank
AU  - van Rossum, Guido
AU  - Smith and Sons
AU  - Plato
AU  - Lovelace, Ada
PY  - 1970
DA  - 1970/06/12/
DO  - 10.1145/362384.362685
UR  - https://doi.org/10.1145/362384.362685
ER  - 

TY  - GEN
ID  - a_b
TI  - Attention is all
PY  - 2017
DA  - 2017///
UR  - https://arxiv.org/abs/1706.03762
N1  - not in the library
ER  - 
";
        assert_eq!(bibliography(&two(), BibFormat::Ris), expected);
    }

    #[test]
    fn csl_by_hand() {
        let found: Value = serde_json::from_str(&bibliography(&two(), BibFormat::Csl)).expect("JSON");
        assert_eq!(found[0]["author"][1], json!({"family": "van Rossum", "given": "Guido"}));
        assert_eq!(found[0]["author"][3], json!({"literal": "Plato"}));
        assert_eq!(found[0]["issued"]["date-parts"], json!([[1970, 6, 12]]));
        assert_eq!(found[1]["note"], "not in the library");
        assert_eq!(bibliography(&[], BibFormat::Csl), "[]\n");
    }

    /// Whatever is written is read again by our own importer.
    #[test]
    fn a_library_of_what_was_written_has_the_same_works() {
        let dir = tempfile::tempdir().expect("a directory");
        for (format, name) in [(BibFormat::Bibtex, "x.bib"), (BibFormat::Ris, "x.ris"), (BibFormat::Csl, "x.json")] {
            let path = dir.path().join(name);
            std::fs::write(&path, bibliography(&two(), format)).expect("written");
            let corpus: Corpus = Import::files(Format::Library, [&path])
                .build(dir.path().join(format!("{name}.corpus")))
                .expect("a corpus");
            let doc = corpus.find("codd70").expect("the key");
            let title = corpus.title(doc).unwrap_or_default().to_owned();
            assert!(title.contains("relational") && title.contains("100% of data_banks & C"), "{name}: {title}");
            assert_eq!(corpus.date(doc).map(Date::year), Some(1970), "{name}");
            assert_eq!(corpus.authors(doc).next(), Some("Edgar Frank Codd"), "{name}");
            assert!(corpus.find("a_b").is_some(), "{name}");
        }
    }
}
