use super::*;
use crate::entropy::testing::seeded;
use crate::intervals::grid::Grid;
use crate::testing::{assert_law, distorted, multisets, normalised};
use dashu_int::IBig;
use std::collections::BTreeSet;

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
    Cuts::new(&View::of(values), Range::Interval { lower: 0.0, upper }, &mut seeded(0)).unwrap()
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

const REACHES: [Reach; 6] = [
    Reach::AUTOMATIC,
    Reach { radius: Some(0), rarity: 0 },
    Reach { radius: Some(1), rarity: 0 },
    Reach { radius: Some(0), rarity: 2 },
    Reach { radius: Some(1), rarity: 3 },
    Reach { radius: Some(2), rarity: 1 },
];

fn all_gaps(gaps: &Gaps<'_>, levels: &[f64]) -> Vec<Span<usize>> {
    levels.iter().map(|_| 0..gaps.count()).collect()
}

#[test]
fn paths_have_the_law_whatever_is_looked_at() {
    let mut entropy = seeded(151);
    let mut accepted = [0; 3];
    for levels in [vec![0.5], vec![0.25, 0.75], vec![0.0, 0.3, 1.0], vec![0.1, 0.4, 0.5, 0.9]] {
        for values in cases() {
            let cuts = cuts_of(&values, 10.0);
            let Cuts::Reals(ends) = &cuts else { panic!() };
            let scale = Scale::new(3.0, 1.0, 4).unwrap();
            let paths = law(ends, &levels, 0.75);
            let chances: Vec<f64> = paths.iter().map(|path| path.1).collect();
            let wrong = distorted(&chances, 3.0);
            for reach in REACHES {
                let costs = RankCosts::new(&levels, values.len() as u64, &scale);
                let gaps = Gaps::new(&cuts).unwrap();
                let joint = Joint::new(&gaps, &costs, reach).unwrap();
                let mut draw = || loop {
                    let kind = joint.kind(&mut entropy);
                    if let Some(answers) = joint.propose(kind, &mut entropy).unwrap() {
                        accepted[kind as usize] += 1;
                        assert!(answers.is_sorted());
                        let gaps: Vec<usize> =
                            answers.iter().map(|x| ends[1..ends.len() - 1].partition_point(|v| v < x)).collect();
                        return paths.iter().position(|path| path.0 == gaps).unwrap();
                    }
                };
                if chances.iter().filter(|chance| **chance > 0.01).count() > 1 && values.len() > 1 && values[0] != 4.0 {
                    assert_law(&format!("{levels:?} of {values:?}, {reach:?}"), 6_000, &chances, &wrong, draw);
                } else {
                    (0..20).for_each(|_| assert!(chances[draw()] > 0.0));
                }
            }
        }
    }
    assert!(accepted[..2].iter().all(|times| *times > 1000) && accepted[2] > 0, "{accepted:?} of each kind");
}

/// Far paths and those beyond, drawn alone, as they are hardly ever the ones proposed.
#[test]
fn each_kind_has_the_law_of_its_paths() {
    let mut entropy = seeded(157);
    let values: Vec<f64> = (0..14).map(|tenth| 4.0 + f64::from(tenth * tenth) / 100.0).collect();
    for levels in [vec![0.4], vec![0.4, 0.7]] {
        let cuts = cuts_of(&values, 10.0);
        let Cuts::Reals(ends) = &cuts else { panic!() };
        let scale = Scale::new(3.0, 1.0, 4).unwrap();
        let costs = RankCosts::new(&levels, 14, &scale);
        let gaps = Gaps::new(&cuts).unwrap();
        let mut joint = Joint::new(&gaps, &costs, Reach { radius: Some(0), rarity: 0 }).unwrap();
        assert_eq!(joint.others, [Kind::Far, Kind::Beyond]);
        let is_in = |path: &[usize], windows: &[Span<usize>]| gaps.are_within(path, windows);
        for kind in [Kind::Near, Kind::Far, Kind::Beyond] {
            let belongs = |path: &[usize]| match kind {
                Kind::Near => is_in(path, &joint.near.windows),
                Kind::Far => is_in(path, &joint.wide) && !is_in(path, &joint.near.windows),
                Kind::Beyond => !is_in(path, &joint.wide),
            };
            let paths: Vec<_> = law(ends, &levels, 0.75).into_iter().filter(|path| belongs(&path.0)).collect();
            if kind == Kind::Beyond {
                // The unit that accepts the best of them for certain, so that it does not take long: the law is the same.
                let x = |path: &[usize]| Extended::from_ratio(&costs.exact_exponent(path, 14)).times_power_of_two(0);
                let least = paths.iter().map(|path| x(&path.0)).fold(f64::INFINITY, f64::min);
                let volume = [10.0, 50.0][levels.len() - 1];
                joint.unit = Extended::from_f64(1.001 * volume * (-least).exp());
            }
            let total: f64 = paths.iter().map(|path| path.1).sum();
            let chances: Vec<f64> = paths.iter().map(|path| path.1 / total).collect();
            assert_law(&format!("{levels:?}, {kind:?}"), 3000, &chances, &distorted(&chances, 3.0), || {
                loop {
                    if let Some(answers) = joint.propose(kind, &mut entropy).unwrap() {
                        let gaps: Vec<usize> =
                            answers.iter().map(|x| ends[1..ends.len() - 1].partition_point(|v| v < x)).collect();
                        return paths.iter().position(|path| path.0 == gaps).unwrap();
                    }
                }
            });
        }
    }
}

/// Of all windows around the targets, narrow ones and wider ones: the bound is one, and not a useless one.
#[test]
fn paths_that_leave_windows_weigh_no_more_than_their_bound() {
    let mut entropy = seeded(155);
    let mut closest = f64::INFINITY;
    for levels in [vec![0.5], vec![0.25, 0.75], vec![0.0, 0.3, 1.0], vec![0.1, 0.4, 0.5, 0.9]] {
        for values in cases() {
            let cuts = cuts_of(&values, 10.0);
            let Cuts::Reals(ends) = &cuts else { panic!() };
            let scale = Scale::new(3.0, 1.0, 4).unwrap();
            let costs = RankCosts::new(&levels, values.len() as u64, &scale);
            let gaps = Gaps::new(&cuts).unwrap();
            let total = Extended::from(Paths::new(&gaps, &costs, all_gaps(&gaps, &levels), None).unwrap().total);
            let paths = law(ends, &levels, 0.75);
            for (inner, outer) in [(0, 1), (0, 3), (1, 2), (0, 9), (2, 9), (3, 3)] {
                let windows = |radius: u64| -> Vec<Span<usize>> {
                    (0..levels.len()).map(|level| gaps.around(costs.target(level), radius)).collect()
                };
                let (narrow, wide) = (windows(inner), windows(outer));
                let leaves = |path: &[usize]| gaps.are_within(path, &wide) && !gaps.are_within(path, &narrow);
                let weight: f64 = paths.iter().filter(|path| leaves(&path.0)).map(|path| path.1).sum();
                let far = Paths::new(&gaps, &costs, wide.clone(), Some(narrow.clone())).unwrap();
                assert!((Extended::from(far.total).quotient(total) - weight).abs() < 1e-9, "{levels:?} of {values:?}");
                for _ in 0..if weight > 1e-6 { 20 } else { 0 } {
                    let path = far.draw(&mut entropy).unwrap();
                    assert!(leaves(&path.gaps.iter().map(|&gap| gaps.rank(gap)).collect::<Vec<_>>()));
                }
                let bound = bound_of_leaving(&gaps, &costs, &wide, &narrow).unwrap().unwrap().quotient(total);
                assert!(bound >= weight, "{levels:?} of {values:?}: {bound} for {weight}");
                if weight > 1e-6 {
                    closest = closest.min(bound / weight);
                    assert!(bound < 2000.0 * weight, "{levels:?} of {values:?}: {bound} for {weight}");
                }
            }
        }
    }
    assert!(closest < 2.5, "{closest}"); // twice the weight, where order does not matter
}

#[test]
fn lengths_and_costs_beyond_doubles_are_bounded_too() {
    let levels = [0.2, 0.5, 0.8];
    for values in [[1e-300, 2e-300, 3.0, 4.0, 5.0, 5.0, 6.0, 1e300], [0.0, 1e-200, 2e-100, 1e-3, 1.0, 1.0, 2.0, 3.0]] {
        for epsilon in [1e-9, 1.0, 100.0, 1e4] {
            let cuts = cuts_of(&values, 1e300);
            let scale = Scale::new(epsilon, 1.0, 4).unwrap();
            let costs = RankCosts::new(&levels, 8, &scale);
            let gaps = Gaps::new(&cuts).unwrap();
            for (narrow, wide) in [(1, 3), (0, 8), (2, 5)] {
                let around = |radius| [1, 4, 6].map(|target| gaps.around(target, radius)).to_vec();
                let far = Extended::from(Paths::new(&gaps, &costs, around(wide), Some(around(narrow))).unwrap().total);
                let bound = bound_of_leaving(&gaps, &costs, &around(wide), &around(narrow)).unwrap();
                assert!(bound.is_none_or(|bound| !bound.is_below(far)), "{values:?} at {epsilon}: {bound:?} {far:?}");
            }
        }
    }
}

#[test]
fn messages_are_sums_over_all_paths() {
    for levels in [vec![0.5], vec![0.2, 0.3, 0.9], vec![0.05, 0.1, 0.15, 0.2, 0.8]] {
        for count in [0_u32, 1, 3, 9, 14] {
            let values: Vec<f64> = (0..count).map(|index| f64::from(index * index) / 20.0).collect();
            let cuts = cuts_of(&values, 10.0);
            let scale = Scale::new(1.5, 1.0, 4).unwrap();
            let costs = RankCosts::new(&levels, u64::from(count), &scale);
            let gaps = Gaps::new(&cuts).unwrap();
            let all = all_gaps(&gaps, &levels);
            let total = Paths::new(&gaps, &costs, all, None).unwrap().total.times_power_of_two(0);
            // A path's weight over its probability is the total.
            let Cuts::Reals(ends) = &cuts else { panic!() };
            let paths = law(ends, &levels, 0.375);
            let (path, chance) = paths.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
            let joint = Joint::new(&gaps, &costs, Reach::AUTOMATIC).unwrap();
            let volume = joint.volume(path);
            let volume = nearest_quotient(&volume.numerator.into(), &volume.denominator);
            let x = costs.exact_exponent(path, count as usize);
            let x = nearest_quotient(&x.numerator.into(), &x.denominator);
            let expected = volume * (-x).exp() / chance;
            assert!((total / expected - 1.0).abs() < 1e-9, "{levels:?} of {count}: {total} {expected}");
        }
    }
}

/// What is looked at grows with the gaps that have length, however many values are equal.
#[test]
fn equal_values_take_no_time() {
    const COUNT: usize = 20_000;
    let some = |share: f64, value: f64| -> Vec<f64> {
        let spread = |index: usize| 100.0 * (index as f64 * 0.618_033_988).fract();
        (0..COUNT).map(|index| if (index as f64) < share * COUNT as f64 { value } else { spread(index) }).collect()
    };
    let whole = (0..COUNT).map(|index| (index * index % 101) as f64).collect();
    let mut entropy = seeded(158);
    for values in [some(0.5, 0.0), some(0.7, 100.0), some(0.9, 30.0), some(1.0, 0.0), some(1.0, 50.0), whole] {
        for count in [1, 9, 40] {
            let levels: Vec<f64> = (1..=count).map(|level| f64::from(level) / f64::from(count + 1)).collect();
            let cuts = cuts_of(&values, 100.0);
            let gaps = Gaps::new(&cuts).unwrap();
            let scale = Scale::new(1.0, 1.0, 4).unwrap();
            let costs = RankCosts::new(&levels, COUNT as u64, &scale);
            let joint = Joint::new(&gaps, &costs, Reach::AUTOMATIC).unwrap();
            let different: BTreeSet<u64> = values.iter().map(|value| value.to_bits()).collect();
            let most = 12 * levels.len() * (different.len() + 1);
            assert!(joint.work <= most, "{count} of {}: {} for {most}", values[0], joint.work);
            let answers = draw_from(&cuts, &levels, &scale, Reach::AUTOMATIC, &mut entropy).unwrap();
            assert!(answers.is_sorted() && answers.len() == levels.len());
        }
    }
}

#[test]
fn extreme_lengths_and_scales_are_drawn_from() {
    let mut entropy = seeded(153);
    let levels: Vec<f64> = (1..10).map(|tenth| f64::from(tenth) / 10.0).collect();
    for (lower, upper) in [(1e-300, 1e300), (-f64::MAX, f64::MAX), (0.0, 5e-324)] {
        for epsilon in [1e-300, 1e-6, 1.0, 100.0] {
            for values in [vec![], vec![lower; 500], vec![upper; 500], vec![lower, upper]] {
                let scale = Scale::new(epsilon, 1.0, 4).unwrap();
                let range = Range::Interval { lower, upper };
                let answers = draw(&View::of(&values), &levels, range, &scale, &mut entropy).unwrap();
                assert!(answers.is_sorted() && lower <= answers[0] && answers[8] <= upper);
            }
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
        let range = Range::Grid(&grid);
        let answers = draw(&View::of(&values), &[0.1, 0.5, 0.9], range, &scale, &mut entropy).unwrap();
        assert!(count > 100 || answers == [7.0; 3], "{count}: {answers:?}");
        assert!(answers.iter().all(|answer| *answer >= 0.0 && *answer < count as f64));
    }
    // Parts of cells, as the law has them: values of three cells, each in one of its four parts.
    let grid = Grid::new(IBig::ZERO, UBig::ONE, UBig::ONE, 3).unwrap();
    let cuts = Cuts::spread(&View::of(&[0.0, 1.0, 9.0]), &grid, 2, &mut entropy).unwrap();
    let Cuts::Parts { ends, .. } = &cuts else { panic!() };
    assert!(ends[1] < 4 && (4..8).contains(&ends[2]) && (8..12).contains(&ends[3]) && ends[4] == 12);
    let bounds: Vec<f64> = ends.iter().map(|&end| end as f64).collect();
    let paths = law(&bounds, &[0.2, 0.5], 0.25);
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
        let answers = draw_from(&cuts, &[0.2, 0.5], &scale, Reach::AUTOMATIC, &mut entropy).unwrap();
        3 * answers[0] as usize + answers[1] as usize
    });
}
