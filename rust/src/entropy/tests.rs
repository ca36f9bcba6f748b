use super::testing::{seeded, with_key};
use super::*;

#[test]
fn below_rejects_exactly_the_uneven_rest() {
    // bound 3: 2^32 mod 3 = 1, so only the word whose low product is below 1 is refused: word 0.
    let mut entropy = Entropy::scripted(&[0, 1 << 32]);
    assert_eq!(entropy.below_u32(3), 0);
    assert_eq!(entropy.taken(), 2, "the first word was refused");
    let bound = (1 << 63) + 1;
    let mut entropy = Entropy::scripted(&[0, u64::MAX]);
    assert_eq!(entropy.below(bound), bound - 1);
    assert_eq!(entropy.taken(), 2);
}

#[test]
fn below_is_uniform_over_every_short_word() {
    // Enumerate: with w-bit words the accepted words split evenly. Here the 32-bit words are sampled evenly.
    let mut counts = [0_u32; 5];
    let mut entropy = seeded(3);
    for _ in 0..50_000 {
        counts[entropy.below(5) as usize] += 1;
    }
    assert!(counts.iter().all(|&count| (9_400..10_600).contains(&count)), "{counts:?}");
}

#[test]
fn the_words_are_those_of_the_cipher() {
    // RFC 8439's ChaCha20 with the all-zero key and nonce: keystream bytes 0..8 and, from byte 64 on, what makes many blocks at once.
    assert_eq!(with_key([0; 32]).next_u64(), u64::from_le_bytes([0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90]));
    for key in [[0; 32], std::array::from_fn(|place| 7 * place as u8)] {
        let (mut stream, mut all) = (with_key(key), [0; 4096]);
        ChaCha20::new(&key.into(), &[0; 12].into()).apply_keystream(&mut all);
        for word in all.as_chunks().0 {
            assert_eq!(stream.next_u64(), u64::from_le_bytes(*word), "none is left out or comes again");
        }
    }
}

#[test]
fn words_of_both_lengths_never_overlap() {
    let (mut stream, mut seen) = (with_key([0; 32]), std::collections::HashSet::new());
    for _ in 0..2000 {
        assert!(seen.insert(u64::from(stream.next_u32())));
        assert!(seen.insert(stream.next_u64()));
    }
}

fn words() -> [u64; 3] {
    with_entropy(|entropy| Ok([entropy.next_u64(), entropy.next_u64(), entropy.next_u64()])).unwrap()
}

#[test]
fn a_draw_within_a_draw_has_a_stream_of_its_own() {
    let drawn = with_entropy(|outer| {
        let before = outer.next_u64();
        let inner = with_entropy(|inner| Ok(inner.next_u64()))?;
        Ok([before, inner, outer.next_u64()])
    });
    let [before, inner, after] = drawn.unwrap();
    assert!(before != inner && inner != after && before != after);
}

#[test]
fn a_block_repeats_its_bits_and_counts_its_draws() {
    let before = seeding::draws();
    assert!(seeding::begin([7; 32]));
    let first = [words(), words()];
    seeding::end();
    assert_ne!(first[0], first[1], "each call has bits of its own");
    assert_eq!(seeding::draws(), before + 2);
    let outside = words();
    assert_eq!(seeding::draws(), before + 2, "only draws within count");
    assert!(seeding::begin([7; 32]));
    let again = [words(), words()];
    seeding::end();
    assert_eq!(first, again);
    assert!(seeding::begin([8; 32]));
    let other = words();
    seeding::end();
    assert!(other != first[0] && outside != first[0] && words() != first[0]);
}

#[test]
fn a_block_within_a_block_is_refused_and_changes_nothing() {
    assert!(seeding::begin([1; 32]));
    let first = words();
    assert!(!seeding::begin([1; 32]));
    assert_ne!(words(), first, "the outer block goes on");
    seeding::end();
    assert!(!seeding::is_on());
}

#[test]
fn other_threads_do_not_see_it() {
    assert!(seeding::begin([7; 32]));
    let here = words();
    let (elsewhere, on) = std::thread::spawn(|| (words(), seeding::is_on())).join().unwrap();
    seeding::end();
    assert!(!on && elsewhere != here);
}

/// What a child made by `fork` says of itself and of its bits, and what this process's own next call draws.
#[cfg(all(unix, not(miri)))]
fn here_and_in_child() -> ((bool, [u64; 3]), [u64; 3]) {
    let mut ends = [0; 2];
    // SAFETY: the child computes without allocating, writes and exits.
    unsafe {
        assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
        let child = libc::fork();
        if child == 0 {
            let [one, two, three] = words();
            let said = [u64::from(seeding::is_on()), one, two, three];
            libc::write(ends[1], said.as_ptr().cast(), 32);
            libc::_exit(0);
        }
        assert!(child > 0);
        let mut said = [0_u64; 4];
        assert_eq!(libc::read(ends[0], said.as_mut_ptr().cast(), 32), 32);
        libc::waitpid(child, std::ptr::null_mut(), 0);
        libc::close(ends[0]);
        libc::close(ends[1]);
        ((said[0] == 1, [said[1], said[2], said[3]]), words())
    }
}

#[cfg(all(unix, not(miri)))]
#[test]
fn a_child_of_a_fork_shares_no_bits_and_is_out_of_the_block() {
    let ((_, elsewhere), here) = here_and_in_child();
    assert_ne!(elsewhere, here);
    assert!(seeding::begin([7; 32]));
    let ((on, elsewhere), here) = here_and_in_child();
    assert!(seeding::is_on());
    seeding::end();
    assert!(!on && elsewhere != here, "the child was in the block");
}
