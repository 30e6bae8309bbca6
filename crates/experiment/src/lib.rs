//! Running an experiment: the order of its turns ([`plan`]), the CPUs ([`placement`]), the loop itself ([`run`]) and the judging of slices
//! ([`gates`]).

pub mod gates;
pub mod placement;
pub mod plan;
pub mod run;

pub use loadline_spec as spec;
pub use loadline_store as store;
