//! What a path of ranks costs: the ranks between neighbouring answers against those asked for, in doubles and exactly.

use crate::error::SelectError;
use crate::error::reserved;
use crate::exact::extended_float::{Extended, LARGEST_EXPONENT};
use crate::exact::rational::{Rational, exactly, nearest_f64};
use crate::scores::scale::Scale;

/// exp(-cost) of ranks between neighbours, the usual ones from a table.
pub struct Factors<'a> {
    costs: &'a RankCosts<'a>,
    /// Of 0, 1, 2, ... ranks.
    powers: Vec<Extended>,
    /// Of the fraction of a rank missing, and of the complement too many, for each pair of neighbours.
    missing: Vec<Extended>,
    excess: Vec<Extended>,
}

impl<'a> Factors<'a> {
    /// With a table for less than `ranks`.
    ///
    /// # Errors
    /// `Memory`.
    pub fn new(costs: &'a RankCosts<'a>, ranks: usize) -> Result<Self, SelectError> {
        let mut powers = reserved(ranks)?;
        powers.extend((0..ranks).map(|ranks| costs.factor_of(ranks as f64)));
        let missing = costs.wanted.iter().map(|wanted| costs.factor_of(wanted.fraction)).collect();
        let excess = costs.wanted.iter().map(|wanted| costs.factor_of(wanted.complement)).collect();
        Ok(Self { costs, powers, missing, excess })
    }

    /// Of so many whole ranks.
    #[inline(always)]
    pub fn power(&self, ranks: usize) -> Extended {
        if let Some(power) = self.powers.get(ranks) { *power } else { self.far_power(ranks) }
    }

    #[cold]
    fn far_power(&self, ranks: usize) -> Extended {
        self.costs.factor_of(ranks as f64)
    }

    /// The whole ranks wanted before answer `index`.
    pub fn whole(&self, index: usize) -> usize {
        usize::try_from(self.costs.wanted[index].whole).unwrap_or(usize::MAX)
    }

    /// Of a fraction and so many ranks less than wanted before answer `index`.
    #[inline(always)]
    pub fn missing(&self, index: usize, ranks: usize) -> Extended {
        self.power(ranks).times(self.missing[index])
    }

    /// Of a fraction and so many ranks more than wanted before answer `index`, the next whole number not counted.
    #[inline(always)]
    pub fn excess(&self, index: usize, ranks: usize) -> Extended {
        self.power(ranks).times(self.excess[index])
    }

    /// Of `ranks` between answer `index` and the one before.
    #[inline(always)]
    pub fn between(&self, index: usize, ranks: usize) -> Extended {
        let whole = self.whole(index);
        if ranks <= whole { self.missing(index, whole - ranks) } else { self.excess(index, ranks - whole - 1) }
    }
}

/// The ranks wanted between two answers: a whole number and a fraction.
pub struct WantedRanks {
    pub whole: u64,
    /// The fraction and what it leaves of 1, each with relative error at most 2^-53.
    pub fraction: f64,
    pub complement: f64,
}

/// The ranks wanted between neighbours among 0, the answers, and the number of values.
pub struct RankCosts<'a> {
    pub wanted: Vec<WantedRanks>,
    /// The wanted ranks, of answers and of the upper end; the first is that of the lower end, 0.
    targets: Vec<Rational>,
    /// What one rank too many or too few between two neighbours costs.
    scale: &'a Scale,
}

impl<'a> RankCosts<'a> {
    /// For increasing `levels` in [0, 1] of `count` values.
    pub fn new(levels: &[f64], count: u64, scale: &'a Scale) -> Self {
        let ends = [0.0].iter().chain(levels).chain(&[1.0]);
        let targets: Vec<_> = ends.map(|&level| exactly(level) * Rational::from(count)).collect();
        let wanted = targets.windows(2).map(|pair| {
            let difference = &pair[1] - &pair[0];
            let whole = difference.floor();
            let fraction = difference - Rational::from(whole.clone());
            WantedRanks {
                whole: u64::try_from(whole).unwrap_or(u64::MAX),
                fraction: nearest_f64(&fraction),
                complement: nearest_f64(&(Rational::ONE - fraction)),
            }
        });
        Self { wanted: wanted.collect(), targets, scale }
    }

    /// The rank wanted for answer `index`, rounded down.
    pub fn target(&self, index: usize) -> u64 {
        u64::try_from(self.targets[index + 1].floor()).unwrap_or(u64::MAX)
    }

    /// exp(-cost) of so many ranks too many or too few; `gap` has relative error at most 2^-51.
    pub fn factor_of(&self, gap: f64) -> Extended {
        const HALVINGS: u32 = 10;
        let one = Extended::from_f64(1.0);
        let x = self.exponent(gap);
        if x <= LARGEST_EXPONENT {
            return one.times_exp_negative(x);
        }
        let mut factor = one.times_exp_negative(x / f64::from(1 << HALVINGS));
        for _ in 0..HALVINGS {
            factor = factor.times(factor);
        }
        factor
    }

    /// The cost of so many ranks too many or too few.
    pub fn exponent(&self, gap: f64) -> f64 {
        self.scale.exponent_of_gap(gap)
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
