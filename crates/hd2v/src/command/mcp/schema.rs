//! JSON Schemas of the types that the server and the command line have, too.

use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Where OpenAPI has the schemas of parts, and where a schema by itself has them.
const OPENAPI: &str = "#/components/schemas/";
const ALONE: &str = "#/$defs/";

/// The schema of a type, with those of its parts.
pub fn of<T: ToSchema>() -> Value {
    let mut parts = Vec::new();
    T::schemas(&mut parts);
    let mut schema = moved(serde_json::to_value(T::schema()).unwrap_or_default());
    let parts: Map<String, Value> =
        parts.into_iter().map(|(name, part)| (name, moved(serde_json::to_value(part).unwrap_or_default()))).collect();
    if !parts.is_empty() {
        schema["$defs"] = parts.into();
    }
    schema
}

/// References to parts, made to fit.
fn moved(mut schema: Value) -> Value {
    match &mut schema {
        Value::Object(fields) => {
            for (name, value) in fields {
                *value = match value.as_str().and_then(|text| text.strip_prefix(OPENAPI)) {
                    Some(part) if name == "$ref" => format!("{ALONE}{part}").into(),
                    _ => moved(value.take()),
                };
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = moved(item.take())),
        _ => {}
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{AnswerJson, QuestionJson};

    /// All references of a schema.
    fn references(schema: &Value, found: &mut Vec<String>) {
        match schema {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| match value.as_str() {
                Some(text) if name == "$ref" => found.push(text.to_owned()),
                _ => references(value, found),
            }),
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }

    #[test]
    fn schemas_hold_all_that_they_refer_to() {
        for schema in [of::<QuestionJson>(), of::<AnswerJson>()] {
            assert_eq!(schema["type"], "object");
            let mut found = Vec::new();
            references(&schema, &mut found);
            assert!(!found.is_empty());
            for reference in found {
                let part = schema.pointer(reference.trim_start_matches('#'));
                assert!(part.is_some(), "{reference} is missing");
            }
        }
    }
}
