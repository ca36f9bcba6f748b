//! Which candidate arrives first, and when: the joint law of a draw's winner and its time.

use crate::entropy::Entropy;
use crate::entropy::testing::seeded;
use crate::exact::lazy_time::Clock;
use crate::scores::block_index::Blocks;
use crate::scores::scale::Scale;
use crate::scores::score_view::View;
use crate::select::weight_line::{BlockLine, Round};
use crate::select::{exponential_mechanism, once};
use crate::testing::{assert_law, exponential_law, exponents, middle, simpson};

type Draw = fn(View<'_>, &mut Entropy) -> (usize, Clock);

/// The joint law for these exponents and this instant.
type Law = fn(&[f64], f64) -> Vec<f64>;

const BOTH: [Draw; 2] = [by_the_exponential_mechanism, by_noise_once];

const SHAPES: [&[f64]; 4] = [&[0.0, 1.0, 3.0], &[5.0; 7], &[0.0, 4.0, 4.0, -3.0, 3.5, 1.0], &[2.0]];

fn scale() -> Scale {
    Scale::new(1.0, 1.0, 2).unwrap()
}

fn by_the_exponential_mechanism(scores: View<'_>, entropy: &mut Entropy) -> (usize, Clock) {
    let (blocks, scale) = (Blocks::new(scores).unwrap(), scale());
    let round = Round::new(&blocks, &scale);
    exponential_mechanism::draw_with_time(&round, &BlockLine::new(&round), entropy).unwrap()
}

/// The first of exponential noise once is that of permute-and-flip.
fn by_noise_once(scores: View<'_>, entropy: &mut Entropy) -> (usize, Clock) {
    let first = once::largest(scores, &scale(), 1, entropy).unwrap().remove(0);
    (first.index, first.clock)
}

/// Probabilities of (which candidate arrives first, whether before `instant`), in that order.
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

#[test]
fn the_first_arrival_and_its_time() {
    let mut entropy = seeded(51);
    let laws: [Law; 2] = [exponential_joint, permute_and_flip_joint];
    for (draw, law) in BOTH.into_iter().zip(laws) {
        for scores in SHAPES {
            let x = exponents(scores, &scale());
            let instant = 0.3 / x.iter().map(|x| libm::exp(-x)).sum::<f64>();
            let wrong = law(&x, instant * 1.1);
            assert_law("first and when", 60_000, &law(&x, instant), &wrong, || {
                let (index, clock) = draw(View::of(scores), &mut entropy);
                2 * index + usize::from(middle(&clock) >= instant)
            });
        }
    }
}

/// Many items, so that blocks mix scores, proposals are refused and stages are short; two scores make a law of few cells.
#[test]
fn many_items_in_mixed_blocks() {
    let mut entropy = seeded(52);
    let scores: Vec<f64> = (0..4200).map(|index| if index % 7 == 0 { 4.0 } else { 0.0 }).collect();
    let low = libm::exp(-2.0);
    let instant = 0.7 / (600.0 + 3600.0 * low);
    let total = 600.0 + 3600.0 * low;
    let exponential = |time: f64| libm::exp(-total * time);
    let flips = |time: f64| libm::pow(1.0 - time, 600.0) * libm::pow(1.0 - low * time, 3600.0);
    let survivals: [&dyn Fn(f64) -> f64; 2] = [&exponential, &flips];
    let hazards: [&dyn Fn(f64) -> f64; 2] = [&|_| 600.0, &|time| 600.0 / (1.0 - time)];
    for ((draw, survival), hazard) in BOTH.into_iter().zip(survivals).zip(hazards) {
        let density = |time: f64| hazard(time) * survival(time);
        let early_high = simpson(density, 0.0, instant, 2000);
        let late_high = simpson(density, instant, 0.5, 20_000);
        let law = [early_high, late_high, 1.0 - survival(instant) - early_high, survival(instant) - late_high];
        let wrong = [law[0] + 0.04, law[1] - 0.04, law[2], law[3]];
        assert_law("mixed blocks", 15_000, &law, &wrong, || {
            let (index, clock) = draw(View::of(&scores), &mut entropy);
            2 * usize::from(scores[index] == 0.0) + usize::from(middle(&clock) >= instant)
        });
    }
}
