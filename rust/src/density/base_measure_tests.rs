use super::*;
use crate::entropy::testing::seeded;
use crate::numbers::rational::{Rational, exactly};
use crate::testing::assert_law;

fn measures() -> Vec<BaseMeasure> {
    vec![
        BaseMeasure::Histograms,
        BaseMeasure::cells(vec![0.5, 0.125, 3.0, 1e-300, 0.1], 4).unwrap(),
        BaseMeasure::line(vec![-1.0, 0.0, 0.1, 7.5, 7.5 + 1e-12, 8.0], 4).unwrap(),
    ]
}

#[test]
fn weights_in_doubles_are_as_good_as_claimed() {
    for base in measures() {
        for cells in [0..5, 0..1, 2..4, 3..4, 1..5] {
            let (exact, denominator) = base.exact_weights(cells.clone(), 0..40);
            let mut weights = GroupWeights::new(base.group(cells.clone()));
            for count in 0..40_u64 {
                let (above, exponent) = weights.weight.exact();
                // |above 2^exponent - exact / denominator| <= (count + 1) 2^-50 of it.
                let shift = |number: UBig, by: i64| if by > 0 { number << by as usize } else { number };
                let left = shift(above * &denominator, exponent);
                let right = shift(exact[count as usize].clone(), -exponent);
                let apart = if left > right { &left - &right } else { &right - &left };
                assert!((apart << 50) <= right * UBig::from(count + 1), "{cells:?}, {count} points");
                weights.advance();
            }
            let (part, same) = base.exact_weights(cells.clone(), 3..5);
            // The denominators belong to the largest count; compare the quotients.
            let (whole, other) = base.exact_weights(cells, 0..5);
            assert_eq!(same, other);
            assert_eq!(part, whole[3..]);
        }
    }
}

#[test]
fn points_are_spread_by_weight() {
    let mut entropy = seeded(81);
    let mut sample = Sample::default();
    // Two points in three cells, by unordered pair: 00 01 02 11 12 22.
    let pair = |cells: &[usize]| [0, 1, 2, 9, 3, 4, 9, 9, 5][3 * cells[0] + cells[1]];
    let lengths = [0.5, 0.25, 0.25];
    let uniform = [1.0 / 6.0; 6];
    let points = [0.25, 0.25, 0.25, 0.0625, 0.125, 0.0625];
    let measures = [
        (BaseMeasure::Histograms, uniform, points),
        (BaseMeasure::cells(lengths.to_vec(), 2).unwrap(), points, uniform),
        (BaseMeasure::line(vec![0.0, 0.5, 0.75, 1.0], 2).unwrap(), points, uniform),
    ];
    for (base, law, wrong) in measures {
        assert_law("places", 20_000, &law, &wrong, || {
            sample.clear();
            base.place(0..3, 2, &mut sample, &mut entropy).unwrap();
            pair(&sample.cells)
        });
    }
}

#[test]
fn a_point_that_rounds_onto_a_position_keeps_its_side() {
    let base = BaseMeasure::line(vec![-1.0, 1.0, 3.0], 1).unwrap();
    // -1 + 4 V with V around 1/2: just below and just above position 1, both rounded to it.
    for (words, cell) in [([(1 << 63) - 1, u64::MAX], 0), ([1 << 63, 1], 1)] {
        let mut sample = Sample::default();
        base.place(0..2, 1, &mut sample, &mut Entropy::scripted(&words)).unwrap();
        assert_eq!((sample.cells[0], sample.points[0]), (cell, 1.0));
    }
}

#[test]
fn sums_of_many_lengths_do_not_wear_off() {
    let lengths = vec![0.1; 1_000_000];
    let exact = exact_sum(&lengths);
    // Without its sign, as a ratio has none.
    let apart = Ratio::from(exactly(compensated_sum(&lengths)) - Rational::from(exact.clone()));
    assert!((apart.numerator << 52) * exact.denominator <= exact.numerator * apart.denominator);
}

#[test]
fn what_has_no_length_is_refused() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(BaseMeasure::cells(vec![1.0, bad], 1).is_err());
    }
    assert!(BaseMeasure::cells(vec![f64::MAX, f64::MAX], 1).is_err());
    assert!(BaseMeasure::line(vec![0.0, 0.0], 1).is_err());
    assert!(BaseMeasure::line(vec![0.0, f64::INFINITY], 1).is_err());
    assert!(BaseMeasure::line(vec![], 1).is_err());
}
