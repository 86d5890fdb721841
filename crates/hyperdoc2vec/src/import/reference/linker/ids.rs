//! Ids of papers in one form each, from the many in which they are written.

use super::{BibRecord, How};

/// Every id of a record in its one form; a DOI that holds an arXiv or ACL id gives that too, and ids are looked for in
/// the text of an entry. In the order in which they are tried.
pub(super) fn ids(record: &BibRecord) -> Vec<(How, String)> {
    let mut found: Vec<(How, String)> = Vec::new();
    let mut add = |how, id: Option<String>| {
        if let Some(id) = id
            && !found.iter().any(|(known, _)| *known == how)
        {
            found.push((how, id));
        }
    };
    add(How::Own, record.own.clone());
    let text = record.text.as_deref().unwrap_or_default();
    let doi = record.doi.as_deref().and_then(doi).or_else(|| doi(text));
    let from_doi = |prefix| doi.as_deref().and_then(|doi| doi.strip_prefix(prefix)).map(str::to_owned);
    let acl_doi = from_doi("10.18653/v1/").and_then(|id| acl(&id));
    let arxiv_doi = from_doi("10.48550/arxiv.").and_then(|id| arxiv(&id));
    add(How::Pmid, record.pmid.as_deref().and_then(|id| number(id, "pmid")).or_else(|| labelled(text, "pmid")));
    add(How::Pmcid, record.pmcid.as_deref().and_then(|id| number(id, "pmc")).or_else(|| labelled(text, "pmc")));
    add(How::Arxiv, record.arxiv.as_deref().and_then(arxiv).or(arxiv_doi).or_else(|| arxiv_in(text)));
    add(How::Acl, record.acl.as_deref().and_then(acl).or(acl_doi).or_else(|| acl_in(text)));
    add(How::Doi, doi);
    found.sort_by_key(|(how, _)| *how);
    found
}

/// The DOI in a text, lower-case, without what stands before and after it.
fn doi(text: &str) -> Option<String> {
    let mut from = 0;
    let start = loop {
        let at = from + text[from..].find("10.")?;
        let digits = text[at + 3..].bytes().take_while(u8::is_ascii_digit).count();
        let after = text[at + 3 + digits..].trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
        let apart = !text[..at].ends_with(|c: char| c.is_ascii_digit() || c == '.');
        if apart && (4..=9).contains(&digits) && (after.starts_with('/') || starts_with_ignoring_case(after, "%2f")) {
            break at;
        }
        from = at + 3;
    };
    let end = text[start..].find(|c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>' | '{' | '}' | '|'));
    let mut id = text[start..end.map_or(text.len(), |end| start + end)].to_ascii_lowercase();
    for (code, sign) in [("%2f", "/"), ("%28", "("), ("%29", ")"), ("%3a", ":"), ("%3b", ";")] {
        if id.contains(code) {
            id = id.replace(code, sign);
        }
    }
    let query = id.find('?').unwrap_or(id.len());
    id.truncate(query);
    loop {
        let unpaired = id.ends_with(')') && id.matches(')').count() > id.matches('(').count()
            || id.ends_with(']') && id.matches(']').count() > id.matches('[').count();
        if !(unpaired || id.ends_with(['.', ',', ';', ':', '\'', '’', '”', '/', '*', '\\'])) {
            break;
        }
        id.pop();
    }
    let suffix = id.split_once('/').map_or("", |(_, suffix)| suffix);
    (!suffix.is_empty()).then_some(id)
}

fn starts_with_ignoring_case(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start))
}

/// A number with or without a label before it, or at the end of an address.
fn number(text: &str, label: &str) -> Option<String> {
    let text = text.trim().trim_end_matches('/');
    let text = text.rsplit('/').next().unwrap_or(text).to_ascii_lowercase();
    let digits = text.trim_start_matches(label).trim_start_matches("id").trim_start_matches([':', ' ', '.']);
    let digits = digits.trim_start_matches('0').trim_end_matches('.');
    let good = (1..=9).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    good.then(|| digits.to_owned())
}

/// The number after a label in a text: `PMID: 123`.
fn labelled(text: &str, label: &str) -> Option<String> {
    let is_label = |at: usize| {
        text.as_bytes()[at..at + label.len()].eq_ignore_ascii_case(label.as_bytes())
            && !text[..at].ends_with(|c: char| c.is_alphanumeric())
    };
    let starts = 0..(text.len() + 1).saturating_sub(label.len());
    starts.filter(|&at| is_label(at)).find_map(|at| {
        let rest = text[at + label.len()..].trim_start_matches([':', ' ', '.']);
        let end = rest.bytes().take_while(u8::is_ascii_digit).count();
        number(&rest[..end], label)
    })
}

/// An arXiv id without version and subject class: `1706.03762`, `cmp-lg/9404003`, `math/0309136`.
fn arxiv(text: &str) -> Option<String> {
    let text = text.trim().to_ascii_lowercase();
    let text = text.trim_end_matches(['.', ',', ';', ')', ']']).trim_end_matches(".pdf");
    let text = ["arxiv.org/abs/", "arxiv.org/pdf/", "arxiv.", "arxiv:", "arxiv"]
        .iter()
        .find_map(|prefix| text.rfind(prefix).map(|at| &text[at + prefix.len()..]))
        .unwrap_or(text);
    arxiv_at(text.trim_start_matches([':', ' ']))
}

/// The arXiv id with which a lower-case text begins.
fn arxiv_at(text: &str) -> Option<String> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let month_is_good = |id: &str| id.get(2..4).and_then(|m| m.parse().ok()).is_some_and(|m: u8| (1..=12).contains(&m));
    let first = digits(text);
    if first == 4 && text[4..].starts_with('.') {
        let second = digits(&text[5..]);
        let id = &text[..5 + second];
        return ((4..=5).contains(&second) && month_is_good(id)).then(|| id.to_owned());
    }
    let (archive, rest) = text.split_once('/')?;
    let letters = archive.len() <= 20
        && archive.bytes().all(|b| b.is_ascii_lowercase() || b == b'-' || b == b'.')
        && archive.starts_with(|c: char| c.is_ascii_lowercase());
    let archive = archive.split('.').next()?;
    (letters && digits(rest) == 7 && month_is_good(rest)).then(|| format!("{archive}/{}", &rest[..7]))
}

/// The arXiv id that follows the word arXiv in a text.
fn arxiv_in(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    lower.match_indices("arxiv").find_map(|(at, word)| {
        let rest = &lower[at + word.len()..];
        let rest = ["preprint", ".org/abs/", ".org/pdf/"].iter().fold(rest, |rest, step| {
            let rest = rest.trim_start_matches([' ', ':', ',', '.', '(', '[']);
            rest.strip_prefix(step.trim_start_matches('.')).unwrap_or(rest)
        });
        let rest = rest.trim_start_matches([' ', ':', ',']);
        let rest = rest.strip_prefix("arxiv").unwrap_or(rest).trim_start_matches([' ', ':', '/', '.']);
        arxiv_at(rest)
    })
}

/// An ACL Anthology id: `p02-1040`, `2020.acl-main.1`.
fn acl(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches(['/', '.', ',']);
    let text = text.rsplit('/').next().unwrap_or(text).to_ascii_lowercase();
    let text = text.trim_end_matches(".pdf").trim_end_matches(".bib");
    let bytes = text.as_bytes();
    let old = bytes.len() == 8
        && bytes[0].is_ascii_lowercase()
        && bytes[3] == b'-'
        && [1, 2, 4, 5, 6, 7].iter().all(|&at: &usize| bytes[at].is_ascii_digit());
    let mut parts = text.split('.');
    let new = || {
        let year = parts.next().is_some_and(|part| part.len() == 4 && part.bytes().all(|b| b.is_ascii_digit()));
        let venue = parts.next().is_some_and(|part| {
            part.contains('-') && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        });
        let paper = parts.next().is_some_and(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
        year && venue && paper && parts.next().is_none()
    };
    (old || { new }()).then(|| text.to_owned())
}

/// The ACL Anthology id in an address of the Anthology in a text.
fn acl_in(text: &str) -> Option<String> {
    let at = ["aclanthology.org/", "aclanthology.info/", "aclweb.org/anthology"]
        .iter()
        .find_map(|site| text.find(site).map(|at| at + site.len()))?;
    let end = text[at..].find(|c: char| c.is_whitespace() || matches!(c, '}' | '"' | '<' | '>' | ')'));
    acl(&text[at..end.map_or(text.len(), |end| at + end)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doi_has_one_form() {
        for text in [
            "10.3115/1073083.1073135",
            "doi:10.3115/1073083.1073135.",
            "https://doi.org/10.3115/1073083.1073135",
            "http://dx.doi.org/10.3115%2F1073083.1073135",
            "BLEU, pp. 10.20, DOI 10.3115/1073083.1073135), 2002",
        ] {
            assert_eq!(doi(text).as_deref(), Some("10.3115/1073083.1073135"), "{text}");
        }
        assert_eq!(doi("10.1016/0004-3702(94)90001-9").as_deref(), Some("10.1016/0004-3702(94)90001-9"));
        assert_eq!(doi("(10.1002/(SICI)1097-4571(1990)41:6)").as_deref(), Some("10.1002/(sici)1097-4571(1990)41:6"));
        for text in ["", "10.", "10.1/x", "10.12345", "10.12345/", "110.1234/x", "version 10.4"] {
            assert_eq!(doi(text), None, "{text}");
        }
    }

    #[test]
    fn an_arxiv_id_has_one_form() {
        for text in ["1706.03762", "arXiv:1706.03762v5", "https://arxiv.org/pdf/1706.03762v2.pdf", "arXiv.1706.03762"] {
            assert_eq!(arxiv(text).as_deref(), Some("1706.03762"), "{text}");
        }
        assert_eq!(arxiv("cs.CL/0309034v1").as_deref(), Some("cs/0309034"));
        assert_eq!(arxiv("http://arxiv.org/abs/cmp-lg/9404003").as_deref(), Some("cmp-lg/9404003"));
        for text in ["", "2017", "1799.12345", "1706.1", "12345.1234"] {
            assert_eq!(arxiv(text), None, "{text}");
        }
        for text in [
            "Vaswani. Attention. arXiv preprint arXiv:1706.03762, 2017.",
            "CoRR abs/1 (arXiv: 1706.03762 [cs.CL])",
            "see https://arxiv.org/abs/1706.03762v1.",
            "arXiv preprint 1706.03762",
        ] {
            assert_eq!(arxiv_in(text).as_deref(), Some("1706.03762"), "{text}");
        }
        assert_eq!(arxiv_in("arXiv preprint, 2017. 1706 pages"), None);
    }

    #[test]
    fn other_ids_have_one_form() {
        assert_eq!(number("PMC0123", "pmc").as_deref(), Some("123"));
        assert_eq!(number(" 29155 ", "pmid").as_deref(), Some("29155"));
        assert_eq!(number("S2", "pmid"), None);
        assert_eq!(labelled("Nature 5. PMID: 29155; x", "pmid").as_deref(), Some("29155"));
        assert_eq!(labelled("PMCID: PMC77", "pmc").as_deref(), Some("77"));
        assert_eq!(acl("https://www.aclweb.org/anthology/P02-1040.pdf").as_deref(), Some("p02-1040"));
        assert_eq!(acl("2020.acl-main.12").as_deref(), Some("2020.acl-main.12"));
        assert_eq!(acl("2020.12"), None);
        assert_eq!(acl_in("in ACL, https://aclanthology.org/P02-1040/.").as_deref(), Some("p02-1040"));
    }

    #[test]
    fn ids_hide_in_dois_and_in_the_text_of_an_entry() {
        let of = |record: &BibRecord| ids(record).into_iter().map(|(_, id)| id).collect::<Vec<_>>();
        let doi = |doi: &str| BibRecord { doi: Some(doi.into()), ..BibRecord::default() };
        assert_eq!(of(&doi("10.18653/v1/P17-1001")), ["10.18653/v1/p17-1001", "p17-1001"]);
        assert_eq!(of(&doi("10.48550/arXiv.1706.03762")), ["10.48550/arxiv.1706.03762", "1706.03762"]);
        let text = "Doe. X. doi:10.1234/ab. arXiv:1706.03762. PMID 77".to_owned();
        assert_eq!(of(&BibRecord { text: Some(text), ..BibRecord::default() }), ["10.1234/ab", "77", "1706.03762"]);
    }
}
