//! Scores where the caller has them: nothing is copied.
//!
//! The memory is often that of a NumPy array, which other threads may write to while it is read here. By the rules of the
//! language such a race is undefined however we read, by relaxed atomics, too, as long as the writer is an ordinary one. What
//! is relied on is what compilers and processors do: a value that is read while it is written is some value, and reading
//! it does nothing else. On that ground nothing may depend on a value being the same when it is read again: no place in
//! memory is computed from scores but through checked indices or bounds that hold for all values, what has been decided of a
//! score is decided of a copy, and every loop ends (`select::tries`). `numbers::value_turns` and `scores::keys` look at such memory
//! through slices, the former at some values twice: it may count wrongly then, but stores no more values than it looked at.

use std::marker::PhantomData;

use crate::scores::score::{Kind, Score, Stored, with_stored};

/// Scores in memory of the caller's: `len` numbers of one kind, `stride` bytes apart.
#[derive(Clone, Copy)]
pub struct View<'a> {
    first: *const u8,
    kind: Kind,
    len: usize,
    stride: isize,
    memory: PhantomData<&'a [u8]>,
}

// SAFETY: a view only reads, and numbers are plain data.
unsafe impl Send for View<'_> {}
unsafe impl Sync for View<'_> {}

impl<'a> View<'a> {
    pub fn of<T: Stored>(scores: &'a [T]) -> Self {
        // SAFETY: a slice is `len` readable values, one after the other.
        unsafe { Self::new(scores.as_ptr().cast(), T::KIND, scores.len(), size_of::<T>() as isize) }
    }

    /// # Safety
    /// For every `i < len` the bytes of a number of that kind at `first + i * stride` must be readable during `'a`. They
    /// should not be written to meanwhile; what is relied on where they are is said above.
    pub unsafe fn new(first: *const u8, kind: Kind, len: usize, stride: isize) -> Self {
        Self { first, kind, len, stride, memory: PhantomData }
    }

    pub fn kind(&self) -> Kind {
        self.kind
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn bytes(&self) -> usize {
        self.len * self.kind.size()
    }

    /// The address of the first value if the values are contiguous.
    #[inline(always)]
    pub(crate) fn contiguous(&self) -> Option<*const u8> {
        (self.stride == self.kind.size() as isize).then_some(self.first)
    }

    /// The values in place, if they are of this type and in a row. If they are written to meanwhile, that is a race, of which it
    /// is said above what is relied on.
    #[allow(clippy::cast_ptr_alignment, reason = "it is checked")]
    pub(crate) fn in_place<T: Stored>(&self) -> Option<&'a [T]> {
        let first = self.contiguous()?.cast::<T>();
        // SAFETY: by the contract of `new` as many are readable from there on.
        (self.kind == T::KIND && first.is_aligned()).then(|| unsafe { std::slice::from_raw_parts(first, self.len) })
    }

    /// Copy the values from `start` on to `values`, which must have the view's type.
    ///
    /// # Panics
    /// If there are not as many, or of another type.
    #[inline]
    pub(crate) fn copy_to<T: Stored>(&self, start: usize, values: &mut [T]) {
        assert!(start + values.len() <= self.len && T::KIND == self.kind, "within the view");
        if let Some(first) = self.contiguous() {
            // SAFETY: within the view, as was just checked; bytes, because foreign memory need not be aligned.
            unsafe {
                let from = first.add(start * size_of::<T>());
                std::ptr::copy_nonoverlapping(from, values.as_mut_ptr().cast::<u8>(), size_of_val(values));
            }
        } else {
            for (offset, value) in values.iter_mut().enumerate() {
                // SAFETY: within the view.
                *value = unsafe { self.read(start + offset) };
            }
        }
    }

    /// Put what `convert` makes of the values from `start` on into `into`.
    ///
    /// # Panics
    /// If there are not as many.
    pub(crate) fn convert<R>(&self, start: usize, into: &mut [R], convert: impl Fn(Score, f64) -> R) {
        assert!(start + into.len() <= self.len, "within the view");
        with_stored!(self.kind, T => for (offset, place) in into.iter_mut().enumerate() {
            // SAFETY: within the view, as was just checked.
            let value: T = unsafe { self.read(start + offset) };
            *place = convert(value.score(), value.nearest_f64());
        });
    }

    /// Copy the nearest doubles from `start` on; as [`View::copy_to`].
    pub fn copy_doubles_to(&self, start: usize, doubles: &mut [f64]) {
        self.convert(start, doubles, |_, double| double);
    }

    /// # Safety
    /// `index` must be below `len`, and the view's type be `T`.
    #[inline(always)]
    unsafe fn read<T>(&self, index: usize) -> T {
        debug_assert!(index < self.len);
        // SAFETY: by the contract of `new`; unaligned because foreign strides need not respect alignment.
        unsafe { self.first.byte_offset(index as isize * self.stride).cast::<T>().read_unaligned() }
    }

    /// Score `index`, which must be below `len`.
    #[inline(always)]
    pub fn get(&self, index: usize) -> Score {
        // SAFETY: by what is demanded here.
        with_stored!(self.kind, T => unsafe { self.read::<T>(index) }.score())
    }
}
