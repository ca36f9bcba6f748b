//! A few visits to items drawn uniformly, each with a coin that shows heads with probability exp(-x): where many items are near
//! the top they end most draws, before a single bound has been computed.
//!
//! Proofs: `proofs/exact_sampling.md`, "Uniform tries" and Proposition 2; models: `tests/reference/block_rejection.py`,
//! `tests/reference/thinning.py`.

use crate::entropy::Entropy;
use crate::exact::coin::flip;
use crate::select::weight_line::Round;

/// The most visits, the first one among them.
const MOST: usize = 32;
/// A few, after the first.
pub const FEW: usize = MOST - 1;
/// Mean weights from which on these end most draws.
pub const LIKELY: f64 = 2.0 / MOST as f64;

/// Those who showed tails.
#[derive(Default)]
pub struct Tails {
    indices: [usize; MOST],
    count: usize,
}

impl Tails {
    #[inline]
    pub fn contains(&self, index: usize) -> bool {
        self.indices[..self.count].contains(&index)
    }
}

/// At most so many visits: who shows heads, if not all are `tails`. If items are visited `once`, nobody counts again.
#[inline]
pub fn visit(
    visits: usize,
    round: &Round<'_, '_>,
    once: bool,
    tails: &mut Tails,
    entropy: &mut Entropy,
) -> Option<usize> {
    for _ in 0..visits {
        let index = entropy.below(round.blocks.len() as u64) as usize;
        // An item seen before is no visit: the order goes on to the next new item.
        if round.removed.contains(index) || once && tails.contains(index) {
            continue;
        }
        if flip(&round.exponential(index), entropy) {
            return Some(index);
        }
        tails.indices[tails.count] = index;
        tails.count += 1;
    }
    None
}
