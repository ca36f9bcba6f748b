//! A public grid: the doubles nearest to (start + j * step) / denominator for j = 0, 1, ..., count - 1.

use dashu_int::{IBig, UBig};

use crate::exact::rounding::{floor_quotient, nearest_quotient};

/// Points in increasing order (neighbours may be equal where doubles lie further apart than the grid's points).
///
/// A value counts as the point nearest to it, midway between two as the lower one; the points that are compared are
/// the exact ones, before they are rounded.
#[derive(Clone, Debug)]
pub struct Grid {
    start: IBig,
    step: UBig,
    denominator: UBig,
    count: u64,
    /// The same in machine integers, if every numerator and the denominator are doubles: one division rounds correctly.
    plain: Option<(i64, i64, f64)>,
}

const EXACT: i64 = 1 << 53;
/// So that the index of a point is a double, too.
const LARGEST_COUNT: u64 = 1 << 53;

impl Grid {
    /// `None` unless `step`, `denominator` and `count` are positive, `count` is at most 2^53 and all points are finite.
    pub fn new(start: IBig, step: UBig, denominator: UBig, count: u64) -> Option<Self> {
        if step == UBig::ZERO || denominator == UBig::ZERO || count == 0 || count > LARGEST_COUNT {
            return None;
        }
        let last = &start + IBig::from(&step * UBig::from(count - 1));
        let small = |number: &IBig| i64::try_from(number.clone()).ok().filter(|number| number.abs() <= EXACT);
        let plain =
            match (small(&start), small(&last), small(&IBig::from(step.clone())), small(&denominator.clone().into())) {
                (Some(start), Some(_), Some(step), Some(denominator)) => Some((start, step, denominator as f64)),
                _ => None,
            };
        let grid = Self { start, step, denominator, count, plain };
        (grid.point(0).is_finite() && grid.point(count - 1).is_finite()).then_some(grid)
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// The points from index `first` up to, not including, `end`; at least one.
    pub fn part(&self, first: u64, end: u64) -> Self {
        let plain = self.plain.map(|(start, step, denominator)| (start + step * first as i64, step, denominator));
        let start = &self.start + IBig::from(&self.step * UBig::from(first));
        let count = end.saturating_sub(first).max(1);
        Self { start, step: self.step.clone(), denominator: self.denominator.clone(), count, plain }
    }

    /// The numbers of the parts, from 0 on, if every point is divided into `2^bits`; together at most 2^53.
    pub fn of_parts(&self, bits: u32) -> Self {
        let count = self.count << bits;
        Self { start: IBig::ZERO, step: UBig::ONE, denominator: UBig::ONE, count, plain: Some((0, 1, 1.0)) }
    }

    /// Point `index`, which must be below `count`.
    pub fn point(&self, index: u64) -> f64 {
        if let Some((start, step, denominator)) = self.plain {
            return (start + step * index as i64) as f64 / denominator + 0.0; // no negative zero
        }
        nearest_quotient(&(&self.start + IBig::from(&self.step * UBig::from(index))), &self.denominator)
    }

    /// How many points are below `value`.
    pub fn below(&self, value: f64) -> u64 {
        self.partition(self.count, value, |index| self.point(index) < value)
    }

    /// The index of the point that `value` counts as, decided for each value alone; infinite ones go to the ends.
    pub fn nearest(&self, value: f64) -> u64 {
        self.partition(self.count - 1, value, |index| self.cut(index) < value)
    }

    /// The values that count as point `index`, which must be below `count`.
    pub fn cell(&self, index: u64) -> ValueInterval {
        ValueInterval {
            low: if index == 0 { f64::NEG_INFINITY } else { self.cut(index - 1).next_up() },
            high: if index + 1 == self.count { f64::INFINITY } else { self.cut(index) },
        }
    }

    /// The last double that counts as point `index` and not as the next one: the midpoint, rounded down.
    pub fn cut(&self, index: u64) -> f64 {
        if let Some((start, step, denominator)) = self.plain {
            let doubled = 2 * (start + step * index as i64) + step;
            if doubled.abs() <= EXACT {
                let (numerator, denominator) = (doubled as f64, 2.0 * denominator);
                let quotient = numerator / denominator;
                // Fused, so the sign is that of the exact difference.
                let is_above = quotient.mul_add(denominator, -numerator) > 0.0;
                return if is_above { quotient.next_down() } else { quotient };
            }
        }
        let doubled = ((&self.start + IBig::from(&self.step * UBig::from(index))) << 1) + IBig::from(self.step.clone());
        floor_quotient(&doubled, &(&self.denominator << 1))
    }

    /// How many indices below `end` come before the first that is not `before`; `value` says where to look first.
    fn partition(&self, end: u64, value: f64, before: impl Fn(u64) -> bool) -> u64 {
        let (first, last) = (self.point(0), self.point(self.count - 1));
        let share = (value / 2.0 - first / 2.0) / (last / 2.0 - first / 2.0);
        let guess = ((share * (self.count - 1) as f64) as u64).min(end); // saturates, also for NaN
        // Everything below `low` is before, nothing from `high` on is; widen around the guess until that holds.
        let (mut low, mut high) = (guess, guess);
        let mut reach = 1;
        while low > 0 && !before(low - 1) {
            (low, high) = (low.saturating_sub(reach), low - 1);
            reach *= 2;
        }
        reach = 1;
        while high < end && before(high) {
            (low, high) = (high + 1, high.saturating_add(reach).min(end));
            reach *= 2;
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if before(middle) { low = middle + 1 } else { high = middle }
        }
        low
    }
}

/// All doubles from `low` to `high`; none if `low` is above `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValueInterval {
    pub low: f64,
    pub high: f64,
}

impl ValueInterval {
    #[inline(always)]
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;

    fn grid(start: i64, step: u64, denominator: u64, count: u64) -> Grid {
        Grid::new(start.into(), step.into(), denominator.into(), count).unwrap()
    }

    #[test]
    fn points_are_the_doubles_that_decimals_denote() {
        let cents = grid(0, 1, 100, 12_001);
        assert_eq!((cents.point(37), cents.point(12_000)), (0.37, 120.0));
        let tenths = grid(-3, 1, 10, 7);
        assert_eq!((0..7).map(|j| tenths.point(j)).collect::<Vec<_>>(), [-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3]);
        assert!(tenths.point(3).is_sign_positive());
        let huge = Grid::new(IBig::ZERO, UBig::from(10_u8).pow(299), UBig::ONE, 11).unwrap();
        assert_eq!((huge.point(1), huge.point(7), huge.point(10)), (1e299, 7e299, 1e300));
        let tiny = Grid::new(IBig::ONE, UBig::ONE, UBig::from(10_u8).pow(300), 9).unwrap();
        assert_eq!((tiny.point(0), tiny.point(8)), (1e-300, 9e-300));
    }

    #[test]
    fn machine_integers_and_large_ones_give_the_same_points() {
        let plain = grid(-1234, 7, 1000, 500);
        let large = Grid { plain: None, ..plain.clone() };
        assert!(plain.plain.is_some());
        assert!((0..500).all(|j| plain.point(j) == large.point(j)));
    }

    #[test]
    fn counts_agree_with_counting() {
        let mut entropy = seeded(81);
        let coarse = grid(1 << 53, 1, 2, 9); // steps of 1/2 where doubles are 1 apart: points repeat
        for grid in [grid(-20, 3, 10, 15), grid(5, 1, 1, 1), coarse] {
            let points: Vec<f64> = (0..grid.count()).map(|j| grid.point(j)).collect();
            for _ in 0..300 {
                let near = points[entropy.below(grid.count()) as usize];
                for value in [near, near + 0.01, near - 0.7, near.next_up(), -1e300, 1e300, f64::MAX, -f64::MAX] {
                    assert_eq!(grid.below(value), points.iter().filter(|point| **point < value).count() as u64);
                }
            }
        }
        let wide = Grid::new(IBig::from(-(1_i64 << 52)), UBig::ONE, UBig::ONE, 1 << 53).unwrap();
        assert_eq!((wide.below(0.0), wide.nearest(0.4)), (1 << 52, 1 << 52));
    }

    #[test]
    fn values_go_to_the_nearest_point() {
        let tenths = grid(-3, 1, 10, 7);
        let values = [-9.0, -0.3, -0.26, -0.24, 0.0, 0.049, 0.051, 0.3, f64::INFINITY, f64::NEG_INFINITY];
        assert_eq!(values.map(|value| tenths.nearest(value)), [0, 0, 0, 1, 3, 3, 4, 6, 6, 0]);
        assert_eq!(grid(5, 1, 1, 1).nearest(7.0), 0);
        // Midway is down; -1/4 is midway between exact tenths, though not between the doubles nearest to them.
        assert_eq!([-0.25, (-0.25_f64).next_up(), 0.25].map(|value| tenths.nearest(value)), [0, 1, 5]);
        assert_eq!([0.5, 1.5, 2.5, 2.5_f64.next_up()].map(|value| grid(0, 1, 1, 4).nearest(value)), [0, 1, 2, 3]);
    }

    /// By the definition, in integers: the number of midpoints below the value.
    #[test]
    fn the_nearest_point_is_that_of_the_exact_numbers() {
        let mut entropy = seeded(82);
        let large = Grid::new(IBig::from(-7) << 900, UBig::from(3_u8) << 897, UBig::from(7_u8), 40).unwrap();
        let plain = grid(-1234, 7, 1000, 500);
        let slow = Grid { plain: None, ..plain.clone() };
        for grid in [grid(-20, 3, 10, 15), grid(1 << 52, 3, 1, 9), grid(0, 1, 3, 7), plain, slow, large] {
            for _ in 0..400 {
                let index = entropy.below(grid.count());
                let near = [grid.point(index), grid.cut(index.min(grid.count() - 2))];
                for value in near.into_iter().flat_map(|at| [at, at.next_up(), at.next_down()]) {
                    let (mantissa, exponent) = crate::exact::rounding::parts(value);
                    let is_above = |index: u64| {
                        let doubled = &grid.start * 2 + IBig::from(&grid.step * UBig::from(2 * index + 1));
                        let (left, right) = (&mantissa * IBig::from(&grid.denominator << 1), doubled);
                        if exponent < 0 {
                            left > right << -exponent as usize
                        } else {
                            left << exponent as usize > right
                        }
                    };
                    let expected = (0..grid.count() - 1).filter(|index| is_above(*index)).count() as u64;
                    assert_eq!(grid.nearest(value), expected, "{value}");
                    assert!(grid.cell(expected).contains(value));
                }
            }
            assert!((0..grid.count()).all(|index| grid.nearest(grid.point(index)) == index));
        }
    }

    #[test]
    fn what_is_no_grid_is_refused() {
        let make = |step: u64, denominator: u64, count| Grid::new(IBig::ZERO, step.into(), denominator.into(), count);
        assert!(make(0, 1, 2).is_none() && make(1, 0, 2).is_none() && make(1, 1, 0).is_none());
        assert!(Grid::new(IBig::ZERO, UBig::from(10_u8).pow(309), UBig::ONE, 2).is_none());
    }
}
