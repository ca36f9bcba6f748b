//! The Python module: reads the caller's arrays in place, releases the interpreter lock, maps errors.

mod arrays;
mod arrow;
mod errors;
mod sampler;

use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<sampler::Sampler>()
}
