//! What sets a load's connections apart from the usual ones, as results show it.

use std::fmt;
use std::num::NonZeroUsize;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DEFAULT_TIMEOUT, LoadSpec, Reuse, Timestamps};

/// What sets a load's connections apart from the usual ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionOptions {
    /// Requests after which a connection is closed; absent when it is kept, or new for each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests_per_connection: Option<u64>,
    /// Requests at once on a connection of HTTP/2; absent with HTTP/1.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http2_streams: Option<usize>,
    /// Whether the kernel's timestamps were taken; absent where the client's own were.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kernel_timestamps: bool,
    /// Longest wait for a response, seconds; absent where it is the usual ten.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<f64>,
}

impl From<&LoadSpec> for ConnectionOptions {
    fn from(load: &LoadSpec) -> ConnectionOptions {
        ConnectionOptions {
            requests_per_connection: match load.reuse {
                Reuse::Times(times) => Some(times),
                Reuse::Always | Reuse::Never => None,
            },
            http2_streams: load.protocol.streams().map(NonZeroUsize::get),
            kernel_timestamps: load.timestamps == Timestamps::Kernel,
            timeout_s: (load.timeout != DEFAULT_TIMEOUT).then_some(load.timeout.as_secs_f64()),
        }
    }
}

impl ConnectionOptions {
    /// A load with its connections: `2000/s Poisson, HTTP/2, 16 connections`.
    pub fn of_load(&self, load: &str, new_connections: bool, connections: usize) -> String {
        let plural = if connections == 1 { "" } else { "s" };
        let kept = if new_connections { "a new connection per request" } else { "" };
        let connections = format!("{connections} connection{plural}");
        let parts = [load, &self.to_string(), kept, &connections];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }
}

/// What there is, separated by commas: `HTTP/2 with 4 streams, kernel timestamps`.
impl fmt::Display for ConnectionOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let http2 = self.http2_streams.map(|streams| match streams {
            1 => "HTTP/2".to_owned(),
            streams => format!("HTTP/2 with {streams} streams"),
        });
        let timestamps = self.kernel_timestamps.then(|| "kernel timestamps".to_owned());
        let timeout = self.timeout_s.map(|seconds| format!("time-out {seconds}s"));
        let reuse =
            self.requests_per_connection.map(|requests| format!("{requests} requests per connection"));
        let parts: Vec<String> = [http2, timestamps, timeout, reuse].into_iter().flatten().collect();
        f.write_str(&parts.join(", "))
    }
}
