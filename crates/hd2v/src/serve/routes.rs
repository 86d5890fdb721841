//! The paths of the API with their handlers. The router and the OpenAPI description are made from one list.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use hyperdoc2vec::model::Vectors;
use hyperdoc2vec::search::Ranking;

use hyperdoc2vec::{Error, NotFound, recommend};
use serde::Serialize;
use tower_http::set_header::SetResponseHeaderLayer;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::error::ApiError;
use super::extract::{
    Json, MAX_BATCH_HITS, QueryParams, RequestContext, check_draft, check_offset, check_question, check_questions,
    check_texts, check_top,
};
use super::guard::guard;
use super::json_body::JsonBody;
use super::metrics::OPEN_METRICS;
use super::model::Engine;
use super::page;
use super::schema::describe_limits;
use super::state::App;
use crate::output::status;
use crate::wire::{
    self, AnswerJson, AnswerOrError, Answers, DocumentJson, Embedded, EmbeddingInput, EmbeddingItem, Embeddings,
    EmbeddingsFor, Found, Health, Info, Making, NearTo, PageOf, QuestionJson, QuestionsJson, Ready, SearchFor, Similar,
    SimilarTo, SuggestionsFor, TextOf, Texts, TokenUsage, VectorKind, WordsAndDocuments,
};
use crate::wire_draft::{DocumentText, DraftJson, SuggestedLinks};
use crate::wire_from;

/// Bytes of the text that is shown of a document.
const EXCERPT: usize = 1500;

type Reply = Result<Response, ApiError>;
type Shared = State<Arc<App>>;

#[derive(OpenApi)]
#[openapi(
    info(title = "hd2v", description = "Recommends links for a text, from a model of documents that link to each other"),
    security((), ("token" = [])),
    modifiers(&BearerToken)
)]
struct Description;

/// Adds the bearer token to the description.
struct BearerToken;

impl utoipa::Modify for BearerToken {
    fn modify(&self, api: &mut utoipa::openapi::OpenApi) {
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build();
        api.components.get_or_insert_default().add_security_scheme("token", SecurityScheme::Http(scheme));
    }
}

/// The OpenAPI description as JSON.
#[derive(Clone)]
struct OpenApiJson(Bytes);

/// All paths, behind the guard.
pub fn router(app: Arc<App>) -> Router {
    let (api, description) = OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(info))
        .routes(routes!(examples))
        .routes(routes!(recommend_one))
        .routes(routes!(recommend_batch))
        .routes(routes!(suggest))
        .routes(routes!(similar))
        .routes(routes!(words))
        .routes(routes!(document))
        .routes(routes!(document_text))
        .routes(routes!(suggestions))
        .routes(routes!(search))
        .routes(routes!(embed))
        .routes(routes!(embeddings))
        .routes(routes!(map))
        .routes(routes!(health))
        .routes(routes!(ready))
        .routes(routes!(openapi))
        .routes(routes!(metrics))
        .split_for_parts();
    let mut description = serde_json::to_value(&description).unwrap_or_default();
    describe_limits(&mut description, app.limits());
    let description = OpenApiJson(description.to_string().into());
    let set = |name, value| SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value));
    api.route("/", get(page::index))
        .route("/page/{name}", get(page::part))
        .fallback(|| async {
            let message = "there is nothing at this path; see /api/openapi.json";
            ApiError::new(StatusCode::NOT_FOUND, "unknown-path", message)
        })
        .method_not_allowed_fallback(|| async {
            let message = "this path does not take that method; see /api/openapi.json";
            ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "wrong-method", message)
        })
        .layer(DefaultBodyLimit::max(app.limits().body))
        .layer(Extension(description))
        .layer(from_fn_with_state(app.clone(), guard))
        // Scripts and styles come from this server's own files, and the page sends nothing elsewhere.
        .layer((
            set(
                header::CONTENT_SECURITY_POLICY,
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                 base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            ),
            set(header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            set(header::REFERRER_POLICY, "no-referrer"),
            set(header::X_FRAME_OPTIONS, "DENY"),
            set(HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
            set(HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
            SetResponseHeaderLayer::if_not_present(header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        ))
        .with_state(app)
}

/// Answers from the model on one of the workers.
async fn run<T: Serialize>(
    app: &App,
    RequestContext { model, gzip }: RequestContext,
    answer: impl FnOnce(&Engine<'_>) -> Result<T, Error> + Send + 'static,
) -> Reply {
    let work = move || JsonBody::new(&answer(model.engine())?, gzip);
    Ok(app.workers.run(work).await??.into_response())
}

/// A part of the engine that some models cannot have.
fn supported<'a, T>(engine: &Engine<'_>, part: &'a Result<T, Error>) -> Result<&'a T, Error> {
    part.as_ref().map_err(|error| match error {
        Error::Unsupported { path, what } => Error::Unsupported { path: path.clone(), what: what.clone() },
        error => Error::Damaged { path: engine.recommender.model().path().to_owned(), what: error.to_string() },
    })
}

/// Describe the model
#[utoipa::path(get, path = "/api/info", responses(
    (status = 200, description = "as `hd2v info --json`, without parameters and provenance", body = Info),
    (status = "default", description = "an error", body = wire::Failure)))]
async fn info(context: RequestContext) -> Reply {
    Ok(JsonBody::new(&context.model.engine().info, context.gzip)?.into_response())
}

/// Give some texts to begin with: sentences of documents that link to another
#[utoipa::path(get, path = "/api/examples", responses(
    (status = 200, description = "a few texts, or none", body = wire::Examples),
    (status = "default", description = "an error", body = wire::Failure)))]
async fn examples(State(app): Shared, context: RequestContext) -> Reply {
    run(&app, context, |engine| Ok(wire_from::examples(&engine.recommender))).await
}

/// Recommend documents that a text should link to
#[utoipa::path(post, path = "/api/recommend", request_body = QuestionJson, responses(
    (status = 200, description = "as `hd2v recommend --json`", body = AnswerJson),
    (status = "default", description = "an error", body = wire::Failure)))]
async fn recommend_one(State(app): Shared, context: RequestContext, Json(question): Json<QuestionJson>) -> Reply {
    check_question(&question, app.limits())?;
    if context.model.engine().recommender.ranking(question.rank) == Ranking::Embedding {
        let RequestContext { model, gzip } = context;
        let queue = model.engine().queue.clone();
        let work = move |questions: Vec<QuestionJson>| {
            let questions: Vec<recommend::Question> = questions.into_iter().map(Into::into).collect();
            let answers = model.engine().recommender.ask_all(&questions);
            let answers = answers.into_iter().map(|answer| wire_from::answer(answer, Ranking::Embedding));
            answers.map(|answer| JsonBody::new(&answer?, false)).collect()
        };
        let answer = app.workers.run_batched(&queue, question, work).await??;
        return Ok(answer.compressed(gzip).into_response());
    }
    let answer = move |engine: &Engine<'_>| {
        let ranking = engine.recommender.ranking(question.rank);
        wire_from::answer(engine.recommender.ask(&question.into()), ranking)
    };
    run(&app, context, answer).await
}

/// Recommend for many texts at once
#[utoipa::path(post, path = "/api/recommend/batch", request_body = QuestionsJson, responses(
    (status = 200, description = "an answer or an error for each question; an error for those beyond 10,000 hits in all", body = Answers),
    (status = "default", description = "an error", body = wire::Failure)))]
async fn recommend_batch(State(app): Shared, context: RequestContext, Json(questions): Json<QuestionsJson>) -> Reply {
    let QuestionsJson { queries } = questions;
    check_questions(&queries, app.limits())?;
    let answer = move |engine: &Engine<'_>| {
        let mut hits = 0;
        let within = |question: &&QuestionJson| {
            hits += question.top;
            hits <= MAX_BATCH_HITS
        };
        let asked = queries.iter().take_while(within).count();
        let beyond = queries.len() - asked;
        let questions: Vec<recommend::Question> = queries.into_iter().take(asked).map(Into::into).collect();
        let found = engine.recommender.ask_all(&questions).into_iter().zip(&questions).map(|(answer, question)| {
            match wire_from::answer(answer, engine.recommender.ranking(question.rank)) {
                Ok(answer) => AnswerOrError::Answer(Box::new(answer)),
                Err(error) => AnswerOrError::Error(ApiError::from(error).to_wire()),
            }
        });
        let late = || {
            let message = format!("one request has at most {MAX_BATCH_HITS} hits; ask this in another");
            AnswerOrError::Error(ApiError::unprocessable("too-many-hits", message).to_wire())
        };
        Ok(Answers { answers: found.chain(std::iter::repeat_with(late).take(beyond)).collect() })
    };
    run(&app, context, answer).await
}

/// Suggest links for a draft: where they belong, and to what
#[utoipa::path(post, path = "/api/suggest", request_body = DraftJson, responses(
    (status = 200, description = "as a file of `hd2v suggest --json`", body = SuggestedLinks),
    (status = "default", description = "an error", body = wire::Failure)))]
async fn suggest(State(app): Shared, context: RequestContext, Json(draft): Json<DraftJson>) -> Reply {
    check_draft(&draft, app.limits())?;
    let answer = move |engine: &Engine<'_>| {
        let suggester = supported(engine, &engine.suggester)?;
        Ok(draft.suggested(&suggester.suggest(&draft.text, &draft.options())?))
    };
    run(&app, context, answer).await
}

/// Find documents similar to a document
#[utoipa::path(get, path = "/api/similar", params(SimilarTo), responses(
    (status = 200, description = "as `hd2v similar --json`", body = Similar),
    (status = "default", description = "an error", body = wire::Failure)))]
async fn similar(State(app): Shared, context: RequestContext, QueryParams(params): QueryParams<SimilarTo>) -> Reply {
    let top = check_top(params.top)?;
    let answer = move |engine: &Engine<'_>| {
        let hits = engine.recommender.similar(&params.id, params.by, top)?;
        Ok(Similar { hits: wire_from::hits(hits) })
    };
    run(&app, context, answer).await
}

/// Find words near a word, and documents that it points to
#[utoipa::path(get, path = "/api/words", params(NearTo), responses(
    (status = 200, description = "`hits` as `hd2v similar --words --json`", body = WordsAndDocuments),
    (status = "default", description = "an error", body = wire::Failure)))]
async fn words(State(app): Shared, context: RequestContext, QueryParams(params): QueryParams<NearTo>) -> Reply {
    let top = check_top(params.top)?;
    let answer = move |engine: &Engine<'_>| {
        let hits = wire_from::words(engine.recommender.similar_words(&params.word, params.by, top)?);
        let documents = wire_from::hits(engine.recommender.documents_for_word(&params.word, top)?);
        Ok(WordsAndDocuments { hits, documents })
    };
    run(&app, context, answer).await
}

/// Show a document: its links, and the links to it
#[utoipa::path(get, path = "/api/document", params(PageOf), responses(
    (status = 200, description = "the document", body = DocumentJson),
    (status = "default", description = "an error", body = wire::Failure)))]
async fn document(State(app): Shared, context: RequestContext, QueryParams(params): QueryParams<PageOf>) -> Reply {
    let (offset, top) = (check_offset(params.offset)?, check_top(params.top)?);
    let shared = app.clone();
    let answer = move |engine: &Engine<'_>| {
        let mut document = DocumentJson::from(engine.recommender.document(&params.id, offset, top)?);
        let corpus = shared.corpus();
        if let Some((corpus, found)) = corpus.and_then(|corpus| Some((corpus.clone(), corpus.find(&document.id)?))) {
            document.excerpt = Some(beginning(corpus.marked_text(found)?, EXCERPT));
        }
        Ok(document)
    };
    run(&app, context, answer).await
}

/// The beginning of a marked text, of so many bytes at most and with an ellipsis, cut between words and through no link.
fn beginning(text: String, most: usize) -> String {
    if text.len() <= most {
        return text;
    }
    let head = &text[..(0..=most).rfind(|&end| text.is_char_boundary(end)).unwrap_or(0)];
    let marked = head.rfind("]]").map_or(0, |at| at + 2);
    let plain = &head[marked..];
    let end = plain.find('[').or_else(|| plain.rfind(char::is_whitespace)).unwrap_or(plain.len());
    format!("{} …", head[..marked + end].trim_end())
}

/// Read a document, if the server was started with its corpus
#[utoipa::path(get, path = "/api/document/text", params(TextOf), responses(
    (status = 200, description = "the text", body = DocumentText),
    (status = "default", description = "an error", body = wire::Failure)))]
async fn document_text(State(app): Shared, context: RequestContext, QueryParams(params): QueryParams<TextOf>) -> Reply {
    let Some(corpus) = app.corpus() else {
        let message = "the server has no texts of documents: it was started without --corpus";
        return Err(ApiError::new(StatusCode::NOT_FOUND, "no-texts", message));
    };
    let answer = move |engine: &Engine<'_>| {
        let row = engine.recommender.document_row(&params.id)?;
        let id = engine.recommender.model().names().get(row).to_owned();
        let Some(document) = corpus.find(&id) else {
            let message = format!("the corpus of the server has no document {id:?}");
            return Err(Error::NotFound {
                kind: NotFound::Document,
                path: engine.recommender.model().path().to_owned(),
                message,
            });
        };
        Ok(DocumentText { text: corpus.marked_text(document)?, id })
    };
    run(&app, context, answer).await
}

/// Recommend documents that a document does not link to yet
#[utoipa::path(get, path = "/api/document/suggestions", params(SuggestionsFor), responses(
    (status = 200, description = "as for a text of its most distinctive words", body = AnswerJson),
    (status = "default", description = "an error", body = wire::Failure)))]
async fn suggestions(
    State(app): Shared,
    context: RequestContext,
    QueryParams(params): QueryParams<SuggestionsFor>,
) -> Reply {
    let top = check_top(params.top)?;
    let answer = move |engine: &Engine<'_>| {
        wire_from::answer(engine.recommender.suggest_for(&params.id, top), engine.recommender.ranking(None))
    };
    run(&app, context, answer).await
}

/// Search documents by title or id
#[utoipa::path(get, path = "/api/search", params(SearchFor), responses(
    (status = 200, description = "the documents", body = Found),
    (status = "default", description = "an error", body = wire::Failure)))]
async fn search(State(app): Shared, context: RequestContext, QueryParams(params): QueryParams<SearchFor>) -> Reply {
    let top = check_top(params.top)?;
    run(&app, context, move |engine| Ok(Found::from(engine.recommender.find_documents(&params.q, top)))).await
}

/// Embed texts
#[utoipa::path(post, path = "/api/embed", request_body = Texts, responses(
    (status = 200, description = "the vectors of `hd2v embed`", body = Embedded),
    (status = "default", description = "an error", body = wire::Failure)))]
async fn embed(State(app): Shared, context: RequestContext, Json(texts): Json<Texts>) -> Reply {
    check_texts(&texts, app.limits())?;
    let answer = move |engine: &Engine<'_>| {
        let inferrer = supported(engine, &engine.inferrer)?;
        let vectors = inferrer.texts(&texts.texts)?.into_iter().map(|inferred| inferred.vector).collect();
        let unknown = texts.texts.iter().map(|text| inferrer.unknown(text)).collect();
        Ok(Embedded { dim: engine.recommender.model().params().dim, vectors, unknown })
    };
    run(&app, context, answer).await
}

/// Embed texts, as OpenAI's API does
#[utoipa::path(post, path = "/v1/embeddings", request_body = EmbeddingsFor, responses(
    (status = 200, description = "a vector for each text", body = Embeddings),
    (status = "default", description = "an error", body = wire::Failure)))]
async fn embeddings(State(app): Shared, context: RequestContext, Json(asked): Json<EmbeddingsFor>) -> Reply {
    let EmbeddingsFor { input, model: kind, encoding_format, dimensions, .. } = asked;
    let texts = Texts {
        texts: match input {
            EmbeddingInput::One(text) => vec![text],
            EmbeddingInput::Many(texts) => texts,
        },
    };
    check_texts(&texts, app.limits())?;
    let dim = context.model.engine().recommender.model().params().dim;
    if dimensions.is_some_and(|wanted| wanted != dim) {
        let message = format!("the vectors of this model have {dim} dimensions; leave out `dimensions`");
        // Not the request is wrong, but the model that stands here another.
        return Err(ApiError::new(StatusCode::CONFLICT, "unfit", message));
    }
    let answer = move |engine: &Engine<'_>| {
        let vectors: Vec<Vec<f32>> = match kind {
            VectorKind::Text => {
                let inferred = supported(engine, &engine.inferrer)?.texts(&texts.texts)?;
                inferred.into_iter().map(|inferred| inferred.vector).collect()
            }
            VectorKind::Question => {
                let vector = |text: &String| engine.recommender.question_vector(&recommend::Question::new(text));
                let vectors = texts.texts.iter().map(vector).collect::<Result<Vec<_>, Error>>()?;
                vectors.into_iter().map(|vector| vector.unwrap_or_else(|| vec![0.0; dim])).collect()
            }
        };
        let (tokenizer, mut words) = (engine.recommender.model().tokenizer(), 0);
        for text in &texts.texts {
            tokenizer.words(text, |_| words += 1);
        }
        let item = |(index, vector)| EmbeddingItem {
            object: "embedding",
            index,
            embedding: wire_from::numbers(vector, encoding_format),
        };
        let data = vectors.into_iter().enumerate().map(item).collect();
        let usage = TokenUsage { prompt_tokens: words, total_tokens: words };
        Ok(Embeddings { object: "list", data, model: kind, usage })
    };
    run(&app, context, answer).await
}

/// Place all documents on a plane
#[utoipa::path(get, path = "/api/map", responses(
    (status = 200, description = "similar documents are near each other", body = wire::Map),
    (status = 202, description = "the map is being computed; ask again", body = Making),
    (status = "default", description = "an error", body = wire::Failure)))]
async fn map(State(app): Shared, RequestContext { model, gzip }: RequestContext) -> Reply {
    // Documents have their places by their IN vectors.
    model.engine().recommender.model().learnt_vectors(Vectors::DocIn)?;
    let map = &model.engine().map;
    match map.bodies() {
        Some(Some(bodies)) => return Ok(bodies[usize::from(gzip)].clone().into_response()),
        Some(None) => {
            let message = "the map could not be computed";
            return Err(ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "no-map", message));
        }
        None => {}
    }
    if map.start() {
        let model = model.clone();
        let compute = move || {
            // For as long as the server runs and no other model has taken the place of this one.
            let wanted = || app.is_ready() && Arc::ptr_eq(&app.model(), &model);
            model.engine().map.compute(&model.engine().recommender, wanted);
        };
        // On a thread of its own, as it would keep a worker from answering.
        if let Err(error) = std::thread::Builder::new().name("map".to_owned()).spawn(compute) {
            status(format_args!("cannot compute the map: {error}"));
            map.fail();
        }
    }
    Ok((StatusCode::ACCEPTED, JsonBody::new(&Making { ready: false, done: map.progress() }, false)?).into_response())
}

/// Check that the server runs
#[utoipa::path(get, path = "/api/health", responses((status = 200, description = "it does", body = Health)))]
async fn health() -> Reply {
    Ok(JsonBody::new(&Health { health: "ok" }, false)?.into_response())
}

/// Check that the server accepts new requests
#[utoipa::path(get, path = "/api/ready", responses(
    (status = 200, description = "it does", body = Ready),
    (status = 503, description = "the server is stopping", body = wire::Failure)))]
async fn ready(State(app): Shared) -> Reply {
    match app.is_ready() {
        true => Ok(JsonBody::new(&Ready { ready: true }, false)?.into_response()),
        false => Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", "the server is stopping")),
    }
}

/// Describe the API
#[utoipa::path(get, path = "/api/openapi.json", responses((status = 200, description = "this OpenAPI description")))]
async fn openapi(Extension(OpenApiJson(json)): Extension<OpenApiJson>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], json).into_response()
}

/// Metrics for Prometheus
#[utoipa::path(get, path = "/metrics", responses(
    (status = 200, description = "OpenMetrics text", content_type = "application/openmetrics-text")))]
async fn metrics(State(app): Shared) -> Response {
    ([(header::CONTENT_TYPE, OPEN_METRICS)], app.metrics.text()).into_response()
}

#[cfg(test)]
mod tests {
    use super::beginning;

    #[test]
    fn an_excerpt_ends_between_words_and_cuts_no_link() {
        let cut = |text: &str, most| beginning(text.to_owned(), most);
        assert_eq!(cut("one two", 9), "one two");
        assert_eq!(cut("one two three", 9), "one two …");
        assert_eq!(cut("one [two][[2]] three four", 17), "one [two][[2]] …");
        assert_eq!(cut("one [two][[2]] three four", 12), "one …");
        assert_eq!(cut("é [two][[2]]", 1), " …");
        assert_eq!(cut("endless", 3), "end …");
    }
}
