pub mod above_threshold;
#[cfg(test)]
mod arrival_time_tests;
pub mod different_sensitivities;
pub mod exponential_mechanism;
pub mod few;
pub mod lazy_flips;
pub mod lead;
pub mod many_draws;
pub mod noisy_max;
pub mod once;
pub mod permute_and_flip;
pub mod removed;
pub mod rows;
pub mod steepest;
pub mod top_k;
pub mod tries;
pub mod weight_line;
pub mod weighted_candidates;
