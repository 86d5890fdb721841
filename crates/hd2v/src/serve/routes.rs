//! The paths of the API: each reads its question, has it answered by the workers, and sends JSON.

use std::io::Write;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes as Shareable;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use hyperdoc2vec::Error;
use hyperdoc2vec::search::Ranking;
use serde::Serialize;

use super::ask::{Asked, Parameters, Using, checked, checked_questions, checked_texts, within};
use super::failure::Failure;
use super::metrics::OPEN_METRICS;
use super::state::{App, Engine};
use super::work::Queue;
use super::{guard, map, openapi as description, page};
use crate::answer::recommend::{self as recommending, Recommended};
use crate::answer::{Problem, about, near};
use crate::wire::{
    Answer, AnswerOrError, Answers, Embedded, Found, Health, Info, NearTo, Page, PageOf, Question, Questions, Ready,
    SearchFor, Similar, SimilarTo, SuggestionsFor, Texts, WordsAndDocuments,
};

type Reply = Result<Response, Failure>;
type Shared = State<Arc<App>>;
/// Questions by embedding that wait, and their answers as JSON.
pub type Together = Queue<Question, Result<Bytes, Failure>>;

/// Answers smaller than this are not packed.
const SMALL: usize = 8 << 10;

/// All paths.
pub fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(page::index))
        .route("/page/{name}", get(page::part))
        .route("/api/info", get(info))
        .route("/api/recommend", post(recommend))
        .route("/api/recommend/batch", post(recommend_batch))
        .route("/api/similar", get(similar))
        .route("/api/words", get(words))
        .route("/api/document", get(document))
        .route("/api/document/suggestions", get(suggestions))
        .route("/api/search", get(search))
        .route("/api/embed", post(embed))
        .route("/api/map", get(map::map))
        .route("/api/health", get(health))
        .route("/api/ready", get(ready))
        .route("/api/openapi.json", get(openapi))
        .route("/metrics", get(metrics))
        .fallback(|| async {
            let message = "there is nothing here; /api/openapi.json tells what there is";
            Failure::new(StatusCode::NOT_FOUND, "unknown-path", message)
        })
        .method_not_allowed_fallback(|| async {
            let message = "this path takes another method; /api/openapi.json tells which";
            Failure::new(StatusCode::METHOD_NOT_ALLOWED, "wrong-method", message)
        })
        .layer(DefaultBodyLimit::max(app.limits().body))
        .layer(from_fn_with_state(app.clone(), guard::guard))
        .with_state(app)
}

/// JSON, packed or not.
#[derive(Debug, Clone, PartialEq)]
pub struct Bytes {
    bytes: Shareable,
    packed: bool,
}

impl Bytes {
    /// A value.
    pub fn of(value: &impl Serialize, packed: bool) -> Result<Bytes, Failure> {
        let bytes = serde_json::to_vec(value).map_err(|_| Failure::internal())?;
        Ok(Bytes { bytes: bytes.into(), packed: false }.packed_if(packed))
    }

    /// The same, packed where that is wanted and of use.
    pub fn packed_if(self, wanted: bool) -> Bytes {
        if !wanted || self.packed || self.bytes.len() < SMALL {
            return self;
        }
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        match packer.write_all(&self.bytes).and_then(|()| packer.finish()) {
            Ok(bytes) => Bytes { bytes: bytes.into(), packed: true },
            Err(_) => self,
        }
    }
}

impl IntoResponse for Bytes {
    fn into_response(self) -> Response {
        let mut response = ([(header::CONTENT_TYPE, "application/json")], self.bytes).into_response();
        let headers = response.headers_mut();
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        if self.packed {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}

/// Asks the model on one of the workers.
async fn asked<T: Serialize>(
    app: &App,
    Using { model, packed }: Using,
    ask: impl FnOnce(&Engine<'_>) -> Result<T, Problem> + Send + 'static,
) -> Reply {
    let work = move || Bytes::of(&ask(model.engine())?, packed);
    Ok(app.workers.run(work).await??.into_response())
}

/// What the model is
#[utoipa::path(get, path = "/api/info", responses(
    (status = 200, description = "as `hd2v info --json`, without parameters and provenance", body = Info),
    (status = "default", description = "an error", body = crate::wire::Failure)))]
pub async fn info(using: Using) -> Reply {
    Ok(Bytes::of(&using.model.engine().info, using.packed)?.into_response())
}

fn to_wire(engine: &Engine<'_>, answer: &Recommended, top: usize) -> Answer {
    answer.to_wire(engine.searcher.model(), None, top)
}

/// What a text should link to
#[utoipa::path(post, path = "/api/recommend", request_body = Question, responses(
    (status = 200, description = "as `hd2v recommend --json`", body = Answer),
    (status = "default", description = "an error", body = crate::wire::Failure)))]
pub async fn recommend(State(app): Shared, using: Using, Asked(question): Asked<Question>) -> Reply {
    checked(&question, app.limits())?;
    let learnt = using.model.engine().hybrid.is_some();
    if recommending::ranking(using.model.borrow_owner(), question.rank, learnt) == Ranking::Embedding {
        let Using { model, packed } = using;
        let together = model.engine().together.clone();
        let work = move |questions: Vec<Question>| {
            let engine = model.engine();
            let answers = recommending::answer_all(&engine.searcher, engine.hybrid.as_ref(), &questions);
            let json = |(answer, question): (Result<Recommended, Problem>, &Question)| {
                Bytes::of(&to_wire(engine, &answer?, question.top), false)
            };
            answers.into_iter().zip(&questions).map(json).collect()
        };
        let answer = app.workers.run_together(&together, question, work).await??;
        return Ok(answer.packed_if(packed).into_response());
    }
    let ask = move |engine: &Engine<'_>| {
        let (searcher, hybrid) = (&engine.searcher, engine.hybrid.as_ref());
        let read = recommending::read(searcher, hybrid.is_some(), &question)?;
        let answer = recommending::answer(searcher, hybrid, None, read)?;
        Ok(to_wire(engine, &answer, question.top))
    };
    asked(&app, using, ask).await
}

/// What many texts should link to
#[utoipa::path(post, path = "/api/recommend/batch", request_body = Questions, responses(
    (status = 200, description = "an answer or an error a question", body = Answers),
    (status = "default", description = "an error", body = crate::wire::Failure)))]
pub async fn recommend_batch(State(app): Shared, using: Using, Asked(questions): Asked<Questions>) -> Reply {
    let Questions { queries } = questions;
    checked_questions(&queries, app.limits())?;
    let limits = app.limits().clone();
    let ask = move |engine: &Engine<'_>| {
        let mut answers: Vec<Option<AnswerOrError>> = Vec::new();
        let mut sound = Vec::new();
        for question in queries {
            match checked(&question, &limits) {
                Ok(()) => {
                    sound.push(question);
                    answers.push(None);
                }
                Err(failure) => answers.push(Some(AnswerOrError::Error(failure.to_wire()))),
            }
        }
        let found = recommending::answer_all(&engine.searcher, engine.hybrid.as_ref(), &sound);
        let mut found = found.into_iter().zip(&sound).map(|(answer, question)| match answer {
            Ok(answer) => AnswerOrError::Answer(Box::new(to_wire(engine, &answer, question.top))),
            Err(problem) => AnswerOrError::Error(Failure::from(problem).to_wire()),
        });
        Ok(Answers { answers: answers.into_iter().filter_map(|failed| failed.or_else(|| found.next())).collect() })
    };
    asked(&app, using, ask).await
}

/// Documents near a document
#[utoipa::path(get, path = "/api/similar", params(SimilarTo), responses(
    (status = 200, description = "as `hd2v similar --json`", body = Similar),
    (status = "default", description = "an error", body = crate::wire::Failure)))]
pub async fn similar(State(app): Shared, using: Using, Parameters(asks): Parameters<SimilarTo>) -> Reply {
    let top = within(asks.top)?;
    asked(&app, using, move |engine| near::similar(engine.searcher.model(), &asks.id, asks.by, top)).await
}

/// Words near a word, and documents that it points to
#[utoipa::path(get, path = "/api/words", params(NearTo), responses(
    (status = 200, description = "`hits` as `hd2v similar --words --json`", body = WordsAndDocuments),
    (status = "default", description = "an error", body = crate::wire::Failure)))]
pub async fn words(State(app): Shared, using: Using, Parameters(asks): Parameters<NearTo>) -> Reply {
    let top = within(asks.top)?;
    asked(&app, using, move |engine| near::words_and_documents(&engine.searcher, &asks.word, asks.by, top)).await
}

/// A document: what it links to, and the links to it
#[utoipa::path(get, path = "/api/document", params(PageOf), responses(
    (status = 200, description = "the document", body = Page),
    (status = "default", description = "an error", body = crate::wire::Failure)))]
pub async fn document(State(app): Shared, using: Using, Parameters(asks): Parameters<PageOf>) -> Reply {
    let top = within(asks.top)?;
    asked(&app, using, move |engine| about::page(&engine.searcher, &asks.id, asks.offset, top)).await
}

/// What a document might link to and does not yet
#[utoipa::path(get, path = "/api/document/suggestions", params(SuggestionsFor), responses(
    (status = 200, description = "as for a text of its most telling words", body = Answer),
    (status = "default", description = "an error", body = crate::wire::Failure)))]
pub async fn suggestions(State(app): Shared, using: Using, Parameters(asks): Parameters<SuggestionsFor>) -> Reply {
    let top = within(asks.top)?;
    let ask = move |engine: &Engine<'_>| about::suggestions(&engine.searcher, engine.hybrid.as_ref(), &asks.id, top);
    asked(&app, using, ask).await
}

/// Documents by title or id
#[utoipa::path(get, path = "/api/search", params(SearchFor), responses(
    (status = 200, description = "the documents", body = Found),
    (status = "default", description = "an error", body = crate::wire::Failure)))]
pub async fn search(State(app): Shared, using: Using, Parameters(asks): Parameters<SearchFor>) -> Reply {
    let top = within(asks.top)?;
    asked(&app, using, move |engine| Ok(about::search(engine.searcher.model(), &asks.q, top))).await
}

/// Vectors of texts
#[utoipa::path(post, path = "/api/embed", request_body = Texts, responses(
    (status = 200, description = "the vectors of `hd2v embed`", body = Embedded),
    (status = "default", description = "an error", body = crate::wire::Failure)))]
pub async fn embed(State(app): Shared, using: Using, Asked(texts): Asked<Texts>) -> Reply {
    checked_texts(&texts, app.limits())?;
    let ask = move |engine: &Engine<'_>| {
        let inferrer = engine.inferrer.as_ref().map_err(|error| match error {
            Error::Damaged { path, what } => Error::Damaged { path: path.clone(), what: what.clone() },
            error => Error::Usage(error.to_string()),
        })?;
        let vectors = inferrer.texts(&texts.texts)?.into_iter().map(|inferred| inferred.vector).collect();
        let unknown = texts.texts.iter().map(|text| inferrer.unknown(text)).collect();
        Ok(Embedded { dim: engine.searcher.model().params().dim, vectors, unknown })
    };
    asked(&app, using, ask).await
}

/// Whether the program runs
#[utoipa::path(get, path = "/api/health", responses((status = 200, description = "it does", body = Health)))]
pub async fn health() -> Reply {
    Ok(Bytes::of(&Health { health: "ok" }, false)?.into_response())
}

/// Whether new questions are welcome
#[utoipa::path(get, path = "/api/ready", responses(
    (status = 200, description = "they are", body = Ready),
    (status = 503, description = "the server is stopping", body = crate::wire::Failure)))]
pub async fn ready(State(app): Shared) -> Reply {
    match app.ready() {
        true => Ok(Bytes::of(&Ready { ready: true }, false)?.into_response()),
        false => Err(Failure::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", "the server is stopping")),
    }
}

/// This description
#[utoipa::path(get, path = "/api/openapi.json", responses((status = 200, description = "OpenAPI")))]
pub async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], description::json()).into_response()
}

/// Counts for Prometheus
#[utoipa::path(get, path = "/metrics", responses((status = 200, description = "text", content_type = "application/openmetrics-text")))]
pub async fn metrics(State(app): Shared) -> Response {
    ([(header::CONTENT_TYPE, OPEN_METRICS)], app.metrics.text()).into_response()
}
