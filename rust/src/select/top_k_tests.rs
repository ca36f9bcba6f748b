use super::*;
use crate::entropy::testing::seeded;
use crate::testing::{LAWS, assert_law, law_of, scale, wrong_scale};

/// Law of ordered pairs by peeling, flattened over all pairs of five.
fn pairs(law: Law, scores: &[f64], scale: &Scale) -> Vec<f64> {
    let count = scores.len();
    let first = law_of(law, scores, scale);
    let mut joint = vec![0.0; count * count];
    for winner in 0..count {
        let left: Vec<usize> = (0..count).filter(|&item| item != winner).collect();
        let scores_left: Vec<f64> = left.iter().map(|&item| scores[item]).collect();
        for (&item, probability) in left.iter().zip(law_of(law, &scores_left, scale)) {
            joint[winner * count + item] = first[winner] * probability;
        }
    }
    joint
}

#[test]
fn pairs_follow_the_law_of_peeling() {
    let mut entropy = seeded(51);
    for law in LAWS {
        for scores in [[4.0, 3.0, 3.0, 1.0, 0.0], [30.0, 4.0, 3.0, 3.0, 2.0]] {
            let (right, wrong) = (pairs(law, &scores, &scale()), pairs(law, &scores, &wrong_scale()));
            assert_law(&format!("{law:?}"), 120_000, &right, &wrong, || {
                let picks = peel(law, View::of(&scores), &scale(), 2, &mut entropy).unwrap();
                picks[0] * 5 + picks[1]
            });
        }
    }
}

#[test]
fn all_of_them_is_a_permutation_and_large_gaps_an_order() {
    let mut entropy = seeded(52);
    for law in LAWS {
        for len in [1_usize, 2, 33, 300] {
            let scores: Vec<i64> = (0..len as i64).map(|value| value * 7919 % len as i64).collect();
            let mut picks = peel(law, View::of(&scores), &scale(), len, &mut entropy).unwrap();
            picks.sort_unstable();
            assert_eq!(picks, (0..len).collect::<Vec<_>>());
        }
        let steep: Vec<f64> = (0..3000).map(|index| f64::from(index * 1021 % 3000) * 1000.0).collect();
        let picks = peel(law, View::of(&steep), &scale(), 40, &mut entropy).unwrap();
        let expected: Vec<f64> = (0..40).map(|place| f64::from(2999 - place) * 1000.0).collect();
        assert_eq!(picks.iter().map(|&pick| steep[pick]).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn k_has_to_fit() {
    let mut entropy = seeded(53);
    for k in [0, 4] {
        let result = peel(Law::Exponential, View::of(&[1.0, 2.0, 3.0]), &scale(), k, &mut entropy);
        assert_eq!(result, Err(SelectError::InvalidCount));
    }
}

#[test]
fn ties_across_stripes_are_peeled_evenly() {
    // 6000 equal scores, three taken: no item comes twice, and thirds of the vector are equally likely.
    let mut entropy = seeded(54);
    let scores = vec![3_i16; 60_000];
    let uneven = [0.36, 0.32, 0.32];
    for law in [Law::Exponential, Law::PermuteAndFlip] {
        let mut queue = Vec::new();
        assert_law("thirds", 30_000, &[1.0 / 3.0; 3], &uneven, || {
            if queue.is_empty() {
                queue = peel(law, View::of(&scores), &scale(), 3, &mut entropy).unwrap();
                assert!(queue[0] != queue[1] && queue[0] != queue[2] && queue[1] != queue[2]);
            }
            queue.pop().unwrap() / 20_000
        });
    }
}
