//! Tags of site generators in Markdown, before it is parsed: Hugo's short codes and Jekyll's Liquid.
//!
//! A tag that names a page becomes a link to it: `{{< ref "page" >}}` and `{% link page.md %}` where a link's address
//! stands, `{{< glossary_tooltip term_id="pod" >}}` anywhere. All other tags are left out: what they would show is not
//! in the file. Line breaks stay, so that lines are counted as those of the file. See `scheme` for the addresses.

use super::fences::Fences;
use super::scheme::{PAGE, POST, TERM, encode};

/// The text with its tags replaced.
pub(super) fn expand(body: &str) -> String {
    let mut out = String::with_capacity(body.len());
    let mut fences = Fences::default();
    let mut ends = TagEnds::default();
    // Where the text is read on, where the line begins, and up to where line breaks were looked for.
    let (mut at, mut line, mut seen) = (0, 0, 0);
    // The name whose end is waited for: what stands between is left out.
    let mut until: Option<&'static str> = None;
    while let Some(open) = body[at..].find('{').map(|found| at + found) {
        while let Some(end) = body[seen..open].find('\n').map(|end| seen + end) {
            fences.take(&body[line..end]);
            (line, seen) = (end + 1, end + 1);
        }
        seen = open;
        keep(&mut out, &body[at..open], until);
        let Some((kind, inner, end)) = ends.tag(body, open) else {
            keep(&mut out, "{", until);
            at = open + 1;
            continue;
        };
        let (name, arguments) = name_and_arguments(kind, inner);
        match until {
            Some(wanted) if name == wanted => until = None,
            Some(_) => {}
            None if name == "comment" && !inner.trim_end().ends_with('/') => {
                until = Some(if kind == TemplateKind::Liquid { "endcomment" } else { "/comment" });
            }
            None => write_tag(&mut out, (kind, name), [arguments, &body[open..end]], fences.in_code()),
        }
        out.extend(inner.matches('\n'));
        at = end;
    }
    keep(&mut out, &body[at..], until);
    out
}

/// Adds text, or just its line breaks inside a comment.
fn keep(out: &mut String, text: &str, until: Option<&str>) {
    if until.is_none() { out.push_str(text) } else { out.extend(text.matches('\n')) }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TemplateKind {
    /// `{{< … >}}` and `{{% … %}}`.
    Hugo,
    /// `{% … %}`.
    Liquid,
    /// `{{ … }}`.
    Value,
}

/// Finds the ends of tags. An end that is not there is looked for once.
#[derive(Default)]
struct TagEnds {
    missing: [bool; 4],
}

impl TagEnds {
    /// The kind, the inner text and the end of a tag that opens at `open`.
    fn tag<'a>(&mut self, body: &'a str, open: usize) -> Option<(TemplateKind, &'a str, usize)> {
        const TAGS: [(&str, &str, TemplateKind); 4] = [
            ("{{<", ">}}", TemplateKind::Hugo),
            ("{{%", "%}}", TemplateKind::Hugo),
            ("{%", "%}", TemplateKind::Liquid),
            ("{{", "}}", TemplateKind::Value),
        ];
        let rest = &body[open..];
        let which = TAGS.iter().position(|(start, ..)| rest.starts_with(start))?;
        let (start, close, kind) = TAGS[which];
        if self.missing[which] {
            return None;
        }
        let Some(end) = rest[start.len()..].find(close) else {
            self.missing[which] = true;
            return None;
        };
        let inner = &rest[start.len()..start.len() + end];
        Some((kind, inner, open + start.len() + end + close.len()))
    }
}

fn name_and_arguments(kind: TemplateKind, inner: &str) -> (&str, &str) {
    let inner = inner.trim();
    let inner = if kind == TemplateKind::Liquid { inner.trim_matches('-').trim() } else { inner };
    let slash = inner.strip_prefix('/').map(|rest| inner.len() - rest.trim_start().len());
    let start = slash.unwrap_or(0);
    let end = inner[start..].find(|c: char| c.is_whitespace() || c == '"').map_or(inner.len(), |end| start + end);
    match slash {
        Some(_) if &inner[start..end] == "comment" => ("/comment", ""),
        Some(_) => ("/", ""),
        None => (&inner[..end], &inner[end..]),
    }
}

/// Whether what comes next is the address of a link.
fn at_address(out: &str) -> bool {
    let start = out.trim_end_matches(' ');
    ["](", "](<", "=\"", "='", "]:"].iter().any(|before| start.ends_with(before))
}

/// Writes what a tag stands for, given by its name and by its arguments and its whole text.
fn write_tag(out: &mut String, tag: (TemplateKind, &str), [arguments, whole]: [&str; 2], in_code: bool) {
    match tag {
        (TemplateKind::Hugo, "ref" | "relref") => {
            let arguments = Arguments::read(arguments);
            if let Some(path) = arguments.first(&["path"]).filter(|_| at_address(out)) {
                out.push_str(&format!("{PAGE}{}", encode(path)));
            }
        }
        (TemplateKind::Hugo, name) if name.starts_with("glossary") || name == "term" => {
            let arguments = Arguments::read(arguments);
            let Some(term) = arguments.first(&["term_id", "term", "id"]) else { return };
            let words = arguments.get(&["text", "title"]).unwrap_or_default();
            write_link(out, words, TERM, term, in_code);
        }
        (TemplateKind::Hugo, _) => {
            // Cards and buttons of themes: an address and its words.
            let arguments = Arguments::read(arguments);
            let words = arguments.get(&["title", "text", "name"]);
            let address = arguments.get(&["relref", "ref", "link", "href", "url"]);
            if let (Some(words), Some(address)) = (words, address)
                && !address.contains("://")
            {
                write_link(out, words, PAGE, address, in_code);
            }
        }
        (TemplateKind::Liquid, "link") if at_address(out) => {
            out.push_str(&format!("{PAGE}/{}", encode(arguments.trim().trim_start_matches('/'))));
        }
        (TemplateKind::Liquid, "post_url") if at_address(out) => {
            out.push_str(&format!("{POST}{}", encode(arguments.trim())))
        }
        (TemplateKind::Liquid, _) => {}
        (TemplateKind::Value, _) => {
            let inner = whole[2..whole.len() - 2].trim();
            let (value, filters) = inner.split_once('|').unwrap_or((inner, ""));
            let value = value.trim();
            let quoted = value.strip_prefix(['"', '\'']).and_then(|value| value.strip_suffix(['"', '\'']));
            let of_site = ["site.", "page."].iter().any(|start| value.starts_with(start));
            match quoted {
                Some(path) if filters.contains("_url") => out.push_str(path),
                _ if of_site => {}
                _ => out.push_str(&whole.replace('\n', " ")),
            }
        }
    }
}

/// A link in Markdown, or its words alone.
fn write_link(out: &mut String, words: &str, scheme: &str, target: &str, in_code: bool) {
    if in_code {
        out.push_str(words);
        return;
    }
    out.push('[');
    for c in words.chars() {
        if matches!(c, '[' | ']' | '\\') {
            out.push('\\');
        }
        out.push(if c == '\n' { ' ' } else { c });
    }
    out.push_str(&format!("]({scheme}{})", encode(target)));
}

/// The arguments of a short code: values, some of them with names.
struct Arguments<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Arguments<'a> {
    fn read(text: &'a str) -> Arguments<'a> {
        let mut all = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '=' | '"' | '`')).unwrap_or(rest.len());
            let (name, after) = match rest[end..].strip_prefix('=') {
                Some(after) => (&rest[..end], after),
                None => ("", rest),
            };
            let quote = after.chars().next().filter(|c| matches!(c, '"' | '`' | '\''));
            let (value, after) = match quote {
                Some(quote) => after[1..].split_once(quote).unwrap_or((&after[1..], "")),
                None => after.split_at(after.find(char::is_whitespace).unwrap_or(after.len())),
            };
            all.push((name, value));
            rest = after.trim_start();
        }
        Arguments(all)
    }

    fn get(&self, names: &[&str]) -> Option<&'a str> {
        let value = |name: &&str| self.0.iter().find(|(known, value)| known == name && !value.trim().is_empty());
        names.iter().find_map(value).map(|(_, value)| value.trim())
    }

    /// The value with one of these names, or the first without any.
    fn first(&self, names: &[&str]) -> Option<&'a str> {
        self.get(names).or_else(|| self.get(&[""]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::growth::assert_linear;

    #[test]
    fn short_codes_that_name_a_page_become_links_and_others_nothing() {
        for (hugo, markdown) in [
            (r#"[a]({{< ref "b c#d" >}})"#, "[a](hd2v-page:b%20c#d)"),
            (r#"[a]({{% relref path="/b" lang="en" %}})"#, "[a](hd2v-page:/b)"),
            (r#"see {{< ref "b" >}}"#, "see "),
            (r#"a {{<glossary_tooltip text="a [Pod]" term_id="pod">}} b"#, r"a [a \[Pod\]](hd2v-term:pod) b"),
            (r#"{{< glossary_tooltip term_id="pod" >}}"#, "[](hd2v-term:pod)"),
            (r#"{{< card link="../a" title="The A" icon="x" >}}"#, "[The A](hd2v-page:../a)"),
            ("{{< note >}}\nwords {{< skew currentVersion >}}\n{{< /note >}}", "\nwords \n"),
            ("a {{< comment >}}b {{< x >}}\nc{{< /comment >}} d", "a \n d"),
            ("```\n{{< glossary_tooltip text=\"x\" term_id=\"y\" >}}\n```", "```\nx\n```"),
            ("{{< a\nb >}}c", "\nc"),
            ("{{ not }} {closed {{< x", "{{ not }} {closed {{< x"),
        ] {
            assert_eq!(expand(hugo), markdown, "{hugo}");
        }
    }

    #[test]
    fn liquid_links_become_links() {
        for (liquid, markdown) in [
            ("[a]({{ site.baseurl }}{% link pages/b.md %}#c)", "[a](hd2v-page:/pages/b.md#c)"),
            ("[a]({% post_url 2024-05-06-b %})", "[a](hd2v-post:2024-05-06-b)"),
            ("[a]({{ '/b/' | relative_url }})", "[a](/b/)"),
            ("[a]: {% link b.md %}", "[a]: hd2v-page:/b.md"),
            ("{% include x.html %}{%- if a -%}b{% endif %}", "b"),
            ("a{% comment %}b{% endcomment %}c", "ac"),
            ("{{ page.title }} {{ other }}", " {{ other }}"),
        ] {
            assert_eq!(expand(liquid), markdown, "{liquid}");
        }
    }

    #[test]
    fn tags_without_an_end_take_time_in_proportion() {
        for tag in ["{{< ", "{{% ", "{% ", "{{ ", "{{< a=\"", "{"] {
            assert_linear(tag, 50_000, |pieces| assert!(expand(&tag.repeat(pieces)).len() >= pieces));
        }
        assert_linear("arguments", 30_000, |pieces| {
            assert_eq!(expand(&format!("{{{{< x {} >}}}}", "a=\"b\" ".repeat(pieces))), "");
        });
    }
}
