//! Several quantiles by halving: the middle one first, then those below it from the values below, and so on.
//!
//! Given the answers so far, a value belongs to one node of each depth, so a depth costs what one quantile costs.
//! Proof: `proofs/quantiles.md`, "Several levels".

use std::ops::Range as Span;

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::numbers::answer_range::Answers;
use crate::numbers::grid::Grid;
use crate::numbers::places::{PART_BITS, Places};
use crate::numbers::quantile::{self, Route};
use crate::numbers::sorting::partition;
use crate::scores::scale::Scale;
use crate::scores::score_view::View;

/// Draw the quantiles at `levels`, strictly increasing in [0, 1], each depth at the cost of `epsilon` under add-remove.
///
/// # Errors
/// `NotFinite` if there is a NaN, `InvalidScale` unless epsilon is finite and positive.
pub fn draw(
    values: &View<'_>,
    levels: &[f64],
    range: Answers<'_>,
    epsilon: f64,
    entropy: &mut Entropy,
) -> Result<Vec<f64>, SelectError> {
    draw_at(values, levels, &Places::new(range, PART_BITS), epsilon, entropy)
}

fn draw_at(
    values: &View<'_>,
    levels: &[f64],
    places: &Places<'_>,
    epsilon: f64,
    entropy: &mut Entropy,
) -> Result<Vec<f64>, SelectError> {
    let mut copy: Vec<f64> = Vec::new();
    places.append(values, &mut copy, entropy)?;
    let answers = halve(&mut copy, levels, places.range(), epsilon, entropy)?;
    Ok(answers.into_iter().map(|place| places.answer(place)).collect())
}

/// On a grid whose points are the numbers 0, 1, ...
fn halve(
    values: &mut [f64],
    levels: &[f64],
    range: Answers<'_>,
    epsilon: f64,
    entropy: &mut Entropy,
) -> Result<Vec<f64>, SelectError> {
    let mut halving = Halving { levels, range, epsilon, answers: vec![0.0; levels.len()], entropy };
    halving.node(values, 0..levels.len(), range.ends(), (0.0, 1.0))?;
    Ok(halving.answers)
}

struct Halving<'a> {
    levels: &'a [f64],
    range: Answers<'a>,
    epsilon: f64,
    answers: Vec<f64>,
    entropy: &'a mut Entropy,
}

impl Halving<'_> {
    /// Answer the levels of `span` from the `values` between two answers, which stand at two levels.
    fn node(
        &mut self,
        values: &mut [f64],
        span: Span<usize>,
        ends: (f64, f64),
        outer: (f64, f64),
    ) -> Result<(), SelectError> {
        if span.is_empty() {
            return Ok(());
        }
        let middle = span.start + span.len() / 2;
        let level = self.levels[middle];
        let share = ((level - outer.0) / (outer.1 - outer.0)).clamp(0.0, 1.0);
        let answer = self.quantile(values, share, ends)?;
        self.answers[middle] = answer;
        let below = partition(values, |value| value < answer);
        let (left, right) = values.split_at_mut(below);
        self.node(left, span.start..middle, (ends.0, answer), (outer.0, level))?;
        self.node(right, middle + 1..span.end, (answer, ends.1), (level, outer.1))
    }

    /// One quantile between two points of the range.
    fn quantile(&mut self, values: &[f64], level: f64, ends: (f64, f64)) -> Result<f64, SelectError> {
        if ends.0 >= ends.1 {
            return Ok(ends.0); // nothing to choose, and no value is looked at
        }
        // Upwards, as 1 - level may be no double.
        let sensitivity = level.max((1.0 - level).next_up()).min(1.0);
        // At share 0 or 1 a value more lowers all scores: proofs/quantiles.md, claim 3.
        let factor = if level > 0.0 && level < 1.0 { 2 } else { 1 };
        let scale = Scale::new(self.epsilon, sensitivity, factor)?;
        let part: Grid;
        let range = match self.range {
            Answers::Interval { .. } => Answers::Interval { lower: ends.0, upper: ends.1 },
            Answers::Grid(grid) => {
                part = grid.part(grid.nearest(ends.0), grid.nearest(ends.1) + 1);
                Answers::Grid(&part)
            }
        };
        quantile::draw(View::of(values), level, range, &scale, Route::Automatic, self.entropy)
    }
}

#[cfg(test)]
#[path = "quantiles_by_halving_tests.rs"]
mod tests;
