//! A uniform real point of an interval, rounded once to the nearest double.
//!
//! The point is the exact number low + (high - low) V for a lazy uniform V. Its bits are drawn until both ends of the
//! cell it lies in round to the same double; asked how it compares with a double it tells the truth about the point
//! itself. Proof: `proofs/exact_sampling.md`, "Points".

use dashu_int::{IBig, UBig};

use crate::entropy::Entropy;
use crate::exact::coin::LazyUniform;
use crate::exact::decision::{Lazy, decide, is_less};
use crate::exact::rounding::{nearest, parts};

/// `(start + width * V) * 2^exponent`.
pub struct Point {
    start: IBig,
    width: IBig,
    exponent: i64,
    uniform: LazyUniform,
}

impl Point {
    /// A point of [low, high], finite doubles with `low < high`.
    pub fn draw(low: f64, high: f64, entropy: &mut Entropy) -> Self {
        let ((low, low_exponent), (high, high_exponent)) = (parts(low), parts(high));
        let exponent = low_exponent.min(high_exponent);
        let start = low << (low_exponent - exponent) as usize;
        let width = (high << (high_exponent - exponent) as usize) - &start;
        Self { start, width, exponent, uniform: LazyUniform::draw(entropy) }
    }

    /// The ends of the cell the point is known to lie in, as integers times 2 to the third value.
    fn cell(&self) -> (IBig, IBig, i64) {
        let (cell, bits): (UBig, usize) = self.uniform.cell();
        let low = (&self.start << bits) + &self.width * IBig::from(cell);
        let high = &low + &self.width;
        (low, high, self.exponent - bits as i64)
    }

    /// The double nearest to the point.
    pub fn rounded(&mut self, entropy: &mut Entropy) -> f64 {
        decide(self, entropy, |point| {
            let (low, high, exponent) = point.cell();
            let rounded = nearest(&low, exponent);
            (rounded == nearest(&high, exponent)).then_some(rounded)
        })
    }

    /// Whether the point itself lies above `value` (that they are equal has probability zero).
    pub fn is_above(&mut self, value: f64, entropy: &mut Entropy) -> bool {
        let (mantissa, value_exponent) = parts(value);
        decide(self, entropy, |point| {
            let (low, high, exponent) = point.cell();
            let common = exponent.min(value_exponent);
            let at = |integer: IBig, exponent: i64| integer << (exponent - common) as usize;
            let value = at(mantissa.clone(), value_exponent);
            is_less(&(value.clone(), value), &(at(low, exponent), at(high, exponent)))
        })
    }
}

impl Lazy for Point {
    fn refine(&mut self, entropy: &mut Entropy) {
        self.uniform.refine(entropy);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;
    use crate::testing::assert_law;

    fn rounded(low: f64, high: f64, words: &[u64]) -> (f64, usize) {
        let mut entropy = Entropy::scripted(words);
        let value = Point::draw(low, high, &mut entropy).rounded(&mut entropy);
        (value, entropy.taken())
    }

    #[test]
    fn a_point_is_rounded_once() {
        assert_eq!(rounded(0.0, 1.0, &[1 << 63, 0]), (0.5, 1));
        assert_eq!(rounded(1.0, 3.0, &[1 << 62, 0]), (1.5, 1));
        assert_eq!(rounded(-1.0, 1.0, &[1 << 63, 1 << 63]), (2_f64.powi(-64), 2));
        // Half a unit in the last place above 1: the cell [0, 2^-64) above the tie belongs to the upper neighbour.
        assert_eq!(rounded(1.0, 2.0, &[1 << 11, 1]), (1.0 + f64::EPSILON, 2));
        assert_eq!(rounded(1.0, 2.0, &[(1 << 11) - 1]), (1.0, 1));
        // With both ends far apart, the small result has all its bits.
        assert_eq!(rounded(0.0, 1.7e308, &[0, 0, 1 << 63]).1, 3);
    }

    #[test]
    fn the_ends_are_met_and_never_passed() {
        let mut entropy = seeded(71);
        for (low, high) in [(1.0, 1.0 + f64::EPSILON), (0.0, 5e-324), (-5e-324, 5e-324), (-f64::MAX, f64::MAX)] {
            for _ in 0..500 {
                let value = Point::draw(low, high, &mut entropy).rounded(&mut entropy);
                assert!(low <= value && value <= high);
                assert!(value != 0.0 || value.is_sign_positive());
            }
        }
    }

    #[test]
    fn doubles_come_as_often_as_their_neighbourhoods_are_long() {
        let mut entropy = seeded(72);
        // Around 1 the doubles below lie half as far apart as those above.
        let (low, high) = (1.0 - 2.0 * f64::EPSILON, 1.0 + 2.0 * f64::EPSILON);
        let law = [0.0625, 0.125, 0.125, 0.125, 0.1875, 0.25, 0.125];
        let wrong = [0.0625, 0.125, 0.125, 0.125, 0.125, 0.3125, 0.125];
        assert_law("around 1", 50_000, &law, &wrong, || {
            let value = Point::draw(low, high, &mut entropy).rounded(&mut entropy);
            let steps = (value - low) / (f64::EPSILON / 2.0);
            [0, 1, 2, 3, 4, 5, 5, 6, 6][steps as usize]
        });
        let denormals = [0.125, 0.25, 0.25, 0.25, 0.125];
        assert_law("denormals", 50_000, &denormals, &[0.2; 5], || {
            (Point::draw(0.0, 2e-323, &mut entropy).rounded(&mut entropy) / 5e-324) as usize
        });
    }

    #[test]
    fn comparisons_are_about_the_point_and_not_about_its_rounding() {
        for (second, expected) in [(0, false), (u64::MAX, true)] {
            // The first word leaves the cell [1 - 2^-64 + .., ..] around 1: -1 + 4 V with V = 1/2 - 2^-64 + ...
            let mut entropy = Entropy::scripted(&[(1 << 63) - 1, second, second, second]);
            let mut point = Point::draw(-1.0, 3.0, &mut entropy);
            assert!(!point.is_above(1.0, &mut entropy));
            assert_eq!(entropy.taken(), 1);
            let mut entropy = Entropy::scripted(&[1 << 62, second, second, second]);
            let mut point = Point::draw(1.0, 2.0, &mut entropy);
            let value = point.rounded(&mut entropy);
            assert_eq!(value, 1.25);
            assert!(point.is_above(1.25, &mut entropy));
            let above = 1.25 + 2_f64.powi(-65);
            assert_eq!(above, 1.25, "no double tells them apart");
            let mut entropy = Entropy::scripted(&[0, second, second]);
            let mut point = Point::draw(0.0, 1.0, &mut entropy);
            assert_eq!(point.is_above(2_f64.powi(-65), &mut entropy), expected);
            assert_eq!(entropy.taken(), 2);
        }
    }
}
