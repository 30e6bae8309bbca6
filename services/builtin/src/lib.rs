//! The built-in reference services: what loadline measures when the user gives no service of their own.
//! They are ordinary HTTP services on purpose, so that a platform adds the same cost to them as to others.
//! The contract of each of them, on one port:
//!
//! - HTTP/1.1 with keep-alive and HTTP/2 cleartext with prior knowledge;
//! - `GET /healthz` answers 200 with the body `ok`;
//! - an unknown path answers 404, a known path with another method 405 with `Allow`, and invalid input 400, each with a sentence as `text/plain`;
//! - nothing that a client sends changes the answer to a later request in a way that a client can see, so that every slice of a run measures the same service.

mod app;
mod cpu;
mod delay;
mod duration;
mod hello;
mod orders;
mod precise_sleep;
mod reply;
mod server;
mod stall;
mod sys;

pub use cpu::MAX_N;
pub use delay::{Delay, DelayError, MAX_DELAY};
pub use duration::DurationError;
pub use hello::Hello;
pub use orders::Orders;
pub use server::{run, serve};
pub use stall::{MAX_EVERY, Stall, StallError};

/// Which service to run, with its settings.
#[derive(Debug, Clone, PartialEq)]
pub enum Builtin {
    /// `GET` and `POST /api/orders`: JSON serialised on every request, with an optional delay.
    Orders(Orders),
    /// `GET /hello/{key}`: a look-up in a concurrent cache.
    Hello(Hello),
    /// `GET /cpu?n=N`: the N-th Fibonacci number, computed the slow way.
    Cpu,
}

/// Settings that every service takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// When to stop answering, if at all: it shows what coordinated omission hides.
    pub stall: Option<Stall>,
}
