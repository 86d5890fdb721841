//! The tools: what each takes, does and gives.

use hyperdoc2vec::{Error, Model, Recommender, Suggester};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::schema;
use crate::wire::{AnswerJson, DocumentJson, Found, PageOf, QuestionJson, SearchFor, Similar, SimilarTo};
use crate::wire_draft::{DraftJson, SuggestedLinks};
use crate::wire_from;

/// Hits of a tool, at the most.
const MOST: usize = 1000;

/// A model, ready for all tools.
pub struct Tools<'a> {
    recommender: Recommender<'a>,
    suggester: Result<Suggester<'a>, Error>,
}

/// Why a tool has no result.
pub enum CallError {
    UnknownTool,
    Failed(String),
}

impl From<Error> for CallError {
    fn from(error: Error) -> CallError {
        CallError::Failed(error.to_string())
    }
}

impl<'a> Tools<'a> {
    pub fn new(model: &'a Model) -> Tools<'a> {
        Tools { recommender: Recommender::new(model), suggester: Suggester::new(model) }
    }

    /// The result of a tool.
    pub fn call(&self, name: &str, arguments: Map<String, Value>) -> Result<Value, CallError> {
        match name {
            "recommend" => {
                let question: QuestionJson = read(arguments)?;
                limited(question.top)?;
                let ranking = self.recommender.ranking(question.rank);
                result(wire_from::answer(self.recommender.ask(&question.into()), ranking)?)
            }
            "suggest" => {
                let draft: DraftJson = read(arguments)?;
                limited(draft.max)?;
                draft.check().map_err(CallError::Failed)?;
                let suggester = self.suggester.as_ref().map_err(|error| CallError::Failed(error.to_string()))?;
                result(draft.suggested(&suggester.suggest(&draft.text, &draft.options())?))
            }
            "similar" => {
                let asked: SimilarTo = read(arguments)?;
                limited(asked.top)?;
                result(Similar { hits: wire_from::hits(self.recommender.similar(&asked.id, asked.by, asked.top)?) })
            }
            "document" => {
                let asked: PageOf = read(arguments)?;
                limited(asked.top)?;
                result(DocumentJson::from(self.recommender.document(&asked.id, asked.offset, asked.top)?))
            }
            "search" => {
                let asked: SearchFor = read(arguments)?;
                limited(asked.top)?;
                result(Found::from(self.recommender.find_documents(&asked.q, asked.top)))
            }
            _ => Err(CallError::UnknownTool),
        }
    }
}

fn read<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, CallError> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| CallError::Failed(error.to_string()))
}

fn result(value: impl Serialize) -> Result<Value, CallError> {
    serde_json::to_value(value).map_err(|error| CallError::Failed(error.to_string()))
}

/// Refuses to list more than [`MOST`].
fn limited(top: usize) -> Result<(), CallError> {
    if top > MOST {
        return Err(CallError::Failed(format!("expected at most {MOST} hits, found {top}")));
    }
    Ok(())
}

/// All tools, with the schemas of what they take and give.
pub fn all() -> Value {
    json!([
        tool::<QuestionJson, AnswerJson>(
            "recommend",
            "Documents that a passage should link to or cite, with probabilities. `[[?]]` in the text marks the place of the link.",
        ),
        tool::<DraftJson, SuggestedLinks>(
            "suggest",
            "Where links belong in a draft, and to what: places with their words, targets, probabilities and the edits that insert them.",
        ),
        tool::<SimilarTo, Similar>(
            "similar",
            "Documents similar to a document: by what they say (in) or by what others say of them (out).",
        ),
        tool::<PageOf, DocumentJson>(
            "document",
            "A document: title, date, labels, address, what it links to, and how others link to it.",
        ),
        tool::<SearchFor, Found>("search", "Documents by words of their titles or by parts of their ids."),
    ])
}

fn tool<Takes: ToSchema, Gives: ToSchema>(name: &str, what: &str) -> Value {
    json!({
        "name": name,
        "description": what,
        "inputSchema": schema::of::<Takes>(),
        "outputSchema": schema::of::<Gives>(),
        "annotations": {"readOnlyHint": true, "openWorldHint": false},
    })
}
