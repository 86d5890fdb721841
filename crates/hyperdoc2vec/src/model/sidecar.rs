//! Files kept beside a model that were made from its vectors: they can be missing, of another model, damaged, or
//! something else of the same name, which is left alone.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::model::{Model, Vectors};
use crate::storage::container::{self, Container, Tensor};

/// A file beside a model, as it was found.
#[derive(Debug)]
pub enum Sidecar<T> {
    /// The file of this model.
    Whole(T),
    /// Nothing.
    Missing,
    /// That of other vectors.
    Stale,
    /// A part of it, or an altered one.
    Damaged(String),
    /// Something else, which is not replaced: why.
    Foreign(String),
}

/// The path of a model with `.` and `kind` behind.
pub(crate) fn path(model: &Model, kind: &str) -> PathBuf {
    let mut path = model.path().as_os_str().to_owned();
    path.push(".");
    path.push(kind);
    PathBuf::from(path)
}

/// Identifies the model that a file was made from: the checksums of the vectors that it was made from.
pub(crate) fn fingerprint(model: &Model, from: &[Vectors]) -> String {
    let sum = |which: &Vectors| model.about()["checksums"][which.name()].as_str().unwrap_or_default().to_owned();
    from.iter().map(sum).collect::<Vec<_>>().join("-")
}

/// Opens a file and checks all of it; `fits` makes of it what it is, or `None` if its arrays do not fit the model.
pub(crate) fn open<T>(
    model: &Model,
    path: &Path,
    (format, version): (&str, u32),
    from: &[Vectors],
    fits: impl FnOnce(Container) -> Result<Option<T>>,
) -> Result<Sidecar<T>> {
    if !path.try_exists().map_err(Error::io("read", path))? {
        return Ok(Sidecar::Missing);
    }
    if let Some(what) = foreign(path, format)? {
        return Ok(Sidecar::Foreign(what));
    }
    let read = || {
        let container = Container::open(path, format, version)?;
        container.verify()?;
        if container.about()["model"] != fingerprint(model, from).as_str() {
            return Ok(Sidecar::Stale);
        }
        let fits = fits(container)?;
        Ok(fits.map_or_else(|| Sidecar::Damaged("its arrays do not fit together".to_owned()), Sidecar::Whole))
    };
    match read() {
        Err(Error::Damaged { what, .. }) => Ok(Sidecar::Damaged(what)),
        // Of a newer program.
        Err(Error::Foreign { what, .. }) => Ok(Sidecar::Foreign(what)),
        result => result,
    }
}

/// Writes a file, unless something else stands there.
pub(crate) fn write(path: &Path, (format, version): (&str, u32), tensors: &[Tensor<'_>], about: Value) -> Result<()> {
    if let Some(what) = foreign(path, format)? {
        return Err(Error::Foreign { path: path.to_owned(), what });
    }
    container::write(path, format, version, tensors, about)
}

/// Why something at `path` is left alone, if it is no file of this format, nor empty.
fn foreign(path: &Path, format: &str) -> Result<Option<String>> {
    let what = || format!("not a {format}, so it is left alone; move it elsewhere, or rename the model");
    Ok((!container::may_replace(path, format)?).then(what))
}
