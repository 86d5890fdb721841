//! Wiki links that are none: `[[` that does not close, or has no page's name behind it.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Tag};

/// Where the marks stand that are broken.
#[derive(Default)]
pub(super) struct BrokenMarks {
    /// Places in the body, in order.
    at: Vec<usize>,
    /// Where the text ends that was read last, and how many opening brackets stand there.
    end: usize,
    brackets: usize,
}

impl BrokenMarks {
    /// Looks at the next event of `body`, which was read from `place`.
    pub(super) fn take(&mut self, body: &str, event: &Event<'_>, place: Range<usize>) {
        match event {
            Event::Start(Tag::Link { link_type: LinkType::WikiLink { .. }, dest_url, .. })
                if names_nothing(dest_url) =>
            {
                self.at.push(place.start);
            }
            Event::Text(_) => {
                // A pair of brackets may come in two pieces. What does not follow the text before it, but a `\`, begins
                // with a character that is just text by this rule.
                let follows = self.end == place.start;
                let escaped = !follows && body[..place.start].ends_with('\\');
                self.brackets *= usize::from(follows);
                for (at, byte) in place.clone().zip(body[place.clone()].bytes()).skip(usize::from(escaped)) {
                    self.brackets = if byte == b'[' { self.brackets + 1 } else { 0 };
                    if self.brackets == 2 {
                        self.at.push(at - 1);
                    }
                }
                self.end = place.end;
            }
            _ => {}
        }
    }

    /// The lines of `body` that the marks stand in, counting from 1.
    pub(super) fn lines(&self, body: &str) -> impl Iterator<Item = usize> {
        let (mut line, mut seen) = (1, 0);
        self.at.iter().map(move |at| {
            let at = (*at).max(seen);
            line += body[seen..at].matches('\n').count();
            seen = at;
            line
        })
    }
}

/// Whether no page can have that name; a link to a part of its own page has none.
fn names_nothing(target: &str) -> bool {
    let name = target.split('#').next().unwrap_or_default();
    (name.trim().is_empty() && !target.contains('#')) || name.contains(['[', ']'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use pulldown_cmark::{Options, Parser};

    fn lines(source: &str) -> Vec<usize> {
        let mut broken = BrokenMarks::default();
        for (event, place) in Parser::new_ext(source, Options::ENABLE_WIKILINKS).into_offset_iter() {
            broken.take(source, &event, place);
        }
        broken.lines(source).collect()
    }

    #[test]
    fn marks_that_do_not_close_or_name_nothing_are_found_with_their_lines() {
        assert_eq!(lines("a [[B\n\nand [[ c"), [1, 3]);
        assert_eq!(lines("a [[]] b\n[[|x]] c [[ ]] d"), [1, 2, 2]);
        assert_eq!(lines("[[1, 2], [3, 4]]"), [1]);
        assert_eq!(lines("[[[[ x [[[ y"), [1, 1]);
        assert_eq!(lines("é [[ü"), [1]);
        assert_eq!(lines(r"\\[[ x"), [1]);
    }

    #[test]
    fn what_is_a_link_or_written_as_text_is_not_broken() {
        for sound in [
            "[[B]] [[B|words]] [[B#part]] [[#part]] [[B|]]",
            r"\[[ and \[\[ and [\[",
            "[words](b.md) [[words]](b.md) [a][b] [x]\n\n[x]: y",
            "[[B]][[C]] in [[[B]]]",
            "`[[ code`",
            "&#91;&#91; x",
        ] {
            assert_eq!(lines(sound), [] as [usize; 0], "{sound}");
        }
    }
}
