//! Sets of candidates: a few seen in one draw, by open addressing (indices are not secret); those out of a row of draws, by bits.

/// Indices seen in a draw.
#[derive(Clone, Debug, Default)]
pub struct IndexSet {
    /// `index + 1`, or 0 for an empty slot; the length is a power of two and at least twice `len`.
    slots: Vec<u64>,
    len: usize,
}

const SMALLEST: usize = 64;

impl IndexSet {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    #[inline]
    #[must_use]
    pub fn contains(&self, index: usize) -> bool {
        !self.slots.is_empty() && self.slots[self.slot_of(index)] != 0
    }

    /// Add `index`; false if it was there.
    #[inline]
    pub fn insert(&mut self, index: usize) -> bool {
        if 2 * (self.len + 1) > self.slots.len() {
            self.grow((2 * self.slots.len()).max(SMALLEST));
        }
        let slot = self.slot_of(index);
        if self.slots[slot] != 0 {
            return false;
        }
        self.slots[slot] = index as u64 + 1;
        self.len += 1;
        true
    }

    /// The slot that holds `index`, or the empty one where it belongs.
    #[inline]
    fn slot_of(&self, index: usize) -> usize {
        let mask = self.slots.len() - 1;
        // Fibonacci hashing: the high bits of a product with 2^64 / golden ratio.
        let mut slot = ((index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        while self.slots[slot] != 0 && self.slots[slot] != index as u64 + 1 {
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// Make room for `more` indices.
    pub fn reserve(&mut self, more: usize) {
        let wanted = (2 * (self.len + more)).next_power_of_two();
        if more > 0 && wanted > self.slots.len() {
            self.grow(wanted);
        }
    }

    #[cold]
    fn grow(&mut self, larger: usize) {
        let old = std::mem::replace(&mut self.slots, vec![0; larger]);
        for value in old.into_iter().filter(|&value| value != 0) {
            let slot = self.slot_of(value as usize - 1);
            self.slots[slot] = value;
        }
    }
}

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
    #[must_use]
    pub fn contains(&self, index: usize) -> bool {
        self.bits.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    /// Take `index` out, one of `count`.
    pub fn insert(&mut self, index: usize, count: usize) {
        self.bits.resize(count.div_ceil(64), 0);
        self.bits[index / 64] |= 1 << (index % 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_standard_set() {
        let mut set = IndexSet::new();
        let mut standard = std::collections::HashSet::new();
        assert!(!set.contains(0));
        for step in 0_usize..5000 {
            let index = (step * step * 31) % 4001;
            assert_eq!(set.insert(index), standard.insert(index));
        }
        assert_eq!(set.len, standard.len());
        assert!((0..4001).all(|index| set.contains(index) == standard.contains(&index)));
    }
}
