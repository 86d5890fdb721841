//! The links that point at each document of a view.

use crate::corpus::groups::Groups;
use crate::corpus::view::View;
use crate::id::{DocRow, WordRow};

/// For each training document, the positions of training documents that point at it.
pub struct CitedBy {
    window: usize,
    positions: Groups,
}

impl CitedBy {
    /// Looks through the links of `view`; contexts will have up to `window` words on each side.
    pub fn new(view: &View<'_>, window: usize) -> CitedBy {
        let pairs = view.links.iter().map(|link| (link.target.index(), link.position));
        CitedBy { window, positions: Groups::new(view.documents.len(), pairs) }
    }

    /// The positions that point at a document.
    pub fn positions(&self, document: DocRow) -> &[u32] {
        self.positions.of(document.index())
    }

    /// The known words around each link to a document, in the order of reading.
    pub fn contexts<'a>(&'a self, view: &'a View<'_>, document: DocRow) -> impl Iterator<Item = WordRow> + 'a {
        let positions = self.positions(document).iter();
        positions.flat_map(|&position| view.window_in_order(position as usize, self.window))
    }
}
