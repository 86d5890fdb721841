//! Small conversions that several modules share.

use hyperdoc2vec::Date;
use pyo3::exceptions::{PyTypeError, PyUnicodeEncodeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use serde_json::Value;

/// The names of all variants.
pub fn names<E: strum::VariantArray + Copy + Into<&'static str>>() -> Vec<&'static str> {
    E::VARIANTS.iter().map(|&variant| variant.into()).collect()
}

/// The variant of a name.
pub fn named<E>(kind: &str, name: &str) -> PyResult<E>
where
    E: strum::VariantArray + Copy + Into<&'static str>,
{
    let found = E::VARIANTS.iter().find(|&&variant| variant.into() == name);
    let wrong = || PyValueError::new_err(format!("expected {kind} ({}), found {name:?}", names::<E>().join(", ")));
    found.copied().ok_or_else(wrong)
}

/// A string; `place` says where it stands if it is none.
pub fn string(value: &Bound<'_, PyAny>, place: impl Fn() -> String) -> PyResult<String> {
    let Ok(text) = value.cast::<PyString>() else {
        let found = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!("{}: expected a str, found {found}", place())));
    };
    text.extract::<String>().map_err(|error| match error.is_instance_of::<PyUnicodeEncodeError>(value.py()) {
        true => PyValueError::new_err(format!("{}: {}", place(), error.value(value.py()))),
        false => error,
    })
}

/// A list of texts.
pub fn texts(values: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if values.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("expected a list of texts, found one text"));
    }
    let Ok(values) = values.try_iter() else {
        let found = values.get_type().name()?;
        return Err(PyTypeError::new_err(format!("expected a text or a list of texts, found {found}")));
    };
    let mut texts = Vec::with_capacity(values.len().unwrap_or(0));
    for (number, value) in values.enumerate() {
        texts.push(string(&value?, || format!("text {number}"))?);
    }
    Ok(texts)
}

/// A date as the library reads it.
pub fn date(text: &str) -> PyResult<Date> {
    text.parse().map_err(PyValueError::new_err)
}

/// JSON as Python's own objects.
pub fn json<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => number.into_pyobject(py)?.into_any(),
            (_, Some(number)) => number.into_pyobject(py)?.into_any(),
            _ => number.as_f64().into_pyobject(py)?.into_any(),
        },
        Value::String(text) => text.into_pyobject(py)?.into_any(),
        Value::Array(values) => {
            let list = PyList::empty(py);
            values.iter().try_for_each(|value| list.append(json(py, value)?))?;
            list.into_any()
        }
        Value::Object(fields) => {
            let dict = PyDict::new(py);
            fields.iter().try_for_each(|(name, value)| dict.set_item(name, json(py, value)?))?;
            dict.into_any()
        }
    })
}
