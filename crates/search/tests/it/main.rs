//! Searches on made-up services, in simulated time.

mod coverage;
mod findings;
#[path = "../../../../tests/proof.rs"]
mod proof;
mod prove;
mod services;
