//! Report-noisy-max with Laplace noise, every candidate's noise refined only as far as the comparison needs.
//!
//! In units of the scale, candidate i stands at y = -x + s E with a fair sign s and a standard exponential
//! E = -ln U. Doubles enclose y; whoever certainly loses is dropped, and the last contenders are compared exactly:
//! "y_a > y_b" is a comparison of a quotient of uniforms with an exponential of a rational number, so no logarithm
//! is ever evaluated. (Exponential noise is permute-and-flip, Gumbel noise the exponential mechanism: the same laws
//! without the noise.) Proof: `proofs/noisy_max.md`.

use dashu_int::UBig;

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::interrupt;
use crate::numbers::coin::{LazyUniform, exp_negative_f64};
use crate::numbers::exp_enclosure::{Ratio, exp_negative};
use crate::numbers::scale::Scale;
use crate::numbers::score::Score;
use crate::scan::block_index::Blocks;
use crate::selection::index_set::Visited;

/// Wider than all rounding errors in the enclosures below: relative to the exponent, and absolute.
const MARGIN: f64 = 1e-12;
const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;

struct Contender {
    index: usize,
    is_up: bool,
    uniform: LazyUniform,
    low: f64,
    high: f64,
}

impl Contender {
    /// Enclose y from the first 64 bits of U.
    fn new(index: usize, exponent: f64, is_up: bool, uniform: LazyUniform) -> Self {
        let head = uniform.head() as f64;
        // U lies in [head, head + 1) 2^-64; both conversions to a double carry a relative error of 2^-53.
        let nearest = -libm::log((head + 1.0) / TWO_TO_64);
        let farthest = if head == 0.0 { f64::INFINITY } else { -libm::log(head / TWO_TO_64) };
        let (low, high) = if is_up { (nearest, farthest) } else { (-farthest, -nearest) };
        let slack = MARGIN * (1.0 + exponent + nearest);
        Self { index, is_up, uniform, low: low - exponent - slack, high: high - exponent + slack }
    }
}

/// Draw the candidate whose score plus Laplace noise is largest, never one of `removed`.
///
/// # Errors
/// `Interrupted`.
pub fn draw<T: Score, E: Entropy>(
    blocks: &Blocks<'_, T>,
    scale: &Scale,
    removed: &Visited,
    entropy: &mut E,
) -> Result<usize, SelectError> {
    let mut contenders: Vec<Contender> = Vec::new();
    let mut best_low = f64::NEG_INFINITY;
    // The stripe of the top first: whoever wins there makes nearly everybody else lose at a glance.
    let first = (0..blocks.stripes()).find(|&stripe| blocks.stripe_maximum(stripe) >= blocks.top()).unwrap_or(0);
    let others = (0..blocks.stripes()).filter(|&stripe| stripe != first);
    for stripe in std::iter::once(first).chain(others) {
        interrupt::check()?;
        let nearest = scale.octaves(blocks.top(), blocks.stripe_maximum(stripe)) * std::f64::consts::LN_2;
        let mut hopeless = hopeless_above(best_low + nearest * (1.0 - MARGIN));
        for index in blocks.stripe_range(stripe) {
            let uniform = LazyUniform::draw(entropy);
            if uniform.head() > hopeless || removed.contains(index) {
                continue;
            }
            let is_up = entropy.next_u32() & 1 == 1;
            let contender = Contender::new(index, scale.exponent(blocks.top(), blocks.get(index)), is_up, uniform);
            if contender.high < best_low {
                continue;
            }
            if contender.low > best_low {
                best_low = contender.low;
                contenders.retain(|other| other.high >= best_low);
                hopeless = hopeless_above(best_low + nearest * (1.0 - MARGIN));
            }
            contenders.push(contender);
        }
    }
    let mut best = contenders.swap_remove(0);
    for mut rival in contenders {
        if is_above(blocks, scale, &mut rival, &mut best, entropy) {
            best = rival;
        }
    }
    Ok(best.index)
}

/// A bound such that every U whose first 64 bits exceed it gives noise below `needed`, whatever its sign.
fn hopeless_above(needed: f64) -> u64 {
    // Noise reaches `needed` > 0 only if U <= exp(-needed).
    if needed > 0.0 { (exp_negative_f64(needed.min(45.0)) * (1.0 + MARGIN) * TWO_TO_64) as u64 } else { u64::MAX }
}

/// Whether y of `a` is larger than y of `b`, as real numbers (they are equal with probability zero).
fn is_above<T: Score, E: Entropy>(
    blocks: &Blocks<'_, T>,
    scale: &Scale,
    a: &mut Contender,
    b: &mut Contender,
    entropy: &mut E,
) -> bool {
    if a.low > b.high || b.low > a.high {
        return a.low > b.high;
    }
    let exponent = |contender: &Contender| scale.exact_exponent(blocks.top(), blocks.get(contender.index));
    let (x_a, x_b) = (exponent(a), exponent(b));
    // y_a > y_b if and only if up / down > exp(x_a - x_b), where U_b (b up) and U_a (a down) multiply into `up`
    // and U_a (a up) and U_b (b down) into `down`.
    let (difference, a_is_farther) = signed_difference(&x_a, &x_b);
    loop {
        let mut up = Product::ONE;
        let mut down = Product::ONE;
        if a.is_up { &mut down } else { &mut up }.times(&a.uniform);
        if b.is_up { &mut up } else { &mut down }.times(&b.uniform);
        let precision = 64 + up.bits.max(down.bits);
        let item = exp_negative(&difference, precision);
        // a farther: up * exp(-d) > down. b farther: up > down * exp(-d).
        let unit = UBig::ONE << precision;
        let (left, right) = if a_is_farther {
            (up.scaled(&item.low, &item.high), down.scaled(&unit, &unit))
        } else {
            (up.scaled(&unit, &unit), down.scaled(&item.low, &item.high))
        };
        if left.low.clone() << right.bits >= right.high.clone() << left.bits {
            return true;
        }
        if left.high << right.bits <= right.low << left.bits {
            return false;
        }
        a.uniform.refine(entropy);
        b.uniform.refine(entropy);
    }
}

fn signed_difference(a: &Ratio, b: &Ratio) -> (Ratio, bool) {
    let forward = a.minus(b);
    if forward.numerator == UBig::ZERO { (b.minus(a), false) } else { (forward, true) }
}

/// An enclosure of a product, in units of 2^-bits.
struct Product {
    low: UBig,
    high: UBig,
    bits: usize,
}

impl Product {
    const ONE: Self = Self { low: UBig::ONE, high: UBig::ONE, bits: 0 };

    fn times(&mut self, uniform: &LazyUniform) {
        let (cell, bits) = uniform.cell();
        self.low *= &cell;
        self.high *= cell + UBig::ONE;
        self.bits += bits;
    }

    fn scaled(&self, low: &UBig, high: &UBig) -> Self {
        Self { low: &self.low * low, high: &self.high * high, bits: self.bits }
    }
}

#[cfg(test)]
#[path = "noisy_max_tests.rs"]
mod tests;
