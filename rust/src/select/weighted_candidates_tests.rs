use dashu_int::UBig;

use super::*;
use crate::testing::{assert_law, normalised, scale, wrong_scale};

const SCORES: [f64; 6] = [3.0, 5.0, 0.0, 4.0, 5.0, 9.0];
const WEIGHTS: [f64; 6] = [2.0, 1.0, 40.0, 0.1, 3.5, 0.0];

fn law(scale: &Scale, weights: &[f64]) -> Vec<f64> {
    normalised(SCORES.iter().zip(weights).map(|(s, w)| w * (-scale.exponent(9.0, *s)).exp()).collect())
}

fn as_ratios() -> Weights {
    // Seventh parts of whole numbers: no doubles.
    let ratio = |weight: f64| Ratio { numerator: UBig::from((weight * 10.0) as u64), denominator: UBig::from(7_u8) };
    Weights::of_ratios(WEIGHTS.iter().map(|&weight| ratio(weight)).collect()).unwrap()
}

#[test]
fn draws_follow_weights_and_scores() {
    for weights in [Weights::Doubles(WEIGHTS.to_vec()), as_ratios()] {
        let draws = select_many(&weights, View::of(&SCORES), &scale(), 100_000).unwrap();
        let right = law(&scale(), &WEIGHTS);
        for wrong in [law(&wrong_scale(), &WEIGHTS), law(&scale(), &[2.0, 1.0, 40.0, 0.2, 3.5, 0.0])] {
            let mut draws = draws.iter().copied();
            assert_law("weighted", 100_000, &right, &wrong, || draws.next().unwrap());
        }
    }
}

#[test]
fn weights_of_any_size_and_far_scores_keep_their_shares() {
    // ln(1e300) is 690.8: a score that far above makes up for the weight.
    let scores = [0.0, 2.0 * 690.775_527_898_213_7, 2.0 * 690.775_527_898_213_7 + 2.0];
    let weights = Weights::Doubles(vec![1e300, 1.0, 5e-324]);
    let draws = select_many(&weights, View::of(&scores), &scale(), 40_000).unwrap();
    let mut draws = draws.into_iter();
    assert_law("far apart", 40_000, &[0.5, 0.5, 0.0], &[0.55, 0.45, 0.0], || draws.next().unwrap());
}

#[test]
fn weights_that_are_too_far_apart_are_refused() {
    let power = |bits: usize| Ratio { numerator: UBig::ONE << bits, denominator: UBig::ONE };
    let zero = || Ratio { numerator: UBig::ZERO, denominator: UBig::ONE };
    assert!(Weights::of_ratios(vec![power(0), zero(), power(8194)]).is_none());
    assert!(Weights::of_ratios(vec![zero()]).is_some());
    // As far apart as may be: a score that far above makes up for the weight.
    let weights = Weights::of_ratios(vec![power(100_000), zero(), power(108_192)]).unwrap();
    let scores = [2.0 * 8192.0 * std::f64::consts::LN_2, 1e9, 0.0];
    let mut draws = select_many(&weights, View::of(&scores), &scale(), 40_000).unwrap().into_iter();
    assert_law("far apart", 40_000, &[0.5, 0.0, 0.5], &[0.55, 0.0, 0.45], || draws.next().unwrap());
}

#[test]
fn rounds_leave_out_who_was_drawn() {
    let weights = Weights::Doubles(vec![1.0, 3.0, 0.0]);
    let scores: [i32; 3] = [0, 0, 7];
    let mut firsts = (0..20_000).map(|_| {
        let order = peel(&weights, View::of(&scores), &scale(), 2).unwrap();
        assert_eq!(order[0] + order[1], 1);
        order[0]
    });
    assert_law("first", 20_000, &[0.25, 0.75], &[0.5, 0.5], || firsts.next().unwrap());
    // The last that is left is drawn however small its weight is beside those before it.
    let weights = Weights::Doubles(vec![1e308, 1e-308]);
    assert_eq!(peel(&weights, View::of(&[1e6, -1e6]), &scale(), 2), Ok(vec![0, 1]));
}

#[test]
fn what_cannot_be_drawn_from_is_refused() {
    let weights = Weights::Doubles(vec![1.0, 0.0]);
    let select = |scores: &[f64]| select_many(&weights, View::of(scores), &scale(), 1);
    assert_eq!(select(&[]), Err(SelectError::NoCandidates));
    assert_eq!(select(&[1.0]), Err(SelectError::InvalidCount));
    assert_eq!(select(&[1.0, f64::NAN]), Err(SelectError::NotFinite));
    assert_eq!(peel(&weights, View::of(&[1.0, 2.0]), &scale(), 2), Err(SelectError::InvalidCount));
    let none = Weights::Doubles(vec![0.0]);
    assert_eq!(select_many(&none, View::of(&[1.0]), &scale(), 1), Err(SelectError::NoCandidates));
}
