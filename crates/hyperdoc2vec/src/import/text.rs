//! A document's text as it grows: white space collapsed, link anchors remembered.

use std::collections::HashSet;
use std::hash::Hash;

use crate::document::Link;

/// White space that has been seen, but is written only if something follows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    #[default]
    None,
    Space,
    Line,
}

/// Text with links, written from left to right.
pub(super) struct LinkedText {
    text: String,
    links: Vec<Link>,
    gap: Gap,
    /// The open link: where its words begin (once there are any), and its target.
    open: Option<(Option<usize>, String)>,
}

impl LinkedText {
    pub(super) fn new() -> LinkedText {
        LinkedText { text: String::new(), links: Vec::new(), gap: Gap::None, open: None }
    }

    /// Adds words; any run of white space becomes one blank, or one line break if `lines` and it holds one.
    pub(super) fn push(&mut self, words: &str, lines: bool) {
        let space = |c: char| c.is_whitespace() || matches!(c, '\u{200B}' | '\u{FEFF}');
        let mut rest = words;
        while !rest.is_empty() {
            let start = rest.find(|c| !space(c)).unwrap_or(rest.len());
            if start > 0 {
                let line = lines && rest[..start].contains('\n');
                self.gap = self.gap.max(if line { Gap::Line } else { Gap::Space });
                rest = &rest[start..];
            }
            let end = rest.find(space).unwrap_or(rest.len());
            if end > 0 {
                self.fill_gap();
                self.text.push_str(&rest[..end]);
                rest = &rest[end..];
            }
        }
    }

    /// Parts what comes from what went before by a line break.
    pub(super) fn break_line(&mut self) {
        self.gap = Gap::Line;
    }

    /// Begins a link to `target`; one that is still open ends here.
    pub(super) fn open_link(&mut self, target: String) {
        self.close_link();
        self.open = Some((None, target));
    }

    /// Ends the open link, if there is one.
    pub(super) fn close_link(&mut self) {
        if let Some((anchor, target)) = self.open.take() {
            if anchor.is_none() {
                self.fill_gap();
            }
            let at = self.text.len();
            self.links.push(Link { at, anchor: anchor.unwrap_or(at), targets: vec![target] });
        }
    }

    /// Whether there are no words yet.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether a link is open that has no words yet.
    pub(super) fn in_empty_link(&self) -> bool {
        matches!(self.open, Some((None, _)))
    }

    /// Whether a link is open.
    pub(super) fn in_link(&self) -> bool {
        self.open.is_some()
    }

    /// The text and its links.
    pub(super) fn finish(mut self) -> (String, Vec<Link>) {
        self.close_link();
        (self.text, self.links)
    }

    fn fill_gap(&mut self) {
        let gap = std::mem::replace(&mut self.gap, Gap::None);
        if !self.text.is_empty() {
            match gap {
                Gap::None => {}
                Gap::Space => self.text.push(' '),
                Gap::Line => self.text.push('\n'),
            }
        }
        if let Some((anchor @ None, _)) = &mut self.open {
            *anchor = Some(self.text.len());
        }
    }
}

/// White space collapsed, none at the ends.
pub(super) fn collapsed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Each once, in order.
pub(super) fn distinct<T: Clone + Eq + Hash>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = HashSet::new();
    all.into_iter().filter(|one| seen.insert(one.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anchor_has_no_white_space_around_it() {
        let mut text = LinkedText::new();
        text.push(" see", false);
        text.open_link("b".into());
        text.push("  the\n page ", false);
        text.close_link();
        text.push(" now ", false);
        text.open_link("c".into());
        text.close_link();
        let (text, links) = text.finish();
        assert_eq!(text, "see the page now ");
        assert_eq!(links[0], Link { at: 12, anchor: 4, targets: vec!["b".into()] });
        assert_eq!(links[1], Link { at: 17, anchor: 17, targets: vec!["c".into()] });
    }
}
