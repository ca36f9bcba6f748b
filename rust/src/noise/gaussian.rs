//! The discrete Gaussian law: whole numbers y with probability proportional to exp(-y^2 / (2 variance)).
//!
//! A two-sided geometric proposal y of a whole scale t is kept with probability exp(-(|y| - variance / t)^2 / (2 variance))
//! (Canonne, Kamath and Steinke 2020). Proof: `proofs/discrete_gaussian.md`, claim 4.

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::exact::coin::{Exponential, flip};
use crate::exact::rational::{Rational, exactly, nearest_f64};
use crate::interrupt::check_deep;
use crate::noise::geometric::{Geometric, Noise};
use crate::scores::scale::Scale;

/// Within these no square and no quotient below leaves the normal doubles.
const VARIANCES: std::ops::Range<f64> = 1e-60..1e60;
const LARGEST_BLOCK: f64 = 9_007_199_254_740_992.0;

/// The law at one variance, exactly that double.
#[derive(Clone, Debug)]
pub struct Gaussian {
    proposals: Geometric,
    variance: f64,
    /// The scale t of the proposals.
    block: u64,
    /// The whole number nearest to variance / t, and what variance / t exceeds it by, correctly rounded.
    centre: i128,
    beyond: f64,
}

impl Gaussian {
    /// `block` is the scale of the proposals, a whole number; most are kept if it is about the root of the variance.
    ///
    /// # Errors
    /// `InvalidScale` unless the variance lies in [1e-60, 1e60) and `block` is a whole number from 1 to 2^53.
    pub fn new(variance: f64, block: f64) -> Result<Self, SelectError> {
        let is_whole = (1.0..=LARGEST_BLOCK).contains(&block) && block.fract() == 0.0;
        if !VARIANCES.contains(&variance) || !is_whole {
            return Err(SelectError::InvalidScale);
        }
        let proposals = Geometric::new(Scale::new(1.0, block, 1)?);
        let block = block as u64;
        let blocks = exactly(variance) / Rational::from(block);
        let centre = (&blocks + exactly(0.5)).floor();
        let beyond = nearest_f64(&(blocks - Rational::from(centre.clone())));
        // At most 1e60 * 2: below 2^201, but beyond 2^126 there is no proposal that reaches it.
        let centre = i128::try_from(centre).map_err(|_| SelectError::InvalidScale)?;
        Ok(Self { proposals, variance, block, centre, beyond })
    }

    /// One draw.
    #[inline]
    pub fn draw(&self, entropy: &mut Entropy) -> i128 {
        loop {
            // A block of at most 2^53 makes every proposal a small one.
            if let Noise::Small(proposed) = self.proposals.draw(entropy)
                && self.keeps(proposed, entropy)
            {
                return proposed;
            }
            check_deep();
        }
    }

    /// `value` plus a draw, moved into the machine's integers.
    #[inline]
    pub fn around(&self, value: i64, entropy: &mut Entropy) -> i64 {
        let noisy = i128::from(value) + self.draw(entropy);
        noisy.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    }

    #[inline]
    fn keeps(&self, proposed: i128, entropy: &mut Entropy) -> bool {
        let exact = || self.exact_exponent(proposed);
        flip(&Exponential { approximate: self.exponent(proposed), exact }, entropy)
    }

    /// (|y| - variance / t)^2 / (2 variance), with the contract of `Scale::exponent`.
    ///
    /// `beyond` is at most 1/2, and rounded by at most 2^-55, or by a relative 2^-53 if the whole part of the distance is
    /// 0. So the distance is off by at most 2.5 times 2^-53, its square by 6 times, the quotient by 7 times that: below
    /// 2^-50. It is 0 only if the true distance is.
    #[inline]
    fn exponent(&self, proposed: i128) -> f64 {
        let whole = proposed.unsigned_abs() as i128 - self.centre;
        let distance = whole as f64 - self.beyond;
        distance * distance / (2.0 * self.variance)
    }

    #[cold]
    fn exact_exponent(&self, proposed: i128) -> Rational {
        let variance = exactly(self.variance);
        let distance = Rational::from(proposed.unsigned_abs()) - &variance / Rational::from(self.block);
        &distance * &distance / (variance * Rational::from(2))
    }
}

#[cfg(test)]
#[path = "gaussian_tests.rs"]
mod tests;
