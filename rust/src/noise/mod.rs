pub mod gaussian;
pub mod geometric;
pub mod randomized_response;
