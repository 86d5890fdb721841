//! Works of OpenAlex, one JSON object a line, as in its snapshot and from its API (`results` taken apart).
//!
//! An id is that of the work (`W2741809807`), without the address before it. Title and abstract are the text; the
//! abstract comes as an index of its words and is put together again. The works that it refers to become one link without a
//! place of its own, at the end of the text. Topics, else concepts, are labels.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Parsed;
use super::source::{LineBatch, json_error};
use super::text::{collapsed, distinct};
use super::tree::safe_id;
use crate::document::losses::Loss;
use crate::document::{Document, Link};

/// Words of the longest abstract that is put together.
const LONGEST: u32 = 100_000;
/// Bytes of it: a long word may stand at many places.
const MOST_BYTES: usize = 1 << 20;

/// Reads a batch of lines.
pub fn parse(batch: &LineBatch) -> Parsed {
    Parsed::of_lines(batch, |line, place, out| {
        if line.trim_ascii().is_empty() {
            return;
        }
        match serde_json::from_str::<OpenAlexWork>(line) {
            Ok(work) => take(work, place, out),
            Err(error) => out.bad(place, format!("not a work of OpenAlex: {}", json_error(&error))),
        }
    })
}

/// The fields of a work that are used; others are many, and are passed over.
#[derive(Deserialize)]
struct OpenAlexWork {
    id: Option<String>,
    doi: Option<String>,
    title: Option<String>,
    display_name: Option<String>,
    publication_date: Option<String>,
    publication_year: Option<i32>,
    language: Option<String>,
    #[serde(default)]
    authorships: Option<Vec<Authorship>>,
    #[serde(default)]
    abstract_inverted_index: Option<BTreeMap<String, Vec<u32>>>,
    #[serde(default)]
    referenced_works: Option<Vec<String>>,
    #[serde(default)]
    topics: Option<Vec<Named>>,
    #[serde(default)]
    concepts: Option<Vec<Named>>,
}

#[derive(Deserialize)]
struct Authorship {
    author: Option<Named>,
    raw_author_name: Option<String>,
}

#[derive(Deserialize)]
struct Named {
    display_name: Option<String>,
}

fn take(work: OpenAlexWork, place: String, out: &mut Parsed) {
    let Some(id) = work.id.as_deref().map(short_id).filter(|id| !id.is_empty()) else {
        return out.bad(place, "no \"id\": every work needs one".to_owned());
    };
    let title = work.title.or(work.display_name).map(|title| collapsed(&title)).filter(|title| !title.is_empty());
    let summary = work.abstract_inverted_index.map(|index| put_together(&index)).filter(|text| !text.is_empty());
    if summary.is_none() {
        out.batch.losses.add(Loss::TitleOnly, format!("{id} ({place})"));
    }
    let date = work.publication_date.as_deref().and_then(|date| date.parse().ok());
    let date = date.or_else(|| work.publication_year?.to_string().parse().ok());
    let name = |authorship: Authorship| {
        authorship.author.and_then(|author| author.display_name).or(authorship.raw_author_name)
    };
    let authors = work.authorships.into_iter().flatten().filter_map(name).map(|name| collapsed(&name));
    let labels = work.topics.filter(|topics| !topics.is_empty()).or(work.concepts).unwrap_or_default();
    let text = title.iter().chain(&summary).cloned().collect::<Vec<_>>().join("\n");
    let targets = distinct(work.referenced_works.unwrap_or_default().iter().map(|id| short_id(id)));
    let targets: Vec<String> = targets.into_iter().filter(|target| !target.is_empty()).collect();
    let end = text.len();
    let links = if targets.is_empty() { Vec::new() } else { vec![Link { at: end, anchor: end, targets }] };
    let language = work.language.as_deref().and_then(|language| out.language(language, &place));
    out.batch.documents.push(Document {
        url: Some(work.doi.unwrap_or_else(|| format!("https://openalex.org/{id}"))),
        id,
        title,
        authors: authors.filter(|name| !name.is_empty()).collect(),
        date,
        language,
        labels: distinct(labels.into_iter().filter_map(|label| label.display_name)),
        text,
        links,
        origin: place,
    });
}

/// `W1` of `https://openalex.org/W1`.
fn short_id(id: &str) -> String {
    safe_id(id.trim().rsplit('/').next().unwrap_or_default())
}

/// The text whose words stand at these places.
fn put_together(index: &BTreeMap<String, Vec<u32>>) -> String {
    let placed = index.iter().flat_map(|(word, places)| places.iter().map(move |&place| (place, word.as_str())));
    let mut words: Vec<(u32, &str)> = placed.filter(|&(place, _)| place < LONGEST).collect();
    words.sort_unstable();
    words.dedup_by_key(|(place, _)| *place);
    let mut left = MOST_BYTES;
    let fits = |word: &&str| {
        left = left.saturating_sub(word.len() + 1);
        left > 0
    };
    collapsed(&words.into_iter().map(|(_, word)| word).take_while(fits).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::growth::assert_linear;

    #[test]
    fn a_work_becomes_a_document_with_links_at_its_end() {
        let line = r#"{"id":"https://openalex.org/W2","doi":"https://doi.org/10.1/x","title":"On  tides","publication_date":"2001-05-06",
            "language":"en","authorships":[{"author":{"display_name":"Ann Doe"}},{"raw_author_name":"J. Roe"}],"cited_by_count":3,
            "abstract_inverted_index":{"rises":[1],"Water":[0,3],"and":[2],"falls.":[4]},"topics":[{"display_name":"Sea"},{"display_name":"Sea"}],
            "referenced_works":["https://openalex.org/W1","https://openalex.org/W3","https://openalex.org/W1"]}"#;
        let parsed = parse(&LineBatch::new(
            "in",
            format!("{}\n{{\"id\":\"W9\",\"abstract_inverted_index\":null}}\n{{}}\n[]", line.replace('\n', " ")),
        ));
        let document = &parsed.batch.documents[0];
        assert_eq!((document.id.as_str(), document.text.as_str()), ("W2", "On tides\nWater rises and Water falls."));
        assert_eq!(document.authors, ["Ann Doe", "J. Roe"]);
        assert_eq!(
            document.links,
            [Link { at: document.text.len(), anchor: document.text.len(), targets: vec!["W1".into(), "W3".into()] }]
        );
        assert_eq!((document.labels.concat(), document.url.as_deref()), ("Sea".into(), Some("https://doi.org/10.1/x")));
        assert_eq!(parsed.batch.documents[1].id, "W9");
        assert_eq!(parsed.batch.losses.count(Loss::MalformedRecord), 2);
        assert_eq!(parsed.batch.losses.count(Loss::TitleOnly), 1);
    }

    #[test]
    fn works_take_time_in_proportion() {
        let work = |field: String| parse(&LineBatch::new("in", format!("{{\"id\":\"W1\",{field}}}\n")));
        let numbers = |pieces: usize| (0..pieces).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
        let words = |pieces: usize| (0..pieces).map(|n| format!("\"w{n}\":[{n}]")).collect::<Vec<_>>().join(",");
        assert_linear("lines", 8_000, |pieces| drop(parse(&LineBatch::new("in", "{\"id\":\"W1\"}\n".repeat(pieces)))));
        assert_linear("references", 16_000, |pieces| {
            drop(work(format!("\"referenced_works\":[{}\"W0\"]", "\"W1\",".repeat(pieces))));
        });
        assert_linear("words", 16_000, |pieces| {
            drop(work(format!("\"abstract_inverted_index\":{{{}}}", words(pieces))))
        });
        assert_linear("places of a long word", 32_000, |pieces| {
            let word = "w".repeat(pieces);
            drop(work(format!("\"abstract_inverted_index\":{{\"{word}\":[{}]}}", numbers(pieces))));
        });
    }

    #[test]
    fn an_abstract_of_endless_places_is_cut() {
        let index = BTreeMap::from([("a".to_owned(), vec![u32::MAX, 5, 5, 0])]);
        assert_eq!(put_together(&index), "a a");
        let index = BTreeMap::from([("a".repeat(1000), (0..5000).collect())]);
        assert_eq!(put_together(&index).len(), MOST_BYTES / 1001 * 1001 - 1);
    }
}
