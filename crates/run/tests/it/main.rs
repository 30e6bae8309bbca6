//! The run loop on a fake platform, journal and clock: no process is started and no time passes.

mod deaths;
mod disturbances;
mod fake;
mod gates;
mod interrupts;
mod journals;
mod order;
mod plans;
mod side_by_side;
mod whole_runs;
