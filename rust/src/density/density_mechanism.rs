//! The density mechanism: a sample of size k with probability proportional to its base weight times exp(-distance / b).
//!
//! A plan cuts the distances into shells and keeps a band for each: all samples as near as the shell's farthest ones. A
//! round chooses a shell, draws a sample from its band and accepts it by its own distance; a rejection begins a new
//! round, with a new shell. The law is the mechanism's whatever the shells; where they lie, and how bounds are
//! rounded, changes how many rounds it takes: planning goes on until at least half are accepted.
//! Proof: `proofs/density.md`.

use dashu_int::UBig;

use crate::density::base_measure::{BaseMeasure, Sample};
use crate::density::cumulative_counts::CumulativeCounts;
use crate::density::distance_bands::Band;
use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::interrupt;
use crate::numbers::coin::{Exponential, LazyUniform, flip};
use crate::numbers::decision::is_below_exponential;
use crate::numbers::exact_choice::{Probabilities, pick};
use crate::numbers::exp_enclosure::Ratio;
use crate::numbers::extended_float::Extended;
use crate::numbers::scale::Scale;

/// All larger exponents are bounded like this one, so that exact sums of bounds stay short.
const FARTHEST: f64 = 700_000.0;

/// Distances `start..=radius` (up to the next shell's start), and all samples not farther than `radius`.
struct Shell {
    start: u64,
    radius: u64,
    band: Band,
    /// An upper bound of exp(-(start - least) / b).
    bound: Extended,
    /// What a sample of the band is proposed with in this shell, over its share of the band: at least this shell's
    /// bound without the next one's.
    height: Extended,
    /// The sum of the heights of this and all farther shells, exactly, times 2 to the second value.
    ceiling: (UBig, i64),
    /// No more than exp(-(start - least) / b) over the ceiling.
    surely: f64,
    /// With which probability a round begins here.
    share: f64,
}

/// Shells and bands for one data set: all that draws need.
pub struct Plan {
    cumulative: CumulativeCounts,
    base: BaseMeasure,
    scale: Scale,
    least: u64,
    shells: Vec<Shell>,
    total: (UBig, i64),
    acceptance: f64,
}

impl Plan {
    /// # Errors
    /// `Memory`, `Interrupted`.
    pub fn new(cumulative: CumulativeCounts, base: BaseMeasure, scale: Scale) -> Result<Self, SelectError> {
        let least = cumulative.least_distance();
        let mut plan =
            Self { cumulative, base, scale, least, shells: Vec::new(), total: (UBig::ZERO, 0), acceptance: 0.0 };
        plan.cut()?;
        plan.weigh();
        Ok(plan)
    }

    pub fn cumulative(&self) -> &CumulativeCounts {
        &self.cumulative
    }

    /// At least so many of the rounds are accepted, up to roundings.
    pub fn acceptance(&self) -> f64 {
        self.acceptance
    }

    pub fn shell_count(&self) -> usize {
        self.shells.len()
    }

    /// Draw one sample into `sample`.
    ///
    /// # Errors
    /// `Memory`, `Interrupted`.
    pub fn draw(&self, sample: &mut Sample, entropy: &mut Entropy) -> Result<(), SelectError> {
        let margin = (8.0 * self.shells.len() as f64 + 64.0) / (1_u64 << 50) as f64;
        loop {
            interrupt::check()?;
            let shares = self.shells.iter().map(|shell| shell.share);
            // Nothing is left over but what rounding makes of it.
            let Some(chosen) = pick(shares, margin, || self.probabilities(), entropy) else { continue };
            let band = &self.shells[chosen].band;
            if !band.draw(&self.base, self.cumulative.sample_size(), sample, entropy)? {
                continue;
            }
            let distance = self.cumulative.distance(&sample.cells);
            let own = &self.shells[self.shells.partition_point(|shell| shell.radius < distance)];
            if flip(&self.exponential(distance - own.start), entropy) && self.levels(own, entropy) {
                return Ok(());
            }
        }
    }

    fn exponential(&self, gap: u64) -> Exponential<impl Fn() -> Ratio + '_> {
        Exponential { approximate: self.scale.exponent_of_gap(gap as f64), exact: move || self.exact_exponent(gap) }
    }

    fn exact_exponent(&self, gap: u64) -> Ratio {
        self.scale.exact_exponent_of_gap(&Ratio { numerator: UBig::from(gap), denominator: UBig::ONE })
    }

    /// A coin that shows heads with probability exp(-(start - least) / b) / ceiling: hardly less than 1.
    fn levels(&self, shell: &Shell, entropy: &mut Entropy) -> bool {
        let mut uniform = LazyUniform::draw(entropy);
        let value = uniform.head() as f64 / 18_446_744_073_709_551_616.0;
        if value < shell.surely {
            return true;
        }
        let Ratio { numerator, denominator } = Ratio::scaled(shell.ceiling.0.clone(), shell.ceiling.1);
        let reciprocal = Ratio { numerator: denominator, denominator: numerator };
        is_below_exponential(&mut uniform, &reciprocal, &self.exact_exponent(shell.start - self.least), entropy)
    }

    /// The probabilities with which rounds begin.
    fn probabilities(&self) -> Probabilities {
        let parts = self.shells.iter().map(|shell| {
            let (weight, exponent) = proposed(shell);
            weight << (exponent - self.total.1) as usize
        });
        Probabilities { parts: parts.collect(), whole: self.total.0.clone() }
    }

    /// Cut the distances into shells until at least half of what is proposed is accepted.
    fn cut(&mut self) -> Result<(), SelectError> {
        let largest = self.cumulative.largest_distance();
        self.add(0, self.least, largest)?;
        // One scale of the exponential, in distances.
        let step = (std::f64::consts::LN_2 / self.scale.exponent_of_gap(1.0)).max(1.0) as u64;
        loop {
            interrupt::check()?;
            let (worst, waste, total) = self.waste();
            self.acceptance = 1.0 - waste.1.over(total).times_power_of_two(0);
            if self.acceptance >= 0.5 {
                return Ok(());
            }
            let (start, radius) = (self.shells[worst].start, self.shells[worst].radius);
            // The last shell is open: go outwards in growing steps. The others are halved.
            let middle = if worst + 1 == self.shells.len() {
                let reach = step.saturating_add(start - self.least);
                start.saturating_add(reach - 1).min(start + (radius - start) / 2)
            } else {
                start + (radius - start) / 2
            };
            self.shells[worst].start = middle + 1;
            self.shells[worst].bound = self.bound(middle + 1);
            self.add(worst, start, middle)?;
        }
    }

    fn add(&mut self, index: usize, start: u64, radius: u64) -> Result<(), SelectError> {
        let band = Band::new(&self.cumulative, &self.base, radius)?;
        let shell = Shell {
            start,
            radius,
            band,
            bound: self.bound(start),
            height: Extended::ZERO,
            ceiling: (UBig::ZERO, 0),
            surely: 0.0,
            share: 0.0,
        };
        self.shells.try_reserve(1).map_err(|_| SelectError::Memory)?;
        self.shells.insert(index, shell);
        Ok(())
    }

    /// The exponent (distance - least) / b in doubles.
    fn exponent(&self, distance: u64) -> f64 {
        self.scale.exponent_of_gap((distance - self.least) as f64)
    }

    /// An upper bound of exp(-(distance - least) / b).
    fn bound(&self, distance: u64) -> Extended {
        let x = self.exponent(distance).min(FARTHEST);
        Extended::from_f64(1.0).times_exp_negative(x).times(Extended::from_f64(1.0 + bound_error(x)))
    }

    /// The shell that proposes most that it may reject, what all of them do, and what is proposed altogether.
    fn waste(&self) -> (usize, (Extended, Extended), Extended) {
        let (mut worst, mut largest) = (0, Extended::ZERO);
        let (mut sum, mut total) = (Extended::ZERO, Extended::ZERO);
        let mut inner = Extended::ZERO;
        for (index, shell) in self.shells.iter().enumerate() {
            // Samples of this shell only; never less than zero, whatever the roundings.
            let own = difference(shell.band.total(), inner);
            inner = shell.band.total();
            let proposed = own.times(shell.bound);
            let kept = own.times(self.bound(shell.radius));
            let wasted = difference(proposed, kept);
            if shell.start < shell.radius && largest.is_below(wasted) {
                (worst, largest) = (index, wasted);
            }
            sum = sum.plus(wasted);
            total = total.plus(proposed);
        }
        if largest.is_zero() {
            sum = Extended::ZERO; // nothing that another cut could change
        }
        (worst, (largest, sum), total)
    }

    /// Heights, ceilings and shares, from the farthest shell to the nearest.
    fn weigh(&mut self) {
        let mut next = Extended::ZERO;
        let mut ceiling = (UBig::ZERO, 0);
        let mut rough_ceiling = Extended::ZERO;
        // Rounded up: the heights from any shell on sum to no less than its bound.
        let up = Extended::from_f64(1.0 + 1.0 / (1_u64 << 50) as f64);
        for index in (0..self.shells.len()).rev() {
            let error = bound_error(self.exponent(self.shells[index].start));
            let shell = &mut self.shells[index];
            shell.height = difference(shell.bound, next).times(up);
            next = shell.bound;
            ceiling = sum(ceiling, shell.height.exact());
            rough_ceiling = rough_ceiling.plus(shell.height);
            shell.ceiling.clone_from(&ceiling);
            // The sum in doubles is off by far less than 2^-38; so is this division.
            let room = 1.0 - 2.0 * error - 1.0 / (1_u64 << 36) as f64;
            shell.surely = shell.bound.over(rough_ceiling).times_power_of_two(0) * room;
        }
        let total = self.shells.iter().map(proposed).reduce(sum).unwrap_or((UBig::ZERO, 0));
        let rough = self.shells.iter().fold(Extended::ZERO, |sum, shell| sum.plus(rough_weight(shell)));
        for shell in &mut self.shells {
            shell.share = rough_weight(shell).over(rough).times_power_of_two(0);
        }
        self.total = total;
    }
}

/// By how much, relative, a bound is above the truth at most, halved: four times what `Extended::times_exp_negative` and
/// the doubles of x are off. Beyond the farthest exponent a bound says nothing more.
fn bound_error(x: f64) -> f64 {
    if x > FARTHEST { 1.0 } else { (1.0 + x) / (1_u64 << 47) as f64 }
}

fn rough_weight(shell: &Shell) -> Extended {
    shell.height.times(shell.band.total())
}

/// The weight of a shell among all, exactly.
fn proposed(shell: &Shell) -> (UBig, i64) {
    let ((height, height_exponent), (total, total_exponent)) = (shell.height.exact(), shell.band.total().exact());
    (height * total, height_exponent + total_exponent)
}

fn sum(left: (UBig, i64), right: (UBig, i64)) -> (UBig, i64) {
    let exponent = left.1.min(right.1);
    let at = |(number, own): (UBig, i64)| number << (own - exponent) as usize;
    (at(left) + at(right), exponent)
}

/// `left - right` in doubles, zero if that is negative.
fn difference(left: Extended, right: Extended) -> Extended {
    if !right.is_below(left) {
        return Extended::ZERO;
    }
    let apart = left.exponent - right.exponent;
    if apart > 1000 {
        return left;
    }
    let rest = Extended::from_f64(left.fraction - libm::scalbn(right.fraction, -(apart as i32)));
    Extended { exponent: rest.exponent + left.exponent, ..rest }
}

#[cfg(test)]
#[path = "density_mechanism_tests.rs"]
mod tests;
