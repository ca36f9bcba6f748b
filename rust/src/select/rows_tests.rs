use super::*;
use crate::interrupt::testing::ended;
use crate::scores::score::Stored;
use crate::testing::scale;

/// The rows one after the other, as a matrix.
fn matrix<T: Stored>(values: &[T], columns: usize) -> Matrix<'_> {
    let size = size_of::<T>() as isize;
    let strides = (columns as isize * size, size);
    // SAFETY: rows side by side in a slice.
    unsafe { Matrix::new(values.as_ptr().cast(), T::KIND, (values.len() / columns, columns), strides) }
}

/// The same values column after column.
fn across<T: Stored>(values: &[T], columns: usize) -> Vec<T> {
    let rows = values.len() / columns;
    (0..values.len()).map(|place| values[place % rows * columns + place / rows]).collect()
}

fn matrix_across<T: Stored>(values: &[T], columns: usize) -> Matrix<'_> {
    let (rows, size) = (values.len() / columns, size_of::<T>() as isize);
    // SAFETY: columns side by side in a slice.
    unsafe { Matrix::new(values.as_ptr().cast(), T::KIND, (rows, columns), (size, rows as isize * size)) }
}

#[test]
fn long_rows_across_memory_are_read_together_and_keep_their_places() {
    // One best a row, far ahead, in a column that depends on the row; 16-bit rows share lines in 32s, and 37 is no multiple.
    fn check<T: Stored>(columns: usize, rows: usize, low: T, high: T) {
        let best = |row: usize| row * 7919 % columns;
        let values: Vec<T> = (0..rows * columns)
            .map(|place| if place % columns == best(place / columns) { high } else { low })
            .collect();
        let turned = across(&values, columns);
        let lying = matrix_across(&turned, columns);
        assert!(lying.read_together() == 64 / size_of::<T>());
        for matrix in [matrix(&values, columns), lying] {
            let draws = select_rows(Law::PermuteAndFlip, &matrix, &Scale::new(1.0, 1.0, 2).unwrap()).unwrap();
            assert!(draws.iter().enumerate().all(|(row, &draw)| draw == best(row)));
        }
    }
    check::<f64>(1100, 37, 0.0, 1e4);
    check::<i16>(5000, 37, -9, 30_000);
    check::<f32>(2048, 80, 0.0, 1e4);
}

#[test]
fn a_call_that_is_asked_to_end_does() {
    let row = vec![0.0; 100_000];
    // SAFETY: all rows are the one.
    let matrix = unsafe { Matrix::new(row.as_ptr().cast(), Kind::F64, (1 << 18, 100_000), (0, 8)) };
    assert_eq!(ended(|| select_rows(Law::Exponential, &matrix, &scale())), Err(SelectError::Interrupted));
}
