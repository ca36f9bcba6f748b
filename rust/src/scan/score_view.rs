//! Scores where the caller has them: nothing is copied.

use crate::numbers::score::Score;

/// Scores in memory that belongs to somebody else: `len` values, `stride` bytes apart.
#[derive(Clone, Copy)]
pub struct View<'a, T> {
    first: *const T,
    len: usize,
    stride: isize,
    memory: std::marker::PhantomData<&'a [T]>,
}

// SAFETY: a view only reads, and `T` is plain data.
unsafe impl<T: Score> Send for View<'_, T> {}
unsafe impl<T: Score> Sync for View<'_, T> {}

impl<'a, T: Score> View<'a, T> {
    #[must_use]
    pub fn of(scores: &'a [T]) -> Self {
        // SAFETY: a slice is `len` readable values, one after the other.
        unsafe { Self::new(scores.as_ptr(), scores.len(), size_of::<T>() as isize) }
    }

    /// # Safety
    /// For every `i < len` the `size_of::<T>()` bytes at `first + i * stride` must be readable during `'a`.
    #[must_use]
    pub unsafe fn new(first: *const T, len: usize, stride: isize) -> Self {
        Self { first, len, stride, memory: std::marker::PhantomData }
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address of value `index` if the values are contiguous.
    #[inline(always)]
    pub(crate) fn contiguous(&self) -> Option<*const T> {
        (self.stride == size_of::<T>() as isize).then_some(self.first)
    }

    /// Value `index`, which must be below `len`.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, index: usize) -> T {
        debug_assert!(index < self.len);
        // SAFETY: by the contract of `new`; unaligned because foreign strides need not respect alignment.
        unsafe { self.first.byte_offset(index as isize * self.stride).read_unaligned() }
    }
}
