//! The map of all documents: kept beside the model, made when it is first asked for, while other questions go on.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use hyperdoc2vec::beside::Kept;
use hyperdoc2vec::map::{Map, path};
use hyperdoc2vec::{Error, Model};

use super::ask::Packed;
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
    made: OnceLock<Option<wire::Map>>,
}

/// All documents on a plane
#[utoipa::path(get, path = "/api/map", responses(
    (status = 200, description = "near documents are near each other", body = wire::Map),
    (status = 202, description = "it is being made; ask again", body = wire::Making),
    (status = "default", description = "an error", body = wire::Failure)))]
pub async fn map(State(app): State<Arc<App>>, packed: Packed) -> Result<Response, Failure> {
    let model = app.model();
    let drawn = &model.engine().map;
    match drawn.made.get() {
        Some(Some(_)) => {
            let Packed(packed) = packed;
            let model = model.clone();
            let work = move || Bytes::of(&model.engine().map.made.get(), packed);
            Ok(app.workers.run(work).await??.into_response())
        }
        Some(None) => Err(Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "no-map", "the map could not be made")),
        None => {
            if !drawn.begun.swap(true, Ordering::Relaxed) {
                let (app, model) = (app.clone(), model.clone());
                // A thread of its own: those that answer are not to wait for it.
                std::thread::spawn(move || draw(&app, &model));
            }
            let making = wire::Making { ready: false, done: drawn.done.load(Ordering::Relaxed) as f32 / 1000.0 };
            Ok((StatusCode::ACCEPTED, Bytes::of(&making, false)?).into_response())
        }
    }
}

fn draw(app: &App, model: &Loaded) {
    let (drawn, model) = (&model.engine().map, model.borrow_owner());
    let mut watch = |done: f32| {
        drawn.done.store((1000.0 * done) as u32, Ordering::Relaxed);
        if app.ready() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let map = kept(model, &mut watch).map_err(|error| talk(format_args!("no map: {error}"))).ok();
    let _ = drawn.made.set(map.map(|map| about::map(model, &map)));
}

/// The map beside the model, made where it is not there or not of this model.
fn kept(model: &Model, watch: &mut (dyn FnMut(f32) -> ControlFlow<()> + Send)) -> Result<Map, Error> {
    let path = path(model);
    if let Ok(Kept::Whole(map)) = Map::open(model, &path) {
        return Ok(map);
    }
    let map = Map::make(model, watch)?;
    // Where it cannot be kept, it is made again next time.
    if let Err(error) = map.write(model, &path) {
        talk(format_args!("the map is not kept: {error}"));
    }
    Ok(map)
}
