//! The compiled core of dpselect: exact draws for differentially private selection.
//!
//! The law of every function here is that of its mechanism over the reals, whatever the floats in between do;
//! `proofs/exact_sampling.md` says why. Nothing in this crate keeps a score, a seed or a generator after a call.

pub mod blocks;
pub mod cells;
pub mod coin;
mod crew;
pub mod dyadic;
pub mod entropy;
pub mod error;
pub mod exponential;
pub mod grid;
pub mod interval;
mod kernels;
pub mod noisy_max;
pub mod permute_and_flip;
pub mod point;
#[cfg(feature = "python")]
mod python;
pub mod quantile;
pub mod quantiles;
pub mod rank;
pub mod repeated;
pub mod scale;
pub mod score;
pub mod segments;
pub mod shares;
mod sieve;
mod tally;
#[cfg(test)]
mod testing;
mod thinning;
pub mod top_k;
mod visited;
pub mod wide;
mod window;
