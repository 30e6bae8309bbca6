//! One request of a mix, as it is sent.

use serde::{Deserialize, Serialize};

/// One request. `Content-Length` is set by the engine, and `Host` unless a header of the request does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// `GET`, `POST`, …
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Further headers.
    pub headers: Vec<(String, String)>,
    /// Body; empty sends none.
    #[serde(with = "super::base64_bytes")]
    pub body: Vec<u8>,
    /// Share of the mix relative to the others' weights; at least 1.
    pub weight: u32,
}

impl Request {
    /// `GET path` without headers of its own.
    pub fn get(path: &str) -> Request {
        Request {
            method: "GET".to_owned(),
            path: path.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
            weight: 1,
        }
    }
}
