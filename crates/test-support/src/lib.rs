//! What tests of several crates share. Everything here panics with what went wrong, as tests do.
//!
//! Each test is a process of its own, so nothing is shared through statics: what is up once for all is passed in environment variables,
//! `LOADLINE_TEST_CLUSTER` and `LOADLINE_TEST_HELPER`, and the test itself brings it up or builds it where they are not set.

#![allow(missing_docs, reason = "the names of fixtures say it all")]

mod cpu_taker;
pub mod engine;
mod helper;
pub mod image_registry;
mod node;
pub mod two_nodes;

pub use cpu_taker::CpuTaker;
pub use helper::helper;
pub use node::*;
