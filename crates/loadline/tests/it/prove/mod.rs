//! What takes long to be sure of (`make prove`).

mod fail_if;
mod pauses;
mod planted_cost;
mod positive_control;
mod same_service;
mod stalling;
