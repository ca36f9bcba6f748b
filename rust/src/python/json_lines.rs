//! `json_fields` and `json_keys`: lines of JSON as the buffers of Arrow arrays.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::arrays::{Array, array};
use crate::json_lines::{Field, Limits, fields, keys};

type Buffers<'py> = (Array<'py>, Array<'py>, Array<'py>);

/// What stands under each of `names` in the lines of `block` that are kept: which are present, offsets, text.
#[pyfunction]
#[pyo3(signature = (block, names, longest, deepest, /))]
pub fn json_fields<'py>(
    block: &Bound<'py, PyBytes>,
    names: Vec<String>,
    longest: usize,
    deepest: usize,
) -> PyResult<Vec<Buffers<'py>>> {
    let py = block.py();
    let bytes = block.as_bytes();
    let read = py.detach(move || fields(bytes, &names, Limits { longest, deepest }));
    let buffers = |Field { offsets, text, present }: Field| {
        Ok((array(py, present.len(), &present)?, array(py, offsets.len(), &offsets)?, array(py, text.len(), &text)?))
    };
    read.into_iter().map(buffers).collect()
}

/// The keys of a line, or None if it is not one object.
#[pyfunction]
#[pyo3(signature = (line, longest, deepest, /))]
pub fn json_keys(line: &[u8], longest: usize, deepest: usize) -> Option<Vec<String>> {
    keys(line, Limits { longest, deepest })
}
