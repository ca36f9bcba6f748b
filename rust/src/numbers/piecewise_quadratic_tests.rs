use super::*;
use crate::entropy::testing::seeded;
use crate::numbers::score_shapes::{Concave, Lines, LinesThroughOrigin, Peak, Tail};
use crate::testing::{assert_law, normalised};
use dashu_int::UBig;

/// A word with which a choice takes no second one.
const CHOICE: u64 = 0x5555_5555_5555_5555;

/// Masses of exp(score / b) between neighbouring cuts, by Simpson's rule.
fn law(score: impl Fn(f64) -> f64, b: f64, cuts: &[f64]) -> Vec<f64> {
    let masses = cuts
        .windows(2)
        .map(|ends| {
            let step = (ends[1] - ends[0]) / 2000.0;
            let weight = |k: u32| {
                if k.is_multiple_of(2000) {
                    1.0
                } else if k % 2 == 1 {
                    4.0
                } else {
                    2.0
                }
            };
            // The ends themselves may belong to the next piece.
            let at = |k: u32| (ends[0] + step * f64::from(k)).clamp(ends[0] + step * 1e-9, ends[1] - step * 1e-9);
            (0..=2000).map(|k| weight(k) * (score(at(k)) / b).exp()).sum::<f64>() * step
        })
        .collect();
    normalised(masses)
}

/// Draws against the law of `score`, and against that of `wrong`.
fn check<L: PiecewiseScore + 'static>(
    name: &str,
    shape: L,
    scale: &Scale,
    cuts: &[f64],
    score: impl Fn(f64) -> f64,
    wrong: impl Fn(f64) -> f64,
) {
    let b = 1.0 / scale.exponent_of_gap(1.0);
    let mut entropy = seeded(91);
    let cell = |value: f64| {
        assert!(value >= cuts[0] && value <= cuts[cuts.len() - 1]);
        (cuts.partition_point(|&cut| cut <= value).max(1) - 1).min(cuts.len() - 2)
    };
    let plan = Prepared::new(shape, scale.clone()).unwrap();
    assert_law(name, 30_000, &law(score, b, cuts), &law(wrong, b, cuts), || cell(plan.draw(&mut entropy)));
}

fn draw<L: PiecewiseScore + 'static>(shape: L, scale: &Scale, entropy: &mut Entropy) -> Result<f64, SelectError> {
    Ok(Prepared::new(shape, scale.clone())?.draw(entropy))
}

fn cuts(low: f64, high: f64, cells: u32) -> Vec<f64> {
    (0..=cells).map(|i| low + (high - low) * f64::from(i) / f64::from(cells)).collect()
}

#[test]
fn peaks_at_a_third() {
    let third = |numerator: i32| IBig::from(numerator);
    let laplace = Peak::new(third(1), None, None, UBig::from(3_u8), UBig::from(3_u8), false).unwrap();
    let scale = Scale::new(2.0, 1.0, 1).unwrap();
    let edges = cuts(1.0 / 3.0 - 12.0, 1.0 / 3.0 + 12.0, 120);
    check("laplace", laplace, &scale, &edges, |x| -(x - 1.0 / 3.0).abs(), |x| -(x - 0.36).abs());
    // The normal law between -1 and 2, as narrow or wide as the scale makes it.
    let normal =
        || Peak::new(third(1), Some(third(-3)), Some(third(6)), UBig::from(3_u8), UBig::from(3_u8), true).unwrap();
    for epsilon in [0.2, 3.0, 40.0] {
        let scale = Scale::new(epsilon, 1.0, 2).unwrap();
        let shift = 0.2 / epsilon.sqrt();
        check(
            "normal",
            normal(),
            &scale,
            &cuts(-1.0, 2.0, 60),
            |x| -(x - 1.0 / 3.0).powi(2),
            |x| -(x - 1.0 / 3.0 - shift).powi(2),
        );
    }
}

#[test]
fn proposals_are_kept_at_least_one_time_in_four() {
    let mut entropy = seeded(92);
    for epsilon in [1e-9, 0.01, 0.3, 1.0, 2.0, 7.0, 1e3, 1e12] {
        let scale = Scale::new(epsilon, 1.0, 1).unwrap();
        for (slopes, has_tails) in [([1.0, -1.0], true), ([3.0, -0.1], false), ([-0.5, -8.0], false)] {
            let shape = Concave::new(vec![0.0, 1.0], slopes.to_vec(), has_tails).unwrap();
            let parts = Parts::new(Box::new(shape), scale.clone()).unwrap();
            for index in (0..parts.count()).filter(|&index| !parts.length(index).is_zero()) {
                let kept = (0..400).filter(|_| parts.part(index).propose(&parts.rate, &mut entropy).is_some()).count();
                assert!(kept > 70, "{kept} of 400 in part {index}"); // 100 expected at the least, 3.4 deviations
            }
        }
    }
}

#[test]
fn parts_meet_where_the_parabola_is_cut() {
    let shape = Concave::new(vec![-5.0, 5.0], vec![10.0, -10.0], false).unwrap();
    let scale = Scale::new(3.0, 1.0, 1).unwrap();
    let [near, far] = shape.piece(1).split(&scale.exact_exponent_of_gap(&exactly(1.0)));
    let at = nearest_f64;
    let (reach, rest) = (at(near.length.as_ref().unwrap()), at(far.length.as_ref().unwrap()));
    assert_eq!(reach + rest, 5.0);
    assert!(3.0 * reach * reach <= 1.0 && 3.0 * reach * reach > 0.125);
    assert_eq!(at(&(&near.score - &far.score)), reach * reach);
    assert_eq!(at(&far.slope), 2.0 * reach);
    assert_eq!(at(&(&far.top - &near.top)), reach);
}

#[test]
fn extreme_scales_are_exact_and_quick() {
    let mut entropy = seeded(93);
    // A tail beyond the doubles ends at the last of them.
    let mut laplace = |epsilon, sensitivity| {
        let peak = Peak::new(IBig::ONE, None, None, UBig::from(3_u8), UBig::from(3_u8), false).unwrap();
        draw(peak, &Scale::new(epsilon, sensitivity, 1).unwrap(), &mut entropy).unwrap()
    };
    for _ in 0..50 {
        assert_eq!(laplace(1e-200, 1e200).abs(), f64::MAX);
    }
    assert_eq!(laplace(1e200, 1e-200), 1.0 / 3.0);
}

#[test]
fn a_point_is_rounded_once_however_many_bits_that_takes() {
    // Constant on [0, 1]: one word for the piece, one for its coin, the next ones are the point's.
    let line = || Lines::new(vec![0.0, 1.0], vec![0.0], vec![0.0], None, None).unwrap();
    let scale = Scale::new(1.0, 1.0, 1).unwrap();
    let drawn = |words: &[u64]| {
        let mut entropy = Entropy::scripted(words);
        (draw(line(), &scale, &mut entropy).unwrap(), entropy.taken())
    };
    assert_eq!(drawn(&[CHOICE, 0, 1 << 63, 0, 0]), (0.5, 3));
    // Half a unit in the last place above 1/2: the next word says to which side of the tie the point belongs.
    assert_eq!(drawn(&[CHOICE, 0, (1 << 63) + (1 << 10), 0, 0, 0]).0, 0.5 + f64::EPSILON / 2.0);
    assert_eq!(drawn(&[CHOICE, 0, (1 << 63) + (1 << 10) - 1, u64::MAX, u64::MAX, 0]).0, 0.5);
    // Near zero doubles are dense.
    assert_eq!(drawn(&[CHOICE, 0, 0, 0, 1 << 63, 0]), (2_f64.powi(-129), 5));
}

#[test]
fn pieces_that_cannot_be_drawn_from_are_refused() {
    let scale = Scale::new(1.0, 1.0, 1).unwrap();
    let nowhere = Lines::new(vec![1.0, 1.0], vec![0.0], vec![0.0], None, None).unwrap();
    assert_eq!(draw(nowhere, &scale, &mut seeded(1)).err(), Some(SelectError::NoCandidates));
    let lines = |points: &[f64], scores: &[f64], slope: f64| {
        let tail = Tail { score: 0.0, slope };
        Lines::new(points.to_vec(), scores.to_vec(), scores.to_vec(), None, Some(tail)).err()
    };
    assert_eq!(lines(&[0.0, 1.0], &[0.0], 1.0), None);
    assert_eq!(lines(&[0.0, 1.0], &[0.0], 0.0), Some(SelectError::NotFinite));
    assert_eq!(lines(&[0.0, 1.0], &[0.0], f64::NAN), Some(SelectError::NotFinite));
    assert_eq!(lines(&[1.0, 0.0], &[0.0], 1.0), Some(SelectError::NotFinite));
    assert_eq!(lines(&[0.0, 1.0], &[f64::NAN], 1.0), Some(SelectError::NotFinite));
    assert_eq!(lines(&[0.0, 1.0], &[], 1.0), Some(SelectError::InvalidCount));
    let concave = |slopes: &[f64], has_tails| Concave::new(vec![0.0, 1.0], slopes.to_vec(), has_tails).err();
    assert_eq!(concave(&[1.0, 2.0], false), Some(SelectError::NotFinite));
    assert_eq!(concave(&[2.0, 1.0], true), Some(SelectError::NotFinite));
    assert_eq!(concave(&[2.0], false), Some(SelectError::InvalidCount));
    assert_eq!(concave(&[2.0, 1.0], false), None);
    let peak = |lower: i32, denominator: u8| {
        Peak::new(IBig::ZERO, Some(IBig::from(lower)), None, UBig::ONE, UBig::from(denominator), true).err()
    };
    assert_eq!(
        (peak(-1, 1), peak(1, 1), peak(-1, 0)),
        (None, Some(SelectError::NotFinite), Some(SelectError::NotFinite))
    );
    let slopes = |slopes: &[f64]| LinesThroughOrigin::new(vec![0.0, 1.0], slopes.to_vec()).err();
    assert_eq!(slopes(&[f64::INFINITY]), Some(SelectError::NotFinite));
    assert_eq!(slopes(&[1.0, 2.0]), Some(SelectError::InvalidCount));
}

/// The same score without doubles.
struct ExactOnly(Box<dyn PiecewiseScore>);

impl PiecewiseScore for ExactOnly {
    fn count(&self) -> usize {
        self.0.count()
    }

    fn piece(&self, index: usize) -> FallingPiece {
        self.0.piece(index)
    }
}

/// Lines and lines through the origin of any size, with pieces of no length and scores that hardly differ.
fn any_shape(entropy: &mut Entropy, size: i32, is_through_origin: bool) -> Box<dyn PiecewiseScore> {
    let mut number = || (entropy.next_u64() >> 11) as f64 * 2_f64.powi(size - 53);
    let mut points: Vec<f64> = (0..40).map(|index| if index % 5 == 0 { 0.75 } else { 1.0 } * number()).collect();
    points[7] = points[6];
    points.sort_by(f64::total_cmp);
    let mut scores = || (0..39).map(|index| if index % 2 == 0 { number() } else { 1.0 }).collect::<Vec<f64>>();
    if !is_through_origin {
        let tail = Tail { score: 0.5, slope: 2.0 };
        return Box::new(Lines::new(points, scores(), scores(), Some(tail), Some(tail)).unwrap());
    }
    // Nearly equal tops: slopes of one over the breakpoint, off by a few last places.
    let slopes: Vec<f64> = points[1..].iter().map(|point| (1.0 / point.max(f64::MIN_POSITIVE)).min(1e300)).collect();
    Box::new(LinesThroughOrigin::new(points, slopes).unwrap())
}

#[test]
fn planning_in_doubles_is_as_near_to_the_truth_as_claimed() {
    for round in 0..400 {
        let size = [0, 20, -40, 1000, -950][round % 5];
        let epsilon = [1.0, 1e-9, 1e9, 1e200, 1e-200][round / 5 % 5];
        let scale = Scale::new(epsilon, 1.0, 1).unwrap();
        let twins = || any_shape(&mut seeded(round as u8), size, round % 3 == 0);
        let rough = Parts::new(twins(), scale.clone()).unwrap();
        let exact = Parts::new(Box::new(ExactOnly(twins())), scale.clone()).unwrap();
        assert!(rough.best == exact.best && rough.known.is_empty() && exact.known.len() == exact.count());
        for index in 0..rough.count() {
            let ((length, x), (true_length, true_x)) = (rough.in_doubles(index), exact.in_doubles(index));
            assert_eq!(length.is_zero(), true_length.is_zero());
            if length.is_zero() {
                continue;
            }
            assert!((length.quotient(true_length) - 1.0).abs() < 2_f64.powi(-48));
            assert!((x - true_x).abs() <= 2_f64.powi(-24) + true_x * 2_f64.powi(-41), "{x} {true_x}");
        }
        let chooser = Chooser::new(&rough).unwrap();
        for index in (0..rough.count()).filter(|&index| !rough.length(index).is_zero()) {
            assert!(chooser.is_bounded(&exact, index), "{index} of round {round}");
        }
    }
}
