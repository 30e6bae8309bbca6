//! An agent in threads of this process, and who talks to it.

mod conversation;
mod engine;
mod load_features;
mod observer;
#[path = "../../../engine/tests/it/servers/mod.rs"]
#[allow(dead_code, reason = "the tests of the engine use the rest")]
mod servers;
mod support;
