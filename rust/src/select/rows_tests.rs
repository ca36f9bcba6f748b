use super::*;
use crate::interrupt::testing::ended;
use crate::scores::score::Stored;
use crate::testing::{LAWS, assert_law, law_of, scale, wrong_scale};

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
fn each_row_has_its_own_law_whichever_way_it_lies() {
    let two = [[6.0, 4.0, 0.0, 5.5, 6.0], [0.0, 1.0, 7.0, 2.0, 6.5]];
    let many: Vec<f64> = two.concat().repeat(20_000);
    for law in LAWS {
        let turned = across(&many, 5);
        for (name, matrix) in [("rows", matrix(&many, 5)), ("columns", matrix_across(&turned, 5))] {
            let draws = select_rows(law, &matrix, &scale()).unwrap();
            for (parity, scores) in two.iter().enumerate() {
                let (right, wrong) = (law_of(law, scores, &scale()), law_of(law, scores, &wrong_scale()));
                let mut own = draws.iter().skip(parity).step_by(2);
                assert_law(&format!("{law:?}, {name}, {parity}"), 20_000, &right, &wrong, || *own.next().unwrap());
            }
        }
    }
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
fn one_bad_score_in_the_last_row_refuses_all() {
    for (columns, rows) in [(3, 1), (3, 1000), (5000, 70), (300_000, 1)] {
        let mut values = vec![1.0; columns * rows];
        values[columns * rows - 1] = f64::NAN;
        for law in LAWS {
            assert_eq!(select_rows(law, &matrix(&values, columns), &scale()), Err(SelectError::NotFinite));
        }
        let turned = across(&values, columns);
        let lying = matrix_across(&turned, columns);
        assert_eq!(select_rows(Law::Exponential, &lying, &scale()), Err(SelectError::NotFinite));
    }
}

#[test]
fn no_rows_and_no_columns_are_no_candidates() {
    let none: [f32; 0] = [];
    for shape in [(0, 0), (0, 4), (4, 0)] {
        // SAFETY: there is nothing to read.
        let matrix = unsafe { Matrix::new(none.as_ptr().cast(), Kind::F32, shape, (0, 4)) };
        assert_eq!(select_rows(Law::Exponential, &matrix, &scale()), Err(SelectError::NoCandidates));
    }
}

#[test]
fn one_row_repeated_by_a_stride_of_zero_is_drawn_from_again_and_again() {
    let scores = [3.0, 1.0, 2.0, 3.0];
    // SAFETY: all rows are the one.
    let matrix = unsafe { Matrix::new(scores.as_ptr().cast(), Kind::F64, (50_000, 4), (0, 8)) };
    let mut draws = select_rows(Law::PermuteAndFlip, &matrix, &scale()).unwrap().into_iter();
    let law = |scale: &Scale| law_of(Law::PermuteAndFlip, &scores, scale);
    assert_law("one row", 50_000, &law(&scale()), &law(&wrong_scale()), || draws.next().unwrap());
}

#[test]
fn a_call_that_is_asked_to_end_does() {
    let row = vec![0.0; 100_000];
    // SAFETY: all rows are the one.
    let matrix = unsafe { Matrix::new(row.as_ptr().cast(), Kind::F64, (1 << 18, 100_000), (0, 8)) };
    assert_eq!(ended(|| select_rows(Law::Exponential, &matrix, &scale())), Err(SelectError::Interrupted));
}
