//! The load engine: HTTP requests at exact times, from worker threads that each run one epoll loop.
//!
//! A mode is a combination of parts: a [`Schedule`] says when, a [`Mix`] says what, a connection speaks the protocol and a
//! [`Record`] keeps the times. The engine knows nothing of platforms, and allocates nothing per request once it is warm.

mod clock;
mod connection;
mod driver;
mod endpoint;
mod errors;
mod expect;
pub mod http1;
pub mod http2;
mod load;
mod mix;
mod overflow;
mod poller;
mod pool;
mod profile;
mod rate;
mod record;
mod replay;
mod resolver;
mod schedule;
mod slice;
mod sys;
mod tally;
mod thinking;
mod time_text;
mod transport;
mod worker;

pub use driver::{Engine, EngineError, Options};
pub use endpoint::{Endpoint, Target};
pub use errors::{ErrorKind, Errors};
pub use expect::{Check, Expectation, ExpectationError, Failed};
pub use load::{Arrivals, Load, Think, ThinkDistribution};
pub use mix::{Feed, FeedError, Mix, MixError, MixOptions, Request, Wire};
pub use pool::Reuse;
pub use profile::{Intensity, Profile, ProfileError};
pub use rate::{Rate, RateError, RateUnit};
pub use record::{Record, new_histogram};
pub use replay::{Replay, ReplayError};
pub use schedule::{Due, Schedule};
pub use slice::SliceSpec;
pub use time_text::TimeError;
pub use transport::{Timestamps, Tls, TlsError, TlsOptions};
