//! Skipping along a line of items to the next one that is proposed, each with a small rate.
//!
//! Every item carries a rate (a multiple of 2^-60) and is proposed independently with probability 1 - exp(-rate). One lazy
//! uniform U decides how far the next proposed item is: none among items of total rate a if and only if U < exp(-a).

use dashu_int::UBig;

use crate::entropy::Entropy;
use crate::exact::coin::{Exponential, LazyUniform, Proposal, RATE_BITS, Stage, below};
use crate::exact::rational::scaled;

/// Wider than the logarithm's error, relative to it and absolute.
const MARGIN: f64 = 1e-12;

/// The way to the next proposed item.
pub struct Skipper {
    uniform: LazyUniform,
    /// A lower bound of -ln U in units of 2^-60, for the quick look.
    surely_beyond: u128,
    /// An upper bound of it.
    surely_within: u128,
}

impl Skipper {
    /// A new one, if the next proposed item lies within `total`; `None` if none is proposed within that.
    #[inline]
    pub fn within(total: u128, entropy: &mut Entropy) -> Option<Self> {
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
        Self { uniform, surely_beyond: rate((distance - slack).max(0.0)), surely_within }
    }

    /// How many items of this rate it passes at least; nearly always exactly.
    #[inline]
    pub fn surely_passes(&self, rate: u64) -> u64 {
        // Five roundings of 2^-53 each are less than the margin.
        (to_f64(self.surely_beyond) / rate as f64 * (1.0 - MARGIN)) as u64
    }

    /// Whether -ln U > rate, that is U < exp(-rate): no item is proposed within that total rate.
    #[inline]
    pub fn is_beyond(&mut self, rate: u128, entropy: &mut Entropy) -> bool {
        if rate < self.surely_beyond || rate > self.surely_within {
            return rate < self.surely_beyond;
        }
        let x = Exponential {
            approximate: to_f64(rate) / (1_u64 << RATE_BITS) as f64,
            exact: || scaled(UBig::from(rate), -i64::from(RATE_BITS)),
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
    use crate::entropy::testing::seeded;
    use crate::testing::assert_law;

    const ONE: u128 = 1 << RATE_BITS;

    #[test]
    fn the_place_is_where_the_uniform_says() {
        // U = exp(-2.25): with a rate of 1/2 an item, four are passed and the fifth is proposed.
        let head = (libm::exp(-2.25) * 18_446_744_073_709_551_616.0) as u64;
        let mut entropy = Entropy::scripted(&[head]);
        let mut skipper = Skipper::within(10 * ONE, &mut entropy).unwrap();
        assert_eq!(skipper.surely_passes(1 << 59), 4);
        assert!(skipper.is_beyond(4 << 59, &mut entropy) && !skipper.is_beyond(5 << 59, &mut entropy));
        // Near one an item is proposed at once, near zero hardly ever.
        assert_eq!(Skipper::within(ONE, &mut Entropy::scripted(&[u64::MAX])).unwrap().surely_passes(1 << 59), 0);
        assert!(Skipper::within(5 * ONE, &mut Entropy::scripted(&[1])).is_none());
    }

    #[test]
    fn places_are_exponential() {
        let mut entropy = seeded(11);
        let law =
            |rate: f64| [1.0 - libm::exp(-rate), libm::exp(-rate) - libm::exp(-3.0 * rate), libm::exp(-3.0 * rate)];
        assert_law("within a rate of 3/4 and of a quarter", 60_000, &law(0.25), &law(0.27), || {
            match Skipper::within(3 * ONE / 4, &mut entropy) {
                Some(mut skipper) => usize::from(skipper.is_beyond(ONE / 4, &mut entropy)),
                None => 2,
            }
        });
    }

    #[test]
    fn what_is_decided_at_a_glance_is_what_the_coin_decides() {
        let mut entropy = seeded(12);
        for step in 0..20_000 {
            let mut skipper = Skipper::at(LazyUniform::draw(&mut entropy));
            // Close to the place itself, a little below and a little above it.
            let rate = (skipper.surely_beyond as f64 * (1.0 + f64::from(step % 7 - 3) * 1e-12)) as u128;
            let at_a_glance = skipper.is_beyond(rate, &mut entropy);
            (skipper.surely_beyond, skipper.surely_within) = (0, u128::MAX);
            assert_eq!(skipper.is_beyond(rate, &mut entropy), at_a_glance);
        }
        // 1 - 1/8 is below exp(-1/8) = 0.8825: both of these are beyond, and one unit of 2^-10 above it is not.
        for (head, is_within) in [((7 << 61) - 1, false), (7 << 61, false), (905 << 54, true)] {
            assert_eq!(Skipper::within(1 << 57, &mut Entropy::scripted(&[head])).is_some(), is_within);
        }
    }
}
