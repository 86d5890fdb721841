//! CSL-JSON, as Zotero, Better BibTeX and pandoc write it: a list of items.
//!
//! Read from JSON values, not by the types of a crate: programs write numbers for strings and leave out required fields.

use serde_json::Value;

use super::work::{self, Work};
use crate::document::losses::{Loss, Losses};

/// The works of a list of items; an error is the reason why it is none.
pub(super) fn read(source: &str, name: &str, losses: &mut Losses) -> Result<Vec<Work>, String> {
    let json: Value = serde_json::from_str(source).map_err(|error| format!("not CSL-JSON: {error}"))?;
    let items = match &json {
        Value::Array(items) => items,
        // Better BibTeX's own JSON, and what some programs wrap.
        Value::Object(fields) => match fields.get("items").or_else(|| fields.get("references")) {
            Some(Value::Array(items)) => items,
            _ => return Err("not CSL-JSON: expected a list of items".to_owned()),
        },
        _ => return Err("not CSL-JSON: expected a list of items".to_owned()),
    };
    let mut works = Vec::with_capacity(items.len());
    for (number, item) in items.iter().enumerate() {
        let place = format!("{name}, item {}", number + 1);
        match of_item(item, place.clone()) {
            Some(work) => works.push(work),
            None => losses.add(Loss::MalformedRecord, format!("{place}: neither an id nor a title")),
        }
    }
    Ok(works)
}

fn of_item(item: &Value, place: String) -> Option<Work> {
    let text = |name: &str| match &item[name] {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let key = ["citation-key", "citationKey", "citekey", "id"].iter().find_map(|name| text(name));
    let title = text("title");
    let key = key.or_else(|| title.clone())?;
    let people =
        ["author", "editor", "creators"].iter().find_map(|name| item[name].as_array().filter(|list| !list.is_empty()));
    let person = |person: &Value| {
        let part = |name: &str| person[name].as_str().unwrap_or_default();
        let first = |names: &[&str]| {
            names.iter().map(|name| part(name)).find(|text| !text.is_empty()).unwrap_or_default().to_owned()
        };
        let family = [part("non-dropping-particle"), part("dropping-particle")]
            .iter()
            .rev()
            .filter(|text| !text.is_empty())
            .fold(first(&["family", "lastName", "literal", "name"]), |name, particle| format!("{particle} {name}"));
        let given = first(&["given", "firstName"]);
        Some(format!("{given} {family}").trim().to_owned()).filter(|name| !name.is_empty())
    };
    let authors = people.map(|people| people.iter().filter_map(person).collect()).unwrap_or_default();
    let issued = &item["issued"];
    let parts = issued["date-parts"][0].as_array().map(|parts| {
        let number = |part: &Value| part.as_i64().or_else(|| part.as_str()?.trim().parse().ok());
        parts.iter().map_while(number).collect::<Vec<i64>>()
    });
    let date = parts.filter(|parts| !parts.is_empty()).and_then(|parts| {
        let written: Vec<String> = parts
            .iter()
            .enumerate()
            .map(|(at, part)| if at == 0 { format!("{part:04}") } else { format!("{part:02}") })
            .collect();
        work::date(&written.join("-"))
    });
    let date = date.or_else(|| ["literal", "raw"].iter().find_map(|name| work::date(issued[name].as_str()?)));
    let date = date.or_else(|| work::date(&text("date")?));
    let attachments = item["attachments"].as_array();
    let files = attachments
        .into_iter()
        .flatten()
        .filter_map(|file| file["path"].as_str().or_else(|| file["localPath"].as_str()));
    let keywords = text("keyword").map(|text| work::keywords(&text)).unwrap_or_default();
    let tags =
        item["tags"].as_array().into_iter().flatten().filter_map(|tag| tag["tag"].as_str().or_else(|| tag.as_str()));
    Some(Work {
        title,
        authors,
        date,
        summary: text("abstract").or_else(|| text("abstractNote")),
        keywords: keywords.into_iter().chain(tags.map(str::to_owned)).collect(),
        language: text("language"),
        arxiv: ["URL", "url", "number", "note", "archive_location"].iter().find_map(|name| work::arxiv(&text(name)?)),
        url: text("URL").or_else(|| text("url")),
        doi: text("DOI").and_then(|doi| work::doi(&doi)),
        pmid: text("PMID"),
        files: files.map(str::to_owned).collect(),
        key,
        place,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_become_works() {
        let source = r#"[{"id": "http://zotero.org/x", "citation-key": "a1", "title": "On <i>Tides</i>", "type": "book",
            "author": [{"family": "Berg", "given": "Jan", "non-dropping-particle": "van der"}, {"literal": "A Group"}],
            "issued": {"date-parts": [["1969", 10]]}, "DOI": "10.1/x", "abstract": "Water."}, {"type": "book"},
            {"id": 7, "title": "B", "issued": {"literal": "Spring 2001"}, "URL": "https://arxiv.org/abs/1706.03762"}]"#;
        let mut losses = Losses::default();
        let works = read(source, "x.json", &mut losses).expect("works");
        assert_eq!((works.len(), losses.count(Loss::MalformedRecord)), (2, 1));
        assert_eq!((works[0].key.as_str(), works[0].title.as_deref()), ("a1", Some("On <i>Tides</i>")));
        assert_eq!(works[0].authors, ["Jan van der Berg", "A Group"]);
        assert_eq!(works[0].date.map(|date| date.to_string()).as_deref(), Some("1969-10"));
        assert_eq!((works[1].key.as_str(), works[1].arxiv.as_deref()), ("7", Some("1706.03762")));
        assert!(read("{}", "x", &mut losses).is_err() && read("[", "x", &mut losses).is_err());
    }
}
