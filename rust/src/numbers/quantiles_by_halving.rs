//! Several quantiles by halving: the middle one first, then those below it from the values below, and so on.
//!
//! Given the answers so far, a value belongs to one node of each depth, so a depth costs what one quantile costs.
//! Proof: `proofs/quantiles.md`, "Several levels".

use std::ops::Range as Span;

use dashu_int::{IBig, UBig};

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::numbers::answer_range::Answers;
use crate::numbers::grid::Grid;
use crate::numbers::quantile::{self, Route};
use crate::numbers::sorting::partition;
use crate::numbers::value_turns::append;
use crate::scores::scale::Scale;
use crate::scores::score_view::View;

/// How many depths `count` levels make: what epsilon is divided by.
pub fn depths(count: usize) -> u32 {
    count.checked_ilog2().map_or(0, |whole| whole + 1)
}

/// Draw the quantiles at `levels`, strictly increasing in [0, 1], each depth at the cost of `epsilon` under add/remove.
///
/// # Errors
/// `NotFinite` if there is a NaN, `InvalidScale` unless epsilon is finite and positive, `Memory`.
pub fn draw(
    values: &View<'_>,
    levels: &[f64],
    range: Answers<'_>,
    epsilon: f64,
    entropy: &mut Entropy,
) -> Result<Vec<f64>, SelectError> {
    let spread = match range {
        Answers::Grid(grid) => Spread::over(grid, PART_BITS),
        Answers::Interval { .. } => None,
    };
    draw_spread(values, levels, range, spread.as_ref(), epsilon, entropy)
}

fn draw_spread(
    values: &View<'_>,
    levels: &[f64],
    range: Answers<'_>,
    spread: Option<&Spread<'_>>,
    epsilon: f64,
    entropy: &mut Entropy,
) -> Result<Vec<f64>, SelectError> {
    let mut copy: Vec<f64> = Vec::new();
    let Some(spread) = spread else {
        append(values, &mut copy, |value| value)?;
        return halve(&mut copy, levels, range, epsilon, entropy);
    };
    append(values, &mut copy, |value| spread.place(value, entropy))?;
    let places = halve(&mut copy, levels, Answers::Grid(&spread.fine), epsilon, entropy)?;
    Ok(places.into_iter().map(|place| spread.point(place)).collect())
}

fn halve(
    values: &mut [f64],
    levels: &[f64],
    range: Answers<'_>,
    epsilon: f64,
    entropy: &mut Entropy,
) -> Result<Vec<f64>, SelectError> {
    let mut halving = Halving { levels, range, epsilon, answers: vec![0.0; levels.len()], entropy };
    let ends = match range {
        Answers::Interval { lower, upper } => (lower, upper),
        Answers::Grid(grid) => (grid.point(0), grid.point(grid.count() - 1)),
    };
    halving.node(values, 0..levels.len(), ends, (0.0, 1.0))?;
    Ok(halving.answers)
}

/// A grid whose points are made wide: each is a cell of parts, and a value goes to any part of its cell, whatever the
/// other values do. So an answer can lie among equal values, with some of them to each side.
struct Spread<'a> {
    grid: &'a Grid,
    /// The parts of all cells, counted from 0.
    fine: Grid,
    bits: u32,
}

/// A cell has so many parts, as powers of two, unless there are very many cells: parts are doubles.
const PART_BITS: u32 = 32;

impl<'a> Spread<'a> {
    /// Cells of `2^most_bits` parts, or fewer; `None` if there are more points than doubles count.
    fn over(grid: &'a Grid, most_bits: u32) -> Option<Self> {
        let count_bits = u64::BITS - grid.count().leading_zeros();
        let bits = most_bits.min(f64::MANTISSA_DIGITS.checked_sub(count_bits)?);
        let fine = Grid::new(IBig::ZERO, UBig::ONE, UBig::ONE, grid.count() << bits)?;
        Some(Self { grid, fine, bits })
    }

    fn place(&self, value: f64, entropy: &mut Entropy) -> f64 {
        let part = u64::from(entropy.next_u32()) >> (u32::BITS - self.bits);
        ((self.grid.nearest(value) << self.bits) + part) as f64
    }

    fn point(&self, place: f64) -> f64 {
        self.grid.point(place as u64 >> self.bits)
    }
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
