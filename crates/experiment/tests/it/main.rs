//! Experiments from flags and files, their plan, gates and store.

mod gates;
mod plan;
mod spec_flag_errors;
mod spec_good;
mod spec_robust;
mod spec_support;
mod spec_yaml_errors;
mod store;
