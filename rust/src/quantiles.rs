//! Several quantiles by halving: the middle one first, then those below it from the values below, and so on.
//!
//! Given the answers so far, a value belongs to one node of each depth, so a depth costs what one quantile costs.
//! Proof: `proofs/quantiles.md`, "Several levels".

use std::ops::Range as Span;

use dashu_int::{IBig, UBig};

use crate::blocks::reserved;
use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::grid::Grid;
use crate::quantile::{self, Route};
use crate::range::Range;
use crate::scale::Scale;
use crate::score::{Score, View};
use crate::sieve::for_chunks;

/// How many depths `count` levels make: what epsilon is divided by.
#[must_use]
pub fn depths(count: usize) -> u32 {
    count.checked_ilog2().map_or(0, |whole| whole + 1)
}

/// Draw the quantiles at `levels`, strictly increasing in [0, 1], each depth at the cost of `epsilon` under add/remove.
///
/// # Errors
/// `NotFinite` if there is a NaN, `InvalidScale` unless epsilon is finite and positive, `Memory`.
pub fn draw<T: Score, E: Entropy>(
    values: &View<'_, T>,
    levels: &[f64],
    range: Range<'_>,
    epsilon: f64,
    entropy: &mut E,
) -> Result<Vec<f64>, SelectError> {
    let spread = match range {
        Range::Grid(grid) => Spread::over(grid),
        Range::Interval { .. } => None,
    };
    let mut copy: Vec<f64> = reserved(values.len())?;
    let mut has_nan = false;
    for_chunks(values, 0..values.len(), |chunk| {
        has_nan |= chunk.iter().any(|value| value.is_nan());
        match &spread {
            Some(spread) => copy.extend(chunk.iter().map(|&value| spread.place(value, entropy))),
            None => copy.extend_from_slice(chunk),
        }
    });
    if has_nan {
        return Err(SelectError::NotFinite);
    }
    let Some(spread) = spread else {
        return halve(&mut copy, levels, range, epsilon, entropy);
    };
    let places = halve(&mut copy, levels, Range::Grid(&spread.fine), epsilon, entropy)?;
    Ok(places.into_iter().map(|place| spread.point(place)).collect())
}

fn halve<E: Entropy>(
    values: &mut [f64],
    levels: &[f64],
    range: Range<'_>,
    epsilon: f64,
    entropy: &mut E,
) -> Result<Vec<f64>, SelectError> {
    let mut halving = Halving { levels, range, epsilon, answers: vec![0.0; levels.len()], entropy };
    let ends = match range {
        Range::Interval { lower, upper } => (lower, upper),
        Range::Grid(grid) => (grid.point(0), grid.point(grid.count() - 1)),
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
    /// `None` if there are more points than doubles count.
    fn over(grid: &'a Grid) -> Option<Self> {
        let count_bits = u64::BITS - grid.count().leading_zeros();
        let bits = PART_BITS.min(f64::MANTISSA_DIGITS.checked_sub(count_bits)?);
        let fine = Grid::new(IBig::ZERO, UBig::ONE, UBig::ONE, grid.count() << bits)?;
        Some(Self { grid, fine, bits })
    }

    fn place<E: Entropy>(&self, value: f64, entropy: &mut E) -> f64 {
        let part = u64::from(entropy.next_u32()) >> (PART_BITS - self.bits);
        ((self.grid.nearest(value) << self.bits) + part) as f64
    }

    fn point(&self, place: f64) -> f64 {
        self.grid.point(place as u64 >> self.bits)
    }
}

struct Halving<'a, E> {
    levels: &'a [f64],
    range: Range<'a>,
    epsilon: f64,
    answers: Vec<f64>,
    entropy: &'a mut E,
}

impl<E: Entropy> Halving<'_, E> {
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
        let below = partition(values, answer);
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
        let scale = Scale::new(self.epsilon, sensitivity, 2)?;
        let part: Grid;
        let range = match self.range {
            Range::Interval { .. } => Range::Interval { lower: ends.0, upper: ends.1 },
            Range::Grid(grid) => {
                part = grid.part(grid.nearest(ends.0), grid.nearest(ends.1) + 1);
                Range::Grid(&part)
            }
        };
        quantile::draw(View::of(values), level, range, &scale, Route::Automatic, self.entropy)
    }
}

/// Values below `split` first, without a branch; how many there are.
fn partition(values: &mut [f64], split: f64) -> usize {
    let mut below = 0;
    for index in 0..values.len() {
        let value = values[index];
        values.swap(index, below);
        below += usize::from(value < split);
    }
    below
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;
    use crate::testing::assert_law;

    #[test]
    fn depths_are_those_of_halving() {
        assert_eq!([0, 1, 2, 3, 4, 7, 8, 99].map(depths), [0, 1, 2, 2, 3, 3, 4, 7]);
    }

    #[test]
    fn values_are_split() {
        let mut values = [5.0, 1.0, 3.0, 3.0, 0.0, 9.0, 2.0];
        assert_eq!(partition(&mut values, 3.0), 3);
        assert!(values[..3].iter().all(|value| *value < 3.0) && values[3..].iter().all(|value| *value >= 3.0));
    }

    #[test]
    fn answers_increase_and_are_near_the_quantiles() {
        let mut entropy = seeded(141);
        let values: Vec<f64> = (0..50_000).map(|index| f64::from(index * 7919 % 50_000) / 500.0).collect();
        let levels: Vec<f64> = (1..100).map(|percent| f64::from(percent) / 100.0).collect();
        let grid = Grid::new(IBig::ZERO, UBig::ONE, UBig::from(10_u8), 1001).unwrap();
        for range in [Range::Interval { lower: 0.0, upper: 100.0 }, Range::Grid(&grid)] {
            let answers = draw(&View::of(&values), &levels, range, 0.5, &mut entropy).unwrap();
            assert!(answers.windows(2).all(|pair| pair[0] <= pair[1]));
            for (answer, level) in answers.iter().zip(&levels) {
                assert!((answer - 100.0 * level).abs() < 1.0, "{level}: {answer}");
            }
        }
    }

    #[test]
    fn equal_values_are_shared_out() {
        let mut entropy = seeded(143);
        let grid = Grid::new(IBig::ZERO, UBig::ONE, UBig::ONE, 11).unwrap();
        let mut values = vec![4.0; 1000];
        values.extend([9.0; 20]);
        for _ in 0..50 {
            let answers = draw(&View::of(&values), &[0.2, 0.4, 0.6], Range::Grid(&grid), 2.0, &mut entropy).unwrap();
            assert_eq!(answers, [4.0; 3]);
            // All of them sent upwards leave nothing for the lower level to be drawn from.
            let unshared = halve(&mut values.clone(), &[0.2, 0.4], Range::Grid(&grid), 2.0, &mut entropy).unwrap();
            assert!(unshared[1] == 4.0);
        }
        let huge = Grid::new(IBig::ZERO, UBig::ONE, UBig::ONE, 1 << 53).unwrap();
        assert!(draw(&View::of(&values), &[0.2, 0.4], Range::Grid(&huge), 2.0, &mut entropy).is_ok());
        assert!(draw(&View::of(&[0.0, f64::NAN]), &[0.5], Range::Grid(&grid), 2.0, &mut entropy).is_err());
    }

    /// Two levels on a grid of three points, four values: the law is a product of two small ones.
    #[test]
    fn two_levels_have_the_law_of_two_nodes() {
        let mut entropy = seeded(142);
        let values = [0.0, 1.0, 1.0, 2.0, 2.0];
        let grid = Grid::new(IBig::ZERO, UBig::ONE, UBig::ONE, 3).unwrap();
        let (levels, epsilon) = ([0.25, 0.5], 2.0);
        let weight = |values: &[f64], level: f64, point: f64| {
            let below = values.iter().filter(|value| **value < point).count() as f64;
            let up_to = values.iter().filter(|value| **value <= point).count() as f64;
            let target = level * values.len() as f64;
            let distance = (below - target).max(target - up_to).max(0.0);
            (-distance * epsilon / (2.0 * level.max(1.0 - level))).exp()
        };
        let law_of = |values: &[f64], level: f64, last: usize| {
            let weights: Vec<f64> = (0..=last).map(|point| weight(values, level, point as f64)).collect();
            let total: f64 = weights.iter().sum();
            weights.into_iter().map(|weight| weight / total).collect::<Vec<f64>>()
        };
        // The upper level first, then the lower one at half of it among the values below the answer.
        let mut law = vec![0.0; 9];
        for (upper, chance) in law_of(&values, 0.5, 2).into_iter().enumerate() {
            let below: Vec<f64> = values.iter().copied().filter(|value| *value < upper as f64).collect();
            for (lower, other) in law_of(&below, 0.5, upper).into_iter().enumerate() {
                law[3 * upper + lower] = chance * other;
            }
        }
        let mut wrong = law.clone();
        (wrong[3], wrong[4]) = (law[4], law[3]);
        (wrong[7], wrong[8]) = (law[8], law[7]);
        assert_law("two levels", 60_000, &law, &wrong, || {
            let answers = halve(&mut values.clone(), &levels, Range::Grid(&grid), epsilon, &mut entropy).unwrap();
            3 * answers[1] as usize + answers[0] as usize
        });
    }
}
