//! Enclosures of exp(-x) in integers, at any precision: what a coin falls back on when doubles cannot decide.
//!
//! Only additions, multiplications and divisions of big integers with a known direction of rounding are used, so
//! that the proof (`proofs/exact_sampling.md`, "The fallback") needs nothing from a floating-point library.

use crate::interrupt::check_deep;
use dashu_int::UBig;
use dashu_int::ops::BitTest;

use crate::exact::rational::Rational;

/// `low * 2^-precision <= value <= high * 2^-precision`.
#[derive(Clone, Debug)]
pub struct Enclosure {
    pub low: UBig,
    pub high: UBig,
}

/// Enclose exp(-x) of an x >= 0 at `precision` bits after the point; the width tends to 0 as `precision` grows.
pub fn exp_negative(x: &Rational, precision: usize) -> Enclosure {
    debug_assert!(*x >= Rational::ZERO);
    let one = UBig::ONE << precision;
    if x.is_zero() {
        return Enclosure { low: one.clone(), high: one };
    }
    // x >= precision implies exp(-x) < 2^-precision: one unit in the last place says all there is to say.
    let above = x.magnitude();
    if above >= &x.denominator * UBig::from(precision) {
        return Enclosure { low: UBig::ZERO, high: UBig::ONE };
    }
    // Halve x until it is at most 1/2; each later squaring doubles the relative error, the guard bits pay for it.
    let whole_bits = (&above / &x.denominator).bit_len();
    let halvings = whole_bits + 1;
    let working = precision + 2 * halvings + 32;
    let numerator = above << working;
    let denominator = &x.denominator << halvings;
    let z_low = numerator / denominator;
    let z_high = &z_low + UBig::ONE;

    let mut low = exp_series(&z_low, working, 0);
    let mut high = exp_series(&z_high, working, 1);
    for _ in 0..halvings {
        low = (&low * &low) >> working;
        high = ((&high * &high) >> working) + UBig::ONE;
    }
    // exp(-x) = 1 / exp(x).
    let unit = UBig::ONE << (precision + working);
    Enclosure { low: &unit / &high, high: (unit / &low + UBig::ONE).min(one) }
}

/// A series of more bits than this takes long enough to be asked in between whether the call is to end.
const LONG: usize = 1 << 12;

/// exp(z) for 0 <= z <= 1/2 + 2^-working by its Taylor series, every term rounded down, and `above` added to it: 0 or 1.
fn exp_series(z: &UBig, working: usize, above: u8) -> UBig {
    let mut term = UBig::ONE << working;
    let mut sum = term.clone();
    let mut index = 0_u64;
    while index == 0 || term > UBig::ONE {
        if working > LONG {
            check_deep();
        }
        index += 1;
        term = &term * z / (UBig::from(index) << working) + UBig::from(above);
        sum += &term;
    }
    // Upwards: the terms left out sum to less than the last one kept, because each is less than half its predecessor.
    sum + term * UBig::from(above)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::rational::exactly;

    fn encloses(x: f64, precision: usize) -> (f64, f64, f64) {
        let enclosure = exp_negative(&exactly(x), precision);
        let shift = precision - 60;
        let to_f64 = |value: &UBig| (value >> shift).to_f64().value() / 2_f64.powi(60);
        (to_f64(&enclosure.low), libm::exp(-x), to_f64(&enclosure.high) + 2_f64.powi(-60))
    }

    #[test]
    fn the_enclosure_holds_the_truth_and_narrows() {
        for x in [1e-18, 1e-3, 0.5, 0.75, 1.0, std::f64::consts::LN_2, 3.5, 17.0, 40.0] {
            let (low, truth, high) = encloses(x, 128);
            assert!(low <= truth * (1.0 + 1e-15) && truth <= high * (1.0 + 1e-15), "x = {x}");
            for precision in [64, 128, 512, 2048] {
                let enclosure = exp_negative(&exactly(x), precision);
                assert!(enclosure.low <= enclosure.high);
                assert!(&enclosure.high - &enclosure.low <= UBig::from(4_u8), "x = {x}, precision = {precision}");
            }
        }
    }

    #[test]
    fn e_to_the_minus_one_to_fifty_digits() {
        // exp(-1) = 0.36787944117144232159552377016146086744581113103176 (OEIS A068985).
        let digits: UBig = "36787944117144232159552377016146086744581113103176".parse().unwrap();
        let enclosure = exp_negative(&exactly(1.0), 256);
        let ten = UBig::from(10_u8).pow(50);
        assert_eq!((&enclosure.low * &ten) >> 256, digits);
        assert_eq!((&enclosure.high * &ten) >> 256, digits);
    }

    #[test]
    fn no_probability_is_rounded_to_zero() {
        let x = exactly(5000.0);
        assert_eq!(exp_negative(&x, 1024).low, UBig::ZERO);
        let precise = exp_negative(&x, 8192);
        assert!(precise.low > UBig::ZERO);
        let exponent = precise.low.bit_len() as f64 - 8192.0;
        assert!((exponent + 5000.0 * std::f64::consts::LOG2_E).abs() <= 1.5);
    }

    #[test]
    fn refining_never_leaves_the_earlier_enclosure() {
        let x = Rational::new(355, 113_u8);
        let rough = exp_negative(&x, 64);
        let fine = exp_negative(&x, 640);
        assert!(fine.low >= &rough.low << 576 && fine.high <= &rough.high << 576);
    }
}
