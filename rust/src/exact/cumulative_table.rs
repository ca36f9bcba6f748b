//! Choosing an index with probability proportional to a whole number: the one table of running sums that all such
//! choices use. Integers only, so exact.

use crate::entropy::Entropy;
use crate::error::SelectError;
use crate::error::reserved;
use crate::interrupt;

/// Whole weights, laid one after another on a line; `ends[i]` is where weight i ends.
#[derive(Clone, Debug, Default)]
pub struct CumulativeTable {
    ends: Vec<u64>,
}

impl CumulativeTable {
    /// # Errors
    /// `NoCandidates` if all weights are zero, `InvalidCount` if their sum is 2^63 or more, `Memory`, `Interrupted`.
    pub fn new(weights: impl ExactSizeIterator<Item = u64>) -> Result<Self, SelectError> {
        let mut ends = reserved(weights.len())?;
        let mut total = 0_u64;
        for (index, weight) in weights.enumerate() {
            if index % 4096 == 0 {
                interrupt::check()?;
            }
            let sum = total.checked_add(weight).filter(|sum| sum.leading_zeros() > 0);
            total = sum.ok_or(SelectError::InvalidCount)?;
            ends.push(total);
        }
        if total == 0 { Err(SelectError::NoCandidates) } else { Ok(Self { ends }) }
    }

    /// The sum of all weights, never zero.
    #[inline]
    pub fn total(&self) -> u64 {
        self.ends[self.ends.len() - 1]
    }

    /// The sum of the weights before `index`.
    #[inline]
    pub fn start(&self, index: usize) -> u64 {
        if index == 0 { 0 } else { self.ends[index - 1] }
    }

    #[inline]
    pub fn weight(&self, index: usize) -> u64 {
        self.ends[index] - self.start(index)
    }

    /// The index on whose stretch of the line `position` lies; it must be below the total.
    #[inline]
    pub fn index_at(&self, position: u64) -> usize {
        self.ends.partition_point(|&end| end <= position)
    }

    /// Draw an index with probability `weight(index) / total()`.
    #[inline]
    pub fn draw(&self, entropy: &mut Entropy) -> usize {
        self.index_at(entropy.below(self.total()))
    }

    /// How often each index comes in `size` draws.
    pub fn draw_counts(&self, size: u64, entropy: &mut Entropy) -> Result<Vec<u64>, SelectError> {
        let mut counts = reserved(self.ends.len())?;
        counts.resize(self.ends.len(), 0);
        for number in 0..size {
            if number % 1024 == 0 {
                interrupt::check()?;
            }
            counts[self.draw(entropy)] += 1;
        }
        Ok(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::testing::seeded;
    use crate::testing::assert_law;

    fn table(weights: &[u64]) -> Result<CumulativeTable, SelectError> {
        CumulativeTable::new(weights.iter().copied())
    }

    #[test]
    fn indices_come_by_their_weights_and_empty_ones_never() {
        let mut entropy = seeded(201);
        let weighted = table(&[1, 0, 2, 5, 0]).unwrap();
        let (law, wrong) = ([0.125, 0.0, 0.25, 0.625, 0.0], [0.2, 0.0, 0.2, 0.6, 0.0]);
        assert_law("weights", 50_000, &law, &wrong, || weighted.draw(&mut entropy));
        assert_law("counts", 50_000, &law, &wrong, || {
            let counts = weighted.draw_counts(1, &mut entropy).unwrap();
            counts.iter().position(|&count| count == 1).unwrap()
        });
        assert_eq!(weighted.draw_counts(1000, &mut entropy).unwrap().iter().sum::<u64>(), 1000);
    }

    #[test]
    fn every_position_belongs_to_one_index() {
        let weights = [0, 3, 1, 0, 0, 2, 0];
        let small = table(&weights).unwrap();
        let expected = [1, 1, 1, 2, 5, 5];
        assert_eq!(small.total(), 6);
        for (position, index) in (0..small.total()).zip(expected) {
            assert_eq!(small.index_at(position), index);
            assert!(small.start(index) <= position && position < small.start(index) + small.weight(index));
        }
        assert!(weights.iter().enumerate().all(|(index, &weight)| small.weight(index) == weight));
    }

    #[test]
    fn sums_that_do_not_fit_are_refused() {
        for (weights, error) in [
            ([1 << 62, 1 << 62], SelectError::InvalidCount),
            ([u64::MAX, 1], SelectError::InvalidCount),
            ([0, 0], SelectError::NoCandidates),
        ] {
            assert_eq!(table(&weights).err(), Some(error));
        }
        assert_eq!(table(&[]).err(), Some(SelectError::NoCandidates));
        assert_eq!(table(&[(1 << 62) - 1, 1 << 62]).unwrap().total(), (1 << 63) - 1);
    }
}
