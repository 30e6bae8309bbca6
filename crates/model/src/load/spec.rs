//! A load with the connections that carry it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Load, Protocol, Reuse, Timestamps};

/// Longest wait for a response where nothing else is said.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// When requests are due, and over which connections they are sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadSpec {
    /// What cells and contrasts of an experiment call it; unique among its loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Arrival process and rate, or a closed loop.
    pub load: Load,
    /// Connections kept open by the client.
    pub connections: usize,
    /// How long each is used.
    #[serde(default)]
    pub reuse: Reuse,
    /// What is spoken on them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub protocol: Protocol,
    /// By which clock requests and responses are timed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timestamps: Timestamps,
    /// Longest wait for a response, for a handshake, and of a due request for a connection.
    #[serde(default = "default_timeout", skip_serializing_if = "is_default_timeout")]
    pub timeout: Duration,
}

impl LoadSpec {
    /// A load over so many connections of HTTP/1.1, each used as long as the service keeps it.
    pub fn new(load: Load, connections: usize) -> LoadSpec {
        LoadSpec {
            name: None,
            load,
            connections,
            reuse: Reuse::default(),
            protocol: Protocol::default(),
            timestamps: Timestamps::default(),
            timeout: DEFAULT_TIMEOUT,
        }
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn default_timeout() -> Duration {
    DEFAULT_TIMEOUT
}

fn is_default_timeout(timeout: &Duration) -> bool {
    *timeout == DEFAULT_TIMEOUT
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Arrivals, Rate};

    fn spec() -> LoadSpec {
        let rate: Rate = "2000/s".parse().unwrap();
        LoadSpec::new(Load::Open { rate, arrivals: Arrivals::Poisson }, 16)
    }

    #[test]
    fn a_load_stored_by_an_earlier_version_is_read_and_written_as_it_was() {
        let stored =
            r#"{"load":{"open":{"rate":"2000/s","arrivals":"poisson"}},"connections":16,"reuse":"always"}"#;
        assert_eq!(serde_json::from_str::<LoadSpec>(stored).unwrap(), spec());
        assert_eq!(serde_json::to_string(&spec()).unwrap(), stored);
    }

    #[test]
    fn everything_else_is_kept_too() {
        let all = LoadSpec {
            reuse: Reuse::Times(3),
            protocol: Protocol::Http2 { streams: std::num::NonZeroUsize::new(4).unwrap() },
            timestamps: Timestamps::Kernel,
            timeout: Duration::from_millis(1500),
            ..spec()
        };
        let stored = serde_json::to_string(&all).unwrap();
        assert_eq!(serde_json::from_str::<LoadSpec>(&stored).unwrap(), all, "{stored}");
    }
}
