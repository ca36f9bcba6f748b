//! One independent draw for each row of a matrix, on all cores.
//!
//! A row is indexed and drawn from at once, while a cache holds it: looking at all rows first, and then at random places in
//! each, takes several times as long. So the last row may be refused when others were drawn from; then no draw is released.
//! Where the rows lie across memory, several are copied side by side for their index, so that each line of memory is read once.
//! Each row's law is that of its mechanism: `proofs/exact_sampling.md`, "Rows".

use crate::entropy::Entropy;
use crate::error::{SelectError, reserved};
use crate::interrupt;
use crate::numbers::scale::Scale;
use crate::numbers::score::Score;
use crate::scan::block_index::{Blocks, Indexable};
use crate::scan::helper_threads::available_threads;
use crate::scan::kernels::Level;
use crate::scan::score_view::View;
use crate::selection::many_draws::{Law, draw, select, share_out, threads_for};
use crate::selection::weight_line::Round;

/// Rows of at least so many bytes are copied side by side if they lie across memory: shorter ones stay in a cache.
const COPIED_FROM: usize = 8 << 10;
/// Scores (in bytes) that one more thread is worth its start.
const BYTES_PER_THREAD: usize = 256 << 10;
/// Scores (in bytes) that a thread takes at a time, about.
const BYTES_PER_TURN: usize = 1 << 20;
/// Turns of a thread at least, so that all end at about the same time.
const TURNS: usize = 16;
/// Bytes of a line of memory.
const LINE: usize = 64;

/// Scores of several selections: `rows` times `columns` values in memory that belongs to somebody else.
#[derive(Clone, Copy)]
pub struct Matrix<'a, T> {
    first: *const T,
    rows: usize,
    columns: usize,
    /// Bytes from a row to the next, and from a column to the next.
    strides: (isize, isize),
    memory: std::marker::PhantomData<&'a [T]>,
}

// SAFETY: as a view, it only reads, and `T` is plain data.
unsafe impl<T: Score> Send for Matrix<'_, T> {}
unsafe impl<T: Score> Sync for Matrix<'_, T> {}

impl<'a, T: Indexable> Matrix<'a, T> {
    /// # Safety
    /// Every row has to be what [`View::new`] demands.
    pub unsafe fn new(first: *const T, (rows, columns): (usize, usize), strides: (isize, isize)) -> Self {
        Self { first, rows, columns, strides, memory: std::marker::PhantomData }
    }

    fn row(&self, row: usize) -> View<'a, T> {
        // SAFETY: by the contract of `new`; only an address is computed for rows that have no columns.
        unsafe {
            View::new(self.first.wrapping_byte_offset(row as isize * self.strides.0), self.columns, self.strides.1)
        }
    }

    fn bytes_per_row(&self) -> usize {
        self.columns * size_of::<T>()
    }

    /// How many rows are read together: those that share lines of memory, if each is too long to stay in a cache meanwhile.
    fn read_together(&self) -> usize {
        let size = size_of::<T>();
        let lie_across = self.strides.0.unsigned_abs() == size && self.strides.1.unsigned_abs() > size;
        if lie_across && self.bytes_per_row() >= COPIED_FROM { LINE / size } else { 1 }
    }

    /// Some rows, read together: their values side by side.
    fn copied(&self, first: usize, count: usize) -> Result<Vec<T>, SelectError> {
        let mut copy = reserved(count * self.columns)?;
        copy.resize(count * self.columns, T::LOWEST);
        for column in 0..self.columns {
            if column.is_multiple_of(COPIED_FROM) {
                interrupt::check()?;
            }
            for place in 0..count {
                copy[place * self.columns + column] = self.row(first + place).get(column);
            }
        }
        Ok(copy)
    }
}

/// One draw for each row.
///
/// # Errors
/// As [`select`], for any of the rows; `NoCandidates` also if there is no row.
pub fn select_rows<T: Indexable>(law: Law, matrix: &Matrix<'_, T>, scale: &Scale) -> Result<Vec<usize>, SelectError> {
    let Matrix { rows, columns, .. } = *matrix;
    if rows == 0 || columns == 0 {
        return Err(SelectError::NoCandidates);
    }
    if rows < available_threads() {
        return (0..rows).map(|row| select(law, matrix.row(row), scale)).collect(); // on all cores, one after the other
    }
    let (level, together) = (Level::detect(), matrix.read_together());
    let threads = threads_for(rows.saturating_mul(matrix.bytes_per_row()) / BYTES_PER_THREAD);
    let per_turn = (BYTES_PER_TURN / matrix.bytes_per_row()).min(rows / (TURNS * threads)).max(1);
    share_out(rows, per_turn.next_multiple_of(together), threads, &|first, draws, entropy| {
        for (group, draws) in draws.chunks_mut(together).enumerate() {
            let first = first + group * together;
            let copy = if together > 1 { matrix.copied(first, draws.len())? } else { Vec::new() };
            for (place, slot) in draws.iter_mut().enumerate() {
                interrupt::check()?;
                let row = copy.chunks(columns).nth(place).map_or_else(|| matrix.row(first + place), View::of);
                *slot = one(law, row, scale, level, entropy)?;
            }
        }
        Ok(())
    })
}

/// One draw from one row, by this thread alone.
#[inline]
fn one<T: Indexable, E: Entropy>(
    law: Law,
    row: View<'_, T>,
    scale: &Scale,
    level: Level,
    entropy: &mut E,
) -> Result<usize, SelectError> {
    draw(law, &Round::new(&Blocks::with_threads(row, 1, level)?, scale), entropy)
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
