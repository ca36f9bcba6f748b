pub mod block_index;
pub mod helper_threads;
pub mod kernels;
pub mod pile;
pub mod score_view;
pub mod weight_bounds;
