//! Skipping along a line of items to the next one that an exponential clock of small rate rings for.
//!
//! Every item carries a rate (a multiple of 2^-60) and rings independently with probability 1 - exp(-rate). One lazy
//! uniform U decides how far the next ringing item is: none among items of total rate a if and only if U < exp(-a).

use dashu_int::UBig;

use crate::entropy::Entropy;
use crate::numbers::coin::{Exponential, LazyUniform, Proposal, RATE_BITS, Stage, below};
use crate::numbers::exp_enclosure::Ratio;

/// Wider than the logarithm's error, relative to it and absolute.
const MARGIN: f64 = 1e-12;

/// A rate such that 1 - exp(-rate) is at least `weight * 2^-bits`, for a weight bound of at most 0.58.
///
/// -ln(1 - w) <= 3/2 w for 0 <= w <= 0.58, by convexity and at the end -ln(0.42) < 0.87.
#[inline]
pub fn rate_for(weight: u64, bits: u32) -> u64 {
    debug_assert!(weight <= (1 << (bits - 1)) + 2);
    (3 * weight) << (RATE_BITS - 1 - bits)
}

/// The way to the next ringing item.
pub struct Skipper {
    uniform: LazyUniform,
    /// A lower bound of -ln U in units of 2^-60, for the quick look.
    surely_beyond: u128,
    /// An upper bound of it.
    surely_within: u128,
    /// Total rate passed since the last ringing item.
    passed: u128,
}

impl Skipper {
    pub fn new<E: Entropy>(entropy: &mut E) -> Self {
        Self::at(LazyUniform::draw(entropy))
    }

    /// A new one, if the next ringing item lies within `total`; `None` if nobody rings within that.
    #[inline]
    pub fn within<E: Entropy>(total: u128, entropy: &mut E) -> Option<Self> {
        let uniform = LazyUniform::draw(entropy);
        // U < 1 - total <= exp(-total): no logarithm is needed to see that.
        if u128::from(uniform.head()) < (1_u128 << 64).saturating_sub(total << (64 - RATE_BITS)) {
            return None;
        }
        let mut skipper = Self::at(uniform);
        (!skipper.is_beyond(total, entropy)).then_some(skipper)
    }

    #[inline]
    fn at(uniform: LazyUniform) -> Self {
        let head = uniform.head() as f64;
        // U lies in [head, head + 1) 2^-64, so -ln U is larger than this by 1 / head at most.
        let distance = -libm::log((head + 1.0) / 18_446_744_073_709_551_616.0);
        let slack = MARGIN * (1.0 + distance);
        let rate = |distance: f64| (distance * (1_u64 << RATE_BITS) as f64) as u128;
        let is_narrow = uniform.head() > 1 << 40;
        let surely_within = if is_narrow { rate(distance + 2.0 * slack) } else { u128::MAX };
        Self { uniform, surely_beyond: rate((distance - slack).max(0.0)), surely_within, passed: 0 }
    }

    /// The position of the next ringing item among `count` items of this `rate`, or `None` after passing all of them.
    /// After an answer the walk goes on behind that item.
    #[inline]
    pub fn next<E: Entropy>(&mut self, count: usize, rate: u64, entropy: &mut E) -> Option<usize> {
        if count == 0 {
            return None;
        }
        let passed = self.passed + count as u128 * u128::from(rate);
        if self.is_beyond(passed, entropy) {
            self.passed = passed;
            return None;
        }
        // The first item whose end is not beyond. The ends are ordered, and so are the answers: all speak of one U.
        let (mut low, mut high) = (0, count - 1);
        let guess = (self.surely_beyond.saturating_sub(self.passed) / u128::from(rate)) as usize;
        let mut probe = guess;
        while low < high {
            let item = probe.clamp(low, high - 1);
            if self.is_beyond(self.passed + (item as u128 + 1) * u128::from(rate), entropy) {
                low = item + 1;
            } else {
                high = item;
            }
            // The guess is right or one short nearly always: look beside it once, then halve.
            probe = if item == guess { guess + 1 } else { low + (high - low) / 2 };
        }
        *self = Self::new(entropy);
        Some(low)
    }

    /// Pass items whose weights add up to `weights * 2^-bits` if it is certain at a glance that none of them rings;
    /// otherwise stay where the walk is. Each of them has to be one that [`rate_for`] takes.
    #[inline]
    pub fn passes(&mut self, weights: u64, bits: u32) -> bool {
        let passed = self.passed + ((3 * u128::from(weights)) << (RATE_BITS - 1 - bits));
        let is_certain = passed < self.surely_beyond;
        if is_certain {
            self.passed = passed;
        }
        is_certain
    }

    /// How many items of this rate it passes at least; nearly always exactly.
    #[inline]
    pub fn surely_passes(&self, rate: u64) -> u64 {
        // Five roundings of 2^-53 each are less than the margin.
        (to_f64(self.surely_beyond) / rate as f64 * (1.0 - MARGIN)) as u64
    }

    /// Whether -ln U > rate, that is U < exp(-rate): nobody rings within that total rate.
    #[inline]
    pub fn is_beyond<E: Entropy>(&mut self, rate: u128, entropy: &mut E) -> bool {
        if rate < self.surely_beyond || rate > self.surely_within {
            return rate < self.surely_beyond;
        }
        let x = Exponential {
            approximate: to_f64(rate) / (1_u64 << RATE_BITS) as f64,
            exact: || Ratio::scaled(UBig::from(rate), -i64::from(RATE_BITS)),
        };
        below(&mut self.uniform, &x, Proposal::Certain, Stage::WHOLE, entropy)
    }
}

/// As `rate as f64`, up to one more rounding, without a call into the runtime library.
#[inline]
fn to_f64(rate: u128) -> f64 {
    (rate >> 64) as u64 as f64 * 18_446_744_073_709_551_616.0 + rate as u64 as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::{Scripted, seeded};

    #[test]
    fn rates_cover_their_weights() {
        for (weight, bits) in [(1_u64, 40_u32), (1 << 39, 40), (12_345, 40), (1, 31), (1 << 30, 31)] {
            let covered = -libm::expm1(-(rate_for(weight, bits) as f64) / (1_u64 << RATE_BITS) as f64);
            assert!(covered >= weight as f64 / (1_u64 << bits) as f64);
        }
    }

    #[test]
    fn a_uniform_near_one_rings_at_once_and_near_zero_never() {
        let mut entropy = Scripted::new(&[u64::MAX]);
        let mut skipper = Skipper::new(&mut entropy);
        assert_eq!(skipper.next(10, 1 << 59, &mut entropy), Some(0));
        let mut entropy = Scripted::new(&[1]);
        let mut skipper = Skipper::new(&mut entropy);
        assert_eq!(skipper.next(10, 1 << 59, &mut entropy), None);
        assert_eq!(skipper.next(10, 1 << 59, &mut entropy), None);
    }

    #[test]
    fn the_position_is_where_the_uniform_says() {
        // U = exp(-2.25): with a rate of 1/2 an item, the fifth item (index 4) ends behind it.
        let head = (libm::exp(-2.25) * 18_446_744_073_709_551_616.0) as u64;
        for parts in [vec![20], vec![1, 19], vec![4, 16], vec![3, 1, 16], vec![2, 2, 1]] {
            let mut entropy = Scripted::new(&[head]);
            let mut skipper = Skipper::new(&mut entropy);
            let mut start = 0;
            let mut found = None;
            for part in parts {
                if let Some(offset) = skipper.next(part, 1 << 59, &mut entropy) {
                    found = Some(start + offset);
                    break;
                }
                start += part;
            }
            assert_eq!(found, Some(4));
        }
    }

    #[test]
    fn what_is_decided_at_a_glance_is_what_the_coin_decides() {
        let mut entropy = seeded(12);
        for step in 0..20_000 {
            let mut skipper = Skipper::new(&mut entropy);
            // Close to the place itself, a little below and a little above it.
            let rate = (skipper.surely_beyond as f64 * (1.0 + f64::from(step % 7 - 3) * 1e-12)) as u128;
            let at_a_glance = skipper.is_beyond(rate, &mut entropy);
            (skipper.surely_beyond, skipper.surely_within) = (0, u128::MAX);
            assert_eq!(skipper.is_beyond(rate, &mut entropy), at_a_glance);
        }
        // 1 - 1/8 is below exp(-1/8) = 0.8825: both of these are beyond, and one unit of 2^-10 above it is not.
        for (head, is_within) in [((7 << 61) - 1, false), (7 << 61, false), (905 << 54, true)] {
            assert_eq!(Skipper::within(1 << 57, &mut Scripted::new(&[head])).is_some(), is_within);
        }
    }

    #[test]
    fn passing_at_a_glance_is_passing_one_by_one() {
        let mut passes = 0;
        for seed in 0..200 {
            let (weights, bits) = ([40_u64, 3, 90, 1, 7], 12);
            let (mut at_once, mut one_by_one) = (Skipper::new(&mut seeded(seed)), Skipper::new(&mut seeded(seed)));
            let mut entropy = seeded(0);
            if at_once.passes(weights.iter().sum(), bits) {
                passes += 1;
                for weight in weights {
                    assert_eq!(one_by_one.next(1, rate_for(weight, bits), &mut entropy), None);
                }
            }
            // Either way the walk goes on at the same place.
            assert_eq!(at_once.passed, if at_once.passed == 0 { 0 } else { one_by_one.passed });
        }
        assert!((150..200).contains(&passes), "{passes}: expected 200 exp(-3/2 141/4096)");
    }

    #[test]
    fn every_item_rings_independently_with_its_probability() {
        let mut entropy = seeded(11);
        let groups = [(3_usize, 1_u64 << 58), (5, 1 << 60), (100, 1 << 53)];
        let mut rings = [0_u32; 3];
        let rounds = 40_000;
        for _ in 0..rounds {
            let mut skipper = Skipper::new(&mut entropy);
            for (group, &(count, rate)) in groups.iter().enumerate() {
                let mut from = 0;
                while from < count
                    && let Some(offset) = skipper.next(count - from, rate, &mut entropy)
                {
                    rings[group] += 1;
                    from += offset + 1;
                }
            }
        }
        for (group, &(count, rate)) in groups.iter().enumerate() {
            let probability = -libm::expm1(-(rate as f64) / (1_u64 << RATE_BITS) as f64);
            let mean = count as f64 * f64::from(rounds) * probability;
            let deviation = (f64::from(rings[group]) - mean) / (mean * (1.0 - probability)).sqrt();
            assert!(deviation.abs() < 6.2, "group {group}: {deviation} standard deviations");
        }
    }
}
