//! Front matter: metadata before the text of a page, in YAML (`---`) or TOML (`+++`).
//!
//! YAML is read event by event and never as a tree, so that anchors cannot blow up and values stay as written.

use saphyr_parser::{Event, Parser};

use crate::document::Date;

/// The parts of front matter that mean something to us.
#[derive(Debug, Default, PartialEq)]
pub(super) struct FrontMatter {
    pub(super) title: Option<String>,
    pub(super) date: Option<Result<Date, String>>,
    /// As written.
    pub(super) language: Option<String>,
    pub(super) labels: Vec<String>,
    pub(super) slug: Option<String>,
    /// The name of a term in a glossary.
    pub(super) id: Option<String>,
    /// Its path on the site, as written.
    pub(super) permalink: Option<String>,
    /// Other names and old paths, as written.
    pub(super) aliases: Vec<String>,
    /// Why it could not be read.
    pub(super) wrong: Option<String>,
}

/// Fields and their values, in order.
type FrontFields = Vec<(String, Vec<String>)>;

impl FrontMatter {
    /// Reads the front matter of a page, if it has any.
    pub(super) fn read(source: &str) -> FrontMatter {
        let fields = match split(source).0 {
            None => return FrontMatter::default(),
            Some(("---", text)) => yaml(text),
            Some((_, text)) => toml(text),
        };
        match fields {
            Ok(fields) => FrontMatter::from_fields(fields),
            Err(wrong) => FrontMatter { wrong: Some(wrong), ..FrontMatter::default() },
        }
    }

    fn from_fields(fields: FrontFields) -> FrontMatter {
        let mut front = FrontMatter::default();
        for (field, values) in fields {
            let first = || values.first().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
            match &*field.to_ascii_lowercase() {
                "title" => front.title = front.title.or(first()),
                "date" | "publishdate" | "pubdate" | "published" | "created" => {
                    let found = first().map(|text| text.replace('/', "-").parse());
                    if !matches!(front.date, Some(Ok(_))) && found.is_some() {
                        front.date = found;
                    }
                }
                "lang" | "language" => front.language = front.language.or(first()),
                "tags" | "tag" | "keywords" | "categories" | "category" => {
                    for label in values.iter().flat_map(|value| value.split(',')) {
                        let label = label.trim().trim_matches(['"', '\'']).trim_start_matches('#');
                        if !label.is_empty() && !front.labels.iter().any(|known| known == label) {
                            front.labels.push(label.to_owned());
                        }
                    }
                }
                "id" => front.id = front.id.or(first()),
                "permalink" | "url" => {
                    let path = |link: &String| !link.contains(':');
                    front.permalink = front.permalink.or(first().filter(path));
                }
                "slug" => front.slug = front.slug.or(first()),
                "aliases" | "alias" | "redirect_from" | "redirects" => {
                    front.aliases.extend(values.into_iter().filter(|value| !value.trim().is_empty()));
                }
                _ => {}
            }
        }
        front
    }
}

/// The fence and text of the front matter, and what follows it. The text begins in the line of the fence, so that its
/// lines are counted as those of the page.
pub(super) fn split(source: &str) -> (Option<(&str, &str)>, &str) {
    let source = source.strip_prefix('\u{FEFF}').unwrap_or(source);
    let first = source.lines().next().unwrap_or_default();
    let fence = first.trim_end();
    if !matches!(fence, "---" | "+++") {
        return (None, source);
    }
    let start = source.find('\n').map_or(source.len(), |at| at + 1);
    let mut at = start;
    for line in source[start..].split_inclusive('\n') {
        let text = line.trim_end();
        if text == fence || (fence == "---" && text == "...") {
            return (Some((&source[..3], &source[3..at])), &source[at + line.len()..]);
        }
        at += line.len();
    }
    (None, source)
}

/// The fields of the outermost mapping that hold a scalar or a list of scalars.
fn yaml(text: &str) -> Result<FrontFields, String> {
    let mut fields = FrontFields::new();
    let mut depth = 0usize;
    let mut expect_value = false;
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|error| error.to_string())?;
        match event {
            Event::SequenceStart(..) if depth == 0 => return Err("expected fields, found a list".to_owned()),
            Event::MappingStart(..) | Event::SequenceStart(..) => depth += 1,
            Event::MappingEnd | Event::SequenceEnd => {
                depth = depth.saturating_sub(1);
                expect_value &= depth != 1;
            }
            Event::Scalar(value, ..) => match (depth, expect_value) {
                (1, false) => {
                    fields.push((value.into_owned(), Vec::new()));
                    expect_value = true;
                }
                (1, true) => {
                    if let Some((_, values)) = fields.last_mut() {
                        values.push(value.into_owned());
                    }
                    expect_value = false;
                }
                (2, true) => {
                    if let Some((_, values)) = fields.last_mut() {
                        values.push(value.into_owned());
                    }
                }
                (0, _) => return Err("expected fields, found one value".to_owned()),
                _ => {}
            },
            Event::Alias(..) if depth == 1 => expect_value = !expect_value,
            _ => {}
        }
    }
    Ok(fields)
}

/// Fields of front matter in TOML; those of a table `taxonomies` count as their own.
fn toml(text: &str) -> Result<FrontFields, String> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
    let mut fields = FrontFields::new();
    for (field, value) in table {
        match value {
            toml::Value::Table(inner) if field == "taxonomies" => {
                fields.extend(inner.into_iter().map(|(field, value)| (field, scalars(value))));
            }
            value => fields.push((field, scalars(value))),
        }
    }
    Ok(fields)
}

fn scalars(value: toml::Value) -> Vec<String> {
    let values = match value {
        toml::Value::Array(values) => values,
        value => vec![value],
    };
    let text = |value| match value {
        toml::Value::String(text) => Some(text),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Datetime(date) => Some(date.to_string()),
        _ => None,
    };
    values.into_iter().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_say_the_same() {
        let yaml = "---\ntitle: A page\ndate: 2024-05-06\nlang: en_GB\ntags: [one, two]\nnested:\n  title: no\n  tags: [no]\nslug: a/b\naliases:\n  - /old/\n---\ntext";
        let toml = "+++\ntitle = 'A page'\ndate = 2024-05-06\nlanguage = 'en_GB'\nslug = 'a/b'\naliases = ['/old/']\n[taxonomies]\ntags = ['one', 'two']\n+++\ntext";
        let front = FrontMatter::read(yaml);
        assert_eq!(front.title.as_deref(), Some("A page"));
        assert_eq!(front.date, Some("2024-05-06".parse()));
        assert_eq!(front.language.as_deref(), Some("en_GB"));
        assert_eq!(front.labels, ["one", "two"]);
        assert_eq!(front.aliases, ["/old/"]);
        assert_eq!(front, FrontMatter::read(toml));
        assert_eq!(split(yaml).1, "text");
    }

    #[test]
    fn what_is_no_front_matter_is_text() {
        assert_eq!(split("---\nno end"), (None, "---\nno end"));
        assert_eq!(FrontMatter::read("# Heading"), FrontMatter::default());
        assert!(FrontMatter::read("---\na: [b\n---\n").wrong.is_some());
        assert!(FrontMatter::read("+++\na = \n+++\n").wrong.is_some());
        assert_eq!(FrontMatter::read("---\n---\n"), FrontMatter::default());
        assert_eq!(FrontMatter::read("---\n- a\n- b\n---\n").wrong.as_deref(), Some("expected fields, found a list"));
        let wrong = FrontMatter::read("---\na: b\nc: 'd\n---\n").wrong.expect("an error");
        assert!(wrong.contains("line 3"), "{wrong}");
    }
}
