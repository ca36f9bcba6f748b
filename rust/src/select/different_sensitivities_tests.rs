use super::*;
use crate::testing::{assert_law, permute_and_flip_law, simpson};

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

/// The integral over z of f_i prod F_j, for noise above the best score.
fn own_law(epsilon: f64) -> Vec<f64> {
    let scale = |index: usize| (SENSITIVITIES[index] + 4.0) / epsilon;
    let below = |index: usize, z: f64| 1.0 - (-(9.0 - SCORES[index] + z) / scale(index)).exp();
    (0..5)
        .map(|i| {
            let integrand = |z: f64| {
                let others = (0..5).filter(|&j| j != i).map(|j| below(j, z)).product::<f64>();
                (-(9.0 - SCORES[i] + z) / scale(i)).exp() / scale(i) * others
            };
            simpson(integrand, 0.0, 40.0 * scale(2), 20_000)
        })
        .collect()
}

#[test]
fn noise_of_own_scales_has_its_law() {
    for epsilon in [0.5, 4.0] {
        let draws = OwnScales::new(&SCORES, &SENSITIVITIES, epsilon).unwrap().select_many(100_000).unwrap();
        for wrong in
            [own_law(1.2 * epsilon), permute_and_flip_law(&[0.0, 1.5, 1.0, 7.0, 0.0].map(|x| x * epsilon / 8.0))]
        {
            let mut draws = draws.iter().copied();
            assert_law("own scales", 100_000, &own_law(epsilon), &wrong, || draws.next().unwrap());
        }
    }
}

#[test]
fn an_epsilon_out_of_range_is_refused() {
    for epsilon in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(OwnScales::new(&SCORES, &SENSITIVITIES, epsilon).is_err());
        let points = Points::new(&SCORES, &SENSITIVITIES, 1.0, Together::Sum).unwrap();
        assert!(Generalized::new(points, epsilon).is_err());
    }
}
