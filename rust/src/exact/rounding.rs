//! Rounding exact numbers to the nearest double, once, ties to even.

use dashu_int::ops::BitTest;
use dashu_int::{IBig, Sign, UBig};

/// A double as `integer * 2^exponent`; the double must be finite.
pub fn parts(value: f64) -> (IBig, i64) {
    let bits = value.to_bits();
    let biased = (bits >> 52) & 0x7ff;
    let fraction = bits & ((1 << 52) - 1);
    let (mantissa, exponent) =
        if biased == 0 { (fraction, -1074) } else { (fraction | (1 << 52), biased as i64 - 1075) };
    let mantissa = IBig::from(mantissa);
    (if value < 0.0 { -mantissa } else { mantissa }, exponent)
}

/// The double nearest to `value * 2^exponent`; zero is +0, and what is too large becomes infinite.
pub fn nearest(value: &IBig, exponent: i64) -> f64 {
    let (sign, magnitude) = value.clone().into_parts();
    let rounded = nearest_magnitude(&magnitude, exponent);
    if sign == Sign::Negative && rounded != 0.0 { -rounded } else { rounded }
}

fn nearest_magnitude(magnitude: &UBig, exponent: i64) -> f64 {
    let last_place = (magnitude.bit_len() as i64 + exponent - 53).max(-1074);
    let drop = last_place - exponent;
    let mantissa: UBig = if drop <= 0 {
        magnitude << (-drop) as usize
    } else {
        let drop = drop as usize;
        let kept = magnitude >> drop;
        let half = UBig::ONE << (drop - 1);
        let rest = magnitude - (&kept << drop);
        let up = rest > half || (rest == half && kept.bit(0));
        if up { kept + UBig::ONE } else { kept }
    };
    // At most 2^53, so the conversion is exact; the power of two is exact but for overflow.
    let mantissa = u64::try_from(mantissa).unwrap_or(u64::MAX) as f64;
    libm::scalbn(mantissa, last_place.clamp(-5000, 5000) as i32)
}

/// The double nearest to `numerator / denominator`.
pub fn nearest_quotient(numerator: &IBig, denominator: &UBig) -> f64 {
    let (sign, magnitude) = numerator.clone().into_parts();
    // More bits than a double has, and a last one that says whether anything was left over: ties stay what they are.
    let shift = 80 + denominator.bit_len() as i64 - magnitude.bit_len() as i64;
    let shifted = |number: &UBig, by: i64| if by > 0 { number << by as usize } else { number.clone() };
    let (above, below) = (shifted(&magnitude, shift), shifted(denominator, -shift));
    let quotient = &above / &below;
    let is_exact = &quotient * &below == above;
    let marked = (quotient << 1) + UBig::from(u8::from(!is_exact));
    nearest(&IBig::from_parts(sign, marked), -shift - 1)
}

/// The largest double that is not above `numerator / denominator`, which has to be within the doubles.
pub fn floor_quotient(numerator: &IBig, denominator: &UBig) -> f64 {
    let rounded = nearest_quotient(numerator, denominator);
    let (mantissa, exponent) = parts(rounded);
    let (product, numerator) = (mantissa * IBig::from(denominator.clone()), numerator.clone());
    let is_above =
        if exponent < 0 { product > numerator << -exponent as usize } else { product << exponent as usize > numerator };
    if is_above { rounded.next_down() } else { rounded }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;

    #[test]
    fn doubles_come_back_as_themselves() {
        let mut entropy = seeded(51);
        for _ in 0..20_000 {
            let value = f64::from_bits(entropy.next_u64());
            if value.is_finite() {
                let (integer, exponent) = parts(value);
                assert_eq!(nearest(&integer, exponent), value);
                assert_eq!(nearest(&(integer << 3000), exponent - 3000), value);
            }
        }
        assert_eq!(nearest(&IBig::ZERO, -5).to_bits(), 0);
        assert!(nearest(&IBig::from(1), 1024).is_infinite());
    }

    #[test]
    fn rounding_is_the_processors() {
        let mut entropy = seeded(52);
        for _ in 0..20_000 {
            // Sums and products of doubles are exact here, and the processor rounds them in the same way.
            let (a, b) = (entropy.next_u64() >> 1, entropy.next_u64() % 1000 + 1);
            assert_eq!(nearest(&IBig::from(a), 0), a as f64);
            let (a, b) = ((a >> 11) as f64, b as f64);
            assert_eq!(nearest(&(parts(a).0 * parts(b).0), parts(a).1 + parts(b).1), a * b);
            assert_eq!(nearest_quotient(&IBig::from(a as i64), &UBig::from(b as u64)), a / b);
            assert_eq!(nearest_quotient(&-IBig::from(a as i64), &UBig::from(b as u64)), -a / b);
        }
        for tiny in 0..200_u64 {
            // Ties and others between denormals: n / 8 of the least one.
            assert_eq!(nearest(&IBig::from(tiny), -1077), (tiny as f64 / 8.0).round_ties_even() * 5e-324);
        }
    }
}
