//! What an engine needs to know before its first slice.

use std::io;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use loadline_model::load::{DEFAULT_TIMEOUT, Reuse, Timestamps};

use crate::endpoint::Endpoint;
use crate::expect::Expectation;
use crate::mix::Mix;

/// What an engine needs to know before its first slice.
#[derive(Clone)]
pub struct Options {
    /// Where to connect.
    pub endpoint: Endpoint,
    /// What to send.
    pub mix: Mix,
    /// Connections in all, at least one per thread.
    pub connections: usize,
    /// Worker threads.
    pub threads: usize,
    /// CPUs that the workers are pinned to, in turn; empty leaves them to the scheduler.
    pub cpus: Vec<usize>,
    /// Whether the workers run before all other programs on their CPUs. Without the right to it ([`crate::real_time_permitted`]), they keep
    /// their normal priority.
    pub real_time: bool,
    /// Requests at once on a connection of HTTP/2; without it, HTTP/1.1 is spoken.
    pub streams: Option<NonZeroUsize>,
    /// How long a connection is used.
    pub reuse: Reuse,
    /// Longest wait for a response, for a handshake, and of a due request for a connection.
    pub timeout: Duration,
    /// By which clock requests and responses are timed.
    pub timestamps: Timestamps,
    /// Whether a worker of an open loop stays awake while a response is under way. It needs a CPU of its own for that: shared with the
    /// service or with other workers, it would delay them.
    pub stay_awake: bool,
    /// What is expected of a response.
    pub expectation: Arc<Expectation>,
    /// Records are given to [`Engine::finish_with`](crate::Engine::finish_with) as often as this, while the slice goes on.
    pub interval: Option<Duration>,
    /// Set to end the slice under way.
    pub stop: Arc<AtomicBool>,
    /// Runs first on every worker thread: to enter a network namespace, say.
    pub on_thread_start: Arc<dyn Fn() -> io::Result<()> + Send + Sync>,
}

impl Options {
    /// One connection and thread, HTTP/1.1, a time-out of ten seconds.
    pub fn new(endpoint: Endpoint, mix: Mix) -> Options {
        Options {
            endpoint,
            mix,
            connections: 1,
            threads: 1,
            cpus: Vec::new(),
            real_time: false,
            streams: None,
            reuse: Reuse::default(),
            timeout: DEFAULT_TIMEOUT,
            timestamps: Timestamps::default(),
            stay_awake: false,
            expectation: Arc::default(),
            interval: None,
            stop: Arc::default(),
            on_thread_start: Arc::new(|| Ok(())),
        }
    }
}
