//! Requests that were sent once, to be looked at.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a service said to each of its requests, sent once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tried {
    /// The service.
    pub service: String,
    /// Where it ran.
    pub platform: String,
    /// Each request of its mix, in their order.
    pub requests: Vec<TriedRequest>,
}

/// One request and all that came back. What is no UTF-8 is U+FFFD in these texts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TriedRequest {
    /// What was sent, head and body. Of HTTP/2, which sends no text, its fields: a line each.
    pub sent: String,
    /// What came back, likewise; its beginning if it is long.
    pub received: String,
    /// How many bytes of the response are left out of `received`.
    pub left_out_bytes: u64,
    /// From the first byte sent to the last received, once the connection was open, ns.
    pub took_ns: u64,
    /// Status code; absent if the response did not come to its end.
    pub status: Option<u16>,
    /// Why this would count as an error under load; absent if it would not.
    pub problem: Option<String>,
}
