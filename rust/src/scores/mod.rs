pub mod block_index;
pub mod kernels;
pub mod keys;
mod pass;
pub mod scale;
pub mod score;
pub mod score_view;
pub mod threads;
pub mod weight_bounds;
