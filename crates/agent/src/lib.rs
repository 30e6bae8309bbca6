//! The load engine and the observers where this machine can't be: `loadline agent` runs them inside a cluster, and this side talks to it
//! over any byte stream that the API server forwards.
//!
//! One stream is one conversation, about one engine ([`RemoteEngine`]) or one container ([`RemoteObserver`]). It is the same engine with the
//! same histograms: a [`Driver`] is either. [`serve`] is the agent; [`protocol`] says what goes over the wire.

mod conversation;
mod driver;
mod error;
mod frame;
mod patient;
pub mod protocol;
mod record;
mod remote_engine;
mod remote_observer;
mod server;
mod stream;
mod times;

pub use driver::{DriveError, Driver};
pub use error::AgentError;
pub use frame::{FrameError, LONGEST_BYTES};
pub use protocol::EngineSetup;
pub use remote_engine::RemoteEngine;
pub use remote_observer::RemoteObserver;
pub use server::{
    Containers, MOST_CONVERSATIONS, Observed, ServeError, ThisMachine, serve, serve_containers,
};
pub use stream::Stream;
