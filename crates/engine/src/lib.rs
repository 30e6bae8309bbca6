//! The load engine: HTTP requests at exact times, from worker threads that each run one epoll loop.
//!
//! A mode is a combination of parts: a [`Schedule`] says when, a [`Mix`] says what, a connection speaks the protocol and a
//! [`Record`] keeps the times. The engine knows nothing of platforms, and allocates nothing per request once it is warm.

mod clock;
mod connection;
mod driver;
mod endpoint;
mod errors;
pub mod http1;
mod load;
mod mix;
mod poller;
mod rate;
mod record;
mod schedule;
mod slice;
mod worker;

pub use driver::{Engine, EngineError, Options};
pub use endpoint::Endpoint;
pub use errors::{ErrorKind, Errors};
pub use load::{Arrivals, Load};
pub use mix::{Mix, MixError, Request};
pub use rate::{Rate, RateError, RateUnit};
pub use record::{Record, new_histogram};
pub use schedule::{Due, Schedule};
pub use slice::SliceSpec;
