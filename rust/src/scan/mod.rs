pub mod block_index;
pub mod helper_threads;
pub(crate) mod kernels;
pub mod pile;
pub mod score_view;
