use super::*;
use crate::entropy::testing::seeded;
use crate::numbers::grid::Grid;
use crate::testing::{assert_law, distorted, normalised};
use dashu_int::{IBig, UBig};

/// Density or weight of a point, up to a constant: e^(-distance / b), from the definition.
fn weight(values: &[f64], level: f64, rate: f64, point: f64, is_grid: bool) -> f64 {
    let below = values.iter().filter(|value| **value < point).count() as f64;
    let up_to = values.iter().filter(|value| **value <= point).count() as f64;
    let target = level * values.len() as f64;
    let distance = if is_grid { (below - target).max(target - up_to).max(0.0) } else { (below - target).abs() };
    (-distance * rate).exp()
}

fn clipped(values: &[f64], bounds: (f64, f64)) -> Vec<f64> {
    values.iter().map(|value| value.clamp(bounds.0, bounds.1)).collect()
}

/// Each value as the nearest point, the lower of two that are as near.
fn rounded(values: &[f64], points: &[f64]) -> Vec<f64> {
    let nearest = |value: &f64| points.iter().copied().min_by(|a, b| (value - a).abs().total_cmp(&(value - b).abs()));
    values.iter().map(|value| nearest(value).unwrap()).collect()
}

/// Values, level, epsilon.
fn cases() -> Vec<(Vec<f64>, f64, f64)> {
    vec![
        (vec![], 0.5, 1.0),
        (vec![3.25], 0.5, 4.0),
        (vec![3.25, 7.5], 0.25, 3.0),
        (vec![4.0; 9], 0.5, 1.0),
        (vec![1.0, 2.0, 2.0, 2.0, 3.5, 6.0, 6.0, 8.0, 8.5, 8.5, 9.0, 9.75], 0.3, 0.8),
        (vec![-5.0, -1.0, 0.0, 2.0, 5.0, 10.0, 12.0, 300.0], 0.9, 1.5),
        (vec![1.0, 2.0, 3.0, 7.0, 7.0, 8.0], 0.0, 1.0),
        (vec![1.0, 2.0, 3.0, 7.0, 7.0, 8.0], 1.0, 1.0),
        (vec![-3.0, -2.0, 11.0, 99.0], 0.5, 0.5),
        ((0..60).map(|i| f64::from(i) / 7.0).collect(), 0.5, 1.0),
    ]
}

const ROUTES: [Route; 6] =
    [Route::Automatic, Route::Sorted, Route::Window(0), Route::Window(1), Route::Window(4), Route::Pivots];

#[test]
fn every_route_gives_the_law_on_an_interval() {
    let mut entropy = seeded(121);
    let (lower, upper) = (0.0, 10.0);
    for (number, (values, level, epsilon)) in cases().into_iter().enumerate() {
        let scale = Scale::new(epsilon, 1.0, 2).unwrap();
        let moved = clipped(&values, (lower, upper));
        // Cells of a fortieth: the density is constant inside, but for sevenths, where it is integrated more finely.
        let cells = 40;
        let fine = 840;
        let law: Vec<f64> = (0..cells)
            .map(|cell| {
                let at =
                    |part: usize| (cell as f64 + (part as f64 + 0.5) / fine as f64) / cells as f64 * (upper - lower);
                (0..fine).map(|part| weight(&moved, level, epsilon / 2.0, at(part), false)).sum()
            })
            .collect();
        let law = normalised(law);
        for route in ROUTES {
            let name = format!("case {number}, {route:?}");
            assert_law(&name, 12_000, &law, &distorted(&law, 2.0), || {
                let range = Answers::Interval { lower, upper };
                let point = draw(View::of(&values), level, range, &scale, route, &mut entropy).unwrap();
                ((point / (upper - lower) * cells as f64) as usize).min(cells - 1)
            });
        }
    }
}

#[test]
fn every_route_gives_the_law_on_a_grid() {
    let mut entropy = seeded(122);
    for (step, denominator, count) in [(1_u64, 2_u64, 21_u64), (1, 1, 11), (10, 1, 2)] {
        let grid = Grid::new(IBig::ZERO, step.into(), denominator.into(), count).unwrap();
        for (number, (values, level, epsilon)) in cases().into_iter().enumerate() {
            let scale = Scale::new(epsilon, 1.0, 2).unwrap();
            let points: Vec<f64> = (0..count).map(|index| grid.point(index)).collect();
            let moved = rounded(&values, &points);
            let law = normalised(points.iter().map(|&p| weight(&moved, level, epsilon / 2.0, p, true)).collect());
            for route in ROUTES {
                if count == 2 && values.len() > 20 && matches!(route, Route::Window(_)) {
                    continue; // both points lie dozens of ranks outside any window: right, but only in the long run
                }
                let name = format!("case {number}, {count} points, {route:?}");
                assert_law(&name, 20_000, &law, &distorted(&law, 2.0), || {
                    let answer =
                        draw(View::of(&values), level, Answers::Grid(&grid), &scale, route, &mut entropy).unwrap();
                    points.iter().position(|point| *point == answer).unwrap()
                });
            }
        }
    }
}

#[test]
fn many_values_give_the_law_without_being_sorted() {
    let mut entropy = seeded(123);
    // 30000 values in random order, level 1/3: the ranks' density is a two-sided geometric around rank 10000.
    let mut values: Vec<f64> = (0..30_000).map(f64::from).collect();
    for index in (1..values.len()).rev() {
        values.swap(index, entropy.below(index as u64 + 1) as usize);
    }
    let scale = Scale::new(1.0, 1.0, 2).unwrap();
    let range = Answers::Interval { lower: 0.0, upper: 30_000.0 };
    let target = 30_000.0 * (1.0 / 3.0);
    let law = normalised(
        (0..41).map(|cell| (-(f64::from(cell) - 20.0 + 1.0 + 10_000.0 - target).abs() / 2.0).exp()).collect(),
    );
    for route in [Route::Automatic, Route::Window(30), Route::Pivots] {
        assert_law(&format!("{route:?}"), 4_000, &law, &distorted(&law, 2.0), || {
            let point = draw(View::of(&values), 1.0 / 3.0, range, &scale, route, &mut entropy).unwrap();
            (point.floor() - 10_000.0 + 20.0).clamp(0.0, 40.0) as usize
        });
    }
    // The integers among them are equally likely to be met on a grid.
    let grid = Grid::new(IBig::ZERO, UBig::ONE, UBig::ONE, 30_001).unwrap();
    let at = |cell: i32| weight(&values, 1.0 / 3.0, 0.5, f64::from(cell) + 9_980.0, true);
    let law = normalised((0..41).map(at).collect());
    assert_law("grid", 4_000, &law, &distorted(&law, 2.0), || {
        let answer = draw(View::of(&values), 1.0 / 3.0, Answers::Grid(&grid), &scale, Route::Automatic, &mut entropy);
        (answer.unwrap() - 9_980.0).clamp(0.0, 40.0) as usize
    });
}

#[test]
fn ties_that_leave_no_room_are_seen_through() {
    // 20000 values, 6000 of them 5.0 in the middle: the mass lies beside them, thousands of ranks from the target.
    let mut entropy = seeded(124);
    let values: Vec<f64> = (0..20_000)
        .map(|index| if (6_000..12_000).contains(&index) { 5.0 } else { f64::from(index) / 2_000.0 })
        .collect();
    let scale = Scale::new(1.0, 1.0, 2).unwrap();
    let range = Answers::Interval { lower: 0.0, upper: 10.0 };
    // Rank 12000 is 2000 away, rank 6000 is 4000 away: the gap above 5 it is, from 5 to 6.
    for _ in 0..50 {
        let point = draw(View::of(&values), 0.5, range, &scale, Route::Automatic, &mut entropy).unwrap();
        assert!((5.0..6.05).contains(&point), "{point}");
    }
    let grid = Grid::new(IBig::ZERO, UBig::ONE, UBig::ONE, 11).unwrap();
    let point = draw(View::of(&values), 0.5, Answers::Grid(&grid), &scale, Route::Automatic, &mut entropy).unwrap();
    assert_eq!(point, 5.0);
}

/// Values that are neighbouring doubles: every answer is one of them, made up of half a piece from each side, and in a
/// region the two halves have different ranks.
#[test]
fn points_are_ranked_before_they_are_rounded() {
    let mut entropy = seeded(127);
    let at = |step: usize| 1.0 + step as f64 * f64::EPSILON;
    let values: Vec<f64> = (1..8).map(at).collect();
    let scale = Scale::new(2.0, 1.0, 2).unwrap();
    for level in [0.5, 0.2] {
        let pieces: Vec<f64> = (0..8).map(|rank| (-(f64::from(rank) - level * 7.0).abs()).exp()).collect();
        let law = normalised(
            (0..=8)
                .map(|step: usize| {
                    step.checked_sub(1).map_or(0.0, |below| pieces[below]) + pieces.get(step).unwrap_or(&0.0)
                })
                .collect(),
        );
        let wrong = normalised((0..=8).map(|step: usize| pieces[step.min(7)]).collect());
        for route in ROUTES {
            assert_law(&format!("level {level}, {route:?}"), 20_000, &law, &wrong, || {
                let range = Answers::Interval { lower: at(0), upper: at(8) };
                let answer = draw(View::of(&values), level, range, &scale, route, &mut entropy).unwrap();
                ((answer - 1.0) / f64::EPSILON) as usize
            });
        }
    }
}

#[test]
fn extreme_bounds_and_epsilons() {
    let mut entropy = seeded(125);
    let values = [1e-299, 3.0, 1e299, 2e299];
    for epsilon in [1e-6, 1.0, 1e3, 1e300, 1e-300] {
        let scale = Scale::new(epsilon, 0.5, 2).unwrap();
        for route in [Route::Sorted, Route::Window(1), Route::Pivots] {
            for (lower, upper) in [(1e-300, 1e300), (-f64::MAX, f64::MAX), (0.0, 5e-324), (1e300, 1.1e300)] {
                for level in [0.0, 1e-300, 0.5, 1.0 - f64::EPSILON / 2.0, 1.0] {
                    let range = Answers::Interval { lower, upper };
                    let point = draw(View::of(&values), level, range, &scale, route, &mut entropy).unwrap();
                    assert!(lower <= point && point <= upper);
                }
            }
        }
    }
    // With a large epsilon the answer lies where the median does, however short that piece is beside the others.
    let sharp = Scale::new(1e4, 0.5, 2).unwrap();
    let range = Answers::Interval { lower: 1e-300, upper: 1e300 };
    let point = draw(View::of(&values), 0.25, range, &sharp, Route::Sorted, &mut entropy).unwrap();
    assert!((1e-299..=3.0).contains(&point));
}
