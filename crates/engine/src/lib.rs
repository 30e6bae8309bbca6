//! The load engine: HTTP requests at exact times, from worker threads that each run one epoll loop.
//!
//! A mode is a combination of parts: a [`Schedule`] says when, a [`Mix`] says what, a connection speaks the protocol and a
//! [`Record`] keeps the times. The engine knows nothing of platforms, and allocates nothing per request once it is warm.

mod clock;
mod connection;
mod description;
mod dial;
mod driver;
mod endpoint;
mod expect;
pub mod http1;
pub mod http2;
mod mix;
mod options;
mod overflow;
mod pause_watch;
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
mod try_out;
mod worker;

pub use description::DescriptionError;
pub use driver::{Engine, EngineError, real_time_permitted};
pub use endpoint::{Endpoint, Target};
pub use expect::{Check, Expectation, Failed};
pub use loadline_model::load::{
    Arrivals, ClientIdentity, FileContents, Intensity, Load, LoadDescription, LoadSpec, Profile,
    ProfileError, Protocol, Rate, RateError, RateUnit, Replay, ReplayError, Request, ResponseCheck,
    ResponseCheckError, Reuse, Think, ThinkDistribution, TimeError, Timestamps, TlsOptions, Traffic,
    parse_replay,
};
pub use loadline_model::{ErrorKind, Errors, Record, new_histogram};
pub use mix::{Feed, FeedError, Mix, MixError, MixOptions, Wire};
pub use options::Options;
pub use replay::read_replay;
pub use schedule::{Due, Schedule};
pub use slice::{SliceSpec, WATCHED_AFTER_END};
pub use transport::{Tls, TlsError, read_tls_files};
