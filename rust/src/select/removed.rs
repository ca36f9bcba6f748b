//! Which candidates are removed from a row of draws: the first few by their indices, more of them by bits.

/// Candidates kept by their indices; a list this short is looked through as fast as a bit is found, and takes no memory.
const FEW: usize = 8;

/// Candidates that are out of all rounds that follow.
#[derive(Clone, Debug)]
pub struct Removed {
    few: [usize; FEW],
    count: usize,
    /// One bit a candidate, from more than a few on; bits that are not there are zero.
    bits: Vec<u64>,
}

/// None is removed.
pub static NONE_REMOVED: Removed = Removed::new();

impl Default for Removed {
    fn default() -> Self {
        Self::new()
    }
}

impl Removed {
    const fn new() -> Self {
        Self { few: [0; FEW], count: 0, bits: Vec::new() }
    }

    #[inline]
    pub fn contains(&self, index: usize) -> bool {
        if self.bits.is_empty() {
            return self.few[..self.count].contains(&index);
        }
        self.bits.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Take `index` out, one of `count`.
    pub fn insert(&mut self, index: usize, count: usize) {
        if self.count < FEW {
            self.few[self.count] = index;
            self.count += 1;
            return;
        }
        if self.bits.is_empty() {
            self.bits.resize(count.div_ceil(64), 0);
            for &index in &self.few {
                self.bits[index / 64] |= 1 << (index % 64);
            }
        }
        self.bits[index / 64] |= 1 << (index % 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_removed_is_out_and_nothing_else() {
        let mut removed = Removed::default();
        assert!(removed.is_empty() && !removed.contains(0));
        let out: Vec<usize> = (0..20).map(|number| number * 37 % 200).collect();
        for (number, &index) in out.iter().enumerate() {
            removed.insert(index, 200);
            assert!(!removed.is_empty());
            for other in 0..300 {
                assert_eq!(removed.contains(other), out[..=number].contains(&other), "{other} after {number}");
            }
        }
    }
}
