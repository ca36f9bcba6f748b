//! k draws one after another, each among the candidates that are left: peeling.
//!
//! For the exponential mechanism this equals the k largest of one round of Gumbel noise, in order; permute-and-flip
//! needs fresh coins each round. Proof: `proofs/top_k.md`.

use crate::entropy::Entropy;
use crate::error::{SelectError, reserved};
use crate::interrupt;
use crate::scores::block_index::Blocks;
use crate::scores::scale::Scale;
use crate::scores::score::Score;
use crate::scores::score_view::View;
use crate::select::many_draws::{Law, draw_from};
use crate::select::removed::Removed;
use crate::select::weight_line::{BlockLine, Round};

/// When the best remaining score has fallen by this many scales, the exponential mechanism measures from it.
const LARGEST_FALL: f64 = 0.2;

/// Take `index` out: later draws skip it, and its block's maximum is that of what is left. Returns the best left.
pub(super) fn remove(blocks: &mut Blocks<'_>, removed: &mut Removed, index: usize) -> Score {
    removed.insert(index, blocks.len());
    let block = blocks.block_of(index);
    let left = blocks.items(block).filter(|&item| !removed.contains(item)).map(|item| blocks.get(item));
    let maximum = left.reduce(Score::or_larger);
    blocks.set_maximum(block, maximum)
}

/// `k` rounds of the mechanism, each among the candidates that are left, in the order drawn.
///
/// # Errors
/// As [`Blocks::new`], `InvalidCount` unless `1 <= k <= scores.len()`, `Interrupted`, or `Changed` if the scores were
/// overwritten meanwhile.
pub fn peel(
    law: Law,
    scores: View<'_>,
    scale: &Scale,
    k: usize,
    entropy: &mut Entropy,
) -> Result<Vec<usize>, SelectError> {
    let mut blocks = Blocks::new(scores)?;
    if k == 0 || k > blocks.len() {
        return Err(SelectError::InvalidCount);
    }
    let mut removed = Removed::default();
    let mut picks = reserved(k)?;
    let mut line = BlockLine::new(&Round::new(&blocks, scale));
    while picks.len() < k {
        interrupt::check()?;
        let round = Round { blocks: &blocks, scale, top: blocks.top(), removed: &removed };
        let pick = draw_from(law, &round, &mut line.of(&round), entropy)?;
        picks.push(pick);
        let best_left = remove(&mut blocks, &mut removed, pick);
        // The others measure from the best that is left; the exponential mechanism from anything above it.
        let fall = scale.exponent(blocks.top(), best_left);
        let is_new_top = fall > if law == Law::Exponential { LARGEST_FALL } else { 0.0 };
        if is_new_top {
            blocks.lower_top(best_left);
        }
        let round = Round { blocks: &blocks, scale, top: blocks.top(), removed: &removed };
        match law {
            Law::LaplaceNoisyMax => {}
            Law::Exponential | Law::PermuteAndFlip if is_new_top => line.rebuild(&round),
            Law::Exponential | Law::PermuteAndFlip => line.refresh(&round, blocks.block_of(pick).stripe),
        }
    }
    Ok(picks)
}

#[cfg(test)]
#[path = "top_k_tests.rs"]
mod tests;
