//! What the tests of the engine have in common: options and slices in one line, and tests that must not run side by side.

pub mod undisturbed;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use loadline_engine::{Arrivals, Endpoint, Engine, Load, Mix, Options, Record, Request, SliceSpec};

/// `GET /` of an endpoint.
pub fn options(endpoint: impl Into<Endpoint>, connections: usize) -> Options {
    options_for(endpoint, connections, &[Request::get("/")])
}

/// Options for these requests.
pub fn options_for(endpoint: impl Into<Endpoint>, connections: usize, requests: &[Request]) -> Options {
    let endpoint = endpoint.into();
    let mix = Mix::new(requests, &endpoint).unwrap();
    Options { connections, ..Options::new(endpoint, mix) }
}

/// Equally spaced requests from the start on.
pub fn slice(rate: &str, seconds: f64) -> SliceSpec {
    SliceSpec {
        load: Load::Open { rate: rate.parse().unwrap(), arrivals: Arrivals::Uniform },
        duration: Duration::from_secs_f64(seconds),
        seed: 7,
        offset: Duration::ZERO,
    }
}

/// One slice of a new engine.
pub fn drive(options: &Options, rate: &str, seconds: f64) -> Record {
    Engine::start(options).unwrap().drive(slice(rate, seconds)).unwrap()
}

/// A quantile of the response time.
pub fn response_quantile(record: &Record, quantile: f64) -> Duration {
    Duration::from_nanos(record.response.value_at_quantile(quantile))
}

/// Held by tests that measure times, so that they don't disturb each other. One that failed has nothing to say to the next.
pub fn alone() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}
