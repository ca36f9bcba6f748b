pub mod arrival_stages;
#[cfg(test)]
mod arrival_time_tests;
pub mod exponential_mechanism;
pub mod many_draws;
pub mod near_items;
pub mod noisy_max;
pub mod partial;
pub mod partial_bytes;
pub mod permute_and_flip;
pub mod randomized_response;
pub mod refined_line;
pub mod removed;
pub mod rows;
pub mod thinning;
pub mod top_k;
pub mod tries;
pub mod uniform_visits;
pub mod weight_line;
