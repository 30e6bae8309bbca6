//! The statistics against published values, and by simulation.

mod coverage;
mod normals;
mod properties;
mod references;
mod runs;
mod sequential;
mod warm_up;
