//! Several quantiles by one exponential mechanism over increasing answers (JointExp): density proportional to
//! exp(-sum |ranks between two neighbours - ranks wanted| / b).
//!
//! A path of gaps is proposed by sums over all of them, and accepted by its true weight. Proof: `proofs/joint_quantiles.md`.

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::exact::coin::{LazyUniform, TWO_TO_64};
use crate::exact::decision::is_below_exponential;
use crate::exact::extended_float::Extended;
use crate::exact::rational::Rational;
use crate::interrupt;
use crate::numbers::answer_range::Answers;
use crate::numbers::cuts::Cuts;
use crate::numbers::joint_costs::RankCosts;
use crate::numbers::joint_paths::Paths;
use crate::numbers::places::{PART_BITS, Places};
use crate::scores::scale::Scale;
use crate::scores::score_view::View;

/// Draw the quantiles at `levels`, increasing in [0, 1], at least one; `scale` is that of the sum of all differences.
///
/// # Errors
/// `NotFinite` if there is a NaN, `InvalidScale` if the scale is so small that doubles cannot weigh paths.
pub fn draw(
    values: &View<'_>,
    levels: &[f64],
    range: Answers<'_>,
    scale: &Scale,
    entropy: &mut Entropy,
) -> Result<Vec<f64>, SelectError> {
    let cuts = Cuts::new(values, Places::new(range, PART_BITS), entropy)?;
    draw_from(&cuts, levels, scale, entropy)
}

pub(crate) fn draw_from(
    cuts: &Cuts<'_>,
    levels: &[f64],
    scale: &Scale,
    entropy: &mut Entropy,
) -> Result<Vec<f64>, SelectError> {
    let costs = RankCosts::new(levels, cuts, scale)?;
    let joint = Joint::new(cuts, &costs)?;
    loop {
        interrupt::check()?;
        if let Some(answers) = joint.propose(entropy)? {
            return Ok(answers);
        }
    }
}

struct Joint<'a> {
    cuts: &'a Cuts<'a>,
    costs: &'a RankCosts<'a>,
    paths: Paths<'a>,
    /// Weights are measured by it; slightly above that of all paths.
    unit: Extended,
    /// How far, relative, doubles may be off.
    margin: f64,
}

impl<'a> Joint<'a> {
    fn new(cuts: &'a Cuts<'a>, costs: &'a RankCosts<'a>) -> Result<Self, SelectError> {
        let margin = Paths::margin(cuts, costs);
        if margin > 0.125 {
            return Err(SelectError::InvalidScale);
        }
        let paths = Paths::new(cuts, costs)?;
        let unit = paths.total.times(Extended::from_f64(1.0 + 3.0 * margin));
        Ok(Self { cuts, costs, paths, unit, margin })
    }

    /// Answers in one path, if it is accepted.
    fn propose(&self, entropy: &mut Entropy) -> Result<Option<Vec<f64>>, SelectError> {
        let path = self.paths.draw(entropy)?;
        let ranks: Vec<usize> = path.gaps.iter().map(|&gap| self.cuts.rank(gap)).collect();
        let mut uniform = LazyUniform::draw(entropy);
        let chance = path.ratio.quotient(self.unit);
        let head = uniform.head();
        // `as` saturates, and both ends are rounded to the side that decides less.
        let is_accepted = if head < (chance * (1.0 - 4.0 * self.margin) * TWO_TO_64) as u64 {
            true
        } else if head > (chance * (1.0 + 4.0 * self.margin) * TWO_TO_64) as u64 {
            false
        } else {
            let factor = Rational::new(path.out_of, path.chance);
            self.accepts(&ranks, &(self.volume(&ranks) * factor), &mut uniform, entropy)
        };
        Ok(is_accepted.then(|| self.points(&ranks, entropy)))
    }

    /// Whether V < factor * exp(-cost) / unit.
    fn accepts(&self, ranks: &[usize], factor: &Rational, uniform: &mut LazyUniform, entropy: &mut Entropy) -> bool {
        let ratio = factor / self.unit.exactly();
        is_below_exponential(uniform, &ratio, &self.costs.exact_exponent(ranks, self.cuts.values), entropy)
    }

    /// The volume of the increasing answers with so many values below each.
    fn volume(&self, ranks: &[usize]) -> Rational {
        let mut volume = Rational::ONE;
        for run in ranks.chunk_by(|a, b| a == b) {
            let length = self.cuts.gap_of_rank(run[0]).exact_length();
            for number in 1..=run.len() {
                volume = volume * &length / Rational::from(number);
            }
        }
        volume
    }

    /// Uniform increasing points with so many values below each.
    fn points(&self, ranks: &[usize], entropy: &mut Entropy) -> Vec<f64> {
        let mut points: Vec<f64> = ranks.iter().map(|&rank| self.cuts.answer(rank, entropy)).collect();
        points.sort_unstable_by(f64::total_cmp);
        points
    }
}

#[cfg(test)]
#[path = "joint_quantiles_tests.rs"]
mod tests;
