//! Several quantiles by one exponential mechanism over increasing answers (JointExp): density proportional to
//! exp(-sum |ranks between two neighbours - ranks wanted| / b).
//!
//! Only paths near the ranks wanted are looked at; all others together are one block, hardly ever proposed, and
//! accepted by their true weight. Proof: `proofs/joint_quantiles.md`.

use dashu_int::UBig;
use dashu_int::ops::BitTest;

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::intervals::answer_range::Range;
use crate::intervals::cuts::Cuts;
use crate::intervals::joint_chain::Chain;
use crate::intervals::joint_steps::Steps;
use crate::numbers::coin::LazyUniform;
use crate::numbers::decision::is_below_exponential;
use crate::numbers::exp_enclosure::Ratio;
use crate::numbers::extended_float::Wide;
use crate::numbers::rounding::nearest_quotient;
use crate::numbers::scale::Scale;
use crate::numbers::score::Score;
use crate::scan::score_view::View;

/// How much is looked at; the law is the same for all.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// Ranks to each side of a target at first.
    pub radius: Option<u64>,
    /// Other paths are proposed once in about two to this power.
    pub rarity: u32,
}

impl Reach {
    pub const AUTOMATIC: Self = Self { radius: None, rarity: 62 };
}

/// Ranks further away than this many scales hardly ever matter.
const SCALES: f64 = 64.0;
const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;

/// Draw the quantiles at `levels`, increasing in [0, 1], at least one; `scale` is that of the sum of all differences.
///
/// # Errors
/// `NotFinite` if there is a NaN, `InvalidScale` if the scale is so small that doubles cannot weigh paths, `Memory`.
pub fn draw<T: Score, E: Entropy>(
    values: &View<'_, T>,
    levels: &[f64],
    range: Range<'_>,
    scale: &Scale,
    entropy: &mut E,
) -> Result<Vec<f64>, SelectError> {
    let cuts = Cuts::new(values, range, entropy)?;
    draw_from(&cuts, levels, scale, Reach::AUTOMATIC, entropy)
}

pub(crate) fn draw_from<E: Entropy>(
    cuts: &Cuts<'_>,
    levels: &[f64],
    scale: &Scale,
    reach: Reach,
    entropy: &mut E,
) -> Result<Vec<f64>, SelectError> {
    let steps = Steps::new(levels, cuts.gaps() as u64 - 1, scale);
    let joint = Joint::new(cuts, &steps, reach)?;
    loop {
        if let Some(answers) = joint.round(entropy)? {
            return Ok(answers);
        }
    }
}

struct Joint<'a> {
    cuts: &'a Cuts<'a>,
    steps: &'a Steps<'a>,
    chain: Chain<'a>,
    /// Weights are measured by it; slightly above that of all paths of the chain.
    unit: Wide,
    margin: f64,
    /// Whether there are paths beyond those of the chain; they are proposed once in two to this power.
    rarity: Option<u32>,
}

impl<'a> Joint<'a> {
    fn new(cuts: &'a Cuts<'a>, steps: &'a Steps<'a>, reach: Reach) -> Result<Self, SelectError> {
        let ranks = cuts.gaps() as u64;
        let levels = steps.each.len() - 1;
        let one = steps.exponent(1.0);
        // Saturates for absurd scales.
        let mut radius = reach.radius.unwrap_or(((SCALES / one) as u64).saturating_add(2));
        loop {
            let chain = Chain::new(cuts, steps, radius)?;
            let margin = chain.margin();
            if margin > 0.125 {
                return Err(SelectError::InvalidScale);
            }
            let unit = chain.total.times(Wide::from_f64(1.0 + 3.0 * margin));
            if radius >= ranks {
                return Ok(Self { cuts, steps, chain, unit, margin, rarity: None });
            }
            // Elsewhere some answer is more than `radius` ranks off, so the differences sum up to twice that.
            let volume = levels as f64 * ln(&cuts.exact_range()) - libm::lgamma(levels as f64 + 1.0);
            let bits = f64::from(reach.rarity) * std::f64::consts::LN_2;
            let missing = volume - unit.ln() + bits + 1.0 + 1e-9 * volume.abs();
            if !chain.total.is_zero() && steps.exponent(2.0 * radius as f64) >= missing {
                return Ok(Self { cuts, steps, chain, unit, margin, rarity: Some(reach.rarity) });
            }
            let needed = if chain.total.is_zero() { 0.0 } else { missing / (2.0 * one) * 1.001 + 2.0 };
            radius = radius.saturating_mul(2).saturating_add(1).max(needed as u64);
        }
    }

    /// One proposal, if it is accepted.
    fn round<E: Entropy>(&self, entropy: &mut E) -> Result<Option<Vec<f64>>, SelectError> {
        if let Some(rarity) = self.rarity
            && entropy.below((1 << rarity) + 1) == 0
        {
            return Ok(self.stray(rarity, entropy));
        }
        let path = self.chain.draw(entropy)?;
        let mut uniform = LazyUniform::draw(entropy);
        let chance = path.ratio.quotient(self.unit);
        let head = uniform.head();
        // `as` saturates, and both ends are rounded to the side that decides less.
        let is_accepted = if head < (chance * (1.0 - 4.0 * self.margin) * TWO_TO_64) as u64 {
            true
        } else if head > (chance * (1.0 + 4.0 * self.margin) * TWO_TO_64) as u64 {
            false
        } else {
            let factor = Ratio { numerator: path.out_of.clone(), denominator: path.chance.clone() };
            self.accepts(&path.gaps, &self.volume(&path.gaps).times(&factor), &mut uniform, entropy)
        };
        Ok(is_accepted.then(|| self.points(&path.gaps, entropy)))
    }

    /// Any increasing answers, if not all of them are within the chain's windows.
    fn stray<E: Entropy>(&self, rarity: u32, entropy: &mut E) -> Option<Vec<f64>> {
        let mut points: Vec<(usize, f64)> = self.chain.windows.iter().map(|_| self.cuts.stray(entropy)).collect();
        points.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let gaps: Vec<usize> = points.iter().map(|point| point.0).collect();
        if gaps.iter().zip(&self.chain.windows).all(|(gap, window)| window.contains(gap)) {
            return None;
        }
        // Proposed with the density 1 / volume of all increasing answers, 2^-rarity as often as a path.
        let mut volume = Ratio { numerator: UBig::ONE << rarity as usize, denominator: UBig::ONE };
        for number in 1..=gaps.len() {
            let share = Ratio { numerator: UBig::ONE, denominator: UBig::from(number) };
            volume = volume.times(&self.cuts.exact_range()).times(&share);
        }
        let mut uniform = LazyUniform::draw(entropy);
        let is_accepted = self.accepts(&gaps, &volume, &mut uniform, entropy);
        is_accepted.then(|| points.into_iter().map(|point| point.1).collect())
    }

    /// Whether V < factor * exp(-cost) / unit.
    fn accepts<E: Entropy>(&self, gaps: &[usize], factor: &Ratio, uniform: &mut LazyUniform, entropy: &mut E) -> bool {
        let unit = self.unit.exact_ratio();
        let ratio = factor.times(&Ratio { numerator: unit.denominator, denominator: unit.numerator });
        is_below_exponential(uniform, &ratio, &self.steps.exact_exponent(gaps, self.cuts.gaps() - 1), entropy)
    }

    /// The volume of the increasing answers in these gaps.
    fn volume(&self, gaps: &[usize]) -> Ratio {
        let mut volume = Ratio { numerator: UBig::ONE, denominator: UBig::ONE };
        for run in gaps.chunk_by(|a, b| a == b) {
            let length = self.cuts.exact_length(run[0]);
            for number in 1..=run.len() {
                volume = volume.times(&length);
                volume.denominator *= UBig::from(number);
            }
        }
        volume
    }

    /// Uniform increasing points in these gaps.
    fn points<E: Entropy>(&self, gaps: &[usize], entropy: &mut E) -> Vec<f64> {
        let mut points: Vec<f64> = gaps.iter().map(|&gap| self.cuts.point(gap, entropy)).collect();
        points.sort_unstable_by(f64::total_cmp);
        points
    }
}

/// The natural logarithm of a length, roughly.
fn ln(length: &Ratio) -> f64 {
    let bits = length.numerator.bit_len() as i64 - length.denominator.bit_len() as i64;
    let shifted = |number: &UBig, by: i64| if by > 0 { number << by as usize } else { number.clone() };
    let (above, below) = (shifted(&length.numerator, -bits), shifted(&length.denominator, bits));
    libm::log(nearest_quotient(&above.into(), &below)) + bits as f64 * std::f64::consts::LN_2
}

#[cfg(test)]
#[path = "joint_quantiles_tests.rs"]
mod tests;
