//! What tells a process from its forks, so that no child goes on with its parent's stream.
//!
//! On Linux a page of memory that every fork finds wiped (`MADV_WIPEONFORK`, since 4.14): one load tells, also after a bare
//! `clone` system call. Where there is no such page, the process id tells, together with a count of the forks above this
//! process, since ids come again.

use std::sync::atomic::{AtomicU64, Ordering};

/// The same for all threads of a process, and another one in each of its forks, theirs, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessMark(u64);

impl ProcessMark {
    #[inline]
    pub(crate) fn now() -> Self {
        match wiped_page::mark() {
            Some(mark) => Self(mark),
            None => Self::by_id(),
        }
    }

    #[cold]
    #[inline(never)]
    fn by_id() -> Self {
        // The count wraps after 2^31 generations of forks; the bit above it is that of no mark from a page.
        Self(1 << 63 | (fork_count() & 0x7fff_ffff) << 32 | u64::from(std::process::id()))
    }

    #[cfg(test)]
    pub(crate) fn of_another_process(self) -> Self {
        Self(self.0 ^ 1 << 40)
    }
}

/// Forks above this process, as far as the C library made them.
static FORKS: AtomicU64 = AtomicU64::new(0);

#[cfg(unix)]
extern "C" fn after_fork_in_child() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

fn fork_count() -> u64 {
    #[cfg(unix)]
    {
        static WATCH: std::sync::Once = std::sync::Once::new();
        WATCH.call_once(|| {
            // SAFETY: the handler is async-signal-safe (one atomic addition) and lives as long as the process.
            // It can only fail for lack of memory; the process id still catches a fork then.
            unsafe { libc::pthread_atfork(None, None, Some(after_fork_in_child)) };
        });
    }
    FORKS.load(Ordering::Relaxed)
}

#[cfg(all(target_os = "linux", not(miri)))]
mod wiped_page {
    use std::ptr::null_mut;
    use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

    /// Null as long as nobody asked, `MISSING` if the system has no such page.
    static PAGE: AtomicPtr<AtomicU64> = AtomicPtr::new(null_mut());
    /// In memory that forks copy: no mark of this process or of one above it is larger.
    static LAST_MARK: AtomicU64 = AtomicU64::new(0);
    static MISSING: AtomicU64 = AtomicU64::new(0);

    /// The mark on the page; none if there is no page.
    #[inline]
    pub fn mark() -> Option<u64> {
        let page = PAGE.load(Ordering::Acquire);
        // SAFETY: null, or readable for ever: nothing unmaps a page that was stored.
        let mark = unsafe { page.as_ref() }.map_or(0, |page| page.load(Ordering::Relaxed));
        if mark != 0 { Some(mark) } else { first_mark() }
    }

    /// This process's first question, or there is no page.
    #[cold]
    #[inline(never)]
    fn first_mark() -> Option<u64> {
        let mut page = PAGE.load(Ordering::Acquire);
        if page.is_null() {
            let new = map();
            // No lock: a fork could catch it in the wrong state. Whoever comes second throws the page away.
            match PAGE.compare_exchange(null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => page = new,
                Err(other) => {
                    unmap(new);
                    page = other;
                }
            }
        }
        if std::ptr::eq(page, &raw const MISSING) {
            return None;
        }
        // SAFETY: a page that was stored.
        let page = unsafe { &*page };
        // The page is wiped in a fork and this counter is not, so the new mark is larger than all that streams may hold here.
        let new = LAST_MARK.fetch_add(1, Ordering::Relaxed) + 1;
        Some(page.compare_exchange(0, new, Ordering::Relaxed, Ordering::Relaxed).map_or_else(|other| other, |_| new))
    }

    /// The smallest page there is.
    const BYTES: usize = 4096;

    fn map() -> *mut AtomicU64 {
        let missing = (&raw const MISSING).cast_mut();
        // SAFETY: new memory, of nobody else's.
        unsafe {
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            let page = libc::mmap(null_mut(), BYTES, protection, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
            if page == libc::MAP_FAILED {
                return missing;
            }
            // Some emulators accept any advice and follow none: one that does not exist has to be refused.
            if libc::madvise(page, BYTES, -1) == 0 || libc::madvise(page, BYTES, libc::MADV_WIPEONFORK) != 0 {
                libc::munmap(page, BYTES);
                return missing;
            }
            page.cast()
        }
    }

    fn unmap(page: *mut AtomicU64) {
        if !std::ptr::eq(page, &raw const MISSING) {
            // SAFETY: from `map`, and nobody else has seen it.
            unsafe { libc::munmap(page.cast(), BYTES) };
        }
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
mod wiped_page {
    #[inline]
    pub fn mark() -> Option<u64> {
        None
    }
}

#[cfg(all(test, unix, not(miri)))]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    fn bare_clone() -> libc::pid_t {
        // SAFETY: as `fork`, without what the C library does for it; the child only computes, writes and exits.
        unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) as libc::pid_t }
    }

    /// What `inner` says in a child made by `fork`.
    fn in_child(fork: fn() -> libc::pid_t, inner: &dyn Fn() -> [u64; 2]) -> [u64; 2] {
        let mut ends = [0; 2];
        // SAFETY: the child makes system calls and runs `inner`, which only loads, stores and forks.
        unsafe {
            assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
            let child = fork();
            if child == 0 {
                let said = inner();
                libc::write(ends[1], said.as_ptr().cast(), 16);
                libc::_exit(0);
            }
            assert!(child > 0);
            let mut said = [0_u64; 2];
            assert_eq!(libc::read(ends[0], said.as_mut_ptr().cast(), 16), 16);
            libc::waitpid(child, std::ptr::null_mut(), 0);
            libc::close(ends[0]);
            libc::close(ends[1]);
            said
        }
    }

    fn fork() -> libc::pid_t {
        // SAFETY: see `in_child`.
        unsafe { libc::fork() }
    }

    /// Marks of a process, its child and its grandchild, all different; and lasting.
    fn check(mark: fn() -> u64, fork: fn() -> libc::pid_t) {
        let own = mark();
        let [child, grandchild] = in_child(fork, &|| {
            let first = mark();
            let below = in_child(fork, &|| [mark(), mark()]);
            if below[0] != below[1] || mark() != first { [0, 0] } else { [first, below[0]] }
        });
        assert!(own != child && own != grandchild && child != grandchild, "{own} {child} {grandchild}");
        assert!(child != 0, "a mark lasts");
        assert_eq!(mark(), own);
        let elsewhere = std::thread::spawn(mark).join().unwrap();
        assert_eq!(elsewhere, own, "one for all threads");
    }

    #[test]
    fn every_process_has_a_mark_of_its_own() {
        check(|| ProcessMark::now().0, fork);
        check(|| ProcessMark::by_id().0, fork);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_bare_clone_is_a_process_of_its_own() {
        check(|| ProcessMark::now().0, bare_clone);
        check(|| ProcessMark::by_id().0, bare_clone);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_system_has_the_page() {
        assert!(wiped_page::mark().is_some(), "the tests above would otherwise say nothing about it");
    }
}
