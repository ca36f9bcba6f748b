//! Locks, atomics and threads: the standard library's or, in tests with `--cfg loom`, those of a model that runs a test in
//! every order that threads may go and memory may be seen in.

#[cfg(not(all(test, loom)))]
pub use std::{
    hint::spin_loop,
    sync::{Condvar, Mutex, MutexGuard, atomic},
    thread::{Thread, current, park},
};

#[cfg(all(test, loom))]
pub use loom::{
    hint::spin_loop,
    sync::{Condvar, Mutex, MutexGuard, atomic},
    thread::{Thread, current, park},
};
