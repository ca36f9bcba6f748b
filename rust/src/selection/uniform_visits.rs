//! Visits to items drawn uniformly and independently, each with a coin that shows heads with probability exp(-x).
//!
//! The visits are a line of items like any other, so the coins of a whole batch may be thinned at a glance. Proofs:
//! `proofs/exact_sampling.md`, "Rejection and thinning"; models: `tests/reference/thinning.py`, `block_rejection.py`.

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::interrupt;
use crate::numbers::coin::{Proposal, Stage, accept, flip};
use crate::numbers::score::Score;
use crate::scan::weight_bounds::WeightBounds;
use crate::selection::thinning::{Skipper, rate_for};
use crate::selection::tries::Tries;
use crate::selection::weight_line::Round;

/// Visits at a time: their cache misses overlap, and one comparison says that all of them show tails.
const BATCH: usize = 64;
/// Those of the first batch, which ends most draws if many items are near the top.
const FIRST_BATCH: usize = 16;
/// Visits of a batch that are passed over at once where nobody rings.
const AT_ONCE: usize = 8;
/// More visits than most draws make.
const USUAL_VISITS: usize = 1024;
/// Visits that are few.
const FEW: usize = 32;
/// Mean weights from which on these end most draws.
pub const LIKELY: f64 = 2.0 / FEW as f64;
/// About what visits take, in nanoseconds: before the first, and each. They only steer.
const COST_OF_BEGINNING: f64 = 150.0;
const COST_OF_VISIT: f64 = 6.0;

/// How a draw begins.
pub enum Opening {
    /// With an item that showed heads: that is all.
    Heads(usize),
    /// With tails only, of those who were visited.
    Tails { first: usize, others: Vec<usize> },
}

/// How many more visits than one a draw may begin with: `patience` times as many as are expected to end it, or none if what
/// else there is costs less, given about how many blocks are near the top.
pub fn visits_worth<T: Score>(round: &Round<'_, '_, T>, patience: f64, cost: impl FnOnce(f64) -> f64) -> usize {
    let near = round.blocks.about_how_many_near(round.scale);
    let expected = round.blocks.len() as f64 / (1.0 + near);
    if COST_OF_BEGINNING + expected * COST_OF_VISIT < cost(near) { (expected * patience) as usize } else { 0 }
}

/// Begin a draw with a visit and, if it shows tails, so many more. If items are visited `once`, nobody counts again.
pub fn open<T: Score, E: Entropy>(
    round: &Round<'_, '_, T>,
    once: bool,
    more: impl FnOnce() -> usize,
    entropy: &mut E,
) -> Result<Opening, SelectError> {
    let first = entropy.below(round.blocks.len() as u64) as usize;
    if flip(&round.exponential(first), entropy) {
        return Ok(Opening::Heads(first));
    }
    let more = more();
    if more == 0 {
        return Ok(Opening::Tails { first, others: Vec::new() });
    }
    let mut visits = UniformVisits::new(round, once.then(|| with_room_for_some(first)), entropy);
    let batches = more.div_ceil(BATCH);
    let mut head = visits.first_heads::<FIRST_BATCH, _>(entropy);
    for _ in 0..batches {
        if head.is_some() {
            break;
        }
        interrupt::check()?;
        head = visits.first_heads::<BATCH, _>(entropy);
    }
    if let Some(place) = head {
        return Ok(Opening::Heads(visits.batch[place]));
    }
    Ok(Opening::Tails { first, others: visits.seen.unwrap_or_default() })
}

/// With repetition: who shows heads first, and in which visit. Whoever is removed shows tails.
pub fn first_of_all<T: Score, E: Entropy>(
    round: &Round<'_, '_, T>,
    entropy: &mut E,
) -> Result<(usize, u64), SelectError> {
    let mut visits = UniformVisits::new(round, None, entropy);
    let (mut made, mut tries) = (0, Tries::default());
    loop {
        if let Some(place) = visits.first_heads::<BATCH, _>(entropy) {
            return Ok((visits.batch[place], made + place as u64 + 1));
        }
        made += BATCH as u64;
        tries.failed(|| round.blocks.still_hold(|index| !round.removed.contains(index)))?;
    }
}

/// A list that begins with `first`, and seldom has to grow.
fn with_room_for_some(first: usize) -> Vec<usize> {
    let mut list = Vec::with_capacity(USUAL_VISITS);
    list.push(first);
    list
}

/// Those who showed tails in a few visits.
#[derive(Default)]
pub struct Tails {
    indices: [usize; FEW],
    count: usize,
}

impl Tails {
    #[inline]
    pub fn contains(&self, index: usize) -> bool {
        self.indices[..self.count].contains(&index)
    }
}

/// Visits one by one, which end most draws if many items are near the top: who shows heads, if not all are `tails`. If items
/// are visited `once`, nobody counts again.
#[inline]
pub fn visit_few<T: Score, E: Entropy>(
    round: &Round<'_, '_, T>,
    once: bool,
    tails: &mut Tails,
    entropy: &mut E,
) -> Option<usize> {
    for _ in 0..FEW {
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

/// A walk along uniform visits.
struct UniformVisits<'v, 'a, T> {
    round: Round<'v, 'a, T>,
    weights: WeightBounds,
    skipper: Skipper,
    batch: [usize; BATCH],
    /// Who was visited before, if nobody counts again.
    seen: Option<Vec<usize>>,
    /// 2^32 modulo the number of items, where that fits 32 bits.
    uneven: u32,
}

impl<'v, 'a, T: Score> UniformVisits<'v, 'a, T> {
    fn new<E: Entropy>(round: &Round<'v, 'a, T>, seen: Option<Vec<usize>>, entropy: &mut E) -> Self {
        let weights = WeightBounds::for_count(round.blocks.len());
        let uneven = u32::try_from(round.blocks.len()).map_or(0, |count| count.wrapping_neg() % count);
        Self { round: *round, weights, skipper: Skipper::new(entropy), batch: [0; BATCH], seen, uneven }
    }

    /// The place of the first heads of `COUNT` more visits that counts. The walk must not go on after an answer.
    fn first_heads<const COUNT: usize, E: Entropy>(&mut self, entropy: &mut E) -> Option<usize> {
        let (Round { blocks, scale, top, .. }, weights) = (self.round, self.weights);
        let (mut scores, mut bounds) = ([top; COUNT], [0; COUNT]);
        for (two, scores) in self.batch[..COUNT].chunks_mut(2).zip(scores.chunks_mut(2)) {
            two.copy_from_slice(&two_below(blocks.len(), self.uneven, entropy)[..two.len()]);
            for (score, &index) in scores.iter_mut().zip(&*two) {
                // Only somebody who was removed may be above the top.
                let found = blocks.get(index);
                *score = if found > top { top } else { found };
            }
        }
        let filled = blocks.score_bounds(top, scale, weights, &scores, &mut bounds);
        if filled.largest > weights.half() || !self.skipper.passes(filled.sum, weights.bits) {
            for (first, some) in (0..).step_by(AT_ONCE).zip(bounds.chunks(AT_ONCE)) {
                let likely = some.iter().any(|&weight| weight > weights.half());
                if !likely && self.skipper.passes(some.iter().sum(), weights.bits) {
                    continue;
                }
                for (place, &weight) in (first..).zip(some) {
                    // Looked up only for heads, of which there are few before the first that counts.
                    if self.shows_heads(scores[place], weight, entropy) && self.counts(place) {
                        return Some(place);
                    }
                }
            }
        }
        if let Some(seen) = &mut self.seen {
            seen.extend_from_slice(&self.batch[..COUNT]);
        }
        None
    }

    /// The coin of an item with this score, and this bound.
    #[inline]
    fn shows_heads<E: Entropy>(&mut self, score: T, weight: u64, entropy: &mut E) -> bool {
        let x = self.round.exponential_of(score);
        if weight > self.weights.half() {
            return flip(&x, entropy);
        }
        let rate = rate_for(weight, self.weights.bits);
        self.skipper.next(1, rate, entropy).is_some() && accept(&x, Proposal::Thinned { rate }, Stage::WHOLE, entropy)
    }

    /// Whether the visit at this place of the batch counts.
    fn counts(&self, place: usize) -> bool {
        let (earlier, index) = (&self.batch[..place], &self.batch[place]);
        !self.round.removed.contains(*index)
            && self.seen.as_ref().is_none_or(|seen| !earlier.contains(index) && !seen.contains(index))
    }
}

/// Two independent uniform integers below `count`: where it fits 32 bits from the halves of one word, each as
/// [`Entropy::below`] makes them (a product with the half, again if that falls into the `uneven` rest).
#[inline(always)]
fn two_below<E: Entropy>(count: usize, uneven: u32, entropy: &mut E) -> [usize; 2] {
    if u32::try_from(count).is_err() {
        return [entropy.below(count as u64) as usize, entropy.below(count as u64) as usize];
    }
    let word = entropy.next_u64();
    [word >> 32, word & u64::from(u32::MAX)].map(|half| {
        let product = half * count as u64;
        if (product as u32) < uneven { entropy.below(count as u64) as usize } else { (product >> 32) as usize }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::{Scripted, seeded};
    use crate::numbers::scale::Scale;
    use crate::scan::block_index::Blocks;
    use crate::scan::score_view::View;
    use crate::testing::{assert_law, exponential_law, exponents, permute_and_flip_law};

    #[test]
    fn visits_alone_have_the_laws() {
        let scale = Scale::new(1.0, 1.0, 2).unwrap();
        let scores = [3.0, 1.0, 0.0, 3.0, -2.0, 2.5];
        let blocks = Blocks::new(View::of(&scores)).unwrap();
        let round = Round::new(&blocks, &scale);
        // Visits without repetition are permute-and-flip, those with it the exponential mechanism.
        let exponents = exponents(&scores, &scale);
        let laws = [exponential_law(&exponents), permute_and_flip_law(&exponents)];
        for once in [false, true] {
            let mut entropy = seeded(5);
            let [wrong, law] = if once { &laws } else { &[laws[1].clone(), laws[0].clone()] };
            assert_law(&format!("visits, {once}"), 300_000, law, wrong, || {
                let mut visits = UniformVisits::new(&round, once.then(Vec::new), &mut entropy);
                // A batch of each size after the other.
                loop {
                    let small = visits.first_heads::<1, _>(&mut entropy);
                    let odd = small.or_else(|| visits.first_heads::<3, _>(&mut entropy));
                    if let Some(place) = odd.or_else(|| visits.first_heads::<BATCH, _>(&mut entropy)) {
                        return visits.batch[place];
                    }
                }
            });
        }
    }

    #[test]
    fn both_halves_of_a_word_are_used_and_the_uneven_rest_is_refused() {
        // 2^32 modulo 3 is 1: only the half 0 is refused, for the half of a word of its own.
        assert_eq!(two_below(3, 1, &mut Scripted::new(&[(1 << 63) | 0xffff_ffff])), [1, 2]);
        assert_eq!(two_below(3, 1, &mut Scripted::new(&[0xffff_ffff, u64::MAX])), [2, 2]);
        assert_eq!(two_below(1 << 33, 0, &mut Scripted::new(&[u64::MAX, 1 << 63])), [(1 << 33) - 1, 1 << 32]);
        let mut counts = [0_u32; 5];
        let mut entropy = seeded(3);
        (0..25_000).for_each(|_| two_below(5, 1, &mut entropy).into_iter().for_each(|index| counts[index] += 1));
        assert!(counts.iter().all(|&count| (9_400..10_600).contains(&count)), "{counts:?}");
    }
}
