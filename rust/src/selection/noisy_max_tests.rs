use super::*;
use crate::entropy::testing::{Scripted, seeded};
use crate::scan::score_view::View;
use crate::testing::{assert_law, exponents, laplace_law};

#[test]
fn draws_follow_the_law_of_laplace_noisy_max() {
    let mut entropy = seeded(31);
    let none = Visited::new();
    for scores in [vec![0.0, 1.0, 3.0], vec![5.0; 7], vec![0.0, 4.0, 4.0, -3.0, 3.5, 1.0]] {
        let scale = Scale::new(1.0, 1.0, 2).unwrap();
        let wrong = if scores[0] == 5.0 {
            vec![0.1, 0.1, 0.1, 0.1, 0.2, 0.2, 0.2]
        } else {
            laplace_law(&exponents(&scores, &Scale::new(1.0, 1.0, 1).unwrap()))
        };
        let blocks = Blocks::new(View::of(&scores)).unwrap();
        let law = laplace_law(&exponents(&scores, &scale));
        assert_law("laplace", 100_000, &law, &wrong, || draw(&blocks, &scale, &none, &mut entropy).unwrap());
    }
}

#[test]
fn many_candidates_are_pruned_without_changing_the_law() {
    // 4000 candidates in two groups: the share of the group of 20 near the top is known from the law of 20 + 3980.
    let mut entropy = seeded(32);
    let scale = Scale::new(1.0, 1.0, 2).unwrap();
    let scores: Vec<f64> = (0..4000).map(|index| if index % 200 == 0 { 12.0 } else { 0.0 }).collect();
    let blocks = Blocks::new(View::of(&scores)).unwrap();
    let grouped = |z: f64| {
        let below = |z: f64| if z < 0.0 { 0.5 * z.exp() } else { 1.0 - 0.5 * (-z).exp() };
        20.0 * 0.5 * (-z.abs()).exp() * below(z).powi(19) * below(z + 6.0).powi(3980)
    };
    let steps = 200_000;
    let share: f64 =
        (0..steps).map(|step| grouped(-20.0 + 60.0 * (f64::from(step) + 0.5) / f64::from(steps))).sum::<f64>() * 60.0
            / f64::from(steps);
    let none = Visited::new();
    assert_law("grouped", 20_000, &[share, 1.0 - share], &[share + 0.05, 0.95 - share], || {
        usize::from(scores[draw(&blocks, &scale, &none, &mut entropy).unwrap()] == 0.0)
    });
}

#[test]
fn removed_candidates_never_win() {
    let mut entropy = seeded(33);
    let scores = [10.0, 9.0, 8.0];
    let scale = Scale::new(1.0, 1.0, 2).unwrap();
    let blocks = Blocks::new(View::of(&scores)).unwrap();
    let mut removed = Visited::new();
    removed.insert(0);
    assert!((0..200).all(|_| draw(&blocks, &scale, &removed, &mut entropy).unwrap() != 0));
}

/// Every combination of signs, compared exactly, against what the doubles say where they are far apart.
#[test]
fn exact_comparisons_agree_with_the_doubles() {
    let mut entropy = seeded(34);
    let scores = [3.0_f64, 0.0, 2.5, 7.0];
    let scale = Scale::new(1.0, 1.0, 2).unwrap();
    let blocks = Blocks::new(View::of(&scores)).unwrap();
    let (mut above, mut compared) = (0, 0);
    for _ in 0..4000 {
        let mut contender = || {
            let index = entropy.below(4) as usize;
            let is_up = entropy.next_u32() & 1 == 1;
            let exponent = scale.exponent(blocks.top(), scores[index]);
            Contender::new(index, exponent, is_up, LazyUniform::draw(&mut entropy))
        };
        let (mut a, mut b) = (contender(), contender());
        let expected = match (a.low > b.high, b.low > a.high) {
            (true, _) => true,
            (_, true) => false,
            _ => continue,
        };
        // Widen the enclosures, so that the doubles decide nothing.
        for side in [&mut a, &mut b] {
            (side.low, side.high) = (f64::NEG_INFINITY, f64::INFINITY);
        }
        assert_eq!(is_above(&blocks, &scale, &mut a, &mut b, &mut Scripted::new(&[])), expected);
        compared += 1;
        above += u32::from(expected);
    }
    assert!(compared > 3900 && above > 1000 && compared - above > 1000);
}

#[test]
fn equal_first_words_are_refined_until_they_differ() {
    let scores = [1.0, 1.0];
    let scale = Scale::new(1.0, 1.0, 1).unwrap();
    let blocks = Blocks::new(View::of(&scores)).unwrap();
    for (second, expected) in [([5, 9], true), ([9, 5], false)] {
        let mut script = Scripted::new(&[1 << 60, 1 << 60, second[0], second[1]]);
        let mut contender = |index| Contender::new(index, 0.0, true, LazyUniform::draw(&mut script));
        let (mut a, mut b) = (contender(0), contender(1));
        assert_eq!(is_above(&blocks, &scale, &mut a, &mut b, &mut script), expected, "smaller U, larger noise");
        assert_eq!(script.taken, 4);
    }
}
