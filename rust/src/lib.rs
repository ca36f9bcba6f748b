//! The compiled core of dpselect: exact draws for differentially private selection.
//!
//! The law of every function here is that of its mechanism over the reals, whatever the floats in between do;
//! `proofs/exact_sampling.md` says why. A call draws a key of its own from the operating system and keeps no generator. What lives
//! longer, the values of `python`, keeps what its Python class says: arguments, and secret numbers of streams and lazy draws.
//!
//! Rooms, each building on those above it: `entropy` (random bits), `exact` (real numbers that are drawn or computed only as
//! far as they are asked for), `scores` (what memory holds, and one pass over it), `noise` (on whole numbers and on bits),
//! `select` (candidates by their scores), `numbers` (quantiles, prices, means and other numbers), `python` (the module).

pub mod entropy;
pub mod error;
pub mod exact;
pub mod float_control;
pub mod interrupt;
pub mod noise;
pub mod numbers;
#[cfg(feature = "python")]
mod python;
pub mod scores;
pub mod select;
#[cfg(test)]
mod testing;
