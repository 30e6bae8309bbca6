//! Pods of a real cluster: reached, observed and removed however they are exposed, their ends noticed and told, and nothing touched that
//! isn't ours. Brings up the cluster of `tests/cluster` where none is.

mod cluster;
mod deploying;
mod paths;
mod plugs;
mod refusals;
