//! Exact laws of small cases and a chi-square test, for the tests of all mechanisms.

use dashu_int::UBig;

use crate::exact::lazy_time::Clock;
use crate::scores::scale::Scale;
use crate::select::many_draws::Law;

pub const LAWS: [Law; 3] = [Law::Exponential, Law::PermuteAndFlip, Law::LaplaceNoisyMax];

/// A scale of 2, and one that its laws are told from.
pub fn scale() -> Scale {
    Scale::new(1.0, 1.0, 2).unwrap()
}

pub fn wrong_scale() -> Scale {
    Scale::new(0.8, 1.0, 2).unwrap()
}

/// What a mechanism answers from these scores with which probability.
pub fn law_of(law: Law, scores: &[f64], scale: &Scale) -> Vec<f64> {
    let exponents = exponents(scores, scale);
    match law {
        Law::Exponential => exponential_law(&exponents),
        Law::PermuteAndFlip => permute_and_flip_law(&exponents),
        Law::LaplaceNoisyMax => laplace_law(&exponents),
    }
}

/// Exponents (s* - s_i) / b of a vector.
pub fn exponents(scores: &[f64], scale: &Scale) -> Vec<f64> {
    let top = scores.iter().copied().fold(f64::MIN, f64::max);
    scores.iter().map(|&score| scale.exponent(top, score)).collect()
}

pub fn exponential_law(exponents: &[f64]) -> Vec<f64> {
    normalised(exponents.iter().map(|x| (-x).exp()).collect())
}

/// Weights over their sum.
pub fn normalised(weights: Vec<f64>) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / total).collect()
}

/// A law that differs enough to be told apart: every other outcome, the likeliest first, so many `times` as likely.
pub fn distorted(law: &[f64], times: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..law.len()).collect();
    order.sort_by(|a, b| law[*b].total_cmp(&law[*a]));
    let mut wrong = law.to_vec();
    for outcome in order.into_iter().step_by(2) {
        wrong[outcome] *= times;
    }
    normalised(wrong)
}

/// All ways to put `points` into `cells`, each in increasing order.
pub fn multisets(cells: usize, points: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for _ in 0..points {
        let longer = |path: &Vec<usize>| {
            let path = path.clone();
            (path.last().copied().unwrap_or(0)..cells).map(move |cell| [&path[..], &[cell]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// p_i times the integral over t of prod (1 - t p_j), by Simpson's rule: a polynomial, smooth enough for 2000 panels.
pub fn permute_and_flip_law(exponents: &[f64]) -> Vec<f64> {
    let heads: Vec<f64> = exponents.iter().map(|x| (-x).exp()).collect();
    let product = |t: f64, but: usize| -> f64 {
        heads.iter().enumerate().filter(|&(j, _)| j != but).map(|(_, p)| 1.0 - t * p).product()
    };
    (0..heads.len()).map(|i| heads[i] * simpson(|t| product(t, i), 0.0, 1.0, 2000)).collect()
}

/// Laplace report-noisy-max: integral of f(z + x_i) prod F(z + x_j), by Simpson between the kinks.
pub fn laplace_law(exponents: &[f64]) -> Vec<f64> {
    let density = |z: f64| 0.5 * (-z.abs()).exp();
    let below = |z: f64| if z < 0.0 { 0.5 * z.exp() } else { 1.0 - 0.5 * (-z).exp() };
    let mut kinks: Vec<f64> = exponents.iter().map(|x| -x).collect();
    kinks.extend([-40.0, 40.0]);
    kinks.retain(|kink| *kink >= -40.0);
    let panels = |ends: &[f64]| 2 * (20.0 * (ends[1] - ends[0])).ceil() as usize + 2;
    kinks.sort_by(f64::total_cmp);
    (0..exponents.len())
        .map(|i| {
            let integrand = |z: f64| {
                let others = exponents.iter().enumerate().filter(|&(j, _)| j != i);
                density(z + exponents[i]) * others.map(|(_, x)| below(z + x)).product::<f64>()
            };
            kinks.windows(2).map(|ends| simpson(integrand, ends[0], ends[1], panels(ends))).sum()
        })
        .collect()
}

pub fn simpson(function: impl Fn(f64) -> f64, from: f64, to: f64, panels: usize) -> f64 {
    let step = (to - from) / panels as f64;
    let weight = |node: usize| {
        if node == 0 || node == panels {
            1.0
        } else if node % 2 == 1 {
            4.0
        } else {
            2.0
        }
    };
    (0..=panels).map(|node| weight(node) * function(from + step * node as f64)).sum::<f64>() * step / 3.0
}

/// What draws several in order: all are drawn once each, from `most` candidates or fewer; large gaps leave one order; and ties
/// across stripes are drawn evenly.
pub fn assert_orders(most: usize, draw: &mut dyn FnMut(&[f64], usize) -> Vec<usize>) {
    for len in [1, 2, 33, most] {
        let scores: Vec<f64> = (0..len).map(|value| (value * 7919 % len) as f64).collect();
        let mut picks = draw(&scores, len);
        picks.sort_unstable();
        assert_eq!(picks, (0..len).collect::<Vec<_>>());
    }
    let steep: Vec<f64> = (0..3000).map(|index| f64::from(index * 1021 % 3000) * 1000.0).collect();
    for count in [1, 40, most / 2] {
        let expected: Vec<f64> = (0..count).map(|place| (2999 - place) as f64 * 1000.0).collect();
        assert_eq!(draw(&steep, count).iter().map(|&pick| steep[pick]).collect::<Vec<_>>(), expected);
    }
    let (equal, mut queue) = (vec![3.0; 60_000], Vec::new());
    assert_law("thirds", 40_000, &[1.0 / 3.0; 3], &[0.36, 0.32, 0.32], || {
        if queue.is_empty() {
            queue = draw(&equal, 3);
        }
        queue.pop().unwrap() / 20_000
    });
}

/// A time in the middle of what is known of it.
pub fn middle(clock: &Clock) -> f64 {
    let known = (&clock.known << 64) + (UBig::from(clock.parts) << 63);
    let scaled = known.to_f64().value() * 2_f64.powi(-64);
    libm::scalbn(scaled / clock.rate as f64, -(clock.bits as i32))
}

/// How many standard deviations the chi-square statistic of the counts lies above its mean (Wilson-Hilferty).
/// Cells with less than 10 expected counts are pooled.
pub fn chi_square_deviations(counts: &[u64], law: &[f64]) -> f64 {
    let draws = counts.iter().sum::<u64>() as f64;
    let (mut statistic, mut cells) = (0.0, 0.0);
    let (mut pooled_count, mut pooled_mean) = (0.0, 0.0);
    for (&count, &probability) in counts.iter().zip(law) {
        let mean = draws * probability;
        if mean < 10.0 {
            pooled_count += count as f64;
            pooled_mean += mean;
        } else {
            statistic += (count as f64 - mean).powi(2) / mean;
            cells += 1.0;
        }
    }
    if pooled_mean > 0.0 {
        statistic += (pooled_count - pooled_mean).powi(2) / pooled_mean.max(1.0);
        cells += 1.0;
    }
    let freedom: f64 = cells - 1.0;
    let spread = 2.0 / (9.0 * freedom);
    ((statistic / freedom).cbrt() - (1.0 - spread)) / spread.sqrt()
}

/// Beyond this many deviations chance is out of the question (probability 1e-9).
pub const NO_CHANCE: f64 = 6.0;

/// As far beyond it, the wrong law has been told apart so well that more draws can wait for `make test-slow`.
const WELL_TOLD: f64 = 2.0 * NO_CHANCE;

/// Draw, count, and hold the counts against `law` and against `wrong`, which has to fail. Of the `draws` as many are made
/// as it takes to tell the wrong law well; with SLOW in the environment, all.
pub fn assert_law(name: &str, draws: u64, law: &[f64], wrong: &[f64], mut draw: impl FnMut() -> usize) {
    assert_law_of(name, draws, law, wrong, &mut draw);
}

/// The same, compiled once.
fn assert_law_of(name: &str, draws: u64, law: &[f64], wrong: &[f64], draw: &mut dyn FnMut() -> usize) {
    assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{name}: the law is one");
    let mut counts = vec![0; law.len()];
    let are_all_made = std::env::var_os("SLOW").is_some();
    for made in 0..draws {
        let is_looked_at = made >= 1024 && made.is_power_of_two() && !are_all_made;
        if is_looked_at && chi_square_deviations(&counts, wrong) > WELL_TOLD {
            break;
        }
        counts[draw()] += 1;
    }
    let deviations = chi_square_deviations(&counts, law);
    assert!(deviations < NO_CHANCE, "{name}: {deviations} standard deviations from its law");
    let control = chi_square_deviations(&counts, wrong);
    assert!(control > NO_CHANCE, "{name}: the test cannot tell the wrong law ({control} standard deviations)");
}
