//! The run loop on a fake platform, journal and clock: no process is started and no time passes.
//! Agents of fake nodes, in threads of this process, are the one thing that is real.

mod capacity;
mod cells;
mod deaths;
mod disturbances;
mod fake;
mod gates;
mod interrupts;
mod journals;
mod order;
mod outcome_bias;
mod plans;
mod probes;
#[path = "../../../../tests/proof.rs"]
mod proof;
mod prove;
mod quiet;
mod remote_nodes;
mod side_by_side;
mod whole_runs;
