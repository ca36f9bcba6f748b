//! A line that learns: blocks that were proposed in vain are weighed item by item, if much of the line is theirs.
//!
//! Among a few clear leaders nearly all of the line is their blocks', and all but one item of each are hardly anything.
//! Which bounds the next proposal is made by may depend on those before it. Proof: `proofs/exact_sampling.md`, Proposition 1.

use crate::numbers::score::Score;
use crate::scan::kernels::MOST_LANES;
use crate::scan::weight_bounds::WeightBounds;
use crate::selection::weight_line::{Place, Proposals, Round};

/// A block is weighed if more than one part of so many of the line is its. So there are never many of them.
const PARTS: u64 = 8;

/// A line with some of its blocks taken out, behind the items of these, each with a bound of its own.
pub struct RefinedLine<'r, 'a, T, L> {
    round: &'r Round<'r, 'a, T>,
    line: L,
    /// Where the blocks that were taken out begin on the line, and how long they are, in the order of the line.
    taken_out: Vec<(u64, u64)>,
    items: Vec<usize>,
    /// `ends[i]` = sum of the bounds of `items[..=i]`.
    ends: Vec<u64>,
}

impl<'r, 'a, T: Score, L: Proposals> RefinedLine<'r, 'a, T, L> {
    pub fn new(round: &'r Round<'r, 'a, T>, line: L) -> Self {
        Self { round, line, taken_out: Vec::new(), items: Vec::new(), ends: Vec::new() }
    }

    fn of_items(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }
}

impl<T: Score, L: Proposals> Proposals for RefinedLine<'_, '_, T, L> {
    fn bits(&self) -> u32 {
        self.line.bits()
    }

    fn total(&self) -> u64 {
        self.line.total() + self.of_items() - self.taken_out.iter().map(|(_, length)| length).sum::<u64>()
    }

    #[inline]
    fn at(&mut self, position: u64) -> Place {
        if position < self.of_items() {
            let item = self.ends.partition_point(|&end| end <= position);
            let (start, end) = (if item == 0 { 0 } else { self.ends[item - 1] }, self.ends[item]);
            let (index, weight, into) = (self.items[item], end - start, position - start);
            return Place { index, weight, end, into, equals_end: end, is_block: false };
        }
        let beyond =
            |position: u64, &(start, length): &(u64, u64)| position + if position < start { 0 } else { length };
        self.line.at(self.taken_out.iter().fold(position - self.of_items(), beyond))
    }

    #[inline]
    fn own_weight(&self, place: &Place) -> u64 {
        self.line.own_weight(place)
    }

    fn refused(&mut self, refused: &Place) {
        // An item of its own, or a stripe with one bound, is no block. Most blocks are seen to be small at a glance.
        let blocks = self.round.blocks;
        if !refused.is_block || refused.weight * blocks.block(0, 0).len as u64 <= self.total() / PARTS {
            return;
        }
        let block = blocks.block_of(refused.index);
        let length = refused.weight * block.len as u64;
        if length <= self.total() / PARTS {
            return;
        }
        let taken_out = (refused.equals_end - length, length);
        self.taken_out.insert(self.taken_out.partition_point(|&(start, _)| start < taken_out.0), taken_out);
        let (Round { scale, top, .. }, weights) = (*self.round, WeightBounds::for_count(blocks.len()));
        self.items.reserve(block.len);
        self.ends.reserve(block.len);
        let mut bounds = [0; MOST_LANES];
        for row in (0..block.len).step_by(MOST_LANES) {
            let bounds = &mut bounds[..MOST_LANES.min(block.len - row)];
            let items = (block.first + row * blocks.lanes(), blocks.lanes());
            blocks.item_bounds(top, scale, weights, items, bounds);
            for (place, bound) in bounds.iter().enumerate() {
                let end = self.of_items() + bound.min(&refused.weight);
                self.items.push(items.0 + place * items.1);
                self.ends.push(end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;
    use crate::numbers::scale::Scale;
    use crate::scan::block_index::Blocks;
    use crate::scan::score_view::View;
    use crate::selection::exponential_mechanism::draw_once;
    use crate::selection::weight_line::BlockLine;
    use crate::testing::{assert_law, exponential_law, scale, wrong_scale};

    /// Leaders in blocks of their own, among so many others.
    fn leaders() -> Vec<f64> {
        let mut scores: Vec<f64> = (0..5000).map(|index| f64::from(index % 7) / 10.0).collect();
        for (index, score) in [(70, 20.0), (71, 19.0), (4999, 18.5), (2500, 8.0)] {
            scores[index] = score;
        }
        scores
    }

    #[test]
    fn everybody_stays_on_the_line_once_and_it_gets_shorter() {
        let (scores, scale) = (leaders(), scale());
        let blocks = Blocks::for_one_draw(View::of(&scores)).unwrap();
        let round = Round::new(&blocks, &scale);
        let line = BlockLine::new(&round);
        let mut line = RefinedLine::new(&round, line.of(&round));
        let mut totals = Vec::new();
        for refused in [71, 70, 4999, 70, 2500] {
            let (mut seen, mut position) = (vec![0; scores.len()], 0);
            let mut to_refuse = None;
            while position < line.total() {
                let place = line.at(position);
                let probability = (-scale.exponent(20.0, scores[place.index])).exp();
                assert!(line.own_weight(&place) as f64 >= probability * (1_u64 << line.bits()) as f64 * (1.0 - 1e-12));
                if place.index == refused {
                    to_refuse = Some(position);
                }
                seen[place.index] += 1;
                position += place.weight;
            }
            assert!(position == line.total() && seen.iter().all(|&times| times == 1));
            totals.push(line.total());
            let place = line.at(to_refuse.unwrap());
            line.refused(&place);
        }
        // Three blocks are weighed; whoever is an item already is not weighed again, nor a block with little of the line.
        assert!(totals[..4].is_sorted_by(|longer, shorter| longer > shorter), "{totals:?}");
        assert_eq!([totals[3]; 2], [totals[4], line.total()]);
        let weighed = [70, 71, 4999].map(|leader| blocks.block_of(leader).len);
        assert_eq!(line.items.len(), weighed.iter().sum::<usize>());
    }

    /// Scores in which the last stripe is short, and may have one bound for all of its items although that is much of the line.
    fn short_last_stripe(len: usize, last: f64) -> Vec<f64> {
        let mut scores = vec![-1e6; len];
        (scores[7], scores[len - 1]) = (0.0, -last);
        scores
    }

    #[test]
    fn whatever_is_refused_everybody_stays_on_the_line_once() {
        let (scale, mut entropy) = (Scale::new(1.0, 1.0, 1).unwrap(), seeded(46));
        for rest in 1..9 {
            for last in [0.5, 1.0, 1.2, 1.4, 1.45, 1.5, 1.7, 2.0, 3.0, 5.0] {
                let scores = short_last_stripe(2048 + rest, last);
                let blocks = Blocks::for_one_draw(View::of(&scores)).unwrap();
                assert_eq!(blocks.stripes(), 2);
                let round = Round::new(&blocks, &scale);
                let line = BlockLine::new(&round);
                let mut line = RefinedLine::new(&round, line.of(&round));
                for _ in 0..6 {
                    let (mut seen, mut position) = (vec![0; scores.len()], 0);
                    while position < line.total() {
                        let place = line.at(position);
                        seen[place.index] += 1;
                        position += place.weight;
                    }
                    assert!(seen.iter().all(|&times| times == 1), "{rest} in the last stripe, {last} below the top");
                    let refused = line.propose(&mut entropy);
                    line.refused(&refused);
                }
            }
        }
    }

    #[test]
    fn draws_from_a_short_last_stripe_have_the_law() {
        let (scale, wrong) = (Scale::new(1.0, 1.0, 1).unwrap(), Scale::new(1.0, 1.2, 1).unwrap());
        let mut entropy = seeded(47);
        for rest in [1, 2, 3] {
            for last in [1.4, 1.47, 1.7, 3.0] {
                let scores = short_last_stripe(2048 + rest, last);
                let blocks = Blocks::for_one_draw(View::of(&scores)).unwrap();
                let law = |scale: &Scale| {
                    let weight = (-scale.exponent(0.0, -last)).exp();
                    [1.0 / (1.0 + weight), weight / (1.0 + weight)]
                };
                assert_law(&format!("{rest}, {last}"), 60_000, &law(&scale), &law(&wrong), || {
                    usize::from(draw_once(&Round::new(&blocks, &scale), &mut entropy).unwrap() != 7)
                });
            }
        }
    }

    #[test]
    fn draws_among_few_leaders_have_the_law() {
        let scores = leaders();
        let blocks = Blocks::for_one_draw(View::of(&scores)).unwrap();
        let law = |scale| {
            let law = exponential_law(&crate::testing::exponents(&scores, scale));
            let leading = [law[70], law[71], law[4999], law[2500]];
            [&leading[..], &[1.0 - leading.iter().sum::<f64>()]].concat()
        };
        let (scale, mut entropy) = (scale(), seeded(45));
        assert_law("few leaders", 300_000, &law(&scale), &law(&wrong_scale()), || {
            let index = draw_once(&Round::new(&blocks, &scale), &mut entropy).unwrap();
            [70, 71, 4999, 2500].iter().position(|&leader| leader == index).unwrap_or(4)
        });
    }
}
