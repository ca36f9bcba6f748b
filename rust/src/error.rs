//! What can go wrong in a draw. No variant carries a score, so no message can.

use std::fmt;

/// Why nothing was drawn. `Memory`, `Changed` and `Interrupted` may come out of anything that fails, and are not named there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectError {
    /// There is no score at all (a public fact: the number of candidates is public).
    NoCandidates,
    /// A score is NaN or infinite.
    NotFinite,
    /// `k` is zero or larger than the number of candidates.
    InvalidCount,
    /// A scale was asked for from numbers that are not finite and positive.
    InvalidScale,
    /// The operating system's source of randomness failed.
    Entropy,
    /// The law has no times by which winners of parts could be compared.
    NotMergeable,
    /// There is no memory for the index or for the answers.
    Memory,
    /// Somebody overwrote the scores while they were drawn from.
    Changed,
    /// The caller was asked to stop.
    Interrupted,
}

impl fmt::Display for SelectError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NoCandidates => "no scores",
            Self::NotFinite => "NaN or infinite scores",
            Self::InvalidCount => "a count outside 1..=number of candidates",
            Self::InvalidScale => "epsilon or sensitivity not finite and positive",
            Self::Entropy => "the operating system's source of randomness failed",
            Self::NotMergeable => "a law whose draws cannot be merged",
            Self::Memory => "not enough memory for the index or the answers",
            Self::Changed => "the scores were changed while they were drawn from",
            Self::Interrupted => "interrupted",
        })
    }
}

impl std::error::Error for SelectError {}

/// An empty vector with room for `capacity` values, or `Memory`.
pub(crate) fn reserved<T>(capacity: usize) -> Result<Vec<T>, SelectError> {
    let mut vector = Vec::new();
    vector.try_reserve_exact(capacity).map_err(|_| SelectError::Memory)?;
    Ok(vector)
}
