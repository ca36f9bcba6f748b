//! The compiled core of dpselect: exact draws for differentially private selection.
//!
//! The law of every function here is that of its mechanism over the reals, whatever the floats in between do;
//! `proofs/exact_sampling.md` says why. Nothing in this crate keeps a score, a seed or a generator after a call. `json_lines` draws
//! nothing: it is the one reader of rows that has to be quick and by our own rules.

pub mod bands;
pub mod base_measure;
pub mod blocks;
pub mod cells;
pub mod clock;
pub mod coin;
mod crew;
pub mod cumulative;
pub mod cuts;
pub mod density;
pub mod dyadic;
pub mod entropy;
pub mod error;
pub mod exponential;
pub mod falls;
pub mod geometric;
pub mod grid;
pub mod integers;
pub mod interval;
pub mod joint;
mod joint_chain;
mod joint_steps;
mod joint_sums;
pub mod json_lines;
mod kernels;
pub mod landscapes;
pub mod noisy_max;
pub mod partial;
pub mod partial_bytes;
pub mod permute_and_flip;
pub mod point;
#[cfg(feature = "python")]
mod python;
pub mod quantile;
pub mod quantiles;
pub mod race;
pub mod range;
pub mod rank;
pub mod rational;
pub mod repeated;
pub mod response;
pub mod scale;
pub mod score;
pub mod segments;
pub mod shares;
mod sieve;
pub mod staircase;
mod tally;
#[cfg(test)]
mod testing;
mod thinning;
pub mod top_k;
pub mod variate;
mod visited;
pub mod wide;
mod window;
