pub mod block_index;
mod concurrency;
pub mod helper_threads;
pub mod kernels;
mod offers;
pub mod pile;
pub mod score_view;
pub mod weight_bounds;
