//! Conversion of the library's answers to JSON types.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use hyperdoc2vec::Error;
use hyperdoc2vec::map::DocumentMap;
use hyperdoc2vec::recommend::{
    self, DocumentHit, DocumentPage, FoundDocument, LinkQuote, ModelInfo, Recommender, RelatedWork, Snowball, WordHit,
    WordShares,
};
use hyperdoc2vec::search::Ranking;

use crate::wire::{self, EmbeddingNumbers, VectorEncoding};

/// Most labels listed.
const LABELS: usize = 1000;
/// Texts to begin with, and how many of the documents with the most links to them are looked at for them.
const EXAMPLES: usize = 4;
const LOOKED_AT: usize = 200;
/// Words of such a text on each side of the link at most, and characters that it has at least.
const EXAMPLE_WORDS: usize = 25;
const EXAMPLE_LENGTH: usize = 70;
/// Most documents sent of a map: a browser cannot show more.
const ON_MAP: usize = 100_000;

impl From<wire::QuestionJson> for recommend::Question {
    fn from(from: wire::QuestionJson) -> recommend::Question {
        let wire::QuestionJson {
            text,
            source,
            source_text,
            top,
            rank,
            exclude,
            only,
            before,
            min_probability,
            explain,
        } = from;
        let mut question = recommend::Question::new(text).top(top).exclude(exclude).only(only);
        (question.source, question.source_text, question.rank) = (source, source_text, rank);
        (question.before, question.min_probability, question.explain) = (before, min_probability, explain);
        question
    }
}

impl From<recommend::Answer> for wire::AnswerJson {
    fn from(answer: recommend::Answer) -> wire::AnswerJson {
        let query = answer.query;
        wire::AnswerJson {
            ranking: answer.ranking.name(),
            query: wire::QueryJson { words: query.length, marked: query.marked, unknown: query.unknown },
            hits: hits(answer.hits),
            reason: answer.reason,
            index: None,
        }
    }
}

/// The answer to a question. A text without words is none that cannot be answered: nothing is found for it.
pub fn answer(answer: Result<recommend::Answer, Error>, ranking: Ranking) -> Result<wire::AnswerJson, Error> {
    match answer {
        Err(error @ Error::NoWords) => Ok(wire::AnswerJson {
            ranking: ranking.name(),
            query: wire::QueryJson { words: 0, marked: false, unknown: vec![] },
            hits: vec![],
            reason: Some(error.to_string()),
            index: None,
        }),
        answer => Ok(answer?.into()),
    }
}

/// Hits with their ranks.
pub fn hits(hits: Vec<DocumentHit>) -> Vec<wire::HitJson> {
    let hit = |(hit, rank): (DocumentHit, usize)| wire::HitJson {
        rank,
        id: hit.id,
        title: hit.title,
        authors: hit.authors,
        cited_only: hit.cited_only,
        score: hit.score,
        links: hit.links,
        date: hit.date,
        url: hit.url,
        probability: hit.probability,
        reasons: hit.why.map(wire::Reasons::from).unwrap_or_default(),
    };
    hits.into_iter().zip(1..).map(hit).collect()
}

impl From<Snowball> for wire::SnowballJson {
    fn from(found: Snowball) -> wire::SnowballJson {
        let work = |work: RelatedWork| wire::RelatedWorkJson {
            id: work.hit.id,
            title: work.hit.title,
            authors: work.authors,
            date: work.hit.date,
            url: work.hit.url,
            in_library: !work.cited_only,
            score: (!work.recommended_from.is_empty()).then_some(work.hit.score),
            probability: work.hit.probability,
            cited_by: work.cited_by,
            cites: work.cites,
            recommended_from: work.recommended_from,
        };
        wire::SnowballJson { works: found.works.into_iter().map(work).collect(), doubles: found.doubles }
    }
}

/// Words with their ranks.
pub fn words(hits: Vec<WordHit>) -> Vec<wire::NearWordJson> {
    let word = |(hit, rank): (WordHit, usize)| wire::NearWordJson { rank, word: hit.word, score: hit.score };
    hits.into_iter().zip(1..).map(word).collect()
}

impl From<recommend::Why> for wire::Reasons {
    fn from(why: recommend::Why) -> wire::Reasons {
        let (embedding, bm25) = (why.embedding.score, why.bm25.score);
        wire::Reasons {
            embedding: Some(embedding),
            why: Some(shares(why.embedding)),
            source: Some(why.source),
            bm25_cited: (!why.text_alone).then_some(bm25),
            bm25_text: why.text_alone.then_some(bm25),
            bm25: Some(shares(why.bm25)),
            contexts: Some(why.contexts.into_iter().map(quote).collect()),
        }
    }
}

fn shares(shares: WordShares) -> Vec<wire::Share> {
    shares.shares.into_iter().map(|(word, share)| wire::Share { word, share }).collect()
}

fn quote(quote: LinkQuote) -> wire::QuoteJson {
    wire::QuoteJson { text: context_text(&quote), source: quote.source, title: quote.title }
}

/// The sentence, as it was written, with `[this]` behind the link; in models without sentences,
/// `… words before [this] words after …`.
fn context_text(quote: &LinkQuote) -> String {
    let LinkQuote { before, anchor, after, .. } = quote;
    match (quote.as_written, anchor.as_str()) {
        (true, "") => format!("{before}[this]{after}"),
        (true, anchor) => format!("{before}{anchor} [this]{after}"),
        (false, _) => format!("… {before} [this] {after} …").replace("  ", " "),
    }
}

impl From<ModelInfo> for wire::Info {
    fn from(info: ModelInfo) -> wire::Info {
        let distinct_labels = info.labels.len();
        let label =
            |label: recommend::LabelCount| wire::LabelCountJson { label: label.label, documents: label.documents };
        wire::Info {
            kind: "model",
            name: info.name,
            version: env!("CARGO_PKG_VERSION"),
            documents: info.documents,
            words: info.words,
            vocabulary: info.vocabulary,
            positions: info.positions,
            links: info.links,
            newcomers: info.newcomers,
            trained: info.trained,
            method: info.method,
            dim: info.dim,
            window: info.window,
            rankings: info.rankings.iter().map(|ranking| ranking.name()).collect(),
            ranking: info.ranking.name(),
            labels: info.labels.into_iter().take(LABELS).map(label).collect(),
            distinct_labels,
            dates: info.dates.map(|(first, last)| wire::Dates { first, last }),
        }
    }
}

impl From<DocumentPage> for wire::DocumentJson {
    fn from(page: DocumentPage) -> wire::DocumentJson {
        let linked = |linked: recommend::LinkedDocument| wire::Linked {
            id: linked.id,
            title: linked.title,
            links: linked.links,
        };
        let context = |quote: LinkQuote| wire::LinkContext {
            id: quote.source,
            title: quote.title,
            before: quote.before + &quote.anchor,
            after: quote.after,
        };
        wire::DocumentJson {
            id: page.id,
            title: page.title,
            date: page.date,
            labels: page.labels,
            url: page.url,
            excerpt: None,
            links_to: page.links_to.into_iter().map(linked).collect(),
            linked_by: wire::LinkedBy {
                total: page.linked_by,
                contexts: page.contexts.into_iter().map(context).collect(),
            },
        }
    }
}

impl From<Vec<FoundDocument>> for wire::Found {
    fn from(found: Vec<FoundDocument>) -> wire::Found {
        let hit = |found: FoundDocument| wire::FoundDocumentJson { id: found.id, title: found.title, date: found.date };
        wire::Found { hits: found.into_iter().map(hit).collect() }
    }
}

/// The documents on a map, with titles, labels and links.
pub fn map(recommender: &Recommender<'_>, map: &DocumentMap) -> wire::Map {
    let model = recommender.model();
    let links = model.links_to();
    let linked = |row: usize| links.get(row).copied().unwrap_or(0);
    let mut rows: Vec<usize> = (0..map.places().len()).collect();
    if rows.len() > ON_MAP {
        rows.sort_by_key(|&row| std::cmp::Reverse(linked(row)));
        rows.truncate(ON_MAP);
        rows.sort_unstable();
    }
    let (labels, titles, names) = (recommender.info().labels, model.titles(), model.names());
    let mut places = vec![0; model.labels().ends.len()];
    labels.iter().zip(0..).for_each(|(label, place)| places[label.number] = place);
    let of = |row: usize| {
        let mut of: Vec<u32> =
            model.label_ids(row).iter().filter_map(|&label| places.get(label as usize).copied()).collect();
        of.sort_unstable();
        of
    };
    let along = |axis: usize| rows.iter().map(|&row| (map.places()[row][axis] * 1e4).round() / 1e4).collect();
    wire::Map {
        documents: map.places().len(),
        x: along(0),
        y: along(1),
        labels: labels.into_iter().map(|label| label.label).collect(),
        label: rows.iter().map(|&row| of(row)).collect(),
        links: rows.iter().map(|&row| linked(row)).collect(),
        ids: rows.iter().map(|&row| names.get(row).to_owned()).collect(),
        titles: rows.iter().map(|&row| Some(titles.get(row).to_owned()).filter(|title| !title.is_empty())).collect(),
    }
}

/// A vector, written as it was asked for.
pub fn numbers(vector: Vec<f32>, encoding: VectorEncoding) -> EmbeddingNumbers {
    match encoding {
        VectorEncoding::Float => EmbeddingNumbers::Float(vector),
        VectorEncoding::Base64 => {
            let bytes: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
            EmbeddingNumbers::Base64(BASE64_STANDARD.encode(bytes))
        }
    }
}

/// Sentences with links to documents that many link to, each from another document.
pub fn examples(recommender: &Recommender<'_>) -> wire::Examples {
    let model = recommender.model();
    let links = model.links_to();
    let mut rows: Vec<usize> = (0..links.len()).filter(|&row| links[row] > 0).collect();
    rows.sort_by_key(|&row| std::cmp::Reverse(links[row]));
    let mut examples: Vec<wire::ExampleJson> = Vec::new();
    for &row in rows.iter().take(LOOKED_AT) {
        let Ok(mut page) = recommender.document(model.names().get(row), 0, 40) else { continue };
        // Links stand in the order of their documents: not only those of the first ones.
        let start = row % page.contexts.len().max(1);
        page.contexts.rotate_left(start);
        let example = page.contexts.into_iter().find_map(|quote| {
            let before: Vec<&str> = quote.before.split_whitespace().collect();
            let before = before[before.len().saturating_sub(EXAMPLE_WORDS)..].join(" ");
            // Punctuation stays with the word before it.
            let touches = if quote.after.starts_with(char::is_whitespace) { " " } else { "" };
            let after = quote.after.split_whitespace().take(EXAMPLE_WORDS).collect::<Vec<_>>().join(" ");
            let text = format!("{before} {} [[?]]{touches}{after}", quote.anchor.trim());
            let fits = text.chars().count() >= EXAMPLE_LENGTH && before.contains(' ');
            let new = examples.iter().all(|example| example.source != quote.source);
            (fits && new).then_some(wire::ExampleJson { text, source: quote.source, title: quote.title })
        });
        examples.extend(example);
        if examples.len() == EXAMPLES {
            break;
        }
    }
    wire::Examples { examples }
}
