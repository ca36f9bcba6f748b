//! One independent draw for each row of a matrix, on all cores.
//!
//! A row is indexed and drawn from at once, while a cache holds it: looking at all rows first, and then at random places in
//! each, takes several times as long. So the last row may be refused when others were drawn from; then no draw is released.
//! Where the rows lie across memory, several are copied side by side for their index, so that each line of memory is read once.
//! Each row's law is that of its mechanism: `proofs/exact_sampling.md`, "Rows".

use crate::error::{SelectError, reserved};
use crate::interrupt;
use crate::scores::block_index::Blocks;
use crate::scores::kernels::Instructions;
use crate::scores::scale::Scale;
use crate::scores::score::Kind;
use crate::scores::score_view::View;
use crate::scores::threads::available_threads;
use crate::select::many_draws::{Law, draw, select, share_out, threads_for};
use crate::select::weight_line::Round;

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

/// Scores of several selections: `rows` times `columns` values in memory of the caller's.
#[derive(Clone, Copy)]
pub struct Matrix<'a> {
    first: *const u8,
    kind: Kind,
    rows: usize,
    columns: usize,
    /// Bytes from a row to the next, and from a column to the next.
    strides: (isize, isize),
    memory: std::marker::PhantomData<&'a [u8]>,
}

// SAFETY: as a view, it only reads, and numbers are plain data.
unsafe impl Send for Matrix<'_> {}
unsafe impl Sync for Matrix<'_> {}

impl<'a> Matrix<'a> {
    /// # Safety
    /// Every row has to be what [`View::new`] demands.
    pub unsafe fn new(first: *const u8, kind: Kind, (rows, columns): (usize, usize), strides: (isize, isize)) -> Self {
        Self { first, kind, rows, columns, strides, memory: std::marker::PhantomData }
    }

    fn row(&self, row: usize) -> View<'a> {
        // SAFETY: by the contract of `new`; only an address is computed for rows that have no columns.
        unsafe {
            let first = self.first.wrapping_offset(row as isize * self.strides.0);
            View::new(first, self.kind, self.columns, self.strides.1)
        }
    }

    fn bytes_per_row(&self) -> usize {
        self.columns * self.kind.size()
    }

    /// How many rows are read together: those that share lines of memory, if each is too long to stay in a cache meanwhile.
    fn read_together(&self) -> usize {
        let size = self.kind.size();
        let lie_across = self.strides.0.unsigned_abs() == size && self.strides.1.unsigned_abs() > size;
        if lie_across && self.bytes_per_row() >= COPIED_FROM { LINE / size } else { 1 }
    }

    /// Some rows, read together: their values side by side, as they are in memory.
    fn copied(&self, first: usize, count: usize) -> Result<Vec<u8>, SelectError> {
        let bytes = count * self.bytes_per_row();
        let mut copy = reserved(bytes)?;
        copy.resize(bytes, 0);
        match self.kind.size() {
            8 => self.copy_sized::<8>(first, count, &mut copy)?,
            4 => self.copy_sized::<4>(first, count, &mut copy)?,
            2 => self.copy_sized::<2>(first, count, &mut copy)?,
            _ => self.copy_sized::<1>(first, count, &mut copy)?,
        }
        Ok(copy)
    }

    fn copy_sized<const SIZE: usize>(&self, first: usize, count: usize, copy: &mut [u8]) -> Result<(), SelectError> {
        let (copy, _) = copy.as_chunks_mut::<SIZE>();
        for column in 0..self.columns {
            if column.is_multiple_of(COPIED_FROM) {
                interrupt::check()?;
            }
            for place in 0..count {
                let offset = (first + place) as isize * self.strides.0 + column as isize * self.strides.1;
                // SAFETY: a number of the matrix, by the contract of `new`; any bytes will do.
                copy[place * self.columns + column] =
                    unsafe { self.first.offset(offset).cast::<[u8; SIZE]>().read_unaligned() };
            }
        }
        Ok(())
    }
}

/// One draw for each row.
///
/// # Errors
/// As [`select`], for any of the rows; `NoCandidates` also if there is no row.
pub fn select_rows(law: Law, matrix: &Matrix<'_>, scale: &Scale) -> Result<Vec<usize>, SelectError> {
    let Matrix { rows, columns, .. } = *matrix;
    if rows == 0 || columns == 0 {
        return Err(SelectError::NoCandidates);
    }
    if rows < available_threads() {
        return (0..rows).map(|row| select(law, matrix.row(row), scale)).collect(); // on all cores, one after the other
    }
    let (level, together) = (Instructions::detect(), matrix.read_together());
    let threads = threads_for(rows.saturating_mul(matrix.bytes_per_row()) / BYTES_PER_THREAD);
    let per_turn = (BYTES_PER_TURN / matrix.bytes_per_row()).min(rows / (TURNS * threads)).max(1);
    share_out(rows, per_turn.next_multiple_of(together), threads, &|first, draws, entropy| {
        for (group, draws) in draws.chunks_mut(together).enumerate() {
            let first = first + group * together;
            let copy = if together > 1 { matrix.copied(first, draws.len())? } else { Vec::new() };
            for (place, slot) in draws.iter_mut().enumerate() {
                interrupt::check()?;
                let of_copy = copy.chunks(matrix.bytes_per_row()).nth(place);
                // SAFETY: as many bytes as a row of numbers of that kind has.
                let row = of_copy.map_or_else(
                    || matrix.row(first + place),
                    |bytes| unsafe { View::new(bytes.as_ptr(), matrix.kind, columns, matrix.kind.size() as isize) },
                );
                *slot = draw(law, &Round::new(&Blocks::with_threads(row, 1, level)?, scale), entropy)?;
            }
        }
        Ok(())
    })
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
