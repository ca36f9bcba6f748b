use super::*;
use crate::select::steepest::Together;
use crate::testing::{assert_law, permute_and_flip_law};

const SCORES: [f64; 5] = [9.0, 7.5, 8.0, 2.0, 9.0];
const SENSITIVITIES: [f64; 5] = [1.0, 0.5, 4.0, 0.25, 2.0];

#[test]
fn generalized_draws_are_permute_and_flip_on_the_distances() {
    for together in [Together::Sum, Together::Larger] {
        let with = |shift: f64, epsilon: f64| {
            let points = Points::new(&SCORES, &SENSITIVITIES, shift, together).unwrap();
            Generalized::new(points, epsilon).unwrap()
        };
        let law = |shift, epsilon| permute_and_flip_law(&with(shift, epsilon).into_exponents());
        let draws = with(1.5, 2.0).select_many(60_000).unwrap();
        for wrong in [law(1.5, 3.0), law(4.0, 2.0)] {
            let mut draws = draws.iter().copied();
            assert_law(&format!("{together:?}"), 60_000, &law(1.5, 2.0), &wrong, || draws.next().unwrap());
        }
    }
}

#[test]
fn an_epsilon_out_of_range_is_refused() {
    for epsilon in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let points = Points::new(&SCORES, &SENSITIVITIES, 1.0, Together::Sum).unwrap();
        assert!(Generalized::new(points, epsilon).is_err());
    }
}
