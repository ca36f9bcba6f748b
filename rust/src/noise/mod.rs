pub mod gaussian;
pub mod geometric;
pub mod offsets;
pub mod randomized_response;
