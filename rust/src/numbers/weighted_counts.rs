//! Many independent draws of a cell with probability proportional to a whole number: integers only, so exact.

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::error::reserved;

/// Cells by the running sums of their weights.
pub struct Shares {
    ends: Vec<u64>,
}

impl Shares {
    /// # Errors
    /// `NoCandidates` if all weights are zero, `InvalidCount` if their sum is 2^63 or more, `Memory`.
    pub fn new(weights: &[u64]) -> Result<Self, SelectError> {
        let mut ends = reserved(weights.len())?;
        let mut total = 0_u64;
        for &weight in weights {
            let sum = total.checked_add(weight).filter(|sum| sum.leading_zeros() > 0);
            total = sum.ok_or(SelectError::InvalidCount)?;
            ends.push(total);
        }
        if total == 0 { Err(SelectError::NoCandidates) } else { Ok(Self { ends }) }
    }

    /// How often each cell comes in `size` draws.
    ///
    /// # Errors
    /// `Memory`.
    pub fn tally<E: Entropy>(&self, size: u64, entropy: &mut E) -> Result<Vec<u64>, SelectError> {
        let total = self.ends[self.ends.len() - 1];
        let mut counts = reserved(self.ends.len())?;
        counts.resize(self.ends.len(), 0);
        for _ in 0..size {
            let target = entropy.below(total);
            counts[self.ends.partition_point(|&end| end <= target)] += 1;
        }
        Ok(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;
    use crate::testing::assert_law;

    #[test]
    fn cells_come_by_their_weights_and_empty_ones_never() {
        let mut entropy = seeded(201);
        let shares = Shares::new(&[1, 0, 2, 5, 0]).unwrap();
        assert_law("weights", 50_000, &[0.125, 0.0, 0.25, 0.625, 0.0], &[0.2, 0.0, 0.2, 0.6, 0.0], || {
            let counts = shares.tally(1, &mut entropy).unwrap();
            counts.iter().position(|&count| count == 1).unwrap()
        });
        assert_eq!(shares.tally(1000, &mut entropy).unwrap().iter().sum::<u64>(), 1000);
    }

    #[test]
    fn sums_that_do_not_fit_are_refused() {
        assert!(matches!(Shares::new(&[1 << 62, 1 << 62]), Err(SelectError::InvalidCount)));
        assert!(matches!(Shares::new(&[u64::MAX, 1]), Err(SelectError::InvalidCount)));
        assert!(matches!(Shares::new(&[0, 0]), Err(SelectError::NoCandidates)));
        assert!(matches!(Shares::new(&[]), Err(SelectError::NoCandidates)));
    }
}
