pub mod base_measure;
pub mod cumulative_counts;
pub mod density_mechanism;
pub mod distance_bands;
pub mod piecewise_quadratic;
pub mod score_shapes;
