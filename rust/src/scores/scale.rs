//! The scale b = factor * sensitivity / epsilon and the exponent x = (top - score) / b of a candidate.

use crate::error::SelectError;
use crate::exact::coin::power_of_two;
use crate::exact::rational::{Rational, exactly, nearest_f64};
use crate::scores::score::Score;

/// Gaps and reciprocal scales in this range multiply without leaving the normal doubles.
const PLAIN: std::ops::Range<f64> = 1e-140..1e140;

/// 1/b, once as a double and once exactly.
#[derive(Clone, Debug)]
pub struct Scale {
    /// 1/b with relative error at most 2^-52, where a normal double can hold it.
    reciprocal: f64,
    is_plain: bool,
    /// log2(e)/b, rounded towards 0, as two factors: the product of a gap with both leaves the doubles' range only where an
    /// upper bound of a weight may be taken from its ends. The first is 1 but for extreme scales.
    octaves_per_unit: [f64; 2],
    /// 1/b = fraction * 2^exponent with fraction in [1/2, 2) up to relative error 2^-52.
    fraction: f64,
    exponent: i64,
    exact: Rational,
}

impl Scale {
    /// b = `factor` * `sensitivity` / `epsilon`, exactly that quotient of doubles.
    ///
    /// # Errors
    /// `InvalidScale` unless all three are finite and positive.
    pub fn new(epsilon: f64, sensitivity: f64, factor: u8) -> Result<Self, SelectError> {
        let valid = |value: f64| value.is_finite() && value > 0.0;
        if !valid(epsilon) || !valid(sensitivity) || factor == 0 {
            return Err(SelectError::InvalidScale);
        }
        let (above, above_exponent) = libm::frexp(epsilon);
        let (below, below_exponent) = libm::frexp(sensitivity);
        let fraction = above / (below * f64::from(factor));
        let (fraction, shift) = libm::frexp(fraction);
        let exponent = i64::from(above_exponent) - i64::from(below_exponent) + i64::from(shift);
        let reciprocal = times_power_of_two(fraction, exponent);
        // Beyond 2^1900 every gap is many halvings, below 2^-1900 none is; in between both factors are normal doubles.
        let first = if exponent.abs() < 1000 { 0 } else { (exponent / 2).clamp(-950, 950) };
        let second = times_power_of_two(fraction, exponent.clamp(-1900, 1900) - first);
        let octaves_per_unit =
            [power_of_two(first as i32), second * std::f64::consts::LOG2_E * (1.0 - power_of_two(-50))];
        let exact = exactly(epsilon) / (exactly(sensitivity) * Rational::from(factor));
        Ok(Self { reciprocal, is_plain: PLAIN.contains(&reciprocal), octaves_per_unit, fraction, exponent, exact })
    }

    /// Whether 1/b is a double with room above and below, so that [`Scale::octaves`] is close to the truth while that is
    /// less than 2^60.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// log2(e)/b as one factor, as in [`Scale::octaves`], where 1/b is a double with room above and below.
    #[inline(always)]
    pub fn plain_octaves_per_unit(&self) -> Option<f64> {
        self.is_plain.then_some(self.octaves_per_unit[1])
    }

    /// x = (top - score) / b in doubles. If the result lies in [2^-60, 2^60] its relative error is at most 2^-50;
    /// if it is smaller, then x < 2^-59; if it is larger, then x > 2^59. It is zero if and only if x is.
    #[inline(always)]
    pub fn exponent(&self, top: impl Into<Score>, score: impl Into<Score>) -> f64 {
        let (top, score) = (top.into(), score.into());
        let gap = score.gap_below(top);
        if self.is_plain && (gap == 0.0 || PLAIN.contains(&gap)) {
            gap * self.reciprocal
        } else {
            self.extreme_exponent(top, score)
        }
    }

    /// The same, with the same contract, for a finite gap known with relative error at most 2^-51.
    #[inline]
    pub fn exponent_of_gap(&self, gap: f64) -> f64 {
        if self.is_plain && (gap == 0.0 || PLAIN.contains(&gap)) {
            gap * self.reciprocal
        } else {
            self.extreme_exponent_of_gap(gap, self.exponent)
        }
    }

    /// `gap / b` exactly.
    pub fn exact_exponent_of_gap(&self, gap: &Rational) -> Rational {
        gap * &self.exact
    }

    #[cold]
    #[inline(never)]
    fn extreme_exponent(&self, top: Score, score: Score) -> f64 {
        let gap = score.gap_below(top);
        if gap < f64::INFINITY {
            return self.extreme_exponent_of_gap(gap, self.exponent);
        }
        // Beyond the doubles, which hold its half.
        let half = score.exact_gap_below(top) / Rational::from(2);
        self.extreme_exponent_of_gap(nearest_f64(&half), self.exponent + 1)
    }

    /// `gap * fraction * 2^exponent`, kept within [2^-70, 2^70] unless it is zero.
    fn extreme_exponent_of_gap(&self, gap: f64, exponent: i64) -> f64 {
        if gap == 0.0 {
            return 0.0;
        }
        let (fraction, shift) = libm::frexp(gap);
        times_power_of_two(fraction * self.fraction, exponent + i64::from(shift))
            .clamp(power_of_two(-70), power_of_two(70))
    }

    /// About how far below the top a score has this exponent, infinite beyond the doubles; only for choices that any number
    /// would be right for. The reciprocal would not do: where it overflows, every gap would be 0.
    pub fn gap_of(&self, exponent: f64) -> f64 {
        times_power_of_two(exponent / self.fraction, -self.exponent)
    }

    /// The least `bits` with `2^bits / b >= 1/2`, up to a relative 2^-51.
    pub fn block_bits(&self) -> usize {
        // 1/b lies in [1/2, 1) * 2^exponent.
        usize::try_from(-self.exponent).unwrap_or(0)
    }

    /// `2^bits / b`, with the contract of [`Scale::exponent`].
    #[inline]
    pub fn exponent_of_block(&self, bits: usize) -> f64 {
        self.extreme_exponent_of_gap(1.0, self.exponent + bits as i64)
    }

    /// x exactly.
    pub fn exact_exponent(&self, top: impl Into<Score>, score: impl Into<Score>) -> Rational {
        score.into().exact_gap_below(top.into()) * &self.exact
    }

    /// A lower bound, up to relative error 2^-50 and absolute error 2^-800, of x / ln 2: how many times the weight of a score
    /// so far below the top halves. A gap that a double cannot hold counts as the largest double. Never NaN, may be infinite.
    #[inline(always)]
    pub fn octaves(&self, gap: f64) -> f64 {
        let [first, second] = self.octaves_per_unit;
        (if gap < f64::MAX { gap } else { f64::MAX }) * first * second
    }
}

/// `value * 2^exponent` for any exponent; overflows to infinity, underflows to 0.
fn times_power_of_two(value: f64, exponent: i64) -> f64 {
    libm::scalbn(value, exponent.clamp(-5000, 5000) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_is_not_finite_and_positive() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Scale::new(bad, 1.0, 1).err(), Some(SelectError::InvalidScale));
            assert_eq!(Scale::new(1.0, bad, 2).err(), Some(SelectError::InvalidScale));
        }
    }

    #[test]
    fn the_factor_and_the_direction_of_the_quotient() {
        let scale = Scale::new(1.0, 4.0, 2).unwrap();
        assert_eq!(scale.exponent(10.0, 2.0), 1.0);
        let exact = scale.exact_exponent(10_i64, 2_i64);
        assert_eq!(exact, Rational::ONE);
        assert_eq!(Scale::new(1.0, 4.0, 1).unwrap().exponent(10.0, 2.0), 2.0);
    }

    #[test]
    fn halvings_are_those_of_the_exponent_at_any_scale() {
        let numbers = [5e-324, 1e-308, 1e-200, 1e-100, 1.0, 3.0, 1e100, 1e200, 1e300, f64::MAX];
        for (epsilon, sensitivity) in numbers.iter().flat_map(|&a| numbers.map(|b| (a, b))) {
            let scale = Scale::new(epsilon, sensitivity, 2).unwrap();
            for gap in numbers {
                let (octaves, x) = (scale.octaves(gap), scale.exponent(gap, 0.0));
                let truth = x * std::f64::consts::LOG2_E;
                if x < 2_f64.powi(-59) {
                    assert!((0.0..2_f64.powi(-58)).contains(&octaves), "{epsilon} {sensitivity} {gap}");
                } else if x > 2_f64.powi(59) {
                    assert!(octaves > 2_f64.powi(58), "{epsilon} {sensitivity} {gap}");
                } else {
                    assert!(octaves <= truth * (1.0 + 1e-14) && octaves >= truth * (1.0 - 1e-14));
                }
            }
        }
    }

    #[test]
    fn extreme_scales_keep_the_contract() {
        let tiny = Scale::new(5e-324, 1e300, 2).unwrap();
        assert!(tiny.exponent(1.7e308, -1.7e308) < 2_f64.powi(-60));
        assert!(tiny.octaves(f64::INFINITY) < 1e-200);
        let huge = Scale::new(1e300, 5e-324, 1).unwrap();
        assert!(huge.exponent(1.0, 0.0) > 2_f64.powi(60));
        assert_eq!(huge.exponent(1.0, 1.0), 0.0);
        assert_eq!(huge.octaves(0.0), 0.0);
        // Both ends extreme, the quotient ordinary: b = 2 * 1e300 / 1e300.
        let ordinary = Scale::new(1e300, 1e300, 2).unwrap();
        assert_eq!(ordinary.exponent(3.0, 1.0), 1.0);
        // The scale is extreme, the exponent ordinary.
        let wide = Scale::new(1.0, 1e308, 1).unwrap();
        let exponent = wide.exponent(1.7e308, -1.7e308);
        assert!((exponent - 3.4).abs() < 1e-14);
        let exact = wide.exact_exponent(1.7e308, -1.7e308);
        assert_eq!((exact * Rational::from(100)).floor(), 339.into());
    }
}
