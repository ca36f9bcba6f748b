use super::*;
use crate::entropy::testing::seeded;
use crate::testing::assert_law;
use dashu_int::{IBig, UBig};

/// By the definition: the law of the fine places of `levels[first..end]` between two places, given the values there.
fn node_law(
    values: &[usize],
    levels: &[f64],
    (first, end): (usize, usize),
    ends: (usize, usize),
    outer: (f64, f64),
    epsilon: f64,
) -> Vec<(Vec<usize>, f64)> {
    if first == end {
        return vec![(vec![], 1.0)];
    }
    let middle = first + (end - first) / 2;
    let level = (levels[middle] - outer.0) / (outer.1 - outer.0);
    let target = level * values.len() as f64;
    let weight = |place: usize| {
        let below = values.iter().filter(|value| **value < place).count() as f64;
        let up_to = values.iter().filter(|value| **value <= place).count() as f64;
        let distance = (below - target).max(target - up_to).max(0.0);
        // A share of 0 or 1 has a monotone score: half the noise.
        let factor = if level > 0.0 && level < 1.0 { 2.0 } else { 1.0 };
        (-distance * epsilon / (factor * level.max(1.0 - level))).exp()
    };
    let total: f64 = (ends.0..=ends.1).map(weight).sum();
    let mut law = vec![];
    for answer in ends.0..=ends.1 {
        let (low, high): (Vec<usize>, Vec<usize>) = values.iter().partition(|value| **value < answer);
        let left = node_law(&low, levels, (first, middle), (ends.0, answer), (outer.0, levels[middle]), epsilon);
        let right = node_law(&high, levels, (middle + 1, end), (answer, ends.1), (levels[middle], outer.1), epsilon);
        for (before, one) in &left {
            for (after, other) in &right {
                let answers = before.iter().copied().chain([answer]).chain(after.iter().copied()).collect();
                law.push((answers, weight(answer) / total * one * other));
            }
        }
    }
    law
}

/// The average, over all places that the values may be spread to, of the law of the answers' points.
fn spread_law(points: &[usize], levels: &[f64], count: usize, bits: u32, epsilon: f64) -> Vec<f64> {
    let parts = 1_usize << bits;
    let spreads = parts.pow(points.len() as u32);
    let mut law = vec![0.0; count.pow(levels.len() as u32)];
    for spread in 0..spreads {
        let place = |(index, point): (usize, &usize)| point * parts + spread / parts.pow(index as u32) % parts;
        let values: Vec<usize> = points.iter().enumerate().map(place).collect();
        for (answers, chance) in
            node_law(&values, levels, (0, levels.len()), (0, count * parts - 1), (0.0, 1.0), epsilon)
        {
            law[outcome(answers.iter().map(|answer| answer / parts), count)] += chance / spreads as f64;
        }
    }
    law
}

fn outcome(points: impl Iterator<Item = usize>, count: usize) -> usize {
    points.fold(0, |so_far, point| count * so_far + point)
}

#[test]
fn answers_on_a_grid_have_the_law_of_spread_values() {
    let mut entropy = seeded(144);
    let grid = Grid::new(IBig::ZERO, UBig::ONE, UBig::ONE, 3).unwrap();
    for (values, points) in [
        (vec![], vec![]),
        (vec![1.2], vec![1]),
        (vec![0.5, 0.75], vec![0, 1]),
        (vec![0.9, 1.0, 1.5], vec![1, 1, 1]),
        (vec![-7.0, 1.0, 1.51], vec![0, 1, 2]),
    ] {
        for levels in [vec![0.25, 0.5], vec![0.2, 0.5, 0.9], vec![0.0, 0.5, 1.0]] {
            for bits in [1, 2] {
                let places = Places::new(Answers::Grid(&grid), bits);
                let law = spread_law(&points, &levels, 3, bits, 3.0);
                assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                let mut wrong = spread_law(&[0, 0, 0], &levels, 3, bits, 3.0);
                if points == [1, 1, 1] {
                    // Not spread: all of them at the start of their cell.
                    wrong.fill(0.0);
                    let last = (3 << bits) - 1;
                    let starts = [1 << bits; 3];
                    for (answers, chance) in node_law(&starts, &levels, (0, levels.len()), (0, last), (0.0, 1.0), 3.0) {
                        wrong[outcome(answers.iter().map(|answer| answer >> bits), 3)] += chance;
                    }
                }
                assert_law(&format!("{values:?} at {levels:?}, {bits} bits"), 20_000, &law, &wrong, || {
                    let view = View::of(&values);
                    let answers = draw_at(&view, &levels, &places, 3.0, &mut entropy).unwrap();
                    outcome(answers.into_iter().map(|answer| answer as usize), 3)
                });
            }
        }
    }
}
