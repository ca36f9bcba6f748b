//! A real number of a known law of which only the bits asked for exist: uniform on [0, 1), or standard exponential.
//!
//! Whatever is decided about it is decided by the bits drawn so far, so those not yet drawn stay fair.
//! Proof: `proofs/falling_scores.md`, "Drawing".

use dashu_int::UBig;
use zeroize::Zeroize;

use crate::entropy::Entropy;
use crate::exact::coin::{LazyUniform, TWO_TO_64, decided, exp_negative_f64, power_of_two};
use crate::exact::decision::{Lazy, decide, is_less};
use crate::exact::exp_enclosure::exp_negative;
use crate::exact::extended_float::Extended;
use crate::exact::rational::{Rational, scaled};

/// `whole + V` for a lazy uniform V.
pub struct Variate {
    whole: u64,
    fraction: LazyUniform,
}

impl Variate {
    pub fn uniform(entropy: &mut Entropy) -> Self {
        Self { whole: 0, fraction: LazyUniform::draw(entropy) }
    }

    /// A standard exponential (von Neumann 1951): a fraction v is kept with probability exp(-v), and each one that is not
    /// adds 1 to the whole part.
    pub fn exponential(entropy: &mut Entropy) -> Self {
        let mut whole = 0;
        loop {
            let mut fraction = LazyUniform::draw(entropy);
            if run_is_even(&mut fraction, entropy) {
                return Self { whole, fraction };
            }
            whole += 1;
        }
    }

    /// The number to its first 64 bits after the point, rounded: it is at most 2^-63 and a relative 2^-52 from this.
    #[inline]
    pub fn near(&self) -> f64 {
        self.whole as f64 + self.fraction.head() as f64 / TWO_TO_64
    }

    /// The number lies in `[low, low + 1) * 2^-bits`.
    pub fn cell(&self) -> (UBig, usize) {
        let (cell, bits) = self.fraction.cell();
        ((UBig::from(self.whole) << bits) + cell, bits)
    }

    /// Whether the number is below `bound` (that they are equal has probability zero).
    pub fn is_below(&mut self, bound: &Rational, entropy: &mut Entropy) -> bool {
        decide(self, entropy, |variate| is_less(&variate.ends(), &(bound.clone(), bound.clone())))
    }

    /// A coin that shows heads with probability exp(-(linear + quadratic v) v) of the number v, for coefficients >= 0.
    pub fn survives(&mut self, linear: &Rational, quadratic: &Rational, entropy: &mut Entropy) -> bool {
        let mut coin = LazyUniform::draw(entropy);
        self.certainly_survives(coin.head(), linear, quadratic)
            .unwrap_or_else(|| self.survives_exactly(&mut coin, |v| (linear + quadratic * v) * v, entropy))
    }

    /// Whether a coin with these first 64 bits shows heads, if doubles can tell.
    fn certainly_survives(&self, head: u64, linear: &Rational, quadratic: &Rational) -> Option<bool> {
        // Costs are off by a relative 2^-49, which below 40 is 2^-43 of the exponential; that adds 2^-50.
        const MARGIN: f64 = 1.0 / (1_u64 << 42) as f64;
        let slack = power_of_two(-51);
        let near = self.near();
        let (low, high) = (near - near * slack, near + near * slack + 1.0 / TWO_TO_64);
        let as_double = |number: &Rational| Extended::from_rational(number).times_power_of_two(0);
        let (linear, quadratic) = (as_double(linear), as_double(quadratic));
        let cost = |v: f64| (linear + quadratic * v) * v;
        let (least, most) = (cost(low), cost(high));
        if most.is_nan() || most > 40.0 {
            return None;
        }
        decided(head, exp_negative_f64(most) * (1.0 - MARGIN), exp_negative_f64(least) * (1.0 + MARGIN))
    }

    /// Whether a coin that shows heads with probability exp(-cost) of the number's cost, which rises with it, does.
    #[cold]
    #[inline(never)]
    pub fn survives_exactly(
        &mut self,
        coin: &mut LazyUniform,
        cost: impl Fn(&Rational) -> Rational,
        entropy: &mut Entropy,
    ) -> bool {
        decide(&mut (coin, self), entropy, |(coin, variate)| {
            let (cell, bits) = coin.cell();
            let precision = bits + 64;
            let (low, high) = variate.ends();
            let least = exp_negative(&cost(&high), precision).low;
            let most = exp_negative(&cost(&low), precision).high;
            is_less(&(&cell << 64, (&cell + UBig::ONE) << 64), &(least, most))
        })
    }

    /// Both ends of the cell.
    pub fn ends(&self) -> (Rational, Rational) {
        let (low, bits) = self.cell();
        let end = |cell: UBig| scaled(cell, -(bits as i64));
        let high = end(&low + UBig::ONE);
        (end(low), high)
    }
}

impl Zeroize for Variate {
    fn zeroize(&mut self) {
        self.whole.zeroize();
        self.fraction.zeroize();
    }
}

impl Lazy for Variate {
    fn refine(&mut self, entropy: &mut Entropy) {
        self.fraction.refine(entropy);
    }
}

/// Whether an even number of further uniforms, drawn while each is below the one before, are below `first` = v: they are n
/// or more with probability v^n / n!, so this has probability exp(-v).
fn run_is_even(first: &mut LazyUniform, entropy: &mut Entropy) -> bool {
    let mut next = LazyUniform::draw(entropy);
    if !is_below(&mut next, first, entropy) {
        return true;
    }
    let mut is_even = false;
    loop {
        let mut last = next;
        next = LazyUniform::draw(entropy);
        if !is_below(&mut next, &mut last, entropy) {
            return is_even;
        }
        is_even = !is_even;
    }
}

/// Whether a < b, as real numbers.
pub(crate) fn is_below(a: &mut LazyUniform, b: &mut LazyUniform, entropy: &mut Entropy) -> bool {
    if a.head() != b.head() {
        return a.head() < b.head();
    }
    // To the same number of bits first; then the first that differ decide.
    while a.cell().1 < b.cell().1 {
        a.refine(entropy);
    }
    while b.cell().1 < a.cell().1 {
        b.refine(entropy);
    }
    decide(&mut (a, b), entropy, |(a, b)| {
        let (a, b) = (a.cell().0, b.cell().0);
        (a != b).then(|| a < b)
    })
}

#[cfg(test)]
#[path = "lazy_variate_tests.rs"]
mod tests;
