//! The links that point at each document of a view.

use crate::corpus::groups::Groups;
use crate::corpus::view::View;
use crate::id::WordId;

/// For each training document, the positions of training documents that point at it.
pub struct CitedBy {
    window: usize,
    positions: Groups,
}

impl CitedBy {
    /// Looks through the links of `view`; contexts will have up to `window` words on each side.
    pub fn new(view: &View<'_>, window: usize) -> CitedBy {
        let first = view.words.len();
        let pairs = view.links.iter().map(|link| (link.target as usize - first, link.position));
        CitedBy { window, positions: Groups::new(view.documents.len(), pairs) }
    }

    /// The positions that point at document number `document` of the view.
    pub fn positions(&self, document: usize) -> &[u32] {
        self.positions.of(document)
    }

    /// Calls `each(row)` for the known words around each link to the document, in the order of reading.
    pub fn contexts(&self, view: &View<'_>, document: usize, each: &mut impl FnMut(u32)) {
        for &position in self.positions(document) {
            let place = view.corpus.position(position as usize);
            let (before, after) = view.corpus.words(place.source).split_at(place.at);
            let known = |word: &WordId| view.word_row(*word);
            // How far back the window reaches if only known words count.
            let mut left = self.window;
            let mut start = before.len();
            while start > 0 && left > 0 {
                start -= 1;
                left -= usize::from(known(&before[start]).is_some());
            }
            before[start..].iter().filter_map(known).for_each(&mut *each);
            after.iter().filter_map(known).take(self.window).for_each(&mut *each);
        }
    }
}
