//! The one primitive: a lazy uniform real V against exp(-x), decided as the real numbers would.
//!
//! V is uniform on [0, 1) and only as many of its bits exist as have been asked for. A comparison is decided in
//! doubles if its certified margin allows, and otherwise, about once in 2^40, in integers of growing precision.
//! Proof: `proofs/exact_sampling.md`.

use dashu_int::UBig;
use zeroize::Zeroize;

use crate::entropy::Entropy;
use crate::exact::decision::{Lazy, decide, is_less};
use crate::exact::exp_enclosure::{Enclosure, exp_negative};
use crate::exact::rational::{Rational, nearest_f64, scaled};

/// A uniform real number of [0, 1), drawn 64 bits at a time.
#[derive(Clone, Debug)]
pub struct LazyUniform {
    head: u64,
    tail: Vec<u64>,
}

impl LazyUniform {
    #[inline]
    pub fn draw(entropy: &mut Entropy) -> Self {
        Self { head: entropy.next_u64(), tail: Vec::new() }
    }

    /// One whose first `bits` bits, fewer than 64, are those of `start`.
    #[inline]
    pub fn beginning_with(start: u64, bits: u32, entropy: &mut Entropy) -> Self {
        let head = start.checked_shl(64 - bits).unwrap_or(0) | entropy.next_u64() >> bits;
        Self { head, tail: Vec::new() }
    }

    #[inline]
    pub fn head(&self) -> u64 {
        self.head
    }

    pub fn refine(&mut self, entropy: &mut Entropy) {
        self.tail.push(entropy.next_u64());
    }

    /// V lies in `[cell, cell + 1) * 2^-bits`.
    pub fn cell(&self) -> (UBig, usize) {
        let mut cell = UBig::from(self.head);
        for &word in &self.tail {
            cell = (cell << 64) + UBig::from(word);
        }
        (cell, 64 * (1 + self.tail.len()))
    }
}

/// All bits in memory become 0; for those that stay secret after the call.
impl Zeroize for LazyUniform {
    fn zeroize(&mut self) {
        self.head.zeroize();
        self.tail.zeroize();
    }
}

impl Lazy for LazyUniform {
    fn refine(&mut self, entropy: &mut Entropy) {
        Self::refine(self, entropy);
    }
}

/// Half the width, relative, of the interval in which the doubles below certainly enclose the truth.
///
/// For x < 90: x carries relative error 2^-50 (`Scale::exponent`), hence exp(-x) at most 90 * 2^-50 < 2^-43.5 from
/// it; `exp_negative_f64` adds 2^-50; divisor and stage add a few 2^-53 each, and a stage that starts at 1/2 or before
/// at most doubles what was there. The sum is below 2^-42.
const MARGIN: f64 = 1.0 / (1_u64 << 42) as f64;
/// Beyond this exponent only the upper bound exp(-90) is used.
const LARGEST_EXPONENT: f64 = 90.0;
pub const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;

/// What V is multiplied with before the comparison: the probability with which the candidate was proposed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Proposal {
    Certain,
    /// `1 - exp(-rate * 2^-60)`.
    Thinned {
        rate: u64,
    },
}

/// Fixed-point position of rates: a rate of `1 << RATE_BITS` is 1.
pub const RATE_BITS: u32 = 60;

/// An interval of arrival times `[start, end) * 2^-bits` within [0, 1): an item with flip probability p that has not
/// come before `start` comes in the interval with probability p (end - start) / (1 - p start). `start` is at most 1/2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    pub start: u64,
    pub end: u64,
    pub bits: u32,
}

impl Stage {
    /// All of [0, 1): the plain coin.
    pub const WHOLE: Self = Self { start: 0, end: 1, bits: 0 };
}

/// Whether V, of which `head` is known, is below a threshold that certainly lies between `low` and `high`, if that says so.
#[inline(always)]
pub fn decided(head: u64, low: f64, high: f64) -> Option<bool> {
    // `as` saturates: a threshold of 1 or more is never certainly exceeded.
    if head > (high * TWO_TO_64) as u64 {
        return Some(false);
    }
    (head < (low * TWO_TO_64) as u64).then_some(true)
}

/// exp(-x), where x is known as a double (with the contract of `Scale::exponent`) and, when asked, exactly.
#[derive(Clone, Copy)]
pub struct Exponential<F: Fn() -> Rational> {
    pub approximate: f64,
    pub exact: F,
}

/// `x` as a double, with the contract of `Scale::exponent`: correctly rounded within [2^-70, 2^70].
pub fn approximate(x: &Rational) -> f64 {
    if x.is_zero() { 0.0 } else { nearest_f64(x).clamp(power_of_two(-70), power_of_two(70)) }
}

/// A coin that shows heads with probability exp(-x).
#[inline(always)]
pub fn flip<F: Fn() -> Rational>(x: &Exponential<F>, entropy: &mut Entropy) -> bool {
    if x.approximate == 0.0 {
        return true; // exactly zero, by the contract of `Scale::exponent`
    }
    // Nearly all coins end with half of a word.
    let upper = u64::from(entropy.next_u32()) << 32;
    if x.approximate > 23.0 {
        if upper > 0 {
            return false; // exp(-23) < 2^-33 < V: and without an exponential
        }
    } else {
        let (low, high) = enclosure(x.approximate, Proposal::Certain, Stage::WHOLE);
        // V lies between upper and the end of its cell.
        if decided(upper, low, high) == Some(false) {
            return false;
        }
        if decided(upper | u64::from(u32::MAX), low, high) == Some(true) {
            return true;
        }
    }
    let mut uniform = LazyUniform { head: upper | u64::from(entropy.next_u32()), tail: Vec::new() };
    below(&mut uniform, x, Proposal::Certain, Stage::WHOLE, entropy)
}

/// Accept a candidate that was proposed with the probability in `proposal`, so that together it is taken with the
/// probability of its item in `stage`: true if and only if
/// `V * proposal * (1 - start * exp(-x)) < (end - start) * exp(-x)`.
#[inline(always)]
pub fn accept<F: Fn() -> Rational>(
    x: &Exponential<F>,
    proposal: Proposal,
    stage: Stage,
    entropy: &mut Entropy,
) -> bool {
    let mut uniform = LazyUniform::draw(entropy);
    below(&mut uniform, x, proposal, stage, entropy)
}

/// The comparison of [`accept`] for a V that may already have been compared with something else.
#[inline(always)]
pub fn below<F: Fn() -> Rational>(
    uniform: &mut LazyUniform,
    x: &Exponential<F>,
    proposal: Proposal,
    stage: Stage,
    entropy: &mut Entropy,
) -> bool {
    if x.approximate > LARGEST_EXPONENT && uniform.head > 0 {
        // exp(-90) < 2^-129, and no proposal is less likely than 2^-60: the threshold is below 2^-64 <= V. Most
        // candidates far from the top end here, without an exponential.
        return false;
    }
    let (low, high) = enclosure(x.approximate, proposal, stage);
    match decided(uniform.head, low, high) {
        Some(decision) => decision,
        None => below_exact(uniform, &(x.exact)(), proposal, stage, entropy),
    }
}

/// What the threshold of a comparison certainly lies between.
#[inline(always)]
fn enclosure(x: f64, proposal: Proposal, stage: Stage) -> (f64, f64) {
    let exponent = if x < LARGEST_EXPONENT { x } else { LARGEST_EXPONENT };
    let threshold = threshold(exp_negative_f64(exponent), proposal, stage);
    let low = if x < LARGEST_EXPONENT { threshold * (1.0 - MARGIN) } else { 0.0 };
    (low, threshold * (1.0 + MARGIN))
}

#[inline(always)]
fn threshold(probability: f64, proposal: Proposal, stage: Stage) -> f64 {
    let wanted = if stage == Stage::WHOLE {
        probability
    } else {
        let unit = power_of_two(-(stage.bits as i32));
        let start = stage.start as f64 * unit;
        let length = (stage.end - stage.start) as f64 * unit;
        length * probability / (1.0 - start * probability)
    };
    match proposal {
        Proposal::Certain => wanted,
        Proposal::Thinned { rate } => wanted / one_minus_exp_negative(rate as f64 * power_of_two(-(RATE_BITS as i32))),
    }
}

/// The comparison in integers: refine until the enclosures are apart.
#[cold]
#[inline(never)]
fn below_exact(
    uniform: &mut LazyUniform,
    x: &Rational,
    proposal: Proposal,
    stage: Stage,
    entropy: &mut Entropy,
) -> bool {
    decide(uniform, entropy, |uniform| {
        let (cell, bits) = uniform.cell();
        let precision = bits + 64;
        let (item, factor) = (exp_negative(x, precision), proposal.enclose(precision));
        // V * factor * (2^bits' - start E) against (end - start) * E.
        let left = |cell: &UBig, factor: &UBig, item: &UBig| {
            cell * factor * ((UBig::ONE << (stage.bits as usize + precision)) - item * UBig::from(stage.start))
        };
        let right = |item: &UBig| (item * UBig::from(stage.end - stage.start)) << (bits + precision);
        is_less(
            &(left(&cell, &factor.low, &item.high), left(&(&cell + UBig::ONE), &factor.high, &item.low)),
            &(right(&item.low), right(&item.high)),
        )
    })
}

impl Proposal {
    /// The proposal's probability.
    fn enclose(self, precision: usize) -> Enclosure {
        let one = UBig::ONE << precision;
        match self {
            Self::Certain => Enclosure { low: one.clone(), high: one },
            Self::Thinned { rate } => {
                let missed = exp_negative(&scaled(UBig::from(rate), -i64::from(RATE_BITS)), precision);
                Enclosure { low: &one - &missed.high, high: one - missed.low }
            }
        }
    }
}

/// exp(-x) for 0 <= x <= 90 with relative error below 2^-50, without a platform's mathematics library.
///
/// x = k ln 2 + r with |r| <= 0.347: k ln2's leading part is exact (its last 32 bits are zero), so r is off by less
/// than 2^-54; the Taylor polynomial of degree 13 by 2^-57, relative; its evaluation by at most 3 * 2^-53.
#[inline(always)]
pub fn exp_negative_f64(x: f64) -> f64 {
    const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_0000_0000);
    const LN_2_LOW: f64 = std::f64::consts::LN_2 - LN_2_HIGH;
    // What rounding ln 2 to a double left over.
    const LN_2_REST: f64 = 2.319_046_813_846_299_6e-17;
    const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52: adding it rounds to an integer
    const COEFFICIENTS: [f64; 14] = {
        let mut inverse_factorials = [1.0; 14];
        let mut degree = 1;
        let mut factorial = 1.0;
        while degree < 14 {
            factorial *= degree as f64;
            inverse_factorials[degree] = 1.0 / factorial;
            degree += 1;
        }
        inverse_factorials
    };
    let shifted = x * -std::f64::consts::LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (-x - k * LN_2_HIGH) - k * (LN_2_LOW + LN_2_REST);
    // Estrin's scheme: short chains instead of Horner's long one.
    let c = &COEFFICIENTS;
    let r2 = r * r;
    let r4 = r2 * r2;
    let r8 = r4 * r4;
    let low = (c[0] + c[1] * r) + (c[2] + c[3] * r) * r2;
    let mid = (c[4] + c[5] * r) + (c[6] + c[7] * r) * r2;
    let high = (c[8] + c[9] * r) + (c[10] + c[11] * r) * r2;
    let top = c[12] + c[13] * r;
    let polynomial = (low + mid * r4) + (high + top * r4) * r8;
    // The low bits of `shifted` hold k in two's complement.
    let k_bits = shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(1023);
    polynomial * f64::from_bits(k_bits << 52)
}

/// 1 - exp(-rate) with relative error below 2^-50, for 0 < rate <= 2.
#[inline]
fn one_minus_exp_negative(rate: f64) -> f64 {
    if rate < 1.0 / 32.0 {
        // The first eight terms of the series; the ninth is below 2^-55 of the sum.
        let tail = 1.0 - rate / 6.0 * (1.0 - rate / 7.0 * (1.0 - rate / 8.0));
        return rate * (1.0 - rate / 2.0 * (1.0 - rate / 3.0 * (1.0 - rate / 4.0 * (1.0 - rate / 5.0 * tail))));
    }
    -libm::expm1(-rate)
}

/// 2^exponent for -1022 <= exponent <= 1023.
#[inline(always)]
pub(crate) fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

#[cfg(test)]
#[path = "coin_tests.rs"]
mod tests;
