//! The vectors of a model as NumPy sees them: the mapped file itself, without a copy; vectors in half precision are widened,
//! once, and kept with the model.
//!
//! NumPy reads `__array_interface__` and keeps the object it came from, which keeps the model.
//!
//! Not by the numpy crate: this needs neither NumPy's C interface nor a version of it.

use std::sync::Arc;

use hyperdoc2vec::Vectors;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::exception;
use crate::model::OpenModel;

/// One of the matrices of a model.
#[pyclass(frozen, module = "hyperdoc2vec._native")]
pub struct VectorTable {
    pub model: Arc<OpenModel>,
    pub which: Vectors,
}

#[pymethods]
impl VectorTable {
    /// Where the numbers are, for NumPy; nobody may write there.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let vectors = self.model.model().learnt_vectors(self.which).map_err(exception)?;
        let first = if vectors.rows() > 0 { vectors.row(0) } else { &[] };
        array_interface(py, first.as_ptr(), [vectors.rows(), vectors.cols()])
    }
}

/// A matrix of 32-bit floats, to be read only.
pub fn array_interface(py: Python<'_>, numbers: *const f32, shape: [usize; 2]) -> PyResult<Bound<'_, PyDict>> {
    let interface = PyDict::new(py);
    interface.set_item("version", 3)?;
    interface.set_item("typestr", if cfg!(target_endian = "little") { "<f4" } else { ">f4" })?;
    interface.set_item("shape", (shape[0], shape[1]))?;
    interface.set_item("data", (numbers.expose_provenance(), true))?;
    Ok(interface)
}
