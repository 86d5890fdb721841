//! Links put into the text of a draft, in the syntax of its format; everything else stays as it is, byte for byte.

use std::ops::Range;

use super::names::{DocumentNames, DraftLocation};
use crate::draft::{Draft, DraftFormat, LinkSyntax, WantedLink};
use crate::id::DocRow;

/// A change of a text: these bytes become that text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The bytes; none where text is only put in.
    pub span: Range<usize>,
    /// The text.
    pub text: String,
}

/// Makes changes that stand in order and do not overlap; others are left out.
pub fn apply(text: &str, edits: &[Edit]) -> String {
    let (mut out, mut done) = (String::with_capacity(text.len() + 64 * edits.len()), 0);
    for edit in edits {
        if edit.span.start < done || text.get(edit.span.clone()).is_none() {
            continue;
        }
        out.push_str(&text[done..edit.span.start]);
        out.push_str(&edit.text);
        done = edit.span.end;
    }
    out.push_str(&text[done..]);
    out
}

/// How a draft writes its links.
pub struct LinkWriter<'a> {
    names: &'a DocumentNames<'a>,
    format: DraftFormat,
    /// Where it stands.
    from: &'a DraftLocation,
    /// Whether it has wiki links where others could be.
    wiki: bool,
    /// Whether it cites documents that have no file beside it by their keys: `[@key]`.
    cites: bool,
    /// Its command for citations, without arguments; in reStructuredText its role, if it has one.
    cite: String,
}

impl<'a> LinkWriter<'a> {
    /// Looks at the links that a draft has; it stands at `from`.
    pub fn new(names: &'a DocumentNames<'a>, text: &str, draft: &Draft, from: &'a DraftLocation) -> LinkWriter<'a> {
        let count = |syntax| draft.links.iter().filter(|link| link.syntax == syntax).count();
        let wanted = draft.wanted.iter().map(|wanted| (wanted.syntax, &wanted.span));
        let all = draft.links.iter().map(|link| (link.syntax, &link.span)).chain(wanted);
        let mut marks = all.filter(|one| one.0 == LinkSyntax::Citation).filter_map(|(_, span)| text.get(span.clone()));
        let mark = marks.find(|mark| mark.starts_with(['\\', ':'])).unwrap_or_default();
        let cite = match draft.format {
            DraftFormat::Rst => mark.split('`').next().filter(|role| role.starts_with(':')).unwrap_or_default(),
            _ => mark
                .split(['{', '[', '*'])
                .next()
                .filter(|cite| cite.len() > 1 && cite.starts_with('\\'))
                .unwrap_or("\\cite"),
        };
        let library = names.model().about()["corpus"]["source"]["format"] == "library";
        let others = count(LinkSyntax::Inline) + count(LinkSyntax::Wiki);
        LinkWriter {
            names,
            format: draft.format,
            from,
            wiki: count(LinkSyntax::Wiki) > count(LinkSyntax::Inline),
            cites: library || count(LinkSyntax::Citation) > others,
            cite: cite.to_owned(),
        }
    }

    fn href(&self, row: DocRow) -> String {
        self.names.href(self.format, self.from, row)
    }

    fn id(&self, row: DocRow) -> &'a str {
        self.names.model().names().get(row.index())
    }

    fn shown(&self, row: DocRow) -> String {
        let title = self.names.model().titles().get(row.index());
        if title.is_empty() { self.id(row).to_owned() } else { title.replace(['[', ']', '|', '<', '>'], "") }
    }

    /// Whether a document is cited by its key.
    fn cites(&self, row: DocRow) -> bool {
        self.cites && self.from.file(self.id(row)).is_none()
    }

    /// A citation, or a link that names its document.
    fn mark(&self, row: DocRow) -> String {
        let id = self.id(row);
        match self.format {
            DraftFormat::Markdown if self.wiki => format!("[[{id}]]"),
            DraftFormat::Markdown if self.cites(row) => format!("[@{id}]"),
            DraftFormat::Markdown => format!("[{}]({})", self.shown(row), self.href(row)),
            DraftFormat::Latex => format!("{}{{{id}}}", self.cite),
            DraftFormat::Rst if !self.cites(row) => format!(":doc:`/{id}`"),
            DraftFormat::Rst if self.cite.is_empty() && is_label(id) => format!("[{id}]_"),
            DraftFormat::Rst => format!("{}`{id}`", if self.cite.is_empty() { ":cite:" } else { &self.cite }),
            DraftFormat::Html => format!("<a href=\"{}\">{}</a>", self.href(row), self.shown(row)),
            DraftFormat::Mediawiki | DraftFormat::Plain => format!("[[{id}]]"),
        }
    }

    /// The text before and behind the words of a link.
    fn around(&self, words: &str, row: DocRow) -> (String, String) {
        let href = || self.href(row);
        let id = self.id(row);
        let behind = |mark: String| (String::new(), mark);
        match self.format {
            DraftFormat::Latex => behind(format!("~{}", self.mark(row))),
            DraftFormat::Markdown if words.is_empty() => behind(format!(" [@{id}]")),
            DraftFormat::Rst if words.is_empty() && !self.cites(row) => behind(format!(" [{id}]_")),
            _ if words.is_empty() => behind(format!(" {}", self.mark(row))),
            DraftFormat::Markdown if self.wiki && id == words => ("[[".to_owned(), "]]".to_owned()),
            DraftFormat::Markdown if self.wiki => (format!("[[{id}|"), "]]".to_owned()),
            DraftFormat::Markdown | DraftFormat::Rst if self.cites(row) => behind(format!(" {}", self.mark(row))),
            DraftFormat::Markdown => ("[".to_owned(), format!("]({})", href())),
            DraftFormat::Html => (format!("<a href=\"{}\">", href()), "</a>".to_owned()),
            DraftFormat::Rst => (":doc:`".to_owned(), format!(" </{id}>`")),
            DraftFormat::Mediawiki if id == words => ("[[".to_owned(), "]]".to_owned()),
            DraftFormat::Mediawiki => (format!("[[{id}|"), "]]".to_owned()),
            DraftFormat::Plain => ("[".to_owned(), format!("][[{id}]]")),
        }
    }

    /// Whether the syntax of a link can stand over these bytes of the text.
    pub fn fits(&self, text: &str, span: Range<usize>) -> bool {
        let words = &text[span.clone()];
        let next = text[span.end..].chars().next();
        let before = text[..span.start].chars().next_back();
        match self.format {
            // What it marks up stands between spaces or punctuation.
            DraftFormat::Rst => {
                before.is_none_or(|c| c.is_whitespace() || "'\"([{<-/".contains(c))
                    && next.is_none_or(|c| c.is_whitespace() || "'\")]}>-/\\:.,;!?".contains(c))
                    && !words.contains(['`', '<', '\n'])
            }
            DraftFormat::Mediawiki | DraftFormat::Plain => !words.contains(['[', ']', '|', '\n']) && next != Some('['),
            DraftFormat::Markdown => {
                // Nor over one end of an emphasis.
                let is_end = |part: &str| part.starts_with('_') || part.ends_with('_');
                !words.split_whitespace().any(is_end)
                    && !words.contains(['[', ']', '|'])
                    && !matches!(next, Some('(' | '['))
                    && before != Some('!')
            }
            DraftFormat::Latex | DraftFormat::Html => true,
        }
    }

    /// The changes that put a link over these bytes of the text; none where its syntax cannot stand there.
    pub fn over(&self, text: &str, span: Range<usize>, row: DocRow) -> Vec<Edit> {
        if !self.fits(text, span.clone()) {
            return Vec::new();
        }
        let (mut open, close) = self.around(&text[span.clone()], row);
        // In a table, a bar ends a cell.
        let line = text[..span.start].rfind('\n').map_or(0, |newline| newline + 1);
        if self.format == DraftFormat::Markdown && text[line..].trim_start().starts_with('|') {
            open = open.replace('|', "\\|");
        }
        let mut edits = Vec::new();
        if !open.is_empty() {
            edits.push(Edit { span: span.start..span.start, text: open });
        }
        edits.push(Edit { span: span.end..span.end, text: close });
        edits
    }

    /// The change that answers a place that asks for a link.
    pub fn wanted(&self, wanted: &WantedLink, row: DocRow) -> Edit {
        let text = if wanted.hole == wanted.span { self.mark(row) } else { self.id(row).to_owned() };
        Edit { span: wanted.hole.clone(), text }
    }
}

/// Whether a key can stand in `[key]_`: letters and digits, with single marks between them.
fn is_label(key: &str) -> bool {
    let parts = || key.split(['-', '_', '.', ':', '+']);
    parts().all(|part| !part.is_empty() && part.chars().all(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use strum::VariantArray;

    use super::*;
    use crate::draft::TextKind;
    use crate::{Document, Import, TrainParams, Training};

    /// Markup of a format, as people write it: code, a link, a heading, a quotation, emphasis, a mark.
    fn markup(format: DraftFormat) -> [&'static str; 6] {
        match format {
            DraftFormat::Markdown => {
                ["`x y` ", "[a b](p.md) ", "\n\n# Head line\n\n", "\n\n> said it\n\n", "**c d** ", "[[?]] "]
            }
            DraftFormat::Latex => [
                "$x y$ ",
                "\\cite{b} ",
                "\\section{Head line} ",
                "\\begin{quote}said it\\end{quote} ",
                "\\emph{c d} ",
                "\\cite{?} ",
            ],
            DraftFormat::Rst => {
                ["``x y`` ", "`a b <p>`_ ", "\n\nHead\n====\n\n", "\n\n::\n\n  said it\n\n", "*c* ", "[[?]] "]
            }
            DraftFormat::Html => [
                "<code>x y</code> ",
                "<a href=\"p\">a b</a> ",
                "<h1>Head line</h1> ",
                "<blockquote>said it</blockquote> ",
                "<em>c d</em> ",
                "[[?]] ",
            ],
            DraftFormat::Mediawiki => {
                ["<code>x y</code> ", "[[p|a b]] ", "\n== Head line ==\n", "{{said|it}} ", "''c d'' ", "[[?]] "]
            }
            DraftFormat::Plain => ["x ", "[a b][[b]] ", "\n\nHead\n\n", "said it ", "c d ", "[[?]] "],
        }
    }

    /// A link over every second phrase of one or two words that links may be put into.
    fn links_everywhere(draft: &Draft) -> Vec<Range<usize>> {
        let words = &draft.words;
        let mut found = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let two = words.get(at + 1).is_some_and(|next| next.joined && next.kind == TextKind::Prose);
            let end = at + if two && at % 2 == 0 { 2 } else { 1 };
            if words[at].kind == TextKind::Prose {
                found.push(words[at].start as usize..words[end - 1].end as usize);
            }
            at = end + 1;
        }
        found
    }

    /// Links in a text of any format change nothing but their places: without them it is the old text, byte for byte, and
    /// with them it has the old words and links, and the new links.
    #[test]
    fn a_text_with_links_is_the_old_text_with_links() {
        let dir = tempfile::tempdir().expect("a directory");
        let documents = [Document::new("guide/a", "one [[b]] two"), Document::new("b", "two [[guide/a]] one")];
        let corpus = Import::documents(documents).min_count(1).build(dir.path().join("corpus")).expect("a corpus");
        let params = TrainParams { min_count: 1, hybrid: false, ..TrainParams::for_corpus(&corpus) };
        let model = Training::new(&corpus).params(params).dim(4).run(dir.path().join("model")).expect("a model");
        let (names, tokenizer) = (DocumentNames::new(&model), model.tokenizer());
        let plain = ["one ", "two ", "Größe ", "three, ", "four. ", "(five) ", "six-seven ", "\r\n", "\n\n"];
        let strategy = proptest::collection::vec(0usize..15, 0..30);
        proptest!(|(numbers in strategy)| for &format in DraftFormat::VARIANTS {
            let all: Vec<&str> = plain.into_iter().chain(markup(format)).collect();
            let text: String = numbers.iter().map(|&number| all[number]).collect();
            let draft = Draft::read(&text, format, &tokenizer, "x").expect("a draft");
            let nowhere = DraftLocation::default();
            let writer = LinkWriter::new(&names, &text, &draft, &nowhere);
            let added: Vec<Vec<Edit>> =
                links_everywhere(&draft).into_iter().map(|span| writer.over(&text, span, DocRow(0))).collect();
            let edits: Vec<Edit> = added.iter().flatten().cloned().collect();
            let written = apply(&text, &edits);
            let (mut back, mut moved) = (written.clone(), edits.iter().map(|edit| edit.text.len()).sum::<usize>());
            for edit in edits.iter().rev() {
                moved -= edit.text.len();
                let start = edit.span.start + moved;
                prop_assert_eq!(&back[start..start + edit.text.len()], &edit.text);
                back.replace_range(start..start + edit.text.len(), "");
            }
            prop_assert_eq!(&back, &text);
            let again = Draft::read(&written, format, &tokenizer, "x").expect("a draft");
            let words = |draft: &Draft| draft.words.iter().map(|word| word.text.clone()).collect::<Vec<_>>();
            prop_assert_eq!(words(&again), words(&draft), "{}: {:?}", format, written);
            let new = added.iter().filter(|edits| !edits.is_empty()).count();
            prop_assert_eq!(again.links.len(), draft.links.len() + new, "{}: {:?}", format, written);
            prop_assert_eq!(again.wanted.len(), draft.wanted.len());
        });
    }

    #[test]
    fn links_fit_their_place_and_works_are_cited_by_key() {
        let dir = tempfile::tempdir().expect("a directory");
        let documents = [Document::new("doe99", "one [[b]] two"), Document::new("b", "two [[doe99]] one")];
        let corpus = Import::documents(documents).min_count(1).build(dir.path().join("corpus")).expect("a corpus");
        let params = TrainParams { min_count: 1, hybrid: false, ..TrainParams::for_corpus(&corpus) };
        let model = Training::new(&corpus).params(params).dim(4).run(dir.path().join("model")).expect("a model");
        let (names, nowhere) = (DocumentNames::new(&model), DraftLocation::default());
        let read = |text: &str, format| Draft::read(text, format, &model.tokenizer(), "x").expect("a draft");
        for (text, words, fits, format) in [
            ("see a page here", "a page", true, DraftFormat::Markdown),
            ("see a page(s) here", "a page", false, DraftFormat::Markdown),
            ("see _a page_ here", "a page", true, DraftFormat::Markdown),
            ("see a _page that_ is", "a _page", false, DraftFormat::Markdown),
            ("see (page), here", "page", true, DraftFormat::Rst),
            ("see page_ here", "page", false, DraftFormat::Rst),
        ] {
            let draft = read(text, format);
            let writer = LinkWriter::new(&names, text, &draft, &nowhere);
            let start = text.find(words).expect("the words");
            assert_eq!(writer.fits(text, start..start + words.len()), fits, "{text}");
        }
        for (text, format, written) in [
            ("[@b] [?]", DraftFormat::Markdown, "[@b] [@doe99]"),
            ("[b](b.md) [@b] [?]", DraftFormat::Markdown, "[b](b.md) [@b] [doe99](doe99.md)"),
            ("[see @?, p. 3]", DraftFormat::Markdown, "[see @doe99, p. 3]"),
            (":cite:p:`b` [?]_", DraftFormat::Rst, ":cite:p:`b` :cite:p:`doe99`"),
            (":cite:`b,?`", DraftFormat::Rst, ":cite:`b,doe99`"),
            ("[b]_ [?]_", DraftFormat::Rst, "[b]_ [doe99]_"),
            ("[?]_", DraftFormat::Rst, ":doc:`/doe99`"),
            ("\\citep{b} \\cite{} [?]", DraftFormat::Latex, "\\citep{b} \\cite{doe99} \\citep{doe99}"),
        ] {
            let draft = read(text, format);
            let writer = LinkWriter::new(&names, text, &draft, &nowhere);
            let edits: Vec<Edit> = draft.wanted.iter().map(|wanted| writer.wanted(wanted, DocRow(0))).collect();
            assert_eq!(apply(text, &edits), written);
        }
    }

    #[test]
    fn changes_are_made_in_order() {
        let edit = |start, end, text: &str| Edit { span: start..end, text: text.to_owned() };
        assert_eq!(apply("one two", &[edit(0, 0, "["), edit(3, 3, "](1)"), edit(4, 7, "2")]), "[one](1) 2");
        assert_eq!(apply("é", &[edit(1, 1, "x")]), "é", "not inside a character");
    }

    proptest! {
        #[test]
        fn taking_out_what_was_put_in_gives_the_text_back(text in "\\PC{0,40}", places in proptest::collection::vec(0usize..60, 0..6)) {
            let mut places: Vec<usize> = places.into_iter().filter(|&at| text.is_char_boundary(at) && at <= text.len()).collect();
            places.sort_unstable();
            let edits: Vec<Edit> = places.iter().map(|&at| Edit { span: at..at, text: "[[x]]".to_owned() }).collect();
            let written = apply(&text, &edits);
            // Each piece moves those behind it.
            let mut back = written;
            for (number, &at) in places.iter().enumerate().rev() {
                let start = at + 5 * number;
                prop_assert_eq!(&back[start..start + 5], "[[x]]");
                back.replace_range(start..start + 5, "");
            }
            prop_assert_eq!(back, text);
        }
    }
}
