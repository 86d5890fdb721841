//! The map of all documents: kept beside the model, made when it is first asked for, while other questions go on.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use hyperdoc2vec::map::{Map, path};
use hyperdoc2vec::model::sidecar::Kept;
use hyperdoc2vec::{Error, Model};

use super::ask::Using;
use super::failure::Failure;
use super::routes::Bytes;
use super::state::{App, Loaded};
use crate::answer::about;
use crate::output::talk;
use crate::wire;

/// The map of one model: not asked for, being made, made, or failed.
#[derive(Default)]
pub struct Drawn {
    begun: AtomicBool,
    /// Thousandths that are done.
    done: AtomicU32,
    /// As JSON, plain and packed.
    made: OnceLock<Option<[Bytes; 2]>>,
}

impl Drawn {
    /// Keeps what is made, or that nothing came of it: where it panics too, so that nobody waits for ever.
    fn settle(&self, make: impl FnOnce() -> Option<[Bytes; 2]>) {
        let _ = self.made.set(catch_unwind(AssertUnwindSafe(make)).unwrap_or_default());
    }
}

/// All documents on a plane
#[utoipa::path(get, path = "/api/map", responses(
    (status = 200, description = "near documents are near each other", body = wire::Map),
    (status = 202, description = "it is being made; ask again", body = wire::Making),
    (status = "default", description = "an error", body = wire::Failure)))]
pub async fn map(State(app): State<Arc<App>>, Using { model, packed }: Using) -> Result<Response, Failure> {
    let drawn = &model.engine().map;
    match drawn.made.get() {
        Some(Some(made)) => Ok(made[usize::from(packed)].clone().into_response()),
        Some(None) => Err(Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "no-map", "the map could not be made")),
        None => {
            if !drawn.begun.swap(true, Ordering::Relaxed) {
                let (app, model) = (app.clone(), model.clone());
                let draw = move || model.engine().map.settle(|| draw(&app, &model));
                // A thread of its own: those that answer are not to wait for it.
                if let Err(error) = std::thread::Builder::new().name("map".to_owned()).spawn(draw) {
                    talk(format_args!("no map: {error}"));
                    drawn.settle(|| None);
                }
            }
            let making = wire::Making { ready: false, done: drawn.done.load(Ordering::Relaxed) as f32 / 1000.0 };
            Ok((StatusCode::ACCEPTED, Bytes::of(&making, false)?).into_response())
        }
    }
}

/// The map of a model, unless another took its place meanwhile.
fn draw(app: &App, loaded: &Arc<Loaded>) -> Option<[Bytes; 2]> {
    let (drawn, model) = (&loaded.engine().map, loaded.borrow_owner());
    let wanted = || app.ready() && Arc::ptr_eq(&app.model(), loaded);
    let mut watch = |done: f32| {
        drawn.done.store((1000.0 * done) as u32, Ordering::Relaxed);
        if wanted() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    match kept(model, &mut watch) {
        Ok(map) => {
            let plain = Bytes::of(&about::map(model, &map), false).ok()?;
            Some([plain.clone(), plain.packed_if(true)])
        }
        Err(error) => {
            if wanted() {
                talk(format_args!("no map: {error}"));
            }
            None
        }
    }
}

/// The map beside the model, made where it is not there or not of this model.
fn kept(model: &Model, watch: &mut (dyn FnMut(f32) -> ControlFlow<()> + Send)) -> Result<Map, Error> {
    let path = path(model);
    if let Ok(Kept::Whole(map)) = Map::open(model, &path) {
        return Ok(map);
    }
    let map = Map::make(model, watch)?;
    // Where it cannot be kept, it is made again next time; the map of a model that was replaced is not kept.
    if watch(1.0).is_continue()
        && let Err(error) = map.write(model, &path)
    {
        talk(format_args!("the map is not kept: {error}"));
    }
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_that_panics_is_told_to_have_failed() {
        let drawn = Drawn::default();
        drawn.settle(|| panic!("a fault for a test"));
        assert_eq!(drawn.made.get(), Some(&None));
    }
}
