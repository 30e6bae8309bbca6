//! Experiments from flags and files: what is read, and what is said of mistakes.

mod spec_flag_errors;
mod spec_good;
mod spec_robust;
mod spec_support;
mod spec_yaml_errors;
