//! A real number of a known law of which only the bits asked for exist: uniform on [0, 1), or standard exponential.
//!
//! Whatever is decided about it is decided by the bits drawn so far, so those not yet drawn stay fair.
//! Proof: `proofs/falling_scores.md`, "Drawing".

use dashu_int::UBig;

use crate::entropy::Entropy;
use crate::numbers::coin::{LazyUniform, exp_negative_f64};
use crate::numbers::exp_enclosure::{Ratio, exp_negative};
use crate::numbers::extended_float::Wide;

/// `whole + V` for a lazy uniform V.
pub struct Variate {
    whole: u64,
    fraction: LazyUniform,
}

impl Variate {
    pub fn uniform<E: Entropy>(entropy: &mut E) -> Self {
        Self { whole: 0, fraction: LazyUniform::draw(entropy) }
    }

    /// A standard exponential (von Neumann 1951): a fraction v is kept with probability exp(-v), and each one that is not
    /// adds 1 to the whole part.
    pub fn exponential<E: Entropy>(entropy: &mut E) -> Self {
        let mut whole = 0;
        loop {
            let mut fraction = LazyUniform::draw(entropy);
            if run_is_even(&mut fraction, entropy) {
                return Self { whole, fraction };
            }
            whole += 1;
        }
    }

    /// The number lies in `[low, low + 1) * 2^-bits`.
    #[must_use]
    pub fn cell(&self) -> (UBig, usize) {
        let (cell, bits) = self.fraction.cell();
        ((UBig::from(self.whole) << bits) + cell, bits)
    }

    pub fn refine<E: Entropy>(&mut self, entropy: &mut E) {
        self.fraction.refine(entropy);
    }

    /// Whether the number is below `bound` (that they are equal has probability zero).
    pub fn is_below<E: Entropy>(&mut self, bound: &Ratio, entropy: &mut E) -> bool {
        loop {
            let (low, bits) = self.cell();
            let right = &bound.numerator << bits;
            if (&low + UBig::ONE) * &bound.denominator <= right {
                return true;
            }
            if low * &bound.denominator >= right {
                return false;
            }
            self.refine(entropy);
        }
    }

    /// A coin that shows heads with probability exp(-cost(self)), for a cost that does not decrease.
    pub fn survives<E: Entropy>(&mut self, cost: impl Fn(&Ratio) -> Ratio, entropy: &mut E) -> bool {
        let mut coin = LazyUniform::draw(entropy);
        let (least, most) = self.enclose(&cost);
        decide(coin.head(), &least, &most).unwrap_or_else(|| self.survives_exactly(&mut coin, &cost, entropy))
    }

    /// The cost at both ends of the cell.
    fn enclose(&self, cost: impl Fn(&Ratio) -> Ratio) -> (Ratio, Ratio) {
        let (low, bits) = self.cell();
        let end = |cell: UBig| cost(&Ratio { numerator: cell, denominator: UBig::ONE << bits });
        let high = end(&low + UBig::ONE);
        (end(low), high)
    }

    #[cold]
    #[inline(never)]
    fn survives_exactly<E: Entropy>(
        &mut self,
        coin: &mut LazyUniform,
        cost: impl Fn(&Ratio) -> Ratio,
        entropy: &mut E,
    ) -> bool {
        loop {
            let (least_cost, most_cost) = self.enclose(&cost);
            let (cell, coin_bits) = coin.cell();
            let precision = coin_bits + 64;
            let least = exp_negative(&most_cost, precision).low;
            let most = exp_negative(&least_cost, precision).high;
            let at = |cell: UBig| cell << (precision - coin_bits);
            if at(&cell + UBig::ONE) <= least {
                return true;
            }
            if at(cell) >= most {
                return false;
            }
            coin.refine(entropy);
            self.refine(entropy);
        }
    }
}

/// Whether a coin with these first 64 bits shows heads, if doubles can tell at both of these costs.
fn decide(head: u64, least: &Ratio, most: &Ratio) -> Option<bool> {
    const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;
    // Below a cost of 40 its double is off by a relative 2^-53, which is 2^-47 of the exponential; that adds 2^-50.
    const MARGIN: f64 = 1.0 / (1_u64 << 42) as f64;
    let as_double = |cost: &Ratio| Wide::from_ratio(cost).times_power_of_two(0);
    let (least, most) = (as_double(least), as_double(most));
    if most > 40.0 {
        return None;
    }
    // `as` saturates.
    if head > (exp_negative_f64(least) * (1.0 + MARGIN) * TWO_TO_64) as u64 {
        return Some(false);
    }
    (head < (exp_negative_f64(most) * (1.0 - MARGIN) * TWO_TO_64) as u64).then_some(true)
}

/// Whether an even number of further uniforms, drawn while each is below the one before, are below `first` = v: they are n
/// or more with probability v^n / n!, so this has probability exp(-v).
fn run_is_even<E: Entropy>(first: &mut LazyUniform, entropy: &mut E) -> bool {
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
pub(crate) fn is_below<E: Entropy>(a: &mut LazyUniform, b: &mut LazyUniform, entropy: &mut E) -> bool {
    if a.head() != b.head() {
        return a.head() < b.head();
    }
    loop {
        let ((a_cell, a_bits), (b_cell, b_bits)) = (a.cell(), b.cell());
        let bits = a_bits.min(b_bits);
        let (a_known, b_known) = (a_cell >> (a_bits - bits), b_cell >> (b_bits - bits));
        if a_known != b_known {
            return a_known < b_known;
        }
        if a_bits == bits {
            a.refine(entropy);
        }
        if b_bits == bits {
            b.refine(entropy);
        }
    }
}

#[cfg(test)]
#[path = "lazy_variate_tests.rs"]
mod tests;
