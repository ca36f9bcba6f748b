use super::*;
use crate::entropy::testing::seeded;
use crate::exact::rational::exactly;

fn exponential(x: f64) -> Exponential<impl Fn() -> Rational> {
    Exponential { approximate: x, exact: move || exactly(x) }
}

/// An enclosure's middle as a double, for comparison only.
fn precise(x: f64) -> (f64, i32) {
    let precision = 400;
    let value = exp_negative(&exactly(x), precision).low;
    let shift = dashu_int::ops::BitTest::bit_len(&value) - 64;
    let head: u64 = (value >> shift).try_into().unwrap();
    (head as f64, shift as i32 - precision as i32)
}

fn glance(head: u64, x: f64, proposal: Proposal, stage: Stage) -> Option<bool> {
    let (low, high) = enclosure(x, proposal, stage);
    decided(head, low, high)
}

#[test]
fn the_double_exponential_is_as_good_as_claimed() {
    let mut entropy = seeded(1);
    let mut worst: f64 = 0.0;
    for step in 0..4000_u32 {
        let x = match step % 4 {
            0 => f64::from(step) * 90.0 / 4000.0,
            1 => entropy.next_u64() as f64 / TWO_TO_64 * 90.0,
            2 => (entropy.next_u64() as f64 / TWO_TO_64) * 1e-3,
            _ => (f64::from(step % 130) + 0.5) * std::f64::consts::LN_2,
        };
        let (head, exponent) = precise(x);
        let ratio = exp_negative_f64(x) / (head * 2_f64.powi(exponent));
        worst = worst.max((ratio - 1.0).abs());
    }
    assert!(worst < 2_f64.powi(-50), "relative error {worst:e}");
    assert_eq!(exp_negative_f64(0.0).to_bits(), 1.0_f64.to_bits());
}

#[test]
fn the_double_complement_is_as_good_as_claimed() {
    for step in 1..2000 {
        let rate = f64::from(step) / 1000.0;
        for rate in [rate, rate * 1e-3, rate * 1e-12] {
            let precision = 300;
            let missed = exp_negative(&exactly(rate), precision).low;
            let value = (UBig::ONE << precision) - missed;
            let shift = dashu_int::ops::BitTest::bit_len(&value) - 64;
            let head: u64 = (value >> shift).try_into().unwrap();
            let truth = head as f64 * 2_f64.powi(shift as i32 - precision as i32);
            let error = (one_minus_exp_negative(rate) / truth - 1.0).abs();
            assert!(error < 2_f64.powi(-50), "rate {rate}: relative error {error:e}");
        }
    }
}

#[test]
fn a_cell_that_holds_the_threshold_is_refined_to_both_sides() {
    // The cell of exp(-1): its first 64 bits, and then the following 64 bits of the truth.
    let bits = exp_negative(&exactly(1.0), 192).low;
    let word = |position: usize| -> u64 { ((&bits >> position) & UBig::from(u64::MAX)).try_into().unwrap() };
    let (head, second) = (word(128), word(64));
    for (tail, expected, taken) in [(0, true, 2), (u64::MAX, false, 2), (second - 1, true, 2), (second + 1, false, 2)] {
        let mut entropy = Entropy::scripted(&[head, tail]);
        assert_eq!(flip(&exponential(1.0), &mut entropy), expected, "tail {tail}");
        assert_eq!(entropy.taken(), taken);
    }
    // And once more: the second word is the truth's too, the third decides.
    for (tail, expected) in [(0, true), (u64::MAX, false)] {
        let mut entropy = Entropy::scripted(&[head, second, tail]);
        assert_eq!(flip(&exponential(1.0), &mut entropy), expected);
        assert_eq!(entropy.taken(), 3);
    }
}

#[test]
fn the_forced_fallback_agrees_with_the_filter() {
    let mut entropy = seeded(5);
    let proposals = [Proposal::Certain, Proposal::Thinned { rate: 1 << 59 }, Proposal::Thinned { rate: 1 << 20 }];
    let stages = [Stage::WHOLE, Stage { start: 0, end: 1, bits: 5 }, Stage { start: 2, end: 4, bits: 4 }];
    let (mut decided, mut heads) = (0, 0);
    for round in 0..3000 {
        let x = exponential((entropy.next_u64() as f64 / TWO_TO_64) * if round % 2 == 0 { 1.0 } else { 60.0 });
        for proposal in proposals {
            for stage in stages {
                let uniform = LazyUniform::draw(&mut entropy);
                if let Some(quick) = glance(uniform.head, x.approximate, proposal, stage) {
                    decided += 1;
                    heads += u32::from(quick);
                    let mut script = Entropy::scripted(&[]);
                    let exact = below_exact(&mut uniform.clone(), &(x.exact)(), proposal, stage, &mut script);
                    assert_eq!(exact, quick, "{proposal:?} {stage:?}");
                }
            }
        }
    }
    assert!(decided > 25_000 && heads > 4_000, "{decided} decided, {heads} heads");
}

#[test]
fn the_filter_never_decides_next_to_the_threshold() {
    let mut entropy = seeded(6);
    for _ in 0..2000 {
        let x = entropy.next_u64() as f64 / TWO_TO_64 * 14.0;
        let truth = exp_negative(&exactly(x), 64).low;
        let head: u64 = truth.try_into().unwrap_or(u64::MAX);
        for head in [head.saturating_sub(1), head, head.saturating_add(1)] {
            assert_eq!(glance(head, x, Proposal::Certain, Stage::WHOLE), None, "x = {x}");
        }
    }
}

#[test]
fn half_a_word_decides_what_all_of_it_would() {
    let mut entropy = seeded(7);
    for _ in 0..2000 {
        let x = exponential(entropy.next_u64() as f64 / TWO_TO_64 * 22.0);
        let head = u64::try_from(exp_negative(&(x.exact)(), 64).low).unwrap_or(u64::MAX);
        for word in
            [entropy.next_u64(), head - (1 << 32), head + (1 << 32), head | u64::from(u32::MAX), head >> 32 << 32]
        {
            let script = || Entropy::scripted(&[word, 1 << 63]);
            let mut all = LazyUniform::draw(&mut script());
            let expected = below_exact(&mut all, &(x.exact)(), Proposal::Certain, Stage::WHOLE, &mut script());
            assert_eq!(flip(&x, &mut script()), expected, "{word:x} at {}", x.approximate);
        }
    }
}

/// A truncated generator: V runs over all multiples of 2^-12, further bits are zero. V < p holds for ceil(p 2^12).
#[test]
fn all_words_of_a_truncated_generator_give_the_law() {
    for (x, proposal, stage, probability) in [
        (0.25, Proposal::Certain, Stage::WHOLE, libm::exp(-0.25)),
        (3.0, Proposal::Certain, Stage::WHOLE, libm::exp(-3.0)),
        (2.0, Proposal::Thinned { rate: 1 << 59 }, Stage::WHOLE, libm::exp(-2.0) / (1.0 - libm::exp(-0.5))),
        (0.5, Proposal::Certain, Stage { start: 1, end: 3, bits: 3 }, {
            let p = libm::exp(-0.5);
            p * 0.25 / (1.0 - p / 8.0)
        }),
    ] {
        let is_head = |word: u64, is_exact: bool| {
            let mut entropy = Entropy::scripted(&[word << 52, 0, 0, 0, 0]);
            let mut uniform = LazyUniform::draw(&mut entropy);
            if is_exact {
                below_exact(&mut uniform, &exactly(x), proposal, stage, &mut entropy)
            } else {
                below(&mut uniform, &exponential(x), proposal, stage, &mut entropy)
            }
        };
        for is_exact in [false, true] {
            let heads = (0..4096).filter(|&word| is_head(word, is_exact)).count();
            assert_eq!(heads, (probability * 4096.0).ceil() as usize, "x = {x}, {proposal:?}");
        }
    }
}

#[test]
fn a_uniform_goes_on_behind_its_first_bits() {
    let word = 0xfedc_ba98_7654_3210;
    for (start, bits, head) in [(0, 0, word), (5, 4, 0x5fed_cba9_8765_4321), ((1 << 63) - 1, 63, u64::MAX)] {
        assert_eq!(LazyUniform::beginning_with(start, bits, &mut Entropy::scripted(&[word])).cell(), (head.into(), 64));
    }
}

#[test]
fn tails_are_never_rounded_to_zero() {
    // exp(-100) = 2^-144.3: two words of zeros and a small third one are below it, a larger third one is not.
    let mut entropy = Entropy::scripted(&[0, 0, 1]);
    assert!(flip(&exponential(100.0), &mut entropy));
    let mut entropy = Entropy::scripted(&[0, 0, 1 << 63]);
    assert!(!flip(&exponential(100.0), &mut entropy));
    let mut entropy = Entropy::scripted(&[0, 1]);
    assert!(!flip(&exponential(100.0), &mut entropy));
    assert_eq!(entropy.taken(), 2);
}

#[test]
fn certainty_needs_no_randomness_and_near_certainty_does() {
    let mut entropy = Entropy::scripted(&[]);
    assert!(flip(&exponential(0.0), &mut entropy));
    assert_eq!(entropy.taken(), 0);
    // 1 - exp(-2^-70): the last cell below 1 is split by the truth.
    let x = exponential(2_f64.powi(-70));
    assert!(flip(&x, &mut Entropy::scripted(&[u64::MAX, 0])));
    assert!(!flip(&x, &mut Entropy::scripted(&[u64::MAX, u64::MAX])));
    assert!(flip(&x, &mut Entropy::scripted(&[u64::MAX - (1 << 40)])));
}

#[test]
fn an_absurd_exponent_is_decided_without_absurd_work() {
    let huge = Exponential { approximate: 2_f64.powi(70), exact: || exactly(1e300) };
    let mut entropy = Entropy::scripted(&[0, 0, 0, 7]);
    assert!(!flip(&huge, &mut entropy));
    assert_eq!(entropy.taken(), 4);
}
