//! Experiments: what is to be measured ([`spec`]), in which order ([`plan`]), doing it ([`run`]) and keeping it ([`store`]).

pub mod gates;
pub mod placement;
pub mod plan;
pub mod run;
pub mod spec;
pub mod store;
