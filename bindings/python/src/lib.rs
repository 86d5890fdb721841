//! The native half of the Python package `hyperdoc2vec`: converts, calls the library, converts back.
//!
//! What people see is in `python/hyperdoc2vec`. Everything here is frozen, so that threads can share it, and runs on the
//! threads of [`pool`], with the interpreter let go.

mod answer;
mod convert;
mod corpus;
mod document;
mod errors;
mod evaluate;
mod model;
mod parts;
mod pool;
mod suggest;
mod train;
mod vectors;
mod work;

use pyo3::prelude::*;

/// The native half of hyperdoc2vec.
#[pymodule(gil_used = false)]
mod _native {
    use std::ffi::OsString;

    use hyperdoc2vec::model::{Method, TrainParams, VectorStorage, Vectors};
    use hyperdoc2vec::recommend::DEFAULT_TOP;
    use hyperdoc2vec::{Format, ImportOptions, Ranking, SuggestOptions};
    use pyo3::prelude::*;
    use pyo3::types::PyDict;

    #[pymodule_export]
    use crate::answer::{Answer, Hit};
    #[pymodule_export]
    use crate::corpus::{Corpus, build, import_files};
    #[pymodule_export]
    use crate::evaluate::evaluate_links;
    #[pymodule_export]
    use crate::model::{Model, Rows};
    #[pymodule_export]
    use crate::suggest::Suggestion;
    #[pymodule_export]
    use crate::train::train;
    #[pymodule_export]
    use crate::vectors::VectorTable;

    /// Runs the program `hd2v`; `program` is the command that starts it again.
    #[pyfunction]
    fn main(py: Python<'_>, program: Vec<OsString>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| hd2v::run(program, arguments))
    }

    /// The notes of the sample glossary: names of files and their texts.
    #[pyfunction]
    fn glossary() -> Vec<(&'static str, &'static str)> {
        hd2v::GLOSSARY.to_vec()
    }

    /// The defaults of the library, by name.
    fn defaults(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let (train, import, suggest) = (TrainParams::default(), ImportOptions::default(), SuggestOptions::default());
        let all = PyDict::new(py);
        all.set_item("top", DEFAULT_TOP)?;
        all.set_item("method", train.method.name())?;
        all.set_item("dim", train.dim)?;
        all.set_item("seed", train.seed)?;
        all.set_item("hybrid", train.hybrid)?;
        all.set_item("storage", <&str>::from(VectorStorage::default()))?;
        all.set_item("min_count", import.corpus.min_count)?;
        all.set_item("lowercase", import.corpus.lowercase)?;
        // As the number that people would write.
        all.set_item("min_probability", suggest.min_probability.to_string().parse::<f64>().unwrap_or_default())?;
        Ok(all)
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
        module.add("DEFAULTS", defaults(module.py())?)?;
        module.add("FORMATS", crate::convert::names::<Format>())?;
        module.add("METHODS", crate::convert::names::<Method>())?;
        module.add("RANKINGS", crate::convert::names::<Ranking>())?;
        module.add("VECTORS", crate::convert::names::<Vectors>())
    }
}
