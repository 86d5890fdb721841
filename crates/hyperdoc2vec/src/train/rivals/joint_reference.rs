//! The paper's two objectives at once: PV-DM on the text and the paper's own step on the links, batch by batch in turns.
//!
//! The paper names this joint learning, and itself does one after the other. A pass is one over the links, with its share
//! of the passes over the text beside it: with 100 passes over the links and 5 over the text, a twentieth of the text.
//! Batches of text are spread evenly among those of links, and each side has the learning rates of its own passes.

use std::ops::ControlFlow;

use crate::model::tables::Tables;
use crate::train::rivals::direct::Direct;
use crate::train::rivals::reference::ReferenceCitation;
use crate::train::{After, Done, Phase};

/// A run over text and links.
pub(crate) struct JointReference<'a> {
    text: Direct<'a>,
    links: ReferenceCitation<'a>,
}

impl<'a> JointReference<'a> {
    /// Joins the two.
    pub(crate) fn new(text: Direct<'a>, links: ReferenceCitation<'a>) -> JointReference<'a> {
        JointReference { text, links }
    }

    /// Batches of text in a pass; in the last passes some may be missing.
    fn text_batches(&self) -> usize {
        (self.text.epochs() * self.text.batches()).div_ceil(self.links.epochs().max(1))
    }

    /// How many of the first `turns` batches of a pass are of links.
    fn of_links(&self, turns: usize) -> usize {
        turns * self.links.batches() / self.batches().max(1)
    }
}

impl Phase for JointReference<'_> {
    fn name(&self) -> &'static str {
        "pv-dm and reference citation"
    }

    fn unit(&self) -> &'static str {
        "words and links"
    }

    fn epochs(&self) -> usize {
        self.links.epochs()
    }

    fn batches(&self) -> usize {
        self.links.batches() + self.text_batches()
    }

    fn epoch(&self, epoch: usize, start: usize, tables: &mut Tables, after: After<'_>) -> ControlFlow<()> {
        let (mut reading, mut linking) = (self.text.begin(tables), self.links.begin(tables));
        for turn in start..self.batches() {
            let links = self.of_links(turn);
            let done = if self.of_links(turn + 1) > links {
                self.links.batch(epoch, links, &mut linking, tables)
            } else {
                let batch = epoch * self.text_batches() + turn - links;
                let (pass, batch) = (batch / self.text.batches(), batch % self.text.batches());
                if pass < self.text.epochs() {
                    self.text.batch(pass, batch, &mut reading, tables)
                } else {
                    Done { batches: 0, units: 0, loss: 0.0 }
                }
            };
            after(&Done { batches: turn + 1, ..done }, tables)?;
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::split::Split;
    use crate::corpus::view::View;
    use crate::generate::{GenerateParams, generate};
    use crate::import::ImportOptions;
    use crate::model::params::{DirectParams, ReferenceParams};
    use crate::train::rivals::direct::Form;
    use crate::train::rivals::text::Text;

    #[test]
    fn every_link_and_every_word_has_its_passes_whatever_their_proportion() {
        let dir = tempfile::tempdir().expect("a directory");
        let params = GenerateParams { docs: 200, links: 1200, words: 300, ..GenerateParams::default() };
        let corpus =
            generate(
                &params,
                &dir.path().join("corpus"),
                &ImportOptions::default(),
                &mut |_| ControlFlow::Continue(()),
            )
            .expect("generated");
        let view = View::new(&corpus, &Split::none(&corpus), 1).expect("a view");
        let text = Text::words(&view);
        for (text_epochs, link_epochs) in [(2, 7), (3, 2), (1, 1)] {
            let direct = DirectParams { epochs: text_epochs, sample: 0.0, ..DirectParams::default() };
            let reference = ReferenceParams { epochs: link_epochs, noise: 2, ..ReferenceParams::default() };
            let joint = JointReference::new(
                Direct::new(&text, Form::Dm, &direct, 1),
                ReferenceCitation::new(&view, &reference, 1),
            );
            let mut tables = Tables::zeros(&view, 4);
            let mut units = 0;
            for epoch in 0..joint.epochs() {
                let _ = joint.epoch(epoch, 0, &mut tables, &mut |done, _| {
                    units += done.units;
                    ControlFlow::Continue(())
                });
            }
            let words = text.before(view.documents.len());
            let expected = text_epochs as u64 * words + (link_epochs * view.links.len()) as u64;
            assert_eq!(units, expected, "{text_epochs} passes over the text, {link_epochs} over the links");
        }
    }
}
