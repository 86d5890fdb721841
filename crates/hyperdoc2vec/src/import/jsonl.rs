//! Our own interchange format: one JSON object a line, links marked in the text (see [`crate::document::markup`]).
//!
//! ```json
//! {"id": "P02-1040", "title": "BLEU", "date": "2002", "language": "en", "labels": ["P"], "text": "as in [[P98-1001]] and [the tool][[P07-2045]]"}
//! {"id": "old name", "redirect": "P02-1040"}
//! ```
//! `id` and `text` are required; `title`, `authors`, `date`, `language`, `labels`, `url` may be there; other fields are counted and ignored.
//! A record with `redirect` in place of `text` is another name of a document.
//!
//! The visitors are written out, not derived by serde_with: they borrow from the line, and count unknown fields.

use std::borrow::Cow;
use std::fmt;

use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::Parsed;
use super::source::{LineBatch, json_error};
use crate::document::losses::Loss;
use crate::document::{Date, Document, markup, visible_json};

/// Reads a batch of lines.
pub fn parse(batch: &LineBatch) -> Parsed {
    Parsed::of_lines(batch, |line, place, out| {
        if !line.trim_ascii().is_empty() {
            parse_line(line, place, out);
        }
    })
}

fn parse_line(json: &str, place: String, out: &mut Parsed) {
    let record: JsonRecord = match serde_json::from_str(json) {
        Ok(record) => record,
        Err(error) => return out.bad(place, format!("not a JSON record: {}", json_error(&error))),
    };
    for field in &record.ignored {
        out.batch.losses.add(Loss::IgnoredField, field.as_ref());
    }
    let id = match record.id.as_deref().map(str::trim) {
        Some(id) if !id.is_empty() => id.to_owned(),
        _ => return out.bad(place, "no \"id\": every record needs one".to_owned()),
    };
    if let Some(wrong) = markup::unlinkable(&id) {
        return out.bad(place, format!("the id {id:?} {wrong}, so no link could name it; choose another"));
    }
    let marked = match (record.text, record.redirect) {
        (Some(text), None) => text,
        (None, Some(to)) => return out.batch.aliases.push((id, to.trim().to_owned())),
        (None, None) => return out.bad(place, format!("no \"text\" in the record of {id:?}")),
        (Some(_), Some(_)) => return out.bad(place, format!("{id:?} has both \"text\" and \"redirect\"")),
    };
    let markup::Marked { text, links, broken } = markup::parse(&marked);
    for _ in 0..broken {
        out.batch.losses.add(Loss::BrokenMark, format!("{id} ({place})"));
    }
    let date = record.date.as_deref().filter(|date| !date.trim().is_empty()).and_then(|date| {
        date.parse::<Date>().map_err(|_| out.batch.losses.add(Loss::UnreadableDate, format!("{date:?} ({place})"))).ok()
    });
    let language = record.language.as_deref().and_then(|text| out.language(text, &place));
    let filled = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned).filter(|text| !text.is_empty());
    out.batch.documents.push(Document {
        id,
        title: filled(record.title),
        authors: record.authors.into_iter().map(Cow::into_owned).filter(|name| !name.trim().is_empty()).collect(),
        date,
        language,
        labels: record.labels.into_iter().map(Cow::into_owned).collect(),
        url: filled(record.url),
        text,
        links,
        origin: place,
    });
}

/// A record as it stands in the file.
#[derive(Default)]
struct JsonRecord<'a> {
    id: Option<Cow<'a, str>>,
    title: Option<Cow<'a, str>>,
    authors: Vec<Cow<'a, str>>,
    date: Option<Cow<'a, str>>,
    language: Option<Cow<'a, str>>,
    labels: Vec<Cow<'a, str>>,
    url: Option<Cow<'a, str>>,
    text: Option<Cow<'a, str>>,
    redirect: Option<Cow<'a, str>>,
    ignored: Vec<Cow<'a, str>>,
}

/// A string, or a number written as one; null counts as missing.
struct JsonText<'a>(Option<Cow<'a, str>>);

/// A list of strings, or one string.
struct JsonTexts<'a>(Vec<Cow<'a, str>>);

impl<'de> Deserialize<'de> for JsonRecord<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<JsonRecord<'de>, D::Error> {
        struct JsonRecordVisitor;
        impl<'de> Visitor<'de> for JsonRecordVisitor {
            type Value = JsonRecord<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with \"id\" and \"text\"")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<JsonRecord<'de>, M::Error> {
                let mut record = JsonRecord::default();
                while let Some(JsonText(Some(key))) = map.next_key()? {
                    match key.as_ref() {
                        "id" => record.id = map.next_value::<JsonText<'_>>()?.0,
                        "title" => record.title = map.next_value::<JsonText<'_>>()?.0,
                        "authors" => record.authors = map.next_value::<JsonTexts<'_>>()?.0,
                        "date" => record.date = map.next_value::<JsonText<'_>>()?.0,
                        "language" => record.language = map.next_value::<JsonText<'_>>()?.0,
                        "labels" => record.labels = map.next_value::<JsonTexts<'_>>()?.0,
                        "url" => record.url = map.next_value::<JsonText<'_>>()?.0,
                        "text" => record.text = map.next_value::<JsonText<'_>>()?.0,
                        "redirect" => record.redirect = map.next_value::<JsonText<'_>>()?.0,
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                            record.ignored.push(key);
                        }
                    }
                }
                Ok(record)
            }
        }
        deserializer.deserialize_map(JsonRecordVisitor)
    }
}

impl<'de> Deserialize<'de> for JsonText<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<JsonText<'de>, D::Error> {
        struct JsonTextVisitor;
        impl<'de> Visitor<'de> for JsonTextVisitor {
            type Value = JsonText<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<JsonText<'de>, E> {
                Ok(JsonText(Some(Cow::Borrowed(text))))
            }

            fn visit_str<E>(self, text: &str) -> Result<JsonText<'de>, E> {
                Ok(JsonText(Some(Cow::Owned(text.to_owned()))))
            }

            fn visit_string<E>(self, text: String) -> Result<JsonText<'de>, E> {
                Ok(JsonText(Some(Cow::Owned(text))))
            }

            fn visit_u64<E>(self, number: u64) -> Result<JsonText<'de>, E> {
                Ok(JsonText(Some(Cow::Owned(number.to_string()))))
            }

            fn visit_i64<E>(self, number: i64) -> Result<JsonText<'de>, E> {
                Ok(JsonText(Some(Cow::Owned(number.to_string()))))
            }

            fn visit_unit<E>(self) -> Result<JsonText<'de>, E> {
                Ok(JsonText(None))
            }
        }
        deserializer.deserialize_any(JsonTextVisitor)
    }
}

impl<'de> Deserialize<'de> for JsonTexts<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<JsonTexts<'de>, D::Error> {
        struct JsonTextsVisitor;
        impl<'de> Visitor<'de> for JsonTextsVisitor {
            type Value = JsonTexts<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of strings")
            }

            fn visit_str<E>(self, text: &str) -> Result<JsonTexts<'de>, E> {
                Ok(JsonTexts((!text.is_empty()).then(|| Cow::Owned(text.to_owned())).into_iter().collect()))
            }

            fn visit_unit<E>(self) -> Result<JsonTexts<'de>, E> {
                Ok(JsonTexts(Vec::new()))
            }

            fn visit_seq<S: de::SeqAccess<'de>>(self, mut list: S) -> Result<JsonTexts<'de>, S::Error> {
                let mut texts = Vec::new();
                while let Some(JsonText(text)) = list.next_element()? {
                    texts.extend(text.filter(|text| !text.is_empty()));
                }
                Ok(JsonTexts(texts))
            }
        }
        deserializer.deserialize_any(JsonTextsVisitor)
    }
}

/// Documents and redirects (a name, and the id it stands for) as jsonl: the interchange format.
pub fn to_jsonl(documents: &[Document], redirects: &[(String, String)]) -> Vec<u8> {
    let mut out = Vec::new();
    for document in documents {
        write_line(&mut out, &JsonDocument(document));
    }
    for (from, to) in redirects {
        write_line(&mut out, &serde_json::json!({"id": from, "redirect": to}));
    }
    out
}

fn write_line(out: &mut Vec<u8>, record: &impl Serialize) {
    // Writing plain strings into memory cannot fail.
    let json = serde_json::to_string(record).unwrap_or_default();
    out.extend_from_slice(visible_json(&json).as_bytes());
    out.push(b'\n');
}

struct JsonDocument<'a>(&'a Document);

impl Serialize for JsonDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Document { id, title, authors, date, language, labels, url, text, links, origin: _ } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", id)?;
        if let Some(title) = title {
            map.serialize_entry("title", title)?;
        }
        if !authors.is_empty() {
            map.serialize_entry("authors", authors)?;
        }
        if let Some(date) = date {
            map.serialize_entry("date", date)?;
        }
        if let Some(language) = language {
            map.serialize_entry("language", language)?;
        }
        if !labels.is_empty() {
            map.serialize_entry("labels", labels)?;
        }
        if let Some(url) = url {
            map.serialize_entry("url", url)?;
        }
        map.serialize_entry("text", &markup::render(text, links))?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Parsed {
        parse(&LineBatch::new("in", text))
    }

    #[test]
    fn a_record_becomes_a_document() {
        let parsed =
            read(r#"{"id":7,"title":"T","date":2002,"labels":"P","extra":{"a":[1]},"text":"a [b][[x|y]] \u00e9"}"#);
        let document = &parsed.batch.documents[0];
        assert_eq!((document.id.as_str(), document.title.as_deref()), ("7", Some("T")));
        assert_eq!(document.date, "2002".parse().ok());
        assert_eq!((document.labels.as_slice(), document.text.as_str()), (&["P".to_owned()][..], "a b é"));
        assert_eq!((document.links[0].anchor, document.links[0].at), (2, 3));
        assert_eq!(document.links[0].targets, ["x", "y"]);
        assert_eq!(parsed.batch.losses.count(Loss::IgnoredField), 1);
    }

    #[test]
    fn what_is_wrong_with_a_record_is_said_with_its_line() {
        let wrong = |text: &str| {
            let (place, what) = read(text).batch.first_bad.expect("a bad record");
            format!("{place}: {what}")
        };
        assert_eq!(
            wrong("{\"id\":\"a\",\"text\":\"\"}\n\n{\"id\""),
            "in:3: not a JSON record: EOF while parsing an object (column 5)"
        );
        assert_eq!(wrong("{\"text\":\"x\"}"), "in:1: no \"id\": every record needs one");
        assert_eq!(wrong("{\"id\":\"a\"}"), "in:1: no \"text\" in the record of \"a\"");
        assert!(wrong("[1]").contains("expected an object with \"id\" and \"text\""));
        assert!(wrong("{\"id\":\"a|b\",\"text\":\"\"}").contains("contains `|`"));
        assert!(wrong("{\"id\":\"a\",\"text\":[1]}").contains("expected a string"));
    }

    #[test]
    fn dates_that_cannot_be_read_are_counted_and_the_document_stays() {
        let parsed = read(r#"{"id":"a","date":"May 2002","text":"x"}"#);
        assert_eq!((parsed.batch.documents.len(), parsed.batch.losses.count(Loss::UnreadableDate)), (1, 1));
    }

    #[test]
    fn a_language_is_kept_as_a_tag_and_what_is_none_is_counted() {
        let parsed = read(concat!(
            "{\"id\":\"a\",\"language\":\"EN_us\",\"text\":\"\"}\n{\"id\":\"b\",\"language\":\"\",\"text\":\"\"}\n",
            "{\"id\":\"c\",\"language\":null,\"text\":\"\"}\n{\"id\":\"d\",\"language\":\"??\",\"text\":\"\"}"
        ));
        let languages: Vec<_> = parsed.batch.documents.iter().map(|document| document.language.as_deref()).collect();
        assert_eq!(languages, [Some("en-US"), None, None, None]);
        let lost: Vec<_> = parsed.batch.losses.iter().map(|(loss, tally)| (loss, tally.samples.clone())).collect();
        assert_eq!(lost, [(Loss::IgnoredField, vec!["language \"??\" (in:4)".to_owned()])]);
    }

    #[test]
    fn an_empty_label_is_none() {
        let parsed =
            read("{\"id\":\"a\",\"labels\":\"\",\"text\":\"\"}\n{\"id\":\"b\",\"labels\":[\"\"],\"text\":\"\"}");
        assert!(parsed.batch.documents.iter().all(|document| document.labels.is_empty()));
    }

    #[test]
    fn what_is_written_is_read_back() {
        let text = concat!(
            r#"{"id":"a","title":"T \"q\"","date":"2002-05","language":"pt-BR","labels":["x","y"],"url":"http://a","text":"\\[[ [w][[b|c]] \n[[b]]"}"#,
            "\n",
            r#"{"id":"b","redirect":"a"}"#,
            "\n"
        );
        let parsed = read(text);
        assert_eq!(String::from_utf8(to_jsonl(&parsed.batch.documents, &parsed.batch.aliases)).expect("UTF-8"), text);
    }
}
