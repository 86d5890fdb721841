//! Limits of requests in the OpenAPI description that the types do not say.

use serde_json::{Value, json};

use super::extract::{MAX_NAME, MAX_NAMES};
use super::options::Limits;
use crate::wire_draft::MOST_NEVER;

/// `2009`, `2009-06`, `2009-06-30`, perhaps followed by a time of day; the 29th of February in leap years only.
fn date_pattern() -> String {
    let year = "([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])";
    let leap = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)";
    let day = "(0[1-9]|1[0-2])(-(0[1-9]|1[0-9]|2[0-8]))?|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31";
    format!("^({year}(-({day}))?|{leap}-02-29)([T ].*)?$")
}

/// Writes the limits into the description.
pub fn describe_limits(api: &mut Value, limits: &Limits) {
    let schemas = &mut api["components"]["schemas"];
    schemas["Questions"]["properties"]["queries"]["maxItems"] = json!(limits.batch);
    schemas["Texts"]["properties"]["texts"]["maxItems"] = json!(limits.batch);
    if let Some(kinds) = schemas["EmbeddingInput"]["oneOf"].as_array_mut() {
        let lists = kinds.iter_mut().filter(|kind| kind["type"] == "array");
        lists.for_each(|list| list["maxItems"] = json!(limits.batch));
    }
    let draft = &mut schemas["Draft"]["properties"];
    draft["never"]["maxItems"] = json!(MOST_NEVER);
    draft["path"]["maxLength"] = json!(MAX_NAME);
    let description = draft["never"]["description"].as_str().unwrap_or_default();
    draft["never"]["description"] = json!(format!("{description}; each at most {MAX_NAME} characters long"));
    let question = &mut schemas["Question"];
    let fields = &mut question["properties"];
    for list in ["exclude", "only"] {
        fields[list]["maxItems"] = json!(MAX_NAMES);
        // Not as the length of the items: the longest list of the longest names is more than a body may have.
        let description = fields[list]["description"].as_str().unwrap_or_default();
        fields[list]["description"] = json!(format!("{description}; each at most {MAX_NAME} characters long"));
    }
    fields["source"]["maxLength"] = json!(MAX_NAME);
    fields["before"]["pattern"] = json!(date_pattern());
    fields["text"]["not"] = json!({"pattern": r"\[\[\?\]\][\s\S]*\[\[\?\]\]"});
    // Neither both sources, nor a probability of a ranking that gives none.
    let both = json!({
        "required": ["source", "source_text"],
        "properties": {"source": {"type": "string"}, "source_text": {"type": "string"}},
    });
    let improbable = json!({
        "required": ["rank", "min_probability"],
        "properties": {
            "rank": {"enum": ["embedding", "bm25", "bm25-cited"]},
            "min_probability": {"type": "number"},
        },
    });
    question["allOf"] = json!([{"not": both}, {"not": improbable}]);
}
