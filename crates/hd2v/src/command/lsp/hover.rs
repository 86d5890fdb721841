//! Hover: what a link leads to, and why one is suggested.

use hyperdoc2vec::DocRow;
use hyperdoc2vec::recommend::{Draft, DraftFormat, DraftLocation, TextKind};
use lsp_types::{Hover, HoverContents, HoverParams, MarkupContent, MarkupKind};

use super::server::LanguageServer;
use super::text::OpenText;

/// Quotations of links by others.
const QUOTED: usize = 3;
/// Characters shown of the beginning of a document.
const FIRST_LINES: usize = 300;
/// Bytes read of a file for them.
const READ: u64 = 16 << 10;

impl LanguageServer<'_> {
    pub fn hover(&self, params: &HoverParams) -> Option<Hover> {
        let place = &params.text_document_position_params;
        let text = self.open(&place.text_document)?;
        let at = text.byte(place.position);
        let part = text.part(&(at..at));
        let tokenizer = self.recommender.model().tokenizer();
        let draft = Draft::read(&text.text()[part.clone()], text.format, &tokenizer, "text").ok()?;
        let location = self.names().location_beside(&text.path, text.format);
        let link = draft.links.iter().find(|link| link.span.contains(&(at - part.start)));
        let shown = |value: String, span| Hover {
            contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value }),
            range: Some(text.range(&span)),
        };
        if let Some(link) = link {
            let row = link.targets.iter().find_map(|target| self.names().resolve(target, &location))?;
            let span = part.start + link.span.start..part.start + link.span.end;
            return Some(shown(self.about(row, text, &location)?, span));
        }
        let one = text.found.iter().find(|one| one.span.contains(&at))?;
        let row = self.recommender.document_row(&one.id).ok()?;
        let about = self.about(DocRow(row as u32), text, &location)?;
        Some(shown(format!("could link here ({:.2}: {})\n\n{about}", one.probability, one.why), one.span.clone()))
    }

    /// Title, date, first lines, how others link to it.
    fn about(&self, row: DocRow, text: &OpenText, location: &DraftLocation) -> Option<String> {
        let id = self.recommender.model().names().get(row.index());
        let page = self.recommender.document(id, 0, QUOTED).ok()?;
        let mut shown = format!("**{}**", page.title.as_deref().unwrap_or(id));
        if let Some(date) = page.date {
            shown.push_str(&format!(", {date}"));
        }
        let times = if page.linked_by == 1 { "once".to_owned() } else { format!("{} times", page.linked_by) };
        shown.push_str(&format!("\n\n`{id}`, linked to {times}"));
        if let Some(lines) = self.first_lines(row, text, location) {
            shown.push_str(&format!("\n\n{lines}"));
        }
        for quote in &page.contexts {
            shown.push_str(&format!("\n- {}**{}**{}", quote.before, quote.shown_anchor(), quote.after));
        }
        Some(shown)
    }

    /// The beginning of a document: from the corpus, or from its file beside the text.
    fn first_lines(&self, row: DocRow, text: &OpenText, location: &DraftLocation) -> Option<String> {
        let names = self.recommender.model().names();
        let id = names.get(row.index());
        let corpus = self.corpus.and_then(|corpus| corpus.document(corpus.find(id)?).ok());
        if let Some(document) = corpus {
            return shortened(&document.text);
        }
        let path = location.file(id)?;
        let mut bytes = Vec::new();
        use std::io::Read as _;
        std::fs::File::open(&path).ok()?.take(READ).read_to_end(&mut bytes).ok()?;
        let content = String::from_utf8_lossy(&bytes);
        let format = DraftFormat::of_path(&path.to_string_lossy()).unwrap_or(text.format);
        let draft = Draft::read(&content, format, &self.recommender.model().tokenizer(), "text").ok()?;
        // The first paragraph of running text, as it is written.
        let first = draft.words.iter().find(|word| word.kind == TextKind::Prose)?;
        let mut words = draft.words.iter().filter(|word| word.block == first.block);
        let end = words.next_back().map_or(first.end, |word| word.end) as usize;
        let rest = content[end..].find(|c: char| !matches!(c, '.' | '!' | '?' | ')' | ']')).unwrap_or(0);
        shortened(&content[first.start as usize..end + rest])
    }
}

/// The first lines of a text on one line.
fn shortened(text: &str) -> Option<String> {
    let words: Vec<&str> = text[..text.len().min(boundary(text, 4 * FIRST_LINES))].split_whitespace().collect();
    let line = words.join(" ");
    let short: String = line.chars().take(FIRST_LINES).collect();
    let more = if short.len() < line.len() || line.len() < text.trim().len() / 2 { " …" } else { "" };
    (!short.is_empty()).then(|| short + more)
}

fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_shortened_to_their_first_lines() {
        assert_eq!(shortened("  one\n two "), Some("one two".to_owned()));
        assert_eq!(shortened(" \n"), None);
        let long = shortened(&"wörter ".repeat(9000)).expect("words");
        assert!(long.ends_with(" …") && long.chars().count() == FIRST_LINES + 2, "{long}");
    }
}
