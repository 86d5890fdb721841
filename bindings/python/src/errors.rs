//! The library's errors as Python's.

use std::io::ErrorKind;

use hyperdoc2vec::Error;
use pyo3::exceptions::{
    PyArithmeticError, PyBlockingIOError, PyFileExistsError, PyFileNotFoundError, PyKeyError, PyKeyboardInterrupt,
    PyOSError, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;

/// The exception that a Python programmer expects for an error.
pub fn exception(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        // A path with a zero in it, which no system call was asked for.
        Error::Io { source, .. } if source.kind() == ErrorKind::InvalidInput => PyValueError::new_err(message),
        Error::Io { doing, path, source } => match source.raw_os_error() {
            // Python chooses the subclass by the number: FileNotFoundError, PermissionError.
            Some(number) => PyOSError::new_err((number, format!("cannot {doing}: {source}"), path.into_os_string())),
            None if source.kind() == ErrorKind::NotFound => PyFileNotFoundError::new_err(message),
            None => PyOSError::new_err(message),
        },
        Error::Unsaved { .. } => PyOSError::new_err(message),
        Error::Exists { .. } => PyFileExistsError::new_err(message),
        Error::Busy { .. } => PyBlockingIOError::new_err(message),
        Error::NotFound { .. } => PyKeyError::new_err(message),
        Error::Diverged { .. } => PyArithmeticError::new_err(message),
        Error::Threads(_) => PyRuntimeError::new_err(message),
        Error::Stopped { .. } | Error::Interrupted => PyKeyboardInterrupt::new_err(message),
        _ => PyValueError::new_err(message),
    }
}
