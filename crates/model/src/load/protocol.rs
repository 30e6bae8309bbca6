//! Which protocol is spoken, and which clock times it.

use std::num::NonZeroUsize;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of HTTP that the client speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// HTTP/1.1: one request at a time on a connection.
    #[default]
    Http1,
    /// HTTP/2, over TLS as in clear text.
    Http2 {
        /// Requests at once on a connection.
        streams: NonZeroUsize,
    },
}

impl Protocol {
    /// Requests at once on a connection of HTTP/2; `None`: HTTP/1.1.
    pub fn streams(self) -> Option<NonZeroUsize> {
        match self {
            Protocol::Http1 => None,
            Protocol::Http2 { streams } => Some(streams),
        }
    }
}

/// By which clock readings a request is said to have gone and its response to have come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Timestamps {
    /// When the engine had read it: what an application sees, its own wake-up included.
    #[default]
    User,
    /// From when the kernel handed the request to the device to when it received the response's last packet (SO_TIMESTAMPING):
    /// without the engine's own wake-up and system calls.
    Kernel,
}
