pub mod piecewise_quadratic;
pub mod score_shapes;
