//! Integer upper bounds of the weights exp(-x): what draws propose by, so that only additions of integers are needed.

use crate::exact::coin::power_of_two;
use crate::scores::scale::Scale;
use crate::scores::score::Score;

/// Bounds are integers times `2^-bits`; at most this many bits.
const MOST_BITS: u32 = 40;
/// From this many halvings on every bound is 1.
const MOST_OCTAVES: f64 = 62.0;

/// Integer upper bounds of the weights exp(-x): `bound * 2^-bits`, at least 1.
#[derive(Clone, Copy, Debug)]
pub struct WeightBounds {
    pub bits: u32,
    /// 2^bits as a double.
    one: f64,
}

impl WeightBounds {
    /// As many bits as `count` of them can have with a sum below 2^63.
    pub fn for_count(count: usize) -> Self {
        let bits = MOST_BITS.min(62 - count.ilog2() - 1);
        Self { bits, one: power_of_two(bits as i32) }
    }

    /// The bound for something `octaves` (or a little more) halvings below the top; it never grows with `octaves`.
    ///
    /// Without branches, so that a loop over it is vectorised. Halvings are counted in steps of 2^-20, half a step to
    /// one and a half too few, and taken off the bits of 2^`bits` as one number: whole halvings come off the exponent,
    /// and what is left of one off the fraction, which is the chord 1 - f/2 above 2^-f. Adding 2^52 leaves the nearest
    /// integer in the low bits, and one more is certainly above. Proof: `proofs/exact_sampling.md`, "Weight bounds".
    #[inline(always)]
    pub fn at(self, octaves: f64) -> u64 {
        const TWO_TO_52: f64 = 4_503_599_627_370_496.0;
        const STEPS_PER_OCTAVE: f64 = 1_048_576.0;
        const ROUND: f64 = 1.5 * TWO_TO_52; // adding it rounds to an integer and leaves that in the low bits
        let octaves = if octaves < MOST_OCTAVES { octaves } else { MOST_OCTAVES };
        let steps = (octaves * STEPS_PER_OCTAVE + (ROUND - 1.0)).to_bits() << 32;
        let bound = f64::from_bits(self.one.to_bits().wrapping_sub(steps));
        ((bound + TWO_TO_52).to_bits() & ((1 << 52) - 1)) + 1
    }

    /// The bound of a score.
    #[inline(always)]
    pub fn of(self, scale: &Scale, top: Score, score: Score) -> u64 {
        self.at(scale.octaves(score.gap_below(top)))
    }

    /// What a weight with this bound is at least. The chord lies above the curve by a factor of 1.0615 at most, the steps
    /// and the rounding add less than two units.
    #[inline(always)]
    pub fn least(scale: &Scale, bound: u64) -> u64 {
        if scale.is_plain() { (bound - bound / 16).saturating_sub(3) } else { 0 }
    }

    /// The bound of probability one half: the largest that may be thinned.
    #[inline]
    pub fn half(self) -> u64 {
        1 << (self.bits - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::coin::exp_negative_f64;

    #[test]
    fn bounds_lie_above_the_probabilities_and_close_to_them() {
        let scale = Scale::new(1.0, 1.0, 2).unwrap();
        for count in [1, 1000, 1 << 30, 1 << 40] {
            let bounds = WeightBounds::for_count(count);
            let one = power_of_two(bounds.bits as i32);
            let fine = (0..4000).map(|step| f64::from(step) / 2_f64.powi(21)); // half steps of the fixed point
            let coarse = (0..6100).map(|step| f64::from(step) / 100.0 + 0.003);
            let whole = (0..62).flat_map(|whole| [f64::from(whole), f64::from(whole + 1).next_down()]);
            let mut before = u64::MAX;
            for octaves in fine.chain(coarse).chain(whole) {
                // What is only nearly a lower bound of the truth counts as one.
                for given in [octaves, octaves * (1.0 + 2_f64.powi(-28))] {
                    let bound = bounds.at(given) as f64;
                    let truth = one * exp_negative_f64((octaves * std::f64::consts::LN_2).min(90.0));
                    assert!(bound >= truth, "{octaves} octaves");
                    assert!(WeightBounds::least(&scale, bound as u64) as f64 <= truth, "{octaves} octaves: {bound}");
                    assert!(bound <= truth * 1.07 + 2.0, "{octaves} octaves: {bound} against {truth}");
                }
            }
            for step in 0..=62 << 10 {
                let bound = bounds.at(f64::from(step) / 1024.0);
                assert!(bound <= before, "larger gaps have no larger bounds");
                before = bound;
            }
            assert!(bounds.at(0.0) >= 1 << bounds.bits);
            assert_eq!((bounds.at(62.0), bounds.at(1e300), bounds.at(f64::INFINITY)), (1, 1, 1));
            assert!((count as u128) * u128::from(bounds.at(0.0)) < 1 << 63, "sums fit");
        }
    }
}
