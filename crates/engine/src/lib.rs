//! The load engine: HTTP requests at exact times, from worker threads that each run one epoll loop.
//!
//! A mode is a combination of parts: a [`Schedule`] says when, a [`Mix`] says what, a connection speaks the protocol and a
//! [`Record`] keeps the times. The engine knows nothing of platforms, and allocates nothing per request once it is warm.

mod clock;
mod connection;
mod dial;
mod driver;
mod endpoint;
mod expect;
pub mod http1;
pub mod http2;
mod mix;
mod options;
mod overflow;
mod poller;
mod pool;
mod replay;
mod resolver;
mod schedule;
mod slice;
mod sys;
mod tally;
mod thinking;
mod transport;
mod worker;

pub use driver::{Engine, EngineError, real_time_permitted};
pub use endpoint::{Endpoint, Target};
pub use expect::{Check, Expectation, ExpectationError, Failed};
pub use loadline_model::load::{
    Arrivals, Intensity, Load, Profile, ProfileError, Rate, RateError, RateUnit, Replay, Reuse, Think,
    ThinkDistribution, TimeError,
};
pub use loadline_model::{ErrorKind, Errors, Record, new_histogram};
pub use mix::{Feed, FeedError, Mix, MixError, MixOptions, Request, Wire};
pub use options::Options;
pub use replay::{ReplayError, parse_replay, read_replay};
pub use schedule::{Due, Schedule};
pub use slice::SliceSpec;
pub use transport::{Timestamps, Tls, TlsError, TlsOptions};
