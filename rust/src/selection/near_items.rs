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
        // Its bound is a bound of all that is below it. If there is no such score, everybody is near.
        let (least, far) = top
            .lowered(scale.gap_of(octaves * std::f64::consts::LN_2))
            .map(|least| (least, weights.of(scale, top, least)))
            .filter(|&(_, far)| far * (row.len() as u64) <= weights.half() / 4)
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
                let end = position + (weight - rest);
                return Place { index, weight, end, into: rest, equals_end: end, is_block: false };
            }
            rest -= weight;
        }
        let (item, into) = ((rest / self.far) as usize, rest % self.far);
        let index = self.row.start + item;
        let weight = if self.is_near(index) { 0 } else { self.far };
        let end = position + (self.far - into);
        Place { index, weight, end, into, equals_end: end, is_block: false }
    }

    fn own_weight(&self, place: &Place) -> u64 {
        let Round { blocks, scale, top, .. } = *self.round;
        self.weights.of(scale, top, blocks.get(place.index)).min(place.weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::scale::Scale;
    use crate::scan::block_index::{Blocks, Indexable};
    use crate::scan::kernels::Level;
    use crate::scan::score_view::View;

    fn check<T: Indexable>(scores: &[T], scale: &Scale, level: Level, context: &str) {
        let blocks = Blocks::with_threads(View::of(scores), 1, level).unwrap();
        let round = Round::new(&blocks, scale);
        for row in [0..scores.len(), scores.len() / 3..scores.len() - scores.len() / 4] {
            let mut items = NearItems::new(&round, row.clone());
            let one = (1_u64 << items.bits()) as f64;
            let probability = |index: usize| (-scale.exponent(blocks.top(), scores[index])).exp();
            let near: Vec<usize> = row.clone().filter(|&index| scores[index] >= items.least).collect();
            assert_eq!(items.near, near, "{context}");
            assert!(near.iter().zip(&items.bounds).all(|(&index, &bound)| bound as f64 >= probability(index) * one));
            let far = row.clone().filter(|index| !near.contains(index)).map(probability).fold(0.0, f64::max);
            assert!(items.far as f64 >= far * one * (1.0 - 1e-12), "{context}");
            assert!(items.far as f64 * row.len() as f64 <= one / 7.0, "{context}: the others come to little");
            // Whoever is near has a piece of the line once, and a second one that is nobody's; all others have one.
            let (mut position, mut pieces) = (0, vec![0; scores.len()]);
            while position < items.total() {
                let place = items.at(position);
                pieces[place.index] += u32::from(items.own_weight(&place) > 0);
                position = place.end;
            }
            assert!(pieces.iter().enumerate().all(|(index, &pieces)| pieces == u32::from(row.contains(&index))));
        }
    }

    #[test]
    fn everybody_in_a_row_is_near_or_has_the_bound_of_the_others() {
        for level in Level::available() {
            for len in [4, 65, 200, 1500] {
                let slope: Vec<i64> = (0..len).map(|index| index * 7919 % len - 50).collect();
                let doubles: Vec<f64> = slope.iter().map(|&score| score as f64 / 3.0).collect();
                let bytes: Vec<u8> = slope.iter().map(|&score| score as u8).collect();
                for epsilon in [1e-9, 0.01, 1.0, 1e300] {
                    let scale = Scale::new(epsilon, 1.0, 2).unwrap();
                    let context = format!("{level:?}, {len}, {epsilon}");
                    check(&slope, &scale, level, &context);
                    check(&doubles, &scale, level, &context);
                    check(&bytes, &scale, level, &context);
                }
            }
        }
    }
}
