//! Permute-and-flip: the first head in a uniformly random order, which is a uniform choice among all heads.
//!
//! A draw visits an item or a few in random order, and if all show tails it goes on with stages of time among the others, along a
//! line of bounds (`arrival_stages.rs`). Visited tails stay tails, so the law does not depend on how many visits there are.
//! Proofs: `proofs/permute_and_flip.md` (the law) and `proofs/exact_sampling.md` (Propositions 2 and 6); models:
//! `tests/reference/thinning.py`, `tests/reference/stages.py`.

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::exact::lazy_time::Clock;
use crate::select::arrival_stages::{AnyOfThem, Earliest, by_stages};
use crate::select::uniform_visits::{FEW, LIKELY, Tails, visit};
use crate::select::weight_line::{BlockLine, Round, WeightLine};

/// One draw from a fresh index: of equals, say, the first one visited is all that is looked at.
pub fn draw_once(round: &Round<'_, '_>, entropy: &mut Entropy) -> Result<usize, SelectError> {
    let mut tails = Tails::default();
    if let Some(index) = visit(1, round, true, &mut tails, entropy) {
        return Ok(index);
    }
    if round.about_mean_weight() > LIKELY
        && let Some(index) = visit(FEW, round, true, &mut tails, entropy)
    {
        return Ok(index);
    }
    among_others(round, &tails, &mut BlockLine::new(round).of(round), entropy)
}

/// Draw a candidate with a line of bounds at hand: one of many draws, or one of a row of rounds.
pub fn draw_from<L: WeightLine>(
    round: &Round<'_, '_>,
    line: impl FnOnce() -> L,
    begins_with_visits: bool,
    entropy: &mut Entropy,
) -> Result<usize, SelectError> {
    let mut tails = Tails::default();
    if begins_with_visits && let Some(index) = visit(FEW, round, true, &mut tails, entropy) {
        return Ok(index);
    }
    among_others(round, &tails, &mut line(), entropy)
}

/// A uniform one of the heads among those who were not visited.
fn among_others(
    round: &Round<'_, '_>,
    tails: &Tails,
    line: &mut impl WeightLine,
    entropy: &mut Entropy,
) -> Result<usize, SelectError> {
    let is_out = |index| round.removed.contains(index) || tails.contains(index);
    by_stages::<AnyOfThem, _>(round, line, is_out, entropy).map(|(them, _)| them.kept)
}

/// Draw a candidate and the time at which it comes.
pub fn draw_with_time(round: &Round<'_, '_>, entropy: &mut Entropy) -> Result<(usize, Clock), SelectError> {
    let line = BlockLine::new(round);
    let is_out = |index| round.removed.contains(index);
    let (first, stage) = by_stages::<Earliest, _>(round, &mut line.of(round), is_out, entropy)?;
    first.within(stage).ok_or(SelectError::Changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;
    use crate::scores::block_index::Blocks;
    use crate::scores::scale::Scale;
    use crate::scores::score::Kind;
    use crate::scores::score_view::View;
    use crate::testing::assert_law;

    #[test]
    fn heads_far_from_the_top_come_as_often_as_they_should() {
        // One best among many stripes that are far off one by one, but not all together; the last stripe is short.
        for (len, gap) in [(140 * 1024 + 300, 26.0), (80 * 1024, 25.0), (3000, 16.0)] {
            let mut scores = vec![0.0; len];
            scores[len / 2] = gap;
            let (scale, wrong) = (Scale::new(1.0, 1.0, 2).unwrap(), Scale::new(1.0, 1.1, 2).unwrap());
            let blocks = Blocks::new(View::of(&scores)).unwrap();
            // Of n others with heads of probability p the best is the one returned with E[1 / (1 + heads)].
            let best = |scale: &Scale| {
                let (n, p) = (len as f64 - 1.0, (-scale.exponent(gap, 0.0)).exp());
                let best = (1.0 - (1.0 - p).powf(n + 1.0)) / ((n + 1.0) * p);
                [best, 1.0 - best]
            };
            let mut entropy = seeded(6);
            assert_law(&format!("{len} items"), 20_000, &best(&scale), &best(&wrong), || {
                usize::from(draw_once(&Round::new(&blocks, &scale), &mut entropy).unwrap() != len / 2)
            });
        }
    }

    #[test]
    fn whoever_is_flipped_is_not_passed_over_before() {
        // One in each stripe, the best and others that are neither surely flipped nor seldom heads.
        let (scale, wrong) = (Scale::new(1.0, 1.0, 2).unwrap(), Scale::new(1.0, 2.0, 2).unwrap());
        for gap in [1.0, 2.0, 3.0, 4.0, 5.0, 7.0] {
            let mut scores = vec![-100.0; 9 * 1024];
            (0..9).for_each(|stripe| scores[stripe * 1024 + 500 + stripe] = if stripe == 4 { 0.0 } else { -gap });
            let blocks = Blocks::new(View::of(&scores)).unwrap();
            let best = |scale: &Scale| {
                let p = (-scale.exponent(gap, 0.0)).exp();
                let best = (1.0 - (1.0 - p).powi(9)) / (9.0 * p);
                [best, 1.0 - best]
            };
            let mut entropy = seeded(8);
            assert_law(&format!("a gap of {gap}"), 20_000, &best(&scale), &best(&wrong), || {
                let drawn = draw_once(&Round::new(&blocks, &scale), &mut entropy).unwrap();
                usize::from(drawn != 4 * 1024 + 504)
            });
        }
    }

    #[test]
    fn draws_from_scores_that_were_lowered_after_the_index_end_with_an_error() {
        let mut scores: Vec<f64> = (0..5000).map(|index| f64::from(index % 90)).collect();
        let memory = scores.as_mut_ptr();
        // SAFETY: as many doubles, alive and not moved to the end of the test.
        let view = unsafe { View::new(memory.cast_const().cast(), Kind::F64, 5000, 8) };
        let (blocks, scale) = (Blocks::new(view).unwrap(), Scale::new(1.0, 1.0, 1).unwrap());
        let draw = || draw_once(&Round::new(&blocks, &scale), &mut seeded(44));
        assert!(draw().is_ok());
        // SAFETY: as above; nobody refers to them.
        (0..5000).for_each(|index| unsafe { memory.add(index).write(-1e6) });
        assert_eq!(draw(), Err(SelectError::Changed));
    }
}
