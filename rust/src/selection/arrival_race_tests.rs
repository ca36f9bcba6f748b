use super::*;
use crate::entropy::ChaChaStream;
use crate::entropy::testing::seeded;
use crate::scan::score_view::View;
use crate::testing::{assert_law, exponential_law, exponents, middle, simpson};

type Race = fn(&Blocks<'_, f64>, &Scale, &mut ChaChaStream) -> Result<(usize, Clock), SelectError>;

const SHAPES: [&[f64]; 4] = [&[0.0, 1.0, 3.0], &[5.0; 7], &[0.0, 4.0, 4.0, -3.0, 3.5, 1.0], &[2.0]];

fn scale(factor: u8) -> Scale {
    Scale::new(1.0, 1.0, factor).unwrap()
}

/// Probabilities of (who comes first, whether before `instant`), in that order.
fn joint(law: impl Fn(usize, f64, f64) -> f64, count: usize, instant: f64, end: f64) -> Vec<f64> {
    (0..count).flat_map(|index| [law(index, 0.0, instant), law(index, instant, end)]).collect()
}

fn exponential_joint(x: &[f64], instant: f64) -> Vec<f64> {
    let total: f64 = x.iter().map(|x| libm::exp(-x)).sum();
    let law = exponential_law(x);
    joint(|index, from, to| law[index] * (libm::exp(-total * from) - libm::exp(-total * to)), x.len(), instant, 1e3)
}

fn permute_and_flip_joint(x: &[f64], instant: f64) -> Vec<f64> {
    let p: Vec<f64> = x.iter().map(|x| libm::exp(-x)).collect();
    let density = |index: usize, time: f64| {
        p[index] * p.iter().enumerate().filter(|&(j, _)| j != index).map(|(_, p)| 1.0 - p * time).product::<f64>()
    };
    joint(|index, from, to| simpson(|time| density(index, time), from, to, 2000), x.len(), instant, 1.0)
}

fn check(name: &str, race: Race, law: impl Fn(&[f64], f64) -> Vec<f64>) {
    let mut entropy = seeded(51);
    for scores in SHAPES {
        let blocks = Blocks::new(View::of(scores)).unwrap();
        let x = exponents(scores, &scale(2));
        let instant = 0.3 / x.iter().map(|x| libm::exp(-x)).sum::<f64>();
        let wrong = law(&x, instant * 1.1);
        assert_law(name, 60_000, &law(&x, instant), &wrong, || {
            let (index, clock) = race(&blocks, &scale(2), &mut entropy).unwrap();
            2 * index + usize::from(middle(&clock) >= instant)
        });
    }
}

#[test]
fn who_comes_first_by_the_exponential_mechanism_and_when() {
    check("exponential", exponential, exponential_joint);
}

#[test]
fn who_comes_first_by_permute_and_flip_and_when() {
    check("all heads", permute_and_flip, permute_and_flip_joint);
    check(
        "stages",
        |blocks, scale, entropy| permute_and_flip_with(blocks, scale, 0.0, entropy),
        permute_and_flip_joint,
    );
}

/// Many items, so that blocks mix scores, proposals are refused and stages are short; two scores make a law of few cells.
#[test]
fn many_items_in_mixed_blocks() {
    let mut entropy = seeded(52);
    let scores: Vec<f64> = (0..4200).map(|index| if index % 7 == 0 { 4.0 } else { 0.0 }).collect();
    let blocks = Blocks::new(View::of(&scores)).unwrap();
    let low = libm::exp(-2.0);
    let instant = 0.7 / (600.0 + 3600.0 * low);
    let mut check = |name: &str, race: Race, survival: &dyn Fn(f64) -> f64, density: &dyn Fn(f64) -> f64| {
        let early_high = simpson(density, 0.0, instant, 2000);
        let late_high = simpson(density, instant, 0.5, 20_000);
        let law = [early_high, late_high, 1.0 - survival(instant) - early_high, survival(instant) - late_high];
        let wrong = [law[0] + 0.04, law[1] - 0.04, law[2], law[3]];
        assert_law(name, 15_000, &law, &wrong, || {
            let (index, clock) = race(&blocks, &scale(2), &mut entropy).unwrap();
            2 * usize::from(scores[index] == 0.0) + usize::from(middle(&clock) >= instant)
        });
    };
    let total = 600.0 + 3600.0 * low;
    let survival = |time: f64| libm::exp(-total * time);
    check("exponential", exponential, &survival, &|time| 600.0 * survival(time));
    let survival = |time: f64| libm::pow(1.0 - time, 600.0) * libm::pow(1.0 - low * time, 3600.0);
    let density = |time: f64| 600.0 / (1.0 - time) * survival(time);
    let stages: Race = |blocks, scale, entropy| permute_and_flip_with(blocks, scale, 0.0, entropy);
    let listed: Race = |blocks, scale, entropy| permute_and_flip_with(blocks, scale, 1e9, entropy);
    check("stages", stages, &survival, &density);
    check("all heads", listed, &survival, &density);
}

#[test]
fn the_last_stage_ends_with_the_best() {
    // One at the top and thousands without a chance: nobody else ever comes.
    let mut entropy = seeded(53);
    let mut scores = vec![0.0; 3000];
    scores[1234] = 1e6;
    let blocks = Blocks::new(View::of(&scores)).unwrap();
    for few_blocks in [0.0, 64.0] {
        let (mut late, draws) = (0, 400);
        for _ in 0..draws {
            let (index, clock) = permute_and_flip_with(&blocks, &scale(2), few_blocks, &mut entropy).unwrap();
            assert_eq!(index, 1234);
            late += u32::from(middle(&clock) > 0.5);
        }
        assert!((130..270).contains(&late), "its time is uniform on [0, 1]: {late} of {draws} in the second half");
    }
}
