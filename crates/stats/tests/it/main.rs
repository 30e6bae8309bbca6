//! The statistics against published values, and by simulation.

mod change_points;
mod cochran;
mod coverage;
mod normals;
mod power;
#[path = "../../../../tests/proof.rs"]
mod proof;
mod properties;
mod prove;
mod references;
mod resolution;
mod runs;
mod sequential;
mod warm_up;
