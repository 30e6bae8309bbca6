//! How long a connection is used.

use serde::{Deserialize, Serialize};

/// How long a connection is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reuse {
    /// As long as the service keeps it.
    #[default]
    Always,
    /// For this many requests, at least 2.
    Times(u64),
    /// For one request. It is opened when the request is due, and the response time contains its handshakes.
    Never,
}
