//! Experiments from flags and files, good and bad.

mod cells;
mod flag_errors;
mod good;
mod matrix;
mod references;
mod robust;
mod support;
mod written;
mod yaml_errors;
