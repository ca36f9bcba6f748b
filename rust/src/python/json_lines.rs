//! `json_fields` and `json_keys`: lines of JSON as the buffers of Arrow arrays.

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::json_lines::{Field, Limits, fields, keys};

type Buffers<'py> = (Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u8>>);

/// What stands under each of `names` in the lines of `block` that are kept: which are present, offsets, text.
#[pyfunction]
#[pyo3(signature = (block, names, longest, deepest, /))]
pub fn json_fields<'py>(
    block: &Bound<'py, PyBytes>,
    names: Vec<String>,
    longest: usize,
    deepest: usize,
) -> Vec<Buffers<'py>> {
    let py = block.py();
    let bytes = block.as_bytes();
    let read = py.detach(move || fields(bytes, &names, Limits { longest, deepest }));
    let buffers = |Field { offsets, text, present }: Field| {
        (present.into_pyarray(py), offsets.into_pyarray(py), text.into_pyarray(py))
    };
    read.into_iter().map(buffers).collect()
}

/// The keys of a line, or None if it is not one object.
#[pyfunction]
#[pyo3(signature = (line, longest, deepest, /))]
pub fn json_keys(line: &[u8], longest: usize, deepest: usize) -> Option<Vec<String>> {
    keys(line, Limits { longest, deepest })
}
