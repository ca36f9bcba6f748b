//! Scores where the caller has them: nothing is copied.
//!
//! The memory is often that of a NumPy array, which other threads may write to while it is read here. By the rules of the
//! language such a race is undefined however we read, by relaxed atomics, too, as long as the writer is an ordinary one. What
//! is relied on is what compilers and processors do: a value that is read while it is written is some value, and reading
//! it does nothing else. On that ground nothing may depend on a value being the same when it is read again: no place in
//! memory is computed from scores but through checked indices or bounds that hold for all values, what has been decided of a
//! score is decided of a copy, and every loop ends (`selection::tries`). `intervals::value_turns` alone looks at such memory
//! through a slice, and at some values twice: it may count wrongly then, but stores no more values than it looked at.

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
    pub fn of(scores: &'a [T]) -> Self {
        // SAFETY: a slice is `len` readable values, one after the other.
        unsafe { Self::new(scores.as_ptr(), scores.len(), size_of::<T>() as isize) }
    }

    /// # Safety
    /// For every `i < len` the `size_of::<T>()` bytes at `first + i * stride` must be readable during `'a`. Nobody should write
    /// to them meanwhile; what is relied on where somebody does is said above.
    pub unsafe fn new(first: *const T, len: usize, stride: isize) -> Self {
        Self { first, len, stride, memory: std::marker::PhantomData }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address of value `index` if the values are contiguous.
    #[inline(always)]
    pub(crate) fn contiguous(&self) -> Option<*const T> {
        (self.stride == size_of::<T>() as isize).then_some(self.first)
    }

    /// Copy the values from `start` on to `values`.
    ///
    /// # Panics
    /// If there are not as many.
    #[inline]
    pub fn copy_to(&self, start: usize, values: &mut [T]) {
        assert!(start + values.len() <= self.len, "within the view");
        if let Some(first) = self.contiguous() {
            // SAFETY: within the view, as was just checked; bytes, because foreign memory need not be aligned.
            unsafe {
                let from = first.add(start).cast::<u8>();
                std::ptr::copy_nonoverlapping(from, values.as_mut_ptr().cast::<u8>(), size_of_val(values));
            }
        } else {
            for (offset, value) in values.iter_mut().enumerate() {
                *value = self.get(start + offset);
            }
        }
    }

    /// Value `index`, which must be below `len`.
    #[inline(always)]
    pub fn get(&self, index: usize) -> T {
        debug_assert!(index < self.len);
        // SAFETY: by the contract of `new`; unaligned because foreign strides need not respect alignment.
        unsafe { self.first.byte_offset(index as isize * self.stride).read_unaligned() }
    }
}
