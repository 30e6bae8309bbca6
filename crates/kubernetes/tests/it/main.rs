//! Pods of a real cluster: reached, observed and removed however they are exposed, their ends noticed and reported, and nothing touched
//! that is not loadline's. Brings up the cluster of `tests/cluster` where none is.

mod cluster;
mod deploying;
mod paths;
mod plugs;
mod refusals;
