//! k draws one after another, each among the candidates that are left: peeling.
//!
//! For the exponential mechanism this equals the k largest of one round of Gumbel noise, in order; permute-and-flip
//! needs fresh coins each round. Proof: `proofs/top_k.md`.

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::interrupt;
use crate::numbers::scale::Scale;
use crate::scan::block_index::{Blocks, Indexable};
use crate::scan::score_view::View;
use crate::selection::exponential_mechanism::{self, Proposals};
use crate::selection::index_set::Visited;
use crate::selection::many_draws::Law;
use crate::selection::{noisy_max, permute_and_flip};

/// When the best remaining score has fallen by this many halvings, the bounds are computed anew from it.
const OCTAVES_BEFORE_REBUILD: f64 = 0.25;

/// Take `index` out: later draws skip it, and its block's maximum is that of what is left. Returns the best left.
fn remove<T: Indexable>(blocks: &mut Blocks<'_, T>, removed: &mut Visited, index: usize) -> T {
    removed.insert(index);
    let block = blocks.block_of(index);
    let left = blocks.items(block).filter(|&item| !removed.contains(item)).map(|item| blocks.get(item));
    let maximum = left.fold(None, |best, score| match best {
        Some(best) if best >= score => Some(best),
        _ => Some(score),
    });
    blocks.set_maximum(block, maximum)
}

/// `k` rounds of the mechanism, each among the candidates that are left, in the order drawn.
///
/// # Errors
/// As [`Blocks::new`], `Changed`, `Interrupted`, and `InvalidCount` unless `1 <= k <= scores.len()`.
pub fn peel<T: Indexable, E: Entropy>(
    law: Law,
    scores: View<'_, T>,
    scale: &Scale,
    k: usize,
    entropy: &mut E,
) -> Result<Vec<usize>, SelectError> {
    let mut blocks = Blocks::new(scores)?;
    if k == 0 || k > blocks.len() {
        return Err(SelectError::InvalidCount);
    }
    match law {
        Law::Exponential => exponential_rounds(&mut blocks, scale, k, entropy),
        Law::PermuteAndFlip => {
            fresh_rounds(&mut blocks, k, |blocks, removed| permute_and_flip::draw(blocks, scale, removed, entropy))
        }
        Law::LaplaceNoisyMax => {
            fresh_rounds(&mut blocks, k, |blocks, removed| noisy_max::draw(blocks, scale, removed, entropy))
        }
    }
}

/// The exponential mechanism: the weights of what is left stay valid, so one set of bounds serves all rounds.
fn exponential_rounds<T: Indexable, E: Entropy>(
    blocks: &mut Blocks<'_, T>,
    scale: &Scale,
    k: usize,
    entropy: &mut E,
) -> Result<Vec<usize>, SelectError> {
    let mut proposals = Proposals::new(blocks, scale);
    let mut removed = Visited::new();
    let mut picks = Vec::with_capacity(k);
    while picks.len() < k {
        interrupt::check()?;
        let pick = exponential_mechanism::draw(blocks, scale, &proposals, &removed, entropy)?;
        picks.push(pick);
        let best_left = remove(blocks, &mut removed, pick);
        if scale.octaves(blocks.top(), best_left) > OCTAVES_BEFORE_REBUILD {
            blocks.lower_top(best_left);
            proposals.rebuild(blocks, scale);
        } else {
            proposals.refresh(blocks, scale, blocks.block_of(pick).stripe);
        }
    }
    Ok(picks)
}

/// Mechanisms that measure from the best that is left and need fresh randomness for everybody each round.
fn fresh_rounds<T: Indexable>(
    blocks: &mut Blocks<'_, T>,
    k: usize,
    mut draw: impl FnMut(&Blocks<'_, T>, &Visited) -> Result<usize, SelectError>,
) -> Result<Vec<usize>, SelectError> {
    let mut removed = Visited::new();
    let mut picks = Vec::with_capacity(k);
    while picks.len() < k {
        interrupt::check()?;
        let pick = draw(blocks, &removed)?;
        picks.push(pick);
        let best_left = remove(blocks, &mut removed, pick);
        blocks.lower_top(best_left);
    }
    Ok(picks)
}

#[cfg(test)]
#[path = "top_k_tests.rs"]
mod tests;
