//! Where the data's cumulative counts jump, and how far a sample of size k is from them.
//!
//! Boundaries 0..=m lie around m cells. At boundary b the data have `before[b]` of their n values to its left and
//! `through[b]` to its left or on it; a sample with C of its k points to the left is `max(n C - k before[b],
//! k through[b] - n C)` away there, and its distance is the largest of these, n k times Kolmogorov and Smirnov's: with
//! C constant across a boundary, both limits of the difference there are looked at. Proof: `proofs/density.md`.

use crate::error::SelectError;
use crate::error::reserved;

/// Cumulative counts of the data, and the sizes.
pub struct CumulativeCounts {
    before: Vec<u64>,
    through: Vec<u64>,
    n: u64,
    k: u64,
}

/// A boundary at which the sample's count is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gate {
    pub boundary: usize,
    /// The sample's count there is at least this, and at most `high`.
    pub low: u64,
    pub high: u64,
}

/// n times k stays below it, so that no sum here overflows.
const LARGEST_DISTANCE: u128 = 1 << 61;

impl CumulativeCounts {
    /// Neither vector decreases, `before[b] <= through[b] <= before[b + 1]`, and the last of `through` is n.
    ///
    /// # Errors
    /// `NoCandidates` if there is no cell or no value, `InvalidCount` if k is 0, `Memory` if n k is beyond 2^61.
    pub fn new(before: Vec<u64>, through: Vec<u64>, k: u64) -> Result<Self, SelectError> {
        let n = through.last().copied().unwrap_or(0);
        if before.len() < 2 || n == 0 {
            return Err(SelectError::NoCandidates);
        }
        if k == 0 {
            return Err(SelectError::InvalidCount);
        }
        if u128::from(n) * u128::from(k) > LARGEST_DISTANCE {
            return Err(SelectError::Memory);
        }
        Ok(Self { before, through, n, k })
    }

    /// Cells with these counts, compared at the cells' ends.
    ///
    /// # Errors
    /// As [`CumulativeCounts::new`].
    pub fn of_counts(counts: &[u64], k: u64) -> Result<Self, SelectError> {
        let mut sums: Vec<u64> = reserved(counts.len() + 1)?;
        let mut sum = 0_u64;
        sums.push(0);
        for &count in counts {
            sum = sum.checked_add(count).ok_or(SelectError::Memory)?;
            sums.push(sum);
        }
        let mut through: Vec<u64> = reserved(sums.len())?;
        through.extend_from_slice(&sums);
        Self::new(sums, through, k)
    }

    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.before.len() - 1
    }

    pub fn sample_size(&self) -> u64 {
        self.k
    }

    /// No distance is larger.
    pub fn largest_distance(&self) -> u64 {
        self.n * self.k
    }

    /// The counts C with `max(n C - k before, k through - n C) <= radius`, moved into 0..=k; perhaps `low > high`.
    fn gate(&self, boundary: usize, radius: u64) -> Gate {
        let (above, below) = (self.k * self.before[boundary], self.k * self.through[boundary]);
        let low = below.saturating_sub(radius).div_ceil(self.n);
        let high = ((above + radius) / self.n).min(self.k);
        let last = self.cells();
        Gate {
            boundary,
            low: if boundary == last { low.max(self.k) } else { low },
            high: if boundary == 0 { 0 } else { high },
        }
    }

    /// The least distance a sample can have: with less radius, some gate is shut.
    pub fn least_distance(&self) -> u64 {
        let (n, k) = (self.n, self.k);
        let mut least = 0;
        for boundary in 0..=self.cells() {
            let (above, below) = (k * self.before[boundary], k * self.through[boundary]);
            let distance = |count: u64| (n * count).saturating_sub(above).max(below.saturating_sub(n * count));
            least = least.max(if boundary == 0 {
                distance(0)
            } else if boundary == self.cells() {
                distance(k)
            } else {
                // Convex in the count, with its least value on one side of where both terms meet.
                let meet = (above + below) / (2 * n);
                distance(meet).min(if meet < k { distance(meet + 1) } else { u64::MAX })
            });
        }
        least
    }

    /// The gates that say all: at the first boundary from which a larger count is needed and at the last one at which
    /// a larger count is too much; the first and the last boundary always.
    ///
    /// # Errors
    /// `Memory`.
    pub fn gates(&self, radius: u64) -> Result<Vec<Gate>, SelectError> {
        let (n, k) = (self.n, self.k);
        let last = self.cells();
        let mut boundaries: Vec<usize> = reserved(2 * (self.cells().min(k as usize) + 1))?;
        boundaries.extend([0, last]);
        // Searching for each count beats looking at every boundary once there are far more of these.
        if (last as u64) < 32 * k {
            for boundary in 1..last {
                let (here, next) = (self.gate(boundary, radius), self.gate(boundary + 1, radius));
                if here.low > self.gate(boundary - 1, radius).low || here.high < next.high {
                    boundaries.push(boundary);
                }
            }
        } else {
            for count in 0..k {
                let needs_more = self.through.partition_point(|&sum| k * sum <= radius + n * count);
                let allows_more = self.before.partition_point(|&sum| k * sum + radius < n * (count + 1));
                boundaries.push(needs_more.min(last));
                boundaries.push(allows_more.saturating_sub(1));
            }
        }
        boundaries.sort_unstable();
        boundaries.dedup();
        let mut gates: Vec<Gate> = reserved(boundaries.len())?;
        gates.extend(boundaries.into_iter().map(|boundary| self.gate(boundary, radius)));
        Ok(gates)
    }

    /// The distance of the sample whose points lie in these cells, given in increasing order.
    pub fn distance(&self, cells: &[usize]) -> u64 {
        let mut farthest = 0;
        let mut first = 0;
        for count in 0..=cells.len() {
            // Boundaries first..=last have `count` points to their left.
            let last = if count < cells.len() { cells[count] } else { self.cells() };
            if first <= last {
                let reached = self.n * count as u64;
                let over = reached.saturating_sub(self.k * self.before[first]);
                let under = (self.k * self.through[last]).saturating_sub(reached);
                farthest = farthest.max(over).max(under);
            }
            first = last + 1;
        }
        farthest
    }
}

#[cfg(test)]
#[path = "cumulative_counts_tests.rs"]
mod tests;
