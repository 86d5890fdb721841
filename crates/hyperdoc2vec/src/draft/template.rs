//! Tags of site generators in Markdown and HTML: Hugo's short codes, Jekyll's Liquid, and macros in double braces.

use std::ops::Range;

/// The syntax of a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TemplateKind {
    /// `{{< … >}}` and `{{% … %}}`.
    Hugo,
    /// `{% … %}`.
    Liquid,
    /// `{{ … }}`.
    Value,
}

/// Finds the ends of tags.
#[derive(Default)]
pub(crate) struct TagEnds {
    /// Where the next end of each kind stands, as far as it was looked for.
    next: [usize; 4],
}

impl TagEnds {
    /// The kind, the inner text and the end of a tag that opens at `open`. Asked from the beginning of the text to its end.
    pub(crate) fn tag<'a>(&mut self, body: &'a str, open: usize) -> Option<(TemplateKind, &'a str, usize)> {
        const TAGS: [(&str, &str, TemplateKind); 4] = [
            ("{{<", ">}}", TemplateKind::Hugo),
            ("{{%", "%}}", TemplateKind::Hugo),
            ("{%", "%}", TemplateKind::Liquid),
            ("{{", "}}", TemplateKind::Value),
        ];
        let rest = &body[open..];
        let which = TAGS.iter().position(|(start, ..)| rest.starts_with(start))?;
        let (start, close, kind) = TAGS[which];
        let from = open + start.len();
        if self.next[which] < from {
            self.next[which] = body[from..].find(close).map_or(usize::MAX, |end| from + end);
        }
        let end = self.next[which];
        Some((kind, body.get(from..end)?, end + close.len()))
    }
}

/// The name of a tag, and what follows it.
pub(crate) fn name_and_arguments(kind: TemplateKind, inner: &str) -> (&str, &str) {
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

/// What a tag stands for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TagMeaning<'a> {
    /// The address of a page: a path, or a mere name.
    Page(String),
    /// The address of a page, by the name of its file.
    Post(&'a str),
    /// An address.
    Address(&'a str),
    /// A link to a term of a glossary.
    Term {
        words: &'a str,
        term: &'a str,
    },
    /// A link to a page.
    Card {
        words: &'a str,
        address: &'a str,
    },
    Nothing,
    /// No tag: braces as part of the text.
    Text,
}

/// What a tag stands for, given by its name, by its arguments and its inner text, and by what stands before it.
pub(crate) fn meaning<'a>(tag: (TemplateKind, &str), [arguments, inner]: [&'a str; 2], before: &str) -> TagMeaning<'a> {
    match tag {
        (TemplateKind::Hugo, "ref" | "relref") => {
            let path = Arguments::read(arguments).first(&["path"]).filter(|_| at_address(before));
            path.map_or(TagMeaning::Nothing, |path| TagMeaning::Page(path.to_owned()))
        }
        (TemplateKind::Hugo, name) if name.starts_with("glossary") || name == "term" => {
            let arguments = Arguments::read(arguments);
            let words = arguments.get(&["text", "title"]).unwrap_or_default();
            let term = arguments.first(&["term_id", "term", "id"]);
            term.map_or(TagMeaning::Nothing, |term| TagMeaning::Term { words, term })
        }
        (TemplateKind::Hugo, _) => {
            // Cards and buttons of themes: an address and its words.
            let arguments = Arguments::read(arguments);
            let words = arguments.get(&["title", "text", "name"]);
            let address = arguments.get(&["relref", "ref", "link", "href", "url"]);
            match (words, address.filter(|address| !address.contains("://"))) {
                (Some(words), Some(address)) => TagMeaning::Card { words, address },
                _ => TagMeaning::Nothing,
            }
        }
        (TemplateKind::Liquid, "link") if at_address(before) => {
            TagMeaning::Page(format!("/{}", arguments.trim().trim_start_matches('/')))
        }
        (TemplateKind::Liquid, "post_url") if at_address(before) => TagMeaning::Post(arguments.trim()),
        (TemplateKind::Liquid, _) => TagMeaning::Nothing,
        (TemplateKind::Value, _) => {
            let (value, filters) = inner.split_once('|').unwrap_or((inner, ""));
            let value = value.trim();
            let quoted = value.strip_prefix(['"', '\'']).and_then(|value| value.strip_suffix(['"', '\'']));
            let of_site = ["site.", "page."].iter().any(|start| value.starts_with(start));
            match quoted {
                Some(path) if filters.contains("_url") => TagMeaning::Address(path),
                _ if of_site => TagMeaning::Nothing,
                _ => TagMeaning::Text,
            }
        }
    }
}

/// Whether what comes next is the address of a link.
fn at_address(out: &str) -> bool {
    let start = out.trim_end_matches(' ');
    ["](", "](<", "=\"", "='", "]:"].iter().any(|before| start.ends_with(before))
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

/// A tag of a draft, or what stands between two.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct DraftTag<'a> {
    /// Its bytes.
    pub(super) span: Range<usize>,
    /// What stands in its place.
    pub(super) meaning: TagMeaning<'a>,
}

/// Longer ones, in bytes, are none.
const LONGEST_TAG: usize = 2000;
/// Tags whose text, up to their end, is no prose.
const UNSEEN: [&str; 4] = ["comment", "highlight", "code", "mermaid"];

/// The tags of a draft, in order.
pub(super) fn tags(text: &str) -> Vec<DraftTag<'_>> {
    let mut ends = TagEnds::default();
    let mut found: Vec<DraftTag<'_>> = Vec::new();
    // The tag whose end is waited for: its name, and how many tags were found before.
    let mut unseen = None::<(&str, usize)>;
    let mut at = 0;
    while let Some(open) = text[at..].find('{').map(|step| at + step) {
        at = open + 1;
        let Some((kind, inner, end)) = ends.tag(text, open) else { continue };
        // Code that shows such tags opens or closes them alone.
        let odd = |mark: &&str| inner.contains(*mark);
        let code = if kind == TemplateKind::Hugo { "{%" } else { "`" };
        if inner.len() > LONGEST_TAG || ["{{", "\n\n", code].iter().any(odd) {
            continue;
        }
        let (name, arguments) = name_and_arguments(kind, inner);
        let ended = inner.trim_matches([' ', '-', '\n']).trim_start_matches(['/', ' ']).trim_start_matches("end");
        if let Some((_, first)) = unseen.filter(|(of, _)| name != *of && ended == *of) {
            let span = found[first].span.start..end;
            found.truncate(first);
            found.push(DraftTag { span, meaning: TagMeaning::Nothing });
            unseen = None;
        } else {
            if unseen.is_none() && UNSEEN.contains(&name) && !inner.trim_end().ends_with('/') {
                unseen = Some((name, found.len()));
            }
            // A tag for the site's root may stand before that for the page.
            let start = found.last().map_or(open, |last| if last.span.end == open { last.span.start } else { open });
            let meaning = meaning((kind, name), [arguments, inner], &text[..start]);
            found.push(DraftTag { span: open..end, meaning });
        }
        at = end;
    }
    found
}

/// The target that an address with tags in it means.
pub(super) fn target(address: &str) -> String {
    let text = format!("=\"{address}");
    let (mut out, mut at) = (String::new(), 2);
    for DraftTag { span, meaning } in tags(&text) {
        out.push_str(&text[at..span.start]);
        match meaning {
            TagMeaning::Page(path) => out.push_str(&path),
            TagMeaning::Post(name) | TagMeaning::Address(name) => out.push_str(name),
            _ => {}
        }
        at = span.end;
    }
    out + &text[at..]
}

/// A text in whose place a parser sees words of as many bytes instead of tags, which [`restored`] brings back.
pub(super) fn masked(text: &str, tags: &[DraftTag<'_>]) -> String {
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for DraftTag { span, .. } in tags {
        out.push_str(&text[at..span.start]);
        let name = format!("{MASK}{}", span.start);
        let name = if name.len() <= span.len() { name } else { String::new() };
        let rest = text.as_bytes()[span.start + name.len()..span.end].iter();
        // Lines stay lines.
        out.push_str(&name);
        out.extend(rest.map(|&byte| if byte == b'\n' { '\n' } else { 'x' }));
        at = span.end;
    }
    out + &text[at..]
}

/// What a masked tag begins with; the byte at which it stands follows.
const MASK: &str = "hd2v";

/// A part of a masked text with its tags.
pub(super) fn restored(masked: &str, text: &str, tags: &[DraftTag<'_>]) -> String {
    let (mut out, mut rest) = (String::new(), masked);
    while let Some(at) = rest.find(MASK) {
        let digits = rest[at + MASK.len()..].bytes().take_while(u8::is_ascii_digit).count();
        let start = rest[at + MASK.len()..at + MASK.len() + digits].parse();
        let tag = start.ok().and_then(|start| tags.binary_search_by_key(&start, |tag| tag.span.start).ok());
        let (tag, length) = match tag.map(|number| &tags[number].span) {
            Some(span) => (&text[span.clone()], span.len()),
            None => (MASK, MASK.len()),
        };
        out.push_str(&rest[..at]);
        out.push_str(tag);
        rest = rest.get(at + length..).unwrap_or_default();
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_masked_and_brought_back() {
        let text = "a {{< x >}} [b]({{< relref \"/c d\" >}}#e) {{% y %}}f{{ z }} {% highlight x %}g{{h}}{% endhighlight %} `{{`";
        let tags = tags(text);
        let found: Vec<&str> = tags.iter().map(|tag| &text[tag.span.clone()]).collect();
        let highlight = "{% highlight x %}g{{h}}{% endhighlight %}";
        assert_eq!(found, ["{{< x >}}", "{{< relref \"/c d\" >}}", "{{% y %}}", "{{ z }}", highlight]);
        let masked = masked(text, &tags);
        assert!(masked.len() == text.len() && !masked.contains("relref"), "{masked}");
        assert_eq!(restored(&masked[16..39], text, &tags), &text[16..39]);
        assert_eq!(target(&text[16..39]), "/c d#e");
        assert_eq!(target("{{ site.baseurl }}{% link pages/b.md %}#c"), "/pages/b.md#c");
        assert_eq!(target("{{ '/b/' | relative_url }}"), "/b/");
    }
}
