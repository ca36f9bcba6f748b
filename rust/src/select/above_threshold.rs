//! Above-threshold: a stream of numbers, each compared with a public threshold behind one secret offset.
//!
//! The offset is b1 R for one standard exponential R, of which only the bits that were needed exist. A number q is above with
//! probability min(1, exp(-(threshold + b1 R - q) / b2)): one coin, by a lazy uniform of its own. The noise that belongs to q
//! is never drawn. Proof: `proofs/above_threshold.md`.

use zeroize::Zeroize;

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::exact::coin::{LazyUniform, TWO_TO_64, decided, exp_negative_f64};
use crate::exact::lazy_variate::Variate;
use crate::exact::rational::{Rational, exactly, nearest_f64};

/// What is public of a stream: the threshold and both rates.
pub struct Setting {
    threshold: Rational,
    /// 1/b2: how much of the exponent a unit of the numbers is.
    rate: Rational,
    /// b1/b2: how much of it a unit of R is.
    ratio: Rational,
    /// The same three, each the nearest double; NaN where one is too large or too small to be multiplied in doubles.
    near: [f64; 3],
    /// How far the first of them may be from the threshold.
    error: f64,
}

impl Setting {
    /// b1 = `sensitivity / first`, b2 = `sensitivity / second`.
    ///
    /// # Errors
    /// `InvalidScale` unless the last three are finite and positive.
    pub fn new(threshold: Rational, first: f64, second: f64, sensitivity: f64) -> Result<Self, SelectError> {
        if ![first, second, sensitivity].iter().all(|value| value.is_finite() && *value > 0.0) {
            return Err(SelectError::InvalidScale);
        }
        let rate = exactly(second) / exactly(sensitivity);
        let ratio = exactly(second) / exactly(first);
        let near = [&threshold, &rate, &ratio].map(nearest_f64);
        let is_plain = near[0].abs() < 1e100 && near[1..].iter().all(|rate| (1e-100..1e100).contains(rate));
        let error = if is_plain && exactly(near[0]) == threshold { 0.0 } else { near[0].abs() * EPSILON };
        Ok(Self { threshold, rate, ratio, near: if is_plain { near } else { [f64::NAN; 3] }, error })
    }

    /// (threshold - number) / b2 exactly.
    fn exponent(&self, number: &Rational) -> Rational {
        (&self.threshold - number) * &self.rate
    }
}

/// A bound, with a margin, on the relative error of one rounding.
const EPSILON: f64 = 1.0 / (1_u64 << 51) as f64;
/// Beyond this exponent the exact comparison is asked, unless the coin's first bits are decided already.
const LARGEST_EXPONENT: f64 = 60.0;
/// An error of the exponent beyond which doubles do not decide.
const LARGEST_ERROR: f64 = 1e-6;

/// One stream: its offset is secret, and is gone once it is not needed any more.
pub struct Stream {
    terms: Setting,
    /// None once the stream has ended.
    offset: Option<Box<Variate>>,
    left: u64,
    owner: u32,
}

/// Why a stream does not answer. Public: it follows from what was answered before, or from what the caller did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It has said yes as often as was paid for, or was closed.
    Over,
    /// This process is a child of the one that paid.
    AnotherProcess,
}

impl Stream {
    /// A stream that says yes at most `positives` times.
    pub fn begin(terms: Setting, positives: u64, entropy: &mut Entropy) -> Self {
        let offset = Some(Box::new(Variate::exponential(entropy)));
        Self { terms, offset, left: positives, owner: std::process::id() }
    }

    /// Forget the offset. Nothing is answered from now on.
    pub fn close(&mut self) {
        if let Some(mut offset) = self.offset.take() {
            offset.zeroize();
        }
    }

    pub fn is_open(&self) -> bool {
        self.offset.is_some()
    }

    fn offset(&mut self) -> Result<&mut Variate, Ended> {
        if self.owner != std::process::id() {
            self.close();
            return Err(Ended::AnotherProcess);
        }
        self.offset.as_deref_mut().ok_or(Ended::Over)
    }

    /// Whether `number`, a finite double, is above: one coin.
    ///
    /// # Errors
    /// `Ended` if the stream may not answer any more; nothing is drawn then.
    #[inline]
    pub fn test(&mut self, number: f64, entropy: &mut Entropy) -> Result<bool, Ended> {
        self.offset()?;
        let mut coin = LazyUniform::draw(entropy);
        let is_above = match self.at_a_glance(coin.head(), number) {
            Some(decision) => decision,
            None => self.is_above(&mut coin, &exactly(number), entropy)?,
        };
        self.answered(is_above);
        Ok(is_above)
    }

    /// Whether `number` is above.
    ///
    /// # Errors
    /// `Ended` as [`Stream::test`].
    pub fn test_exactly(&mut self, number: &Rational, entropy: &mut Entropy) -> Result<bool, Ended> {
        self.offset()?;
        let mut coin = LazyUniform::draw(entropy);
        let is_above = self.is_above(&mut coin, number, entropy)?;
        self.answered(is_above);
        Ok(is_above)
    }

    /// The answer that doubles are certain of.
    #[inline]
    fn at_a_glance(&self, head: u64, number: f64) -> Option<bool> {
        let [threshold, rate, ratio] = self.terms.near;
        let drawn = self.offset.as_deref()?.near();
        let gap = (threshold - number) * rate;
        let raised = ratio * drawn;
        let x = gap + raised;
        // Each product carries three roundings at most, and the offset is known to its first 64 bits.
        let error = (gap.abs() + raised) * (4.0 * EPSILON) + self.terms.error * rate + ratio * (2.0 / TWO_TO_64);
        // Not a number, wherever something is too large.
        if !(error < LARGEST_ERROR && number.abs() < 1e100) {
            return None;
        }
        let (least, most) = (x - error, x + error);
        if most <= 0.0 {
            return Some(true);
        }
        if least > LARGEST_EXPONENT {
            // exp(-60) < 2^-86: below the first bit that is known of most coins.
            return (head > 0).then_some(false);
        }
        // The exponential adds a relative 2^-50.
        let (low, high) = (exp_negative_f64(most), exp_negative_f64(least.max(0.0)));
        decided(head, low * (1.0 - MARGIN), high * (1.0 + MARGIN))
    }

    /// Whether coin < exp(-(exponent + ratio R)), as real numbers.
    #[cold]
    fn is_above(&mut self, coin: &mut LazyUniform, number: &Rational, entropy: &mut Entropy) -> Result<bool, Ended> {
        let (start, ratio) = (self.terms.exponent(number), self.terms.ratio.clone());
        let cost = |offset: &Rational| (&start + &ratio * offset).max(Rational::ZERO);
        Ok(self.offset()?.survives_exactly(coin, cost, entropy))
    }

    fn answered(&mut self, is_above: bool) {
        if is_above {
            self.left -= 1;
            if self.left == 0 {
                self.close();
            }
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.close();
    }
}

/// Relative: a few roundings, and those of the exponential.
const MARGIN: f64 = 1.0 / (1_u64 << 48) as f64;

#[cfg(test)]
#[path = "above_threshold_tests.rs"]
mod tests;
