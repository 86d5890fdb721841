//! Both at once: batches of text and batches of links take turns, in proportion to how many there are of each, so that
//! document vectors learn from what a document says and from what it links to at the same time.

use std::ops::ControlFlow;

use crate::corpus::view::View;
use crate::model::tables::Tables;
use crate::train::batched::{self, Batched};
use crate::train::citation::Citation;
use crate::train::content::Content;
use crate::train::occurrences::Numbering;
use crate::train::{After, Phase};

/// One run of the joint objective; the passes are those of the citation phase.
pub(crate) struct Joint<'a> {
    content: Content<'a>,
    citation: Citation<'a>,
}

/// A batch of links or of text.
#[derive(Default)]
pub(crate) struct Turn {
    of_links: bool,
    links: <Citation<'static> as Batched>::Batch,
    text: <Content<'static> as Batched>::Batch,
}

impl<'a> Joint<'a> {
    /// Joins the two.
    pub(crate) fn new(content: Content<'a>, citation: Citation<'a>) -> Joint<'a> {
        Joint { content, citation }
    }

    /// How many of the first `turns` batches of an epoch are batches of links.
    fn of_links(&self, turns: usize) -> usize {
        turns * self.citation.batches() / self.batches()
    }
}

impl Phase for Joint<'_> {
    fn name(&self) -> &'static str {
        "joint"
    }

    fn unit(&self) -> &'static str {
        "words and links"
    }

    fn epochs(&self) -> usize {
        self.citation.epochs()
    }

    fn batches(&self) -> usize {
        self.content.batches() + self.citation.batches()
    }

    fn epoch(&self, epoch: usize, start: usize, tables: &mut Tables, after: After<'_>) -> ControlFlow<()> {
        batched::epoch(self, epoch, start, tables, after)
    }

    fn patience(&self) -> usize {
        self.citation.patience()
    }

    fn held_out_loss(&self, tables: &mut Tables) -> Option<f64> {
        self.citation.held_out_loss(tables)
    }
}

impl Batched for Joint<'_> {
    type Batch = Turn;
    type Work = (<Citation<'static> as Batched>::Work, <Content<'static> as Batched>::Work);

    fn view(&self) -> &View<'_> {
        self.content.view()
    }

    fn build(&self, epoch: usize, number: usize, batch: &mut Turn, scratch: &mut Numbering) {
        let links = self.of_links(number);
        batch.of_links = self.of_links(number + 1) > links;
        if batch.of_links {
            self.citation.build(epoch, links, &mut batch.links, scratch);
        } else {
            self.content.build(epoch, number - links, &mut batch.text, scratch);
        }
    }

    fn step(&self, batch: &mut Turn, tables: &mut Tables, fade: f32, work: &mut Self::Work) -> (u64, f64) {
        if batch.of_links {
            self.citation.step(&mut batch.links, tables, fade, &mut work.0)
        } else {
            self.content.step(&mut batch.text, tables, fade, &mut work.1)
        }
    }
}
