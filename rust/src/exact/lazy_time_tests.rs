use super::*;
use crate::entropy::testing::seeded;
use crate::exact::rational::exactly;
use crate::testing::middle;

fn none() -> Rational {
    exactly(0.0)
}

fn clock(known: u64, parts: u64) -> Clock {
    Clock { known: UBig::from(known), bits: 64, parts, rate: 1 }
}

#[test]
fn a_place_in_a_stage_is_a_time() {
    let mut entropy = Entropy::scripted(&[1 << 63]);
    let uniform = LazyUniform::draw(&mut entropy);
    let times = [(0, 1, 0), (0, 1, 3), (1, 1, 3), (2, 2, 3), (4, 4, 3)].map(|(start, length, bits)| {
        let clock = Clock::within(start, length, bits, &uniform);
        assert_eq!((clock.parts, clock.rate), (1, 1));
        middle(&clock)
    });
    assert_eq!(times, [0.5, 0.5 / 8.0, 1.5 / 8.0, 3.0 / 8.0, 6.0 / 8.0]);
}

#[test]
fn gaps_add_up_however_deep_each_is_known() {
    // First words that are equal make the exponential draw a second one each: its fraction is 5, 7.
    let deep = || Variate::exponential(&mut Entropy::scripted(&[5, 5, 9, 7]));
    // 3 < 4, so this one is kept at once.
    let shallow = || Variate::exponential(&mut Entropy::scripted(&[3, 4]));
    let rate_bits = 40;
    let mut script = Entropy::scripted(&[11]);
    let mut first_deep = Clock::start(9, rate_bits);
    first_deep.pass(deep(), rate_bits, &mut script);
    first_deep.pass(shallow(), rate_bits, &mut script);
    let mut other_script = Entropy::scripted(&[11]);
    let mut first_shallow = Clock::start(9, rate_bits);
    first_shallow.pass(shallow(), rate_bits, &mut other_script);
    first_shallow.pass(deep(), rate_bits, &mut other_script);
    assert!(first_deep == first_shallow);
    assert_eq!((script.taken(), other_script.taken()), (1, 1), "the shallow one drew a word");
    assert_eq!(first_deep.known, (UBig::from(5 + 3_u8) << 64) + UBig::from(7 + 11_u8));
    assert_eq!((first_deep.bits, first_deep.parts, first_deep.rate), (128 - 40, 2, 9));
}

#[test]
fn what_is_known_decides_alone_if_it_can() {
    let mut script = Entropy::scripted(&[]);
    assert!(clock(5, 1).is_before(&none(), &mut clock(6, 1), &mut script));
    assert!(!clock(6, 1).is_before(&none(), &mut clock(5, 1), &mut script));
    // Three parts reach up to 8.
    assert!(clock(5, 3).is_before(&none(), &mut clock(8, 1), &mut script));
    assert!(!clock(8, 1).is_before(&none(), &mut clock(5, 3), &mut script));
    // Half of 12 is 6: at a distance of a little more than ln 2 it is below that.
    let (more, less) = (exactly(0.694), exactly(0.692));
    assert!(clock(12 << 32, 1).is_before(&more, &mut clock(6 << 32, 1), &mut script));
    assert!(!clock(12 << 32, 1).is_before(&less, &mut clock(6 << 32, 1), &mut script));
    assert_eq!(script.taken(), 0);
    // But three parts may reach beyond 7.
    let mut script = Entropy::scripted(&[u64::MAX, u64::MAX, u64::MAX, 0]);
    assert!(!clock(5, 3).is_before(&none(), &mut clock(7, 1), &mut script));
    assert_eq!(script.taken(), 4);
}

#[test]
fn every_part_draws_a_word_until_the_order_is_known() {
    for (words, expected) in [([1, 2, 9], true), ([9, 9, 1], false)] {
        let mut script = Entropy::scripted(&words);
        let (mut one, mut other) = (clock(5, 2), clock(5, 1));
        // Two parts of 2^-64 each against one: together 1 + 2 < 9, and 9 + 9 > 1.
        assert_eq!(one.is_before(&none(), &mut other, &mut script), expected);
        assert_eq!(script.taken(), 3);
        assert_eq!(one.known, (UBig::from(5_u8) << 64) + UBig::from(words[0] + words[1]));
        assert_eq!((one.bits, other.bits), (128, 128));
    }
}

#[test]
fn far_tails_are_not_rounded_to_never() {
    // exp(-5000) of a time is before another only if that one is far from zero; a time of 0 needs its further bits.
    let x = exactly(5000.0);
    let mut script = Entropy::scripted(&[]);
    assert!(clock(1 << 60, 1).is_before(&x, &mut clock(1, 1), &mut script));
    assert_eq!(script.taken(), 0);
    let zeros = vec![0; 400];
    let mut script = Entropy::scripted(&zeros);
    let (mut far, mut other) = (clock(1 << 60, 1), clock(0, 1));
    far.is_before(&x, &mut other, &mut script);
    assert!(script.taken() > 200, "exp(-5000) is 2^-7213: over a hundred words of zeros leave the order open");
}

#[test]
fn comparisons_agree_with_the_doubles() {
    let mut entropy = seeded(41);
    let mut first = 0;
    for _ in 0..4000 {
        let mut draw = |parts: u64| {
            let bits = 64 + entropy.below(3) as usize;
            Clock { known: UBig::from(entropy.next_u64()), bits, parts, rate: 1 + entropy.below(5) }
        };
        let (mut one, mut other) = (draw(1), draw(7));
        let x = entropy.below(1 << 20) as f64 / f64::from(1 << 19);
        let (left, right) = (middle(&one) * libm::exp(-x), middle(&other));
        if (left / right - 1.0).abs() < 1e-12 {
            continue;
        }
        let is_before = one.is_before(&exactly(x), &mut other, &mut Entropy::scripted(&[]));
        assert_eq!(is_before, left < right);
        first += u32::from(is_before);
    }
    assert!((1000..3900).contains(&first));
}
