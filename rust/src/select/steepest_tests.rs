use super::*;
use crate::entropy::testing::seeded;
use crate::exact::rational::nearest_f64;

/// The largest of all, compared in fractions.
fn by_all(points: &Points, i: usize) -> Rational {
    (0..points.scores.len()).map(|j| points.exact(i, j)).max().unwrap()
}

fn check(scores: &[f64], sensitivities: &[f64], shift: f64) {
    for together in [Together::Sum, Together::Larger] {
        let points = Points::new(scores, sensitivities, shift, together).unwrap();
        for (i, &j) in points.furthest_above().unwrap().iter().enumerate() {
            let (truth, found) = (by_all(&points, i), points.exact(i, j));
            assert!(found == truth, "{together:?}, {i} of {scores:?} with {sensitivities:?}, {shift}");
            let (near, exact) = (points.nearly(i, j).times_power_of_two(0), nearest_f64(&truth));
            assert!((near - exact).abs() <= exact * 2_f64.powi(-51), "{near} against {exact}");
            assert_eq!(near == 0.0, truth == Rational::ZERO);
        }
    }
}

#[test]
fn bisection_finds_what_a_look_at_all_finds() {
    let mut entropy = seeded(61);
    for round in 0..400 {
        let count = 1 + round % 23;
        let kinds: [&dyn Fn(u64) -> f64; 4] = [
            &|word| (word % 7) as f64,                // many ties, and many on one line
            &|word| (word >> 11) as f64 / 1e15 - 4.0, // all different
            &|word| ((word % 5) as f64 - 2.0) * 2_f64.powi((word >> 8) as i32 % 300), // of any size
            &|word| 1e15 + (word % 3) as f64 / 8.0,   // close together, far from 0
        ];
        let kind = kinds[round % 4];
        let scores: Vec<f64> = (0..count).map(|_| kind(entropy.next_u64())).collect();
        let sensitivities: Vec<f64> = (0..count)
            .map(|_| match (round / 4) % 3 {
                0 => 1.0 + (entropy.next_u64() % 4) as f64,
                1 => 2_f64.powi((entropy.next_u64() % 60) as i32 - 30),
                _ => 0.1 + (entropy.next_u64() % 1000) as f64 / 7.0,
            })
            .collect();
        check(&scores, &sensitivities, [5.0, 12.345, 1e-9, 1e9][round % 4]);
    }
}

#[test]
fn points_on_one_line_and_extremes() {
    let count = 40;
    let steps: Vec<f64> = (0..count).map(f64::from).collect();
    let ones: Vec<f64> = steps.iter().map(|step| step + 1.0).collect();
    check(&vec![0.0; 40], &ones, 3.0);
    check(&steps, &ones, 1.0); // all r are equal
    check(&steps, &ones, 0.75);
    check(&[1.7e308, -1.7e308, 0.0], &[1e-300, 1e300, 1.0], 1.0);
    check(&[5e-324, 0.0, 1.0], &[5e-324, 1.0, 1.0], 1.0);
    check(&[3.0], &[2.0], 1.0);
}

#[test]
fn what_is_no_number_is_refused() {
    let refused = |scores: &[f64], sensitivities: &[f64], shift: f64| {
        Points::new(scores, sensitivities, shift, Together::Sum).err().unwrap()
    };
    assert_eq!(refused(&[], &[], 1.0), SelectError::NoCandidates);
    assert_eq!(refused(&[1.0], &[1.0, 1.0], 1.0), SelectError::InvalidCount);
    assert_eq!(refused(&[f64::NAN], &[1.0], 1.0), SelectError::NotFinite);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(refused(&[1.0], &[bad], 1.0), SelectError::InvalidScale);
        assert_eq!(refused(&[1.0], &[1.0], bad), SelectError::InvalidScale);
    }
}

#[test]
fn pairs_of_doubles_hold_differences_and_products_exactly() {
    let mut entropy = seeded(62);
    for _ in 0..2000 {
        let mut number = || ((entropy.next_u64() >> 11) as f64) * 2_f64.powi((entropy.next_u64() % 80) as i32 - 60);
        let (a, b) = (number(), number());
        let both = |pair: Pair| exactly(pair.high) + exactly(pair.low);
        assert!(both(Pair::difference(a, b)) == exactly(a) - exactly(b));
        assert!(both(Pair::product(a, b)) == exactly(a) * exactly(b));
    }
}
