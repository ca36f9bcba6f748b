//! The Python module: reads the caller's arrays in place, releases the interpreter lock, maps errors.

// Arguments from Python arrive by value, also those that are only read.
#![allow(clippy::needless_pass_by_value)]

mod arrays;
mod errors;
mod noise;
mod numbers;
mod piecewise;
mod sampler;
mod seeding;
mod streams;
mod unlike;
mod weighted_counts;

use pyo3::prelude::*;

/// A free-threaded Python turns its lock on for this module, which was not tested without one.
#[pymodule(gil_used = true)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // Once and now: a fork in the middle of a first call could otherwise catch a lock in the wrong state.
    let _ = crate::scores::threads::available_threads();
    crate::interrupt::answer_by(errors::was_interrupted);
    module.add_function(wrap_pyfunction!(numbers::draw_quantiles, module)?)?;
    module.add_function(wrap_pyfunction!(seeding::begin_seeded, module)?)?;
    module.add_function(wrap_pyfunction!(seeding::end_seeded, module)?)?;
    module.add_function(wrap_pyfunction!(seeding::seeded_draws, module)?)?;
    module.add_function(wrap_pyfunction!(weighted_counts::tally, module)?)?;
    module.add_function(wrap_pyfunction!(unlike::generalized_exponents, module)?)?;
    module.add_function(wrap_pyfunction!(unlike::generalized_draws, module)?)?;
    module.add_function(wrap_pyfunction!(unlike::own_scale_draws, module)?)?;
    module.add_class::<unlike::WeightedSampler>()?;
    module.add_class::<noise::GaussianSampler>()?;
    module.add_class::<noise::GeometricSampler>()?;
    module.add_class::<noise::Proposals>()?;
    module.add_class::<noise::ResponseSampler>()?;
    module.add_function(wrap_pyfunction!(numbers::joint_quantiles, module)?)?;
    module.add_class::<numbers::Grid>()?;
    module.add_class::<numbers::IntervalSampler>()?;
    module.add_class::<piecewise::PiecewisePlan>()?;
    module.add_class::<piecewise::PiecewiseSampler>()?;
    module.add_class::<streams::LazyFlips>()?;
    module.add_class::<streams::ThresholdStream>()?;
    module.add_class::<sampler::Sampler>()
}
