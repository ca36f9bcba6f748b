use super::*;
use crate::entropy::testing::seeded;
use crate::exact::rational::nearest_f64;
use crate::numbers::grid::Grid;
use crate::testing::{assert_law, distorted, multisets, normalised};
use dashu_int::{IBig, UBig};

/// Every increasing path of gaps with its probability, from the definition.
fn law(ends: &[f64], levels: &[f64], rate: f64) -> Vec<(Vec<usize>, f64)> {
    let count = ends.len() - 2;
    let paths = multisets(count + 1, levels.len());
    let weight = |path: &Vec<usize>| {
        let mut ranks: Vec<f64> = path.iter().map(|&gap| gap as f64).collect();
        ranks.insert(0, 0.0);
        ranks.push(count as f64);
        let mut wanted: Vec<f64> = levels.iter().map(|level| level * count as f64).collect();
        wanted.insert(0, 0.0);
        wanted.push(count as f64);
        let off: f64 = (1..ranks.len()).map(|j| (ranks[j] - ranks[j - 1] - wanted[j] + wanted[j - 1]).abs()).sum();
        let volume: f64 = path
            .chunk_by(|a, b| a == b)
            .map(|run| (1..=run.len()).map(|k| (ends[run[0] + 1] - ends[run[0]]) / k as f64).product::<f64>())
            .product();
        volume * (-off * rate).exp()
    };
    let chances = normalised(paths.iter().map(weight).collect());
    paths.into_iter().zip(chances).collect()
}

fn cuts_of(values: &[f64], upper: f64) -> Cuts<'static> {
    Cuts::new(&View::of(values), Places::Reals { lower: 0.0, upper }, &mut seeded(0)).unwrap()
}

fn cases() -> Vec<Vec<f64>> {
    vec![
        vec![],
        vec![3.0],
        vec![3.0, 7.5],
        vec![4.0; 6],
        vec![0.0, 0.0, 10.0],
        vec![0.0, 0.0, 0.0, 0.0, 3.0, 5.0, 5.0, 5.0, 8.0],
        vec![2.0, 10.0, 10.0, 10.0],
        vec![-9.0, 1.0, 2.0, 2.0, 6.0, 99.0],
        vec![0.5, 1.5, 2.0, 3.0, 4.5, 6.0, 8.0],
        (0..13).map(|tenth| 4.4 + f64::from(tenth) / 10.0).collect(),
    ]
}

#[test]
fn paths_have_the_law() {
    let mut entropy = seeded(151);
    for levels in [vec![0.5], vec![0.25, 0.75], vec![0.0, 0.3, 1.0], vec![0.1, 0.4, 0.5, 0.9]] {
        for values in cases() {
            let cuts = cuts_of(&values, 10.0);
            let ends = &cuts.ends;
            let scale = Scale::new(3.0, 1.0, 4).unwrap();
            let paths = law(ends, &levels, 0.75);
            let chances: Vec<f64> = paths.iter().map(|path| path.1).collect();
            let wrong = distorted(&chances, 3.0);
            let mut draw = || {
                let answers = draw_from(&cuts, &levels, &scale, &mut entropy).unwrap();
                assert!(answers.is_sorted());
                let gaps: Vec<usize> =
                    answers.iter().map(|x| ends[1..ends.len() - 1].partition_point(|v| v < x)).collect();
                paths.iter().position(|path| path.0 == gaps).unwrap()
            };
            if chances.iter().filter(|chance| **chance > 0.01).count() > 1 && values.len() > 1 && values[0] != 4.0 {
                assert_law(&format!("{levels:?} of {values:?}"), 6_000, &chances, &wrong, draw);
            } else {
                (0..20).for_each(|_| assert!(chances[draw()] > 0.0));
            }
        }
    }
}

/// Where paths are proposed by other weights than their own, acceptance makes up for it, by doubles and by exact weights.
#[test]
fn paths_that_are_proposed_too_rarely_have_the_law_too() {
    let mut entropy = seeded(157);
    let values = [0.5, 1.5, 2.0, 3.0, 4.5, 6.0, 8.0];
    let levels = [0.25, 0.75];
    let cuts = cuts_of(&values, 10.0);
    let ends = &cuts.ends;
    let scale = Scale::new(3.0, 1.0, 4).unwrap();
    let costs = RankCosts::new(&levels, &cuts, &scale).unwrap();
    let mut joint = Joint::new(&cuts, &costs).unwrap();
    joint.paths.propose_less(0, 2);
    joint.unit = joint.unit.scaled(3);
    let paths = law(ends, &levels, 0.75);
    let chances: Vec<f64> = paths.iter().map(|path| path.1).collect();
    let wrong: Vec<f64> = paths.iter().map(|path| if path.0[0] == 2 { path.1 / 4.0 } else { path.1 }).collect();
    for margin in [joint.margin, 2.0] {
        joint.margin = margin;
        assert_law(&format!("{margin}"), 5_000, &chances, &normalised(wrong.clone()), || {
            loop {
                if let Some(answers) = joint.propose(&mut entropy).unwrap() {
                    let gaps: Vec<usize> = answers.iter().map(|x| values.partition_point(|v| v < x)).collect();
                    return paths.iter().position(|path| path.0 == gaps).unwrap();
                }
            }
        });
    }
}

#[test]
fn messages_are_sums_over_all_paths() {
    for levels in [vec![0.5], vec![0.2, 0.3, 0.9], vec![0.05, 0.1, 0.15, 0.2, 0.8]] {
        for count in [0_u32, 1, 3, 9, 14] {
            let values: Vec<f64> = (0..count).map(|index| f64::from(index * index) / 20.0).collect();
            let cuts = cuts_of(&values, 10.0);
            let scale = Scale::new(1.5, 1.0, 4).unwrap();
            let costs = RankCosts::new(&levels, &cuts, &scale).unwrap();
            let joint = Joint::new(&cuts, &costs).unwrap();
            let total = joint.paths.total.times_power_of_two(0);
            // A path's weight over its probability is the total.
            let ends = &cuts.ends;
            let paths = law(ends, &levels, 0.375);
            let (path, chance) = paths.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
            let volume = nearest_f64(&joint.volume(path));
            let x = nearest_f64(&costs.exact_exponent(path, count as usize));
            let expected = volume * (-x).exp() / chance;
            assert!((total / expected - 1.0).abs() < 1e-9, "{levels:?} of {count}: {total} {expected}");
        }
    }
}

#[test]
fn cells_hold_the_values_that_are_in_them() {
    let mut entropy = seeded(154);
    let scale = Scale::new(1.0, 1.0, 4).unwrap();
    let values = [7.0; 1000];
    for count in [8, 100, 1 << 40, 1 << 53] {
        let grid = Grid::new(IBig::ZERO, UBig::ONE, UBig::ONE, count).unwrap();
        let range = Answers::Grid(&grid);
        let answers = draw(&View::of(&values), &[0.1, 0.5, 0.9], range, &scale, &mut entropy).unwrap();
        assert!(count > 100 || answers == [7.0; 3], "{count}: {answers:?}");
        assert!(answers.iter().all(|answer| *answer >= 0.0 && *answer < count as f64));
    }
    // Parts of cells, as the law has them: values of three cells, each in one of its four parts.
    let grid = Grid::new(IBig::ZERO, UBig::ONE, UBig::ONE, 3).unwrap();
    let places = Places::new(Answers::Grid(&grid), 2);
    let cuts = Cuts::new(&View::of(&[0.0, 1.0, 9.0]), places, &mut entropy).unwrap();
    let ends: Vec<u64> = cuts.ends.iter().map(|&end| end as u64).collect();
    assert!(ends[1] < 4 && (4..8).contains(&ends[2]) && (8..12).contains(&ends[3]) && ends[4] == 12);
    let paths = law(&cuts.ends, &[0.2, 0.5], 0.25);
    let cell = |gap: usize, at: usize| {
        let (start, end) = (ends[gap].max(4 * at as u64), ends[gap + 1].min(4 * at as u64 + 4));
        end.saturating_sub(start) as f64 / (ends[gap + 1] - ends[gap]).max(1) as f64
    };
    let mut chances = vec![0.0; 9];
    for (path, chance) in &paths {
        for (low, high) in (0..9).map(|pair| (pair / 3, pair % 3)) {
            let one = cell(path[0], low) * cell(path[1], high);
            let both = if path[0] == path[1] && low < high { 2.0 * one } else { one };
            chances[3 * low + high] += if path[0] == path[1] && low > high { 0.0 } else { chance * both };
        }
    }
    let mut wrong = chances.clone();
    (wrong[1], wrong[2]) = (chances[2], chances[1] + 0.0);
    wrong.swap(0, 4);
    assert_law("cells", 20_000, &chances, &wrong, || {
        let answers = draw_from(&cuts, &[0.2, 0.5], &scale, &mut entropy).unwrap();
        3 * answers[0] as usize + answers[1] as usize
    });
}
