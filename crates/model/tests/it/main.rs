//! The data: what follows from an experiment, and what the crates that are called pure depend on.

mod dependencies;
mod plans;
