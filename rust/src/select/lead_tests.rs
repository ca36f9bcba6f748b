use super::*;
use crate::entropy::testing::seeded;
use crate::exact::rational::exactly;
use crate::testing::{LAWS, assert_law, law_of, scale, wrong_scale};

/// P[i wins, and is ahead by 0, 1, 2 or more steps]: it is ahead by t if and only if it wins with t less.
fn cells(law: Law, scores: &[f64], scale: &Scale, step: f64) -> Vec<f64> {
    let ahead = |winner: usize, by: f64| {
        let mut lowered = scores.to_vec();
        lowered[winner] -= by;
        law_of(law, &lowered, scale)[winner]
    };
    (0..scores.len())
        .flat_map(|winner| {
            let tails = [0.0, 1.0, 2.0].map(|steps| ahead(winner, steps * step));
            [tails[0] - tails[1], tails[1] - tails[2], tails[2]]
        })
        .collect()
}

#[test]
fn winners_and_gaps_follow_their_joint_law() {
    let mut entropy = seeded(71);
    for law in LAWS {
        for (scores, step) in [([3.0, 0.0, 2.5, 1.0], 0.75), ([0.0, 0.0, 0.0, 0.0], 1.0), ([9.0, 1.0, 1.5, 0.0], 2.0)] {
            let (right, wrong) = (cells(law, &scores, &scale(), step), cells(law, &scores, &wrong_scale(), step));
            assert_law(&format!("{law:?} {scores:?}"), 120_000, &right, &wrong, || {
                let (winner, gap) = select(law, View::of(&scores), &scale(), step, &mut entropy).unwrap();
                3 * winner + ((gap / step) as usize).min(2)
            });
        }
    }
}

#[test]
fn far_candidates_leave_the_joint_law_as_it_is() {
    // Four among so many that blocks are weighed; all others are 500 scales below.
    let mut entropy = seeded(76);
    let (few, step) = ([3.0, 0.0, 2.5, 1.0], 0.75);
    let places = [17, 4321, 9000, 9001];
    let mut scores = vec![-1000.0; 20_000];
    places.iter().zip(few).for_each(|(&place, score)| scores[place] = score);
    for law in LAWS {
        let (right, wrong) = (cells(law, &few, &scale(), step), cells(law, &few, &wrong_scale(), step));
        assert_law(&format!("{law:?}"), 40_000, &right, &wrong, || {
            let (winner, gap) = select(law, View::of(&scores), &scale(), step, &mut entropy).unwrap();
            3 * places.iter().position(|&place| place == winner).unwrap() + ((gap / step) as usize).min(2)
        });
    }
}

#[test]
fn gaps_among_many_follow_their_law() {
    // All equal: the gap is exponential with exponential noise, logistic-like with Gumbel noise; see `cells`.
    let mut entropy = seeded(72);
    let scores = vec![5.0_f32; 3000];
    for law in LAWS {
        let tail = |by: f64| match law {
            // The largest of many Laplace noises is one of its upper halves.
            Law::PermuteAndFlip | Law::LaplaceNoisyMax => (-by / 2.0).exp(),
            Law::Exponential => 1.0 / (1.0 / 3000.0 + (1.0 - 1.0 / 3000.0) * (by / 2.0).exp()),
        };
        let cells = [1.0 - tail(1.0), tail(1.0) - tail(3.0), tail(3.0)];
        let wrong = [1.0 - tail(1.1), tail(1.1) - tail(3.3), tail(3.3)];
        assert_law(&format!("{law:?}"), 60_000, &cells, &wrong, || {
            let (_, gap) = select(law, View::of(&scores), &scale(), 1.0, &mut entropy).unwrap();
            if gap < 1.0 { 0 } else { 1 + usize::from(gap >= 3.0) }
        });
    }
}

#[test]
fn a_step_is_reached_or_not_as_real_numbers_say() {
    let scale = Scale::new(1.0, 3.0, 1).unwrap();
    for height in [0.5, 1.0, 0.1, 2_f64.powi(-100), 1e30] {
        let step = Step::new(height, &scale).unwrap();
        for gap in [0.0, 0.3, 1.0, 1.0_f64.next_down(), 2.5, 1e6, 1e-31, 1e40, 7.0e17] {
            // In units of the scale, that is thirds.
            let real = exactly(gap) / Rational::from(3);
            let reaches = |lead: &Rational| *lead <= real;
            let known = gap / 3.0;
            let near = step.floor((known * (1.0 - 1e-11) - 1e-300, known * (1.0 + 1e-11) + 1e-300), reaches);
            assert_eq!(near, step.floor((0.0, f64::INFINITY), reaches), "{gap} in steps of {height}");
            assert!(
                near <= gap && (gap - near) <= (height * 1.000_001).max(gap * 5e-16),
                "{gap} in steps of {height}: {near}"
            );
        }
    }
    assert!([0.0, -1.0, f64::NAN, f64::INFINITY].iter().all(|&height| Step::new(height, &scale).is_err()));
}

#[test]
fn what_doubles_say_of_a_gap_is_what_integers_say() {
    let mut entropy = seeded(74);
    let scale = scale();
    for round in 0..400 {
        let scores: Vec<f64> = (0..40).map(|index| f64::from(index * 7 % 11) * f64::from(round % 5)).collect();
        let step = Step::new(0.25, &scale).unwrap();
        let unit = step.exact();
        // The same numbers again, of which nothing is known in doubles.
        let mut candidates = once::largest(View::of(&scores), &scale, 2, &mut entropy).unwrap();
        let [winner, next] = &mut candidates[..] else { unreachable!() };
        let gap = gap_of(winner, next, &scale, &step, &mut entropy);
        for candidate in [&mut *winner, &mut *next] {
            (candidate.low, candidate.high) = (0.0, f64::INFINITY);
        }
        assert_eq!(gap_of(winner, next, &scale, &step, &mut entropy), gap);

        let mut blocks = Blocks::new(View::of(&scores)).unwrap();
        let whole = Round::new(&blocks, &scale);
        let line = BlockLine::new(&whole);
        let mut time = || exponential_mechanism::draw_with_time(&whole, &line, &mut entropy).unwrap().1;
        let (mut first, mut rest) = (time(), time());
        let x = f64::from(round % 7);
        let exact = exactly(x);
        let bounds = bounds_of_lead(&first, &rest, x);
        let mut reaches = |lead: &Rational| has_lead(&mut first, &mut rest, &exact, lead, &mut entropy);
        let gap = step.floor(bounds, &mut reaches);
        assert_eq!(step.floor((0.0, f64::INFINITY), &mut reaches), gap);
        assert!(!reaches(&(unit * exactly(4.0 * gap + 1.0))), "the next step is not reached");

        let (second, best) = once::split(&blocks, 2).unwrap();
        let removed = once::take_out(&mut blocks, &best);
        let laplace = Round { removed: &removed, ..Round::new(&blocks, &scale) };
        let [mut winner, mut next] =
            noisy_max::two_largest(&laplace, best.first().copied(), second, &mut entropy).unwrap();
        let bounds = (winner.low - next.high, winner.high - next.low);
        let mut reaches =
            |lead: &Rational| noisy_max::is_farther_above(&laplace, &mut winner, &mut next, lead, &mut entropy);
        assert_eq!(step.floor(bounds, &mut reaches), step.floor((0.0, f64::INFINITY), &mut reaches));
    }
}

#[test]
fn a_single_candidate_has_no_gap() {
    let mut entropy = seeded(75);
    for law in LAWS {
        assert_eq!(select(law, View::of(&[1.0]), &scale(), 1.0, &mut entropy), Err(SelectError::InvalidCount));
        assert_eq!(select(law, View::of(&[1.0, 2.0]), &scale(), 0.0, &mut entropy), Err(SelectError::InvalidScale));
        assert_eq!(
            select(law, View::of(&[1.0, f64::INFINITY]), &scale(), 1.0, &mut entropy),
            Err(SelectError::NotFinite)
        );
    }
}
