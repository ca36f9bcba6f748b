//! What a path of ranks costs: the ranks between neighbouring answers against those asked for, in doubles and exactly.

use crate::error::SelectError;
use crate::error::reserved;
use crate::exact::extended_float::{Extended, LARGEST_EXPONENT};
use crate::exact::rational::{Rational, exactly, nearest_f64};
use crate::numbers::cuts::Cuts;
use crate::scores::scale::Scale;

/// The ranks wanted between neighbours among 0, the answers, and the number of values; exp(-cost) of others.
pub struct RankCosts<'a> {
    /// The wanted ranks, of answers and of the upper end; the first is that of the lower end, 0.
    targets: Vec<Rational>,
    /// The whole ranks wanted between neighbours.
    whole: Vec<usize>,
    /// The factors of the fraction wanted beyond them, and of what it leaves of 1.
    missing: Vec<Extended>,
    excess: Vec<Extended>,
    /// The factors of 0, 1, 2, ... ranks.
    powers: Vec<Extended>,
    /// What one rank too many or too few between two neighbours costs.
    scale: &'a Scale,
}

impl<'a> RankCosts<'a> {
    /// For increasing `levels` in [0, 1].
    pub fn new(levels: &[f64], cuts: &Cuts<'_>, scale: &'a Scale) -> Result<Self, SelectError> {
        let ends = [0.0].iter().chain(levels).chain(&[1.0]);
        let targets: Vec<_> = ends.map(|&level| exactly(level) * Rational::from(cuts.values)).collect();
        let ranks = 2 * cuts.count() + 2; // more are rare
        let (powers, whole, missing, excess) = (reserved(ranks)?, Vec::new(), Vec::new(), Vec::new());
        let mut costs = Self { targets, whole, missing, excess, powers, scale };
        for pair in costs.targets.windows(2) {
            let difference = &pair[1] - &pair[0];
            let whole = difference.floor();
            let fraction = difference - Rational::from(whole.clone());
            costs.whole.push(usize::try_from(whole).unwrap_or(usize::MAX));
            // Each has relative error at most 2^-53.
            costs.missing.push(factor(scale, nearest_f64(&fraction)));
            costs.excess.push(factor(scale, nearest_f64(&(Rational::ONE - fraction))));
        }
        costs.powers.extend((0..ranks).map(|ranks| factor(scale, ranks as f64)));
        Ok(costs)
    }

    pub fn levels(&self) -> usize {
        self.whole.len() - 1
    }

    /// The factor of so many whole ranks.
    #[inline(always)]
    pub fn power(&self, ranks: usize) -> Extended {
        if let Some(power) = self.powers.get(ranks) { *power } else { self.far_power(ranks) }
    }

    #[cold]
    fn far_power(&self, ranks: usize) -> Extended {
        factor(self.scale, ranks as f64)
    }

    /// The whole ranks wanted before answer `index`.
    pub fn whole(&self, index: usize) -> usize {
        self.whole[index]
    }

    /// The factor of a fraction and so many ranks less than wanted before answer `index`.
    #[inline(always)]
    pub fn missing(&self, index: usize, ranks: usize) -> Extended {
        self.power(ranks).times(self.missing[index])
    }

    /// That of a fraction and so many ranks more than wanted before answer `index`, the next whole number not counted.
    #[inline(always)]
    pub fn excess(&self, index: usize, ranks: usize) -> Extended {
        self.power(ranks).times(self.excess[index])
    }

    /// That of `ranks` between answer `index` and the one before.
    #[inline(always)]
    pub fn between(&self, index: usize, ranks: usize) -> Extended {
        let whole = self.whole(index);
        if ranks <= whole { self.missing(index, whole - ranks) } else { self.excess(index, ranks - whole - 1) }
    }

    /// The cost of so many ranks too many or too few.
    pub fn exponent(&self, ranks: f64) -> f64 {
        self.scale.exponent_of_gap(ranks)
    }

    /// The cost of a path with so many values below each answer, exactly.
    pub fn exact_exponent(&self, ranks: &[usize], count: usize) -> Rational {
        let mut sum = Rational::ZERO;
        let mut before = 0;
        for (&rank, targets) in ranks.iter().chain([&count]).zip(self.targets.windows(2)) {
            sum = sum + (Rational::from(rank - before) - (&targets[1] - &targets[0])).abs();
            before = rank;
        }
        self.scale.exact_exponent_of_gap(&sum)
    }
}

/// exp(-cost) of so many ranks too many or too few; `ranks` has relative error at most 2^-51.
fn factor(scale: &Scale, ranks: f64) -> Extended {
    const HALVINGS: u32 = 10;
    let one = Extended::from_f64(1.0);
    let x = scale.exponent_of_gap(ranks);
    if x <= LARGEST_EXPONENT {
        return one.times_exp_negative(x);
    }
    let mut factor = one.times_exp_negative(x / f64::from(1 << HALVINGS));
    for _ in 0..HALVINGS {
        factor = factor.times(factor);
    }
    factor
}
