use super::*;
use crate::entropy::testing::seeded;
use crate::scores::block_index::Blocks;
use crate::scores::scale::Scale;
use crate::scores::score::Stored;
use crate::scores::score_view::View;
use crate::select::many_draws::Law;
use crate::testing::{assert_law, law_of, scale};

/// The law does not depend on how far the levels lie apart: far apart nearly every candidate has noise of its own, close together
/// nearly every one is listed and has to be told from those above.
fn assert_laplace<T: Stored>(scores: &[T]) {
    let mut entropy = seeded(31);
    let as_floats: Vec<f64> = scores.iter().map(|&score| score.nearest_f64()).collect();
    let law = law_of(Law::LaplaceNoisyMax, &as_floats, &scale());
    // Of equals every scale has the same law.
    let mut wrong = law_of(Law::LaplaceNoisyMax, &as_floats, &Scale::new(1.3, 1.0, 2).unwrap());
    if as_floats.iter().all(|&score| score == as_floats[0]) {
        (wrong[0], wrong[1]) = (wrong[0] - 0.03, wrong[1] + 0.03);
    }
    let (scale, blocks) = (scale(), Blocks::new(View::of(scores)).unwrap());
    let round = Round::new(&blocks, &scale);
    for step in [0.2, STEP, 5.0] {
        let levels = Levels { step, ..Levels::default() };
        assert_law(&format!("{as_floats:?}, step {step}"), 100_000, &law, &wrong, || {
            draw(&round, &levels, &mut entropy).unwrap()
        });
    }
}

#[test]
fn draws_follow_the_law_of_laplace_noisy_max() {
    for scores in [vec![0.0, 1.0, 3.0], vec![5.0; 7], vec![0.0, 4.0, 4.0, -3.0, 3.5, 1.0], vec![2.0, 1.0]] {
        assert_laplace(&scores);
    }
    // Integers have no values between them, and below the least there is no level at all.
    assert_laplace(&[1_u8, 0, 2, 0, 1]);
}

#[test]
fn many_candidates_are_listed_by_their_law() {
    // 4000 candidates in two groups: the share of the group of 20 near the top is known from the law of 20 + 3980.
    let mut entropy = seeded(32);
    let scale = scale();
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
    let round = Round::new(&blocks, &scale);
    for step in [0.5, STEP, 4.0] {
        let levels = Levels { step, ..Levels::default() };
        assert_law("grouped", 20_000, &[share, 1.0 - share], &[share + 0.05, 0.95 - share], || {
            usize::from(scores[draw(&round, &levels, &mut entropy).unwrap()] == 0.0)
        });
    }
}

/// Levels from the top until one lies 64 units of the scale below it or no score does; no more than `most` are counted.
fn levels_to_the_end(top: Score, scale: &Scale, most: usize) -> usize {
    let next = |&above: &Score| above.lowered(scale.gap_of(STEP));
    std::iter::successors(Some(top), next).take_while(|&height| scale.exponent(top, height) < 64.0).take(most).count()
}

fn assert_draws_end_soon<T: Stored + std::fmt::Debug>(tops: &[T], next: fn(&T) -> Option<T>, entropy: &mut Entropy) {
    // Reciprocals of these scales overflow, underflow, and are everything in between; scores are far closer or far apart.
    let numbers = [5e-324, 1e-300, 1e-6, 1.0, 3.0, 1e6, 1e300, 1e308, f64::MAX];
    for (epsilon, sensitivity) in numbers.iter().flat_map(|&a| numbers.map(|b| (a, b))) {
        for (factor, &top) in [1, 2].iter().flat_map(|factor| tops.iter().map(move |top| (factor, top))) {
            let scale = Scale::new(epsilon, sensitivity, *factor).unwrap();
            let name = format!("{epsilon:e} {sensitivity:e} {factor} {top:?}");
            // Rounded to a score, a level may lie a third higher than it should.
            assert!(levels_to_the_end(top.score(), &scale, 100) <= 45, "{name}");
            let scores: Vec<T> = std::iter::successors(Some(top), next).take(3).collect();
            let (blocks, levels) = (Blocks::new(View::of(&scores)).unwrap(), Levels::default());
            let round = Round::new(&blocks, &scale);
            assert!((0..20).all(|_| draw(&round, &levels, entropy).is_ok()), "{name}");
            assert!(levels.kept[LEVELS_KEPT - 1].get().is_none(), "{name}");
        }
    }
}

#[test]
fn few_levels_are_looked_at_whatever_the_scale_and_the_scores() {
    let mut entropy = seeded(37);
    let doubles = [f64::MAX, 1e300, 1.0, 1e-300, 5e-324, 0.0, -0.0, -1.0, -1e300, f64::MIN];
    assert_draws_end_soon(&doubles, |score| Some(score.next_down()).filter(|low| low.is_finite()), &mut entropy);
    let singles = [f32::MAX, 1.0, 1e-45, 0.0, -1.0, f32::MIN];
    assert_draws_end_soon(&singles, |score| Some(score.next_down()).filter(|low| low.is_finite()), &mut entropy);
    assert_draws_end_soon(&[i64::MAX, 1 << 53, 0, i64::MIN], |score| score.checked_sub(1), &mut entropy);
    assert_draws_end_soon(&[u64::MAX, 1 << 53, 0], |score| score.checked_sub(1), &mut entropy);
    assert_draws_end_soon(&[u8::MAX, 1, 0], |score| score.checked_sub(1), &mut entropy);
}

/// Every combination of signs, compared exactly, against what the doubles say where they are far apart.
#[test]
fn exact_comparisons_agree_with_the_doubles() {
    let mut entropy = seeded(34);
    let scores = [3.0_f64, 0.0, 2.5, 7.0];
    let scale = scale();
    let blocks = Blocks::new(View::of(&scores)).unwrap();
    let round = Round::new(&blocks, &scale);
    let (mut above, mut compared) = (0, 0);
    for _ in 0..4000 {
        let mut contender = || {
            let index = entropy.below(4) as usize;
            let is_up = entropy.next_u32() & 1 == 1;
            Contender::new(index, scores[index].into(), is_up, LazyUniform::draw(&mut entropy), &round)
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
        assert_eq!(is_higher(&round, &mut a, &mut b, &mut Entropy::scripted(&[])), expected);
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
    let round = Round::new(&blocks, &scale);
    for (second, expected) in [([5, 9], true), ([9, 5], false)] {
        let mut script = Entropy::scripted(&[1 << 60, 1 << 60, second[0], second[1]]);
        let mut contender =
            |index| Contender::new(index, Score::Real(1.0), true, LazyUniform::draw(&mut script), &round);
        let (mut a, mut b) = (contender(0), contender(1));
        assert_eq!(is_higher(&round, &mut a, &mut b, &mut script), expected, "smaller U, larger noise");
        assert_eq!(script.taken(), 4);
    }
}
