//! Which candidates are removed from a row of draws.

/// Candidates that are out of all rounds that follow.
#[derive(Clone, Debug, Default)]
pub struct Removed {
    /// One bit a candidate; bits that are not there are zero.
    bits: Vec<u64>,
}

/// None is removed.
pub static NONE_REMOVED: Removed = Removed { bits: Vec::new() };

impl Removed {
    #[inline]
    pub fn contains(&self, index: usize) -> bool {
        self.bits.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    /// Take `index` out, one of `count`.
    pub fn insert(&mut self, index: usize, count: usize) {
        if self.bits.is_empty() {
            self.bits = vec![0; count.div_ceil(64)];
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
        assert!(!removed.contains(0));
        let out: Vec<usize> = (0..20).map(|number| number * 37 % 200).collect();
        for (number, &index) in out.iter().enumerate() {
            removed.insert(index, 200);
            for other in 0..300 {
                assert_eq!(removed.contains(other), out[..=number].contains(&other), "{other} after {number}");
            }
        }
    }
}
