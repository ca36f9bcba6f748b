//! Who is out of a row of draws, by bits.

/// Candidates that are out of all rounds that follow.
#[derive(Clone, Debug, Default)]
pub struct Removed {
    /// One bit a candidate; bits that are not there are zero.
    bits: Vec<u64>,
}

/// Everybody is in.
pub static NOBODY: Removed = Removed { bits: Vec::new() };

impl Removed {
    #[inline]
    pub fn contains(&self, index: usize) -> bool {
        self.bits.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    /// Take `index` out, one of `count`.
    pub fn insert(&mut self, index: usize, count: usize) {
        self.bits.resize(count.div_ceil(64), 0);
        self.bits[index / 64] |= 1 << (index % 64);
    }
}
