use super::*;
use crate::entropy::testing::seeded;
use crate::numbers::exp_enclosure::exp_negative;
use crate::testing::{assert_law, multisets, normalised};

/// The base weight over all orders, from lengths (nothing for histograms).
fn weight(cells: &[usize], lengths: Option<&[f64]>) -> f64 {
    let Some(lengths) = lengths else { return 1.0 };
    let mut weight = 1.0;
    for (index, &cell) in cells.iter().enumerate() {
        let same = cells[..=index].iter().filter(|&&other| other == cell).count();
        weight *= lengths[cell] / same as f64;
    }
    weight
}

fn law(plan: &Plan, samples: &[Vec<usize>], lengths: Option<&[f64]>, epsilon: f64) -> Vec<f64> {
    let k = plan.cumulative.sample_size() as f64;
    let mass = |cells: &Vec<usize>| {
        let distance = (plan.cumulative.distance(cells) - plan.least) as f64;
        weight(cells, lengths) * (-epsilon / (2.0 * k) * distance).exp()
    };
    normalised(samples.iter().map(mass).collect())
}

fn assert_plan_draws_its_law(
    cumulative: CumulativeCounts,
    base: BaseMeasure,
    lengths: Option<&[f64]>,
    epsilon: f64,
    seed: u8,
) {
    let k = cumulative.sample_size();
    let samples = multisets(cumulative.cells(), k as usize);
    let plan = Plan::new(cumulative, base, Scale::new(epsilon, k as f64, 2).unwrap()).unwrap();
    assert!(plan.acceptance() >= 0.5);
    let right = law(&plan, &samples, lengths, epsilon);
    let wrong = law(&plan, &samples, lengths, 2.0 * epsilon);
    let (mut entropy, mut sample) = (seeded(seed), Sample::default());
    assert_law("density", 20_000, &right, &wrong, || {
        plan.draw(&mut sample, &mut entropy).unwrap();
        samples.binary_search(&sample.cells).unwrap()
    });
}

#[test]
fn samples_of_histograms_have_the_mechanisms_law() {
    for (seed, (counts, epsilon)) in
        [([0, 5, 0, 2], 3.0), ([1, 1, 3, 2], 0.7), ([7, 0, 0, 0], 1.0), ([2, 2, 2, 1], 9.0)].into_iter().enumerate()
    {
        let cumulative = || CumulativeCounts::of_counts(&counts, 5).unwrap();
        assert_plan_draws_its_law(cumulative(), BaseMeasure::Histograms, None, epsilon, seed as u8);
        let lengths = [1.0, 0.3, 2.0, 0.7];
        let base = BaseMeasure::cells(lengths.to_vec(), 5).unwrap();
        assert_plan_draws_its_law(cumulative(), base, Some(&lengths), epsilon, 100 + seed as u8);
    }
}

#[test]
fn samples_of_a_line_have_the_mechanisms_law() {
    let positions = vec![0.0, 0.3, 0.4, 1.0];
    let lengths = [0.3, 0.4 - 0.3, 1.0 - 0.4];
    let cumulative = CumulativeCounts::new(vec![0, 0, 3, 5], vec![0, 3, 5, 6], 4).unwrap();
    assert_plan_draws_its_law(cumulative, BaseMeasure::line(positions, 4).unwrap(), Some(&lengths), 2.0, 3);
}

#[test]
fn heights_never_fall_short_of_what_they_bound() {
    for epsilon in [1e-9, 0.3, 5.0, 400.0, 1e6] {
        let cumulative = CumulativeCounts::of_counts(&[3, 90, 4, 0, 60, 1], 40).unwrap();
        let plan = Plan::new(cumulative, BaseMeasure::Histograms, Scale::new(epsilon, 40.0, 2).unwrap()).unwrap();
        assert_eq!(plan.shells[0].start, plan.least);
        for (index, shell) in plan.shells.iter().enumerate() {
            if let Some(next) = plan.shells.get(index + 1) {
                assert_eq!(shell.radius + 1, next.start);
            }
            let x = plan.exact_exponent(shell.start - plan.least);
            let exponent = shell.ceiling.1;
            let precision = 4096.max(exponent.unsigned_abs() as usize);
            let ceiling = &shell.ceiling.0 << (precision as i64 + exponent) as usize;
            let truth = exp_negative(&x, precision);
            assert!(ceiling >= truth.high || shell.start == plan.least && ceiling >= truth.low);
            // `surely` is a lower bound of their quotient, and a good one.
            let scaled = (shell.surely * 2_f64.powi(52)) as u64;
            assert!(UBig::from(scaled) * ceiling <= truth.high << 52);
            assert!(shell.surely > 0.999_999 || exponent < -100_000);
        }
        assert_eq!(plan.shells.last().unwrap().radius, plan.cumulative.largest_distance());
    }
}

#[test]
fn the_coin_that_levels_has_its_exact_law_when_doubles_decide_nothing() {
    let cumulative = CumulativeCounts::of_counts(&[3, 1, 4], 3).unwrap();
    let mut plan = Plan::new(cumulative, BaseMeasure::Histograms, Scale::new(2.0, 3.0, 2).unwrap()).unwrap();
    let mut entropy = seeded(17);
    let shell = &mut plan.shells[0];
    // A ceiling of 3/2 over exp(0) = 1.
    (shell.surely, shell.ceiling) = (0.0, (UBig::from(3_u8), -1));
    let law = [1.0 / 3.0, 2.0 / 3.0];
    assert_law("level", 5_000, &law, &[0.5; 2], || usize::from(plan.levels(&plan.shells[0], &mut entropy)));
}

#[test]
fn any_epsilon_and_shape_can_be_planned_and_drawn() {
    let mut entropy = seeded(23);
    for epsilon in [5e-324, 1e-9, 1.0, 1e9, 1e300] {
        for counts in [vec![1], vec![0, 1], vec![1000, 0, 0, 0, 1], vec![5; 40]] {
            for base in [BaseMeasure::Histograms, BaseMeasure::cells(vec![0.1; counts.len()], 20).unwrap()] {
                let cumulative = CumulativeCounts::of_counts(&counts, 20).unwrap();
                let plan = Plan::new(cumulative, base, Scale::new(epsilon, 20.0, 2).unwrap()).unwrap();
                let mut sample = Sample::default();
                plan.draw(&mut sample, &mut entropy).unwrap();
                assert_eq!(sample.cells.len(), 20);
                if epsilon >= 1e9 {
                    assert_eq!(plan.cumulative.distance(&sample.cells), plan.least);
                }
            }
        }
    }
}
