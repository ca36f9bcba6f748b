//! The compiled core of dpselect: exact draws for differentially private selection.
//!
//! The law of every function here is that of its mechanism over the reals, whatever the floats in between do;
//! `proofs/exact_sampling.md` says why. Nothing in this crate keeps a score, a seed or a generator after a call.
//!
//! Rooms, each building on those above it: `entropy` (random bits), `numbers` (real numbers that are drawn or computed only as
//! far as they are asked for), `scan` (one pass over many scores), `selection` (candidates by their scores), `intervals`
//! (quantiles, prices and whole numbers), `density` (scores in lines and parabolas), `python` (the module).

pub mod density;
pub mod entropy;
pub mod error;
pub mod float_control;
pub mod interrupt;
pub mod intervals;
pub mod numbers;
#[cfg(feature = "python")]
mod python;
pub mod scan;
pub mod selection;
#[cfg(test)]
mod testing;
