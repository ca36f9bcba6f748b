//! Floating point by the standard for the length of a call, whatever other libraries have set.
//!
//! A library compiled with `-ffast-math` may make the processor treat subnormal numbers as zero on every thread that
//! loads it, and any code may change the direction of rounding. Scores a subnormal apart would then be equal, and no error
//! bound of `proofs/exact_sampling.md` would hold. So each call looks at the control register, which takes about a
//! nanosecond, and where it is not the standard's puts it right until the call ends.

/// Run `call` with subnormal numbers, rounding to nearest and no traps.
#[inline(always)]
pub fn with_standard_floats<R>(call: impl FnOnce() -> R) -> R {
    let found = register::read();
    if found & !register::FLAGS == register::STANDARD { call() } else { put_right(found, call) }
}

/// Not inlined, so that no operation of the call is moved to where the register is still wrong.
#[inline(never)]
fn apart<R>(call: impl FnOnce() -> R) -> R {
    call()
}

#[cold]
#[inline(never)]
fn put_right<R>(found: register::Word, call: impl FnOnce() -> R) -> R {
    struct Restore(register::Word);
    impl Drop for Restore {
        fn drop(&mut self) {
            register::write(self.0);
        }
    }
    let _restore = Restore(found);
    register::write(register::STANDARD);
    apart(call)
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod register {
    use std::arch::asm;

    pub type Word = u32;
    /// All exceptions masked, rounding to nearest, neither flush-to-zero nor denormals-are-zero.
    pub const STANDARD: Word = 0x1f80;
    /// What happened so far; says nothing of what will.
    pub const FLAGS: Word = 0x3f;

    #[inline(always)]
    pub fn read() -> Word {
        let mut word = 0;
        // SAFETY: writes four bytes to `word`.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut word, options(nostack, preserves_flags)) };
        word
    }

    pub fn write(word: Word) {
        // SAFETY: `word` is the standard or was read from the register; code that runs on from here is not inlined.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const word, options(nostack, preserves_flags)) };
    }
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod register {
    use std::arch::asm;

    pub type Word = u64;
    /// Rounding to nearest, no flush-to-zero, no traps.
    pub const STANDARD: Word = 0;
    /// What happened so far is kept elsewhere.
    pub const FLAGS: Word = 0;

    #[inline(always)]
    pub fn read() -> Word {
        let word;
        // SAFETY: reads a register.
        unsafe { asm!("mrs {}, fpcr", out(reg) word, options(nomem, nostack, preserves_flags)) };
        word
    }

    pub fn write(word: Word) {
        // SAFETY: `word` is the standard or was read from the register; code that runs on from here is not inlined.
        unsafe { asm!("msr fpcr, {}", in(reg) word, options(nostack, preserves_flags)) };
    }
}

/// Other processors, and interpreters: nothing is known of their registers.
#[cfg(any(miri, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod register {
    pub type Word = u32;
    pub const STANDARD: Word = 0;
    pub const FLAGS: Word = 0;

    #[inline(always)]
    pub fn read() -> Word {
        STANDARD
    }

    pub fn write(_: Word) {}
}

#[cfg(all(test, not(miri), any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use std::hint::black_box;

    use super::*;
    use crate::scores::scale::Scale;
    use crate::scores::score_view::View;
    use crate::select::many_draws::{Law, select};

    #[cfg(target_arch = "x86_64")]
    const CHANGED: [register::Word; 3] = [0x1f80 | 1 << 15 | 1 << 6, 0x1f80 | 2 << 13, 0x1f80 | 3 << 13];
    #[cfg(target_arch = "aarch64")]
    const CHANGED: [register::Word; 3] = [1 << 24, 1 << 22, 3 << 22];

    /// Run on a thread of its own with the register as another library may leave it.
    fn with_register<R: Send>(word: register::Word, run: impl FnOnce() -> R + Send) -> R {
        std::thread::scope(|scope| {
            let changed = scope.spawn(move || {
                register::write(word);
                // Not inlined, so that no sum is moved to where the register is the standard's.
                let result = apart(run);
                assert_eq!(register::read() & !register::FLAGS, word, "as it was");
                register::write(register::STANDARD);
                result
            });
            changed.join().unwrap()
        })
    }

    #[test]
    fn sums_are_those_of_the_standard_and_the_register_is_restored() {
        let sums = || (black_box(5e-324) + black_box(0.0), black_box(1.0) + black_box(1e-30), black_box(1.0) - 1e-30);
        let standard = sums();
        for word in CHANGED {
            let (outside, inside) = with_register(word, || (sums(), with_standard_floats(sums)));
            assert_ne!(outside, standard, "the register does change sums");
            assert_eq!(inside, standard);
        }
    }

    #[test]
    fn subnormal_scores_are_told_apart_whatever_is_set() {
        // The first is certain but for e^-1000 a candidate; as zeros they would all be alike. Enough for helpers to join.
        let mut scores = vec![5e-324; 300_000];
        scores[77] = 1.5e-323;
        for word in CHANGED {
            for law in [Law::Exponential, Law::PermuteAndFlip] {
                let drawn = with_register(word, || {
                    with_standard_floats(|| {
                        let scale = Scale::new(1e3, 5e-324, 1).unwrap();
                        (0..5).map(|_| select(law, View::of(&scores), &scale).unwrap()).collect::<Vec<_>>()
                    })
                });
                assert_eq!(drawn, [77; 5]);
            }
        }
    }
}
