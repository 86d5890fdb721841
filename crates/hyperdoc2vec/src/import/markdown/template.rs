//! Tags of site generators in Markdown, before it is parsed: Hugo's short codes and Jekyll's Liquid.
//!
//! A tag that names a page becomes a link to it: `{{< ref "page" >}}` and `{% link page.md %}` where a link's address
//! stands, `{{< glossary_tooltip term_id="pod" >}}` anywhere. All other tags are left out: what they would show is not
//! in the file. Line breaks stay, so that lines are counted as those of the file. See `scheme` for the addresses.

use super::fences::Fences;
use super::scheme::{PAGE, POST, TERM, encode};
use crate::draft::template::{TagEnds, TagMeaning, TemplateKind, meaning, name_and_arguments};

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
            None => write_tag(&mut out, (kind, name), [arguments, inner], fences.in_code()),
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

/// Writes what a tag stands for, given by its name and by its arguments and its inner text.
fn write_tag(out: &mut String, tag: (TemplateKind, &str), [arguments, inner]: [&str; 2], in_code: bool) {
    match meaning(tag, [arguments, inner], out) {
        TagMeaning::Page(path) => out.push_str(&format!("{PAGE}{}", encode(&path))),
        TagMeaning::Post(name) => out.push_str(&format!("{POST}{}", encode(name))),
        TagMeaning::Address(address) => out.push_str(address),
        TagMeaning::Term { words, term } => write_link(out, words, TERM, term, in_code),
        TagMeaning::Card { words, address } => write_link(out, words, PAGE, address, in_code),
        TagMeaning::Nothing => {}
        TagMeaning::Text => out.push_str(&format!("{{{{{inner}}}}}").replace('\n', " ")),
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
