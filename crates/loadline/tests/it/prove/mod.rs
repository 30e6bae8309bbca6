//! What takes long to be sure of (`make prove`).

mod outcome_bias;
mod planted_cost;
mod positive_control;
