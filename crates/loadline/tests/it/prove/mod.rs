//! What takes long to be sure of (`make prove`).

mod capacity;
mod fail_if;
mod misbehaving;
mod pauses;
mod planted_cost;
mod positive_control;
mod same_service;
mod stalling;

fn median(of: &[f64]) -> f64 {
    let mut sorted = of.to_vec();
    sorted.sort_by(f64::total_cmp);
    f64::midpoint(sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2])
}
