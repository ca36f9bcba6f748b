//! How far a rank lies from the rank asked for: in doubles with a known error, and exactly.
//!
//! The target is t = level * count, a real number between two whole numbers. All distances are a whole number plus t's
//! fraction, or a whole number minus it, so comparing two never cancels more than the fraction itself does.

use std::cmp::Ordering;

use crate::exact::rational::{Rational, exactly, nearest_f64};

/// The rank `level * count`, exactly.
#[derive(Clone, Debug)]
pub struct Target {
    /// t's whole part.
    whole: u64,
    fraction: Rational,
    /// It as the sum of two doubles: exact if it has at most 106 bits, else right to 2^-52, relative.
    near_fraction: (f64, f64),
}

/// A distance from the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distance {
    /// The target itself.
    Zero,
    /// The whole number plus the target's fraction.
    Below(u64),
    /// The whole number plus one, less the target's fraction.
    Above(u64),
}

impl Target {
    /// `level` in [0, 1].
    pub fn new(level: f64, count: u64) -> Self {
        let rank = exactly(level) * Rational::from(count);
        let whole = rank.floor();
        let fraction = rank - Rational::from(whole.clone());
        let high = nearest_f64(&fraction);
        let low = nearest_f64(&(&fraction - exactly(high)));
        Self { whole: u64::try_from(whole).unwrap_or(u64::MAX), fraction, near_fraction: (high, low) }
    }

    /// t, rounded down.
    pub fn whole(&self) -> u64 {
        self.whole
    }

    /// The distance of a point with `below` values below it and `up_to` values not above it:
    /// `max(0, below - t, t - up_to)`.
    pub fn distance(&self, below: u64, up_to: u64) -> Distance {
        if up_to <= self.whole {
            Distance::Below(self.whole - up_to)
        } else if below > self.whole {
            Distance::Above(below - self.whole - 1)
        } else {
            Distance::Zero
        }
    }

    /// The whole number and the sign of the fraction that make up a distance.
    fn terms(distance: Distance) -> (i128, i8) {
        match distance {
            Distance::Zero => (0, 0),
            Distance::Below(whole) => (i128::from(whole), 1),
            Distance::Above(whole) => (i128::from(whole) + 1, -1),
        }
    }

    pub fn compare(&self, left: Distance, right: Distance) -> Ordering {
        let apart = Self::terms(left).0 - Self::terms(right).0;
        // Fractions make up for less than 2 in whole numbers.
        if apart.abs() >= 2 { apart.cmp(&0) } else { self.exact_gap(right, left).cmp(&Rational::ZERO) }
    }

    /// `far - near >= 0`, with relative error at most 2^-51 and zero only if it is.
    pub fn gap(&self, near: Distance, far: Distance) -> f64 {
        let ((near, near_sign), (far, far_sign)) = (Self::terms(near), Self::terms(far));
        let sign = f64::from(far_sign - near_sign);
        // If whole part and fraction nearly cancel, both are below 4 and their sum is exact.
        let gap = ((far - near) as f64 + sign * self.near_fraction.0) + sign * self.near_fraction.1;
        gap.max(0.0)
    }

    /// `far - near`.
    pub fn exact_gap(&self, near: Distance, far: Distance) -> Rational {
        let ((near, near_sign), (far, far_sign)) = (Self::terms(near), Self::terms(far));
        Rational::from(far - near) + &self.fraction * Rational::from(far_sign - near_sign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;

    #[test]
    fn distances_are_those_of_the_formula() {
        for (level, count) in [(0.5, 7_u64), (0.25, 8), (0.0, 5), (1.0, 5), (0.1, 30), (0.5, 0)] {
            let target = Target::new(level, count);
            let t = level * count as f64;
            for below in 0..=count {
                for up_to in below..=count {
                    let expected = (below as f64 - t).max(t - up_to as f64).max(0.0);
                    let got = target.gap(Distance::Zero, target.distance(below, up_to));
                    assert!((got - expected).abs() < 1e-12, "{level} of {count}: {below}..{up_to}");
                }
            }
        }
    }

    #[test]
    fn gaps_in_doubles_are_as_good_as_claimed() {
        let mut entropy = seeded(91);
        let mut worst: f64 = 0.0;
        for round in 0..20_000 {
            let count = entropy.next_u64() >> (14 + entropy.below(50));
            let level = match round % 4 {
                0 => entropy.next_u64() as f64 * 2_f64.powi(-64),
                1 => (0.5 + (entropy.below(9) as f64 - 4.0) * f64::EPSILON).min(1.0),
                2 => f64::from_bits(entropy.below(1.0_f64.to_bits())),
                _ => entropy.below(count + 1) as f64 / (count.max(1)) as f64,
            };
            let target = Target::new(level.min(1.0), count);
            let nearby = |entropy: &mut crate::entropy::Entropy| {
                let rank = (target.whole() + entropy.below(4)).saturating_sub(2).min(count);
                target.distance(rank, rank)
            };
            let (mut near, mut far) = (nearby(&mut entropy), nearby(&mut entropy));
            if target.compare(near, far) == Ordering::Greater {
                (near, far) = (far, near);
            }
            let (gap, exact) = (target.gap(near, far), target.exact_gap(near, far));
            let truth = crate::exact::rational::nearest_f64(&exact);
            assert_eq!(gap == 0.0, truth == 0.0, "{level:e} of {count}");
            if truth > 1e-290 {
                worst = worst.max((gap / truth - 1.0).abs());
            }
        }
        assert!(worst <= 2_f64.powi(-51), "{worst:e}");
    }

    #[test]
    fn the_level_is_the_exact_double() {
        // 0.1 is more than a tenth: t lies above 1, so that rank 1 is farther than rank 2 is from 3 - t.
        let target = Target::new(0.1, 10);
        assert_eq!(target.whole(), 1);
        assert_eq!(target.compare(target.distance(1, 1), Distance::Zero), Ordering::Greater);
        assert_eq!(target.compare(target.distance(0, 0), target.distance(2, 2)), Ordering::Greater);
        let half = Target::new(0.5, 3);
        assert_eq!(half.compare(half.distance(1, 1), half.distance(2, 2)), Ordering::Equal);
    }
}
