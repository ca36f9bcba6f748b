//! The items near the top in a row of items, each with a bound of its own, and one bound for all the others.
//!
//! Who is near is one comparison an item. All others together come to no more than a sixteenth of one item at the top.
//! Proof: `proofs/exact_sampling.md`, Propositions 1 and 2.

use std::ops::Range;

use crate::numbers::score::Score;
use crate::scan::kernels::MOST_LANES;
use crate::scan::weight_bounds::WeightBounds;
use crate::selection::weight_line::{Place, Proposals, Round};

/// What the others come to is at most 2 to minus this.
const OCTAVES_OF_OTHERS: u32 = 4;

/// A row of items, read once.
pub struct NearItems<'r, 'a, T> {
    round: &'r Round<'r, 'a, T>,
    weights: WeightBounds,
    row: Range<usize>,
    /// The least score that is near.
    least: T,
    /// The bound of everybody below that.
    far: u64,
    /// Who is near, the bound of each, and what these come to.
    near: Vec<usize>,
    bounds: Vec<u64>,
    of_near: u64,
}

impl<'r, 'a, T: Score> NearItems<'r, 'a, T> {
    pub fn new(round: &'r Round<'r, 'a, T>, row: Range<usize>) -> Self {
        let Round { blocks, scale, top, .. } = *round;
        let weights = WeightBounds::for_count(blocks.len());
        let octaves = f64::from(row.len().ilog2() + 1 + OCTAVES_OF_OTHERS);
        // What scores lie below has any bound that one of them has: a poor choice makes a draw slow, not wrong.
        let (least, far) = top
            .lowered(scale.gap_of(octaves * std::f64::consts::LN_2))
            .map(|least| (least, weights.of(scale, top, least)))
            .filter(|&(_, far)| far <= weights.half())
            .unwrap_or((T::LOWEST, 1));
        let (mut near, mut scores) = (Vec::with_capacity(MOST_LANES), Vec::with_capacity(MOST_LANES));
        blocks.visit_from(row.clone(), least, |index, score| {
            near.push(index);
            scores.push(score);
        });
        let mut bounds = vec![0; near.len()];
        let of_near = blocks.score_bounds(top, scale, weights, &scores, &mut bounds).sum;
        Self { round, weights, row, least, far, near, bounds, of_near }
    }

    /// Those who are near, with their bounds.
    pub fn near(&self) -> (&[usize], &[u64]) {
        (&self.near, &self.bounds)
    }

    /// Whether one of the row is near.
    pub fn is_near(&self, index: usize) -> bool {
        self.round.blocks.get(index) >= self.least
    }

    /// The bound of everybody else.
    pub fn far(&self) -> u64 {
        self.far
    }
}

impl<T: Score> Proposals for NearItems<'_, '_, T> {
    fn bits(&self) -> u32 {
        self.weights.bits
    }

    /// Those who are near lie on the line a second time, among all others: they are refused there.
    fn total(&self) -> u64 {
        self.of_near + self.row.len() as u64 * self.far
    }

    fn at(&mut self, position: u64) -> Place {
        let mut rest = position;
        for (&index, &weight) in self.near.iter().zip(&self.bounds) {
            if rest < weight {
                return Place { index, weight, end: position + (weight - rest), into: rest, block_end: self.of_near };
            }
            rest -= weight;
        }
        let (item, into) = ((rest / self.far) as usize, rest % self.far);
        let index = self.row.start + item;
        let weight = if self.is_near(index) { 0 } else { self.far };
        Place { index, weight, end: position + (self.far - into), into, block_end: self.total() }
    }

    fn own_weight(&self, place: &Place) -> u64 {
        let Round { blocks, scale, top, .. } = *self.round;
        self.weights.of(scale, top, blocks.get(place.index)).min(place.weight)
    }
}
