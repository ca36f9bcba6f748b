use dashu_int::UBig;

use super::*;
use crate::entropy::testing::seeded;
use crate::testing::{assert_law, normalised};

fn subjects() -> Vec<(CumulativeCounts, BaseMeasure)> {
    let mut all = Vec::new();
    for (counts, k) in [(vec![0, 5, 0, 2], 5), (vec![3, 1], 4), (vec![1; 9], 6), (vec![7], 3), (vec![0, 0, 1, 9, 0], 7)]
    {
        let lengths: Vec<f64> = (1..=counts.len()).map(|cell| 0.3 * cell as f64).collect();
        all.push((CumulativeCounts::of_counts(&counts, k).unwrap(), BaseMeasure::Histograms));
        all.push((CumulativeCounts::of_counts(&counts, k).unwrap(), BaseMeasure::cells(lengths, k).unwrap()));
    }
    let line = BaseMeasure::line(vec![0.0, 1e-9, 0.5, 0.7, 1.0], 4).unwrap();
    all.push((CumulativeCounts::new(vec![0, 1, 3, 4, 6], vec![1, 3, 4, 6, 6], 4).unwrap(), line));
    all
}

#[test]
fn the_steps_from_every_state_never_sum_to_more_than_it_and_hardly_to_less() {
    for (cumulative, base) in subjects() {
        let least = cumulative.least_distance();
        for radius in [least, least + 3, 2 * least + 9, cumulative.largest_distance()] {
            let band = Band::new(&cumulative, &base, radius).unwrap();
            for index in 0..band.gates.len() - 1 {
                for count in band.gates[index].low..=band.gates[index].high {
                    let exact = band.probabilities(&base, index, count);
                    let sum = exact.parts.iter().fold(UBig::ZERO, |sum, part| sum + part);
                    assert!(sum <= exact.whole);
                    assert!(((&exact.whole - sum) << 40) <= exact.whole);
                }
            }
        }
    }
}

#[test]
fn cell_by_cell_and_at_once_are_the_same_sum() {
    let (here, next) = (Gate { boundary: 0, low: 2, high: 9 }, Gate { boundary: 7, low: 5, high: 14 });
    let on: Vec<Extended> = (0..10).map(|index| Extended::from_f64(1.7_f64.powi(index) + 0.1)).collect();
    let (mut left, mut right) = (vec![Extended::ZERO; 8], vec![Extended::ZERO; 8]);
    let mut work = Work::default();
    work.cell_by_cell(7, &here, &next, &on, &mut left);
    work.at_once(Group::Ways { cells: 7 }, &here, &next, &on, &mut right, slack(14));
    for (a, b) in left.iter().zip(&right) {
        assert!((a.over(*b).times_power_of_two(0) - 1.0).abs() < 1e-12);
    }
}

#[test]
fn what_is_cut_off_a_sum_is_paid_for() {
    // A short group before a wide gate: nearly all of the sum lies in its first terms.
    let (here, next) = (Gate { boundary: 0, low: 0, high: 3 }, Gate { boundary: 1, low: 0, high: 400 });
    let on: Vec<Extended> = (0..401).map(|index| Extended::from_f64(1.0 + (index as f64).sin().abs())).collect();
    let mut bounds = vec![Extended::ZERO; 4];
    let group = Group::Length { length: Extended::from_f64(0.75) };
    Work::default().at_once(group, &here, &next, &on, &mut bounds, slack(400));
    for (count, bound) in bounds.iter().enumerate() {
        let mut weight = 1.0;
        let mut sum = 0.0;
        for step in 0..=400 - count {
            sum += weight * (1.0 + ((count + step) as f64).sin().abs());
            weight *= 0.75 / (step + 1) as f64;
        }
        let ratio = bound.times_power_of_two(0) / sum;
        assert!((1.0..1.0 + 1e-11).contains(&ratio), "{ratio}");
    }
}

#[test]
fn every_sample_of_a_band_comes_as_its_weight_says() {
    // Four cells, three points, data in the middle: samples as base-4 numbers.
    let cumulative = CumulativeCounts::of_counts(&[0, 3, 3, 0], 3).unwrap();
    for base in [BaseMeasure::Histograms, BaseMeasure::cells(vec![1.0, 2.0, 0.5, 0.25], 3).unwrap()] {
        let radius = 6;
        let mass = |sample: usize| {
            let cells = [sample / 16, sample / 4 % 4, sample % 4];
            let of_cell = |cell: usize| {
                let count = cells.iter().filter(|&&other| other == cell).count() as i32;
                match &base {
                    BaseMeasure::Cells { lengths, .. } => {
                        lengths[cell].powi(count) / libm::tgamma(f64::from(count) + 1.0)
                    }
                    _ => 1.0,
                }
            };
            let is_in = cells.is_sorted() && cumulative.distance(&cells) <= radius;
            if is_in { (0..4).map(of_cell).product() } else { 0.0 }
        };
        let law = normalised((0..64).map(mass).collect());
        let wrong = match base {
            BaseMeasure::Histograms => vec![1.0 / 64.0; 64],
            _ => normalised(law.iter().map(|mass| f64::from(u8::from(*mass > 0.0))).collect()),
        };
        let band = Band::new(&cumulative, &base, radius).unwrap();
        let (mut entropy, mut sample) = (seeded(91), Sample::default());
        assert_law("band", 20_000, &law, &wrong, || {
            while !band.draw(&base, 3, &mut sample, &mut entropy).unwrap() {}
            sample.cells.iter().fold(0, |number, cell| 4 * number + cell)
        });
    }
}

#[test]
fn sums_beyond_the_doubles_are_as_good() {
    // From 2^-1700 to 2^1400, so that no common unit serves all of them.
    let (here, next) = (Gate { boundary: 0, low: 0, high: 30 }, Gate { boundary: 3, low: 0, high: 31 });
    let on: Vec<Extended> = (0..32).map(|index| Extended { fraction: 0.7, exponent: 100 * index - 1700 }).collect();
    let mut bounds = vec![Extended::ZERO; 31];
    let group = Group::Length { length: Extended { fraction: 0.6, exponent: -60 } };
    let mut work = Work::default();
    work.at_once(group, &here, &next, &on, &mut bounds, slack(31));
    for count in 0..31 {
        let truth = work.wide_sum((0, count, 32 - count), &on);
        let ratio = bounds[count].over(truth).times_power_of_two(0);
        assert!((1.0..1.0 + 1e-11).contains(&ratio), "{ratio} at {count}");
    }
}
