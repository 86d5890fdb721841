//! The map of all documents: read from the file beside the model, or computed when it is first asked for.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use hyperdoc2vec::map::{DocumentMap, path};
use hyperdoc2vec::model::Sidecar;
use hyperdoc2vec::{Error, Model, Recommender};

use super::json_body::JsonBody;
use crate::output::status;
use crate::wire_from;

/// The map of one model: not asked for yet, being computed, ready, or failed.
#[derive(Default)]
pub struct LazyMap {
    started: AtomicBool,
    /// Thousandths of the work that are done.
    progress: AtomicU32,
    /// Plain and compressed; `None` if the computation failed.
    bodies: OnceLock<Option<[JsonBody; 2]>>,
}

impl LazyMap {
    /// The map as JSON, plain and compressed, or that it failed; nothing while it is not ready.
    pub fn bodies(&self) -> Option<Option<&[JsonBody; 2]>> {
        self.bodies.get().map(Option::as_ref)
    }

    /// The share of the work that is done.
    pub fn progress(&self) -> f32 {
        self.progress.load(Ordering::Relaxed) as f32 / 1000.0
    }

    /// True for the first caller, who has to see to it that [`LazyMap::compute`] or [`LazyMap::fail`] is called.
    pub fn start(&self) -> bool {
        !self.started.swap(true, Ordering::Relaxed)
    }

    /// Computes the map, for as long as it is `wanted`.
    pub fn compute(&self, recommender: &Recommender<'_>, wanted: impl Fn() -> bool + Sync) {
        let mut watch = |done: f32| {
            self.progress.store((1000.0 * done) as u32, Ordering::Relaxed);
            if wanted() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        self.settle(|| match open_or_make(recommender.model(), &mut watch) {
            Ok(map) => {
                let plain = JsonBody::new(&wire_from::map(recommender, &map), false).ok()?;
                Some([plain.clone(), plain.compressed(true)])
            }
            Err(error) => {
                if wanted() {
                    status(format_args!("cannot compute the map: {error}"));
                }
                None
            }
        });
    }

    /// Gives the map up.
    pub fn fail(&self) {
        self.settle(|| None);
    }

    /// Stores the result of `make`; a panic counts as a failure, so that nobody waits for ever.
    fn settle(&self, make: impl FnOnce() -> Option<[JsonBody; 2]>) {
        let _ = self.bodies.set(catch_unwind(AssertUnwindSafe(make)).unwrap_or_default());
    }
}

/// The map beside the model if it is a map of this model, else a new one, which is saved there.
fn open_or_make(model: &Model, watch: &mut (dyn FnMut(f32) -> ControlFlow<()> + Send)) -> Result<DocumentMap, Error> {
    let path = path(model);
    if let Ok(Sidecar::Whole(map)) = DocumentMap::open(model, &path) {
        return Ok(map);
    }
    let map = DocumentMap::make(model, watch)?;
    // A map that cannot be saved, as something else stands there, say, is computed again next time; the map of a model
    // that was replaced is not saved.
    if watch(1.0).is_continue()
        && let Err(error) = map.write(model, &path)
    {
        status(format_args!("the map is kept in memory only: {error}"));
    }
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_that_panics_has_failed() {
        let map = LazyMap::default();
        assert!(map.start() && !map.start() && map.bodies().is_none());
        map.settle(|| panic!("a fault for a test"));
        assert_eq!(map.bodies(), Some(None));
    }
}
