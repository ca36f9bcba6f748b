//! Several quantiles by one exponential mechanism over increasing answers (JointExp): density proportional to
//! exp(-sum |ranks between two neighbours - ranks wanted| / b).
//!
//! Only paths near the ranks wanted are looked at. Those further out, and those beyond them, are proposed hardly ever, at
//! the rate of an upper bound of what they weigh, and accepted by their true weight. Proof: `proofs/joint_quantiles.md`.

use std::ops::Range as Span;

use dashu_int::UBig;
use dashu_int::ops::BitTest;

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::interrupt;
use crate::intervals::answer_range::Range;
use crate::intervals::cuts::Cuts;
use crate::intervals::joint_costs::RankCosts;
use crate::intervals::joint_far_bound::bound_of_leaving;
use crate::intervals::joint_gaps::Gaps;
use crate::intervals::joint_paths::Paths;
use crate::numbers::coin::{LazyUniform, TWO_TO_64};
use crate::numbers::decision::is_below_exponential;
use crate::numbers::exp_enclosure::Ratio;
use crate::numbers::extended_float::Extended;
use crate::numbers::rounding::nearest_quotient;
use crate::numbers::scale::Scale;
use crate::scan::score_view::View;

/// How much is looked at; the law is the same for all.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// Ranks to each side of a target that near paths may be off at first; by default, about as many as they often are.
    pub radius: Option<u64>,
    /// Other paths are proposed once in about two to this power.
    pub rarity: u32,
}

impl Reach {
    pub const AUTOMATIC: Self = Self { radius: None, rarity: 40 };
}

/// Near paths are off by at most this many standard deviations of a walk of independent steps back to where it began ...
const DEVIATIONS: f64 = 9.2;
/// ... and this many scales: a little more than what a walk exceeds once in 2^40.
const SCALES: f64 = 21.0;
/// Windows grow by at least and at most these factors until what they leave out is rare.
const GROWTH: Span<f64> = 1.1..4.0;

/// Draw the quantiles at `levels`, increasing in [0, 1], at least one; `scale` is that of the sum of all differences.
///
/// # Errors
/// `NotFinite` if there is a NaN, `InvalidScale` if the scale is so small that doubles cannot weigh paths, `Memory`,
/// `Interrupted`.
pub fn draw(
    values: &View<'_>,
    levels: &[f64],
    range: Range<'_>,
    scale: &Scale,
    entropy: &mut Entropy,
) -> Result<Vec<f64>, SelectError> {
    let cuts = Cuts::new(values, range, entropy)?;
    draw_from(&cuts, levels, scale, Reach::AUTOMATIC, entropy)
}

pub(crate) fn draw_from(
    cuts: &Cuts<'_>,
    levels: &[f64],
    scale: &Scale,
    reach: Reach,
    entropy: &mut Entropy,
) -> Result<Vec<f64>, SelectError> {
    let gaps = Gaps::new(cuts)?;
    let costs = RankCosts::new(levels, gaps.values as u64, scale);
    let joint = Joint::new(&gaps, &costs, reach)?;
    loop {
        interrupt::check()?;
        if let Some(answers) = joint.propose(joint.kind(entropy), entropy)? {
            return Ok(answers);
        }
    }
}

/// Which kind of answers a round proposes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// A path within the near windows.
    Near,
    /// A path that leaves them, within the wide windows.
    Far,
    /// Any points, if they leave the wide windows.
    Beyond,
}

struct Joint<'a> {
    gaps: &'a Gaps<'a>,
    costs: &'a RankCosts<'a>,
    near: Paths<'a>,
    wide: Vec<Span<usize>>,
    /// Weights are measured by it; slightly above that of all near paths.
    unit: Extended,
    /// How far, relative, doubles may be off.
    margin: f64,
    /// The kinds that there are besides near paths; each is proposed once in two to the power of `rarity`.
    others: Vec<Kind>,
    rarity: u32,
    /// How many gaps all windows had that were looked at.
    #[cfg(test)]
    work: usize,
}

impl<'a> Joint<'a> {
    fn new(gaps: &'a Gaps<'a>, costs: &'a RankCosts<'a>, reach: Reach) -> Result<Self, SelectError> {
        let (levels, rarity) = (costs.wanted.len() - 1, reach.rarity);
        let one = costs.exponent(1.0);
        let windows = |radius: &dyn Fn(usize) -> u64| -> Vec<Span<usize>> {
            (0..levels).map(|level| gaps.around(costs.target(level), radius(level))).collect()
        };
        // How far ranks are off is a walk from 0 to 0; a step has nearly the variance 2 / one^2.
        let steps = |level: usize| (level + 1) as f64 * (levels - level) as f64 / (levels + 1) as f64;
        let usual = |level: usize| (DEVIATIONS * (2.0 * steps(level)).sqrt() + SCALES) / one + 1.0;
        let (mut growth, mut least, mut before) = (1.0, 0, None);
        #[cfg(test)]
        let mut work = 0;
        loop {
            // Saturates for absurd scales.
            let first = |level: usize| reach.radius.map_or_else(|| usual(level), |radius| radius as f64 + 1.0);
            let radius = |level: usize| ((first(level) * growth) as u64 - 1).max(least);
            let near = Paths::new(gaps, costs, windows(&radius), None)?;
            let weight = Extended::from(near.total);
            // Far from where the paths are, as where many values are equal: what is left need not be looked at yet.
            if before.is_some_and(|before| weight.ln() > before + 1.0) {
                (growth, before) = (growth * GROWTH.end, Some(weight.ln()));
                continue;
            }
            // Beyond, some answer is more than `enough` ranks off, so the differences sum up to twice that.
            let volume =
                levels as f64 * ln(&gaps.cuts.whole_range().exact_length()) - libm::lgamma(levels as f64 + 1.0);
            let bits = f64::from(rarity) * std::f64::consts::LN_2;
            let missing = volume - weight.ln() + bits + 1.0 + 1e-9 * volume.abs();
            let enough = (missing / (2.0 * one) * 1.001 + 2.0) as u64;
            let wide = windows(&|level| radius(level).max(enough));
            let margin = Paths::margin(gaps, costs, &wide);
            if margin > 0.125 {
                return Err(SelectError::InvalidScale);
            }
            #[cfg(test)]
            (work += near.windows.iter().chain(&wide).map(Span::len).sum::<usize>());
            let unit = weight.times(Extended::from_f64(1.0 + 3.0 * margin));
            let mut others = Vec::new();
            if near.windows != wide {
                let Some(bound) = bound_of_leaving(gaps, costs, &wide, &near.windows)? else {
                    least = enough;
                    continue;
                };
                let most = unit.scaled(-i64::from(rarity));
                if !bound.is_below(most) {
                    growth *= growth_for((unit.ln() - bound.ln()) / bits.max(1.0));
                    before = Some(weight.ln());
                    continue;
                }
                others.push(Kind::Far);
            }
            if wide.iter().any(|window| window.len() < gaps.count()) {
                others.push(Kind::Beyond);
            }
            return Ok(Self {
                gaps,
                costs,
                near,
                wide,
                unit,
                margin,
                others,
                rarity,
                #[cfg(test)]
                work,
            });
        }
    }

    /// One proposal, if it is accepted.
    fn propose(&self, kind: Kind, entropy: &mut Entropy) -> Result<Option<Vec<f64>>, SelectError> {
        match kind {
            Kind::Near => self.path_of(&self.near, 0, entropy),
            Kind::Far => {
                let to_leave = Some(self.near.windows.clone());
                let far = Paths::new(self.gaps, self.costs, self.wide.clone(), to_leave)?;
                if far.total.is_zero() { Ok(None) } else { self.path_of(&far, self.rarity, entropy) }
            }
            Kind::Beyond => Ok(self.points_beyond(entropy)),
        }
    }

    fn kind(&self, entropy: &mut Entropy) -> Kind {
        let place = entropy.below((1 << self.rarity) + self.others.len() as u64);
        self.others.get(place as usize).copied().unwrap_or(Kind::Near)
    }

    /// Answers in a path, if it is accepted: it was proposed once in two to the power of `rarity`.
    fn path_of(&self, paths: &Paths<'_>, rarity: u32, entropy: &mut Entropy) -> Result<Option<Vec<f64>>, SelectError> {
        let path = paths.draw(entropy)?;
        let ranks: Vec<usize> = path.gaps.iter().map(|&gap| self.gaps.rank(gap)).collect();
        let mut uniform = LazyUniform::draw(entropy);
        let chance = Extended::from(path.ratio).scaled(i64::from(rarity)).quotient(self.unit);
        let head = uniform.head();
        // `as` saturates, and both ends are rounded to the side that decides less.
        let is_accepted = if head < (chance * (1.0 - 4.0 * self.margin) * TWO_TO_64) as u64 {
            true
        } else if head > (chance * (1.0 + 4.0 * self.margin) * TWO_TO_64) as u64 {
            false
        } else {
            let factor = Ratio { numerator: path.out_of << rarity as usize, denominator: path.chance };
            self.accepts(&ranks, &self.volume(&ranks).times(&factor), &mut uniform, entropy)
        };
        Ok(is_accepted.then(|| self.points(&ranks, entropy)))
    }

    /// Any increasing answers, if they are accepted and not all of them within the wide windows.
    fn points_beyond(&self, entropy: &mut Entropy) -> Option<Vec<f64>> {
        let mut points: Vec<(usize, f64)> = self.wide.iter().map(|_| self.gaps.cuts.point_of_range(entropy)).collect();
        points.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let ranks: Vec<usize> = points.iter().map(|point| point.0).collect();
        if self.gaps.are_within(&ranks, &self.wide) {
            return None;
        }
        // Proposed with the density 1 / volume of all increasing answers, 2^-rarity as often as a path.
        let mut volume = Ratio { numerator: UBig::ONE << self.rarity as usize, denominator: UBig::ONE };
        for number in 1..=ranks.len() {
            let share = Ratio { numerator: UBig::ONE, denominator: UBig::from(number) };
            volume = volume.times(&self.gaps.cuts.whole_range().exact_length()).times(&share);
        }
        let mut uniform = LazyUniform::draw(entropy);
        let is_accepted = self.accepts(&ranks, &volume, &mut uniform, entropy);
        is_accepted.then(|| points.into_iter().map(|point| point.1).collect())
    }

    /// Whether V < factor * exp(-cost) / unit.
    fn accepts(&self, ranks: &[usize], factor: &Ratio, uniform: &mut LazyUniform, entropy: &mut Entropy) -> bool {
        let unit = self.unit.exact_ratio();
        let ratio = factor.times(&Ratio { numerator: unit.denominator, denominator: unit.numerator });
        is_below_exponential(uniform, &ratio, &self.costs.exact_exponent(ranks, self.gaps.values), entropy)
    }

    /// The volume of the increasing answers with so many values below each.
    fn volume(&self, ranks: &[usize]) -> Ratio {
        let mut volume = Ratio { numerator: UBig::ONE, denominator: UBig::ONE };
        for run in ranks.chunk_by(|a, b| a == b) {
            let length = self.gaps.cuts.gap(run[0]).exact_length();
            for number in 1..=run.len() {
                volume = volume.times(&length);
                volume.denominator *= UBig::from(number);
            }
        }
        volume
    }

    /// Uniform increasing points with so many values below each.
    fn points(&self, ranks: &[usize], entropy: &mut Entropy) -> Vec<f64> {
        let mut points: Vec<f64> = ranks.iter().map(|&rank| self.gaps.cuts.point(rank, entropy)).collect();
        points.sort_unstable_by(f64::total_cmp);
        points
    }
}

/// How much windows have to grow where what they leave is as rare as `reached` of what it has to be, in logarithms: far
/// out in a normal law these grow with the square.
fn growth_for(reached: f64) -> f64 {
    if reached > 0.0 { (1.0 / reached).sqrt().clamp(GROWTH.start, GROWTH.end) } else { GROWTH.end }
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
