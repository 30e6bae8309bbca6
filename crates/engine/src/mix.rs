//! What to send: requests with weights, each written out once as the bytes that go on the wire.

use std::sync::Arc;

use crate::endpoint::Endpoint;

/// One request. `Host` and `Content-Length` are set by the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// `GET`, `POST`, …
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Further headers.
    pub headers: Vec<(String, String)>,
    /// Body; empty sends none.
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

/// Why requests can't be sent as they are.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum MixError {
    /// There is nothing to send.
    #[error("there is no request to send: give at least one")]
    Empty,
    /// A weight of zero never gets its turn.
    #[error("request {0} has the weight 0: give it a weight of at least 1 or leave it out")]
    ZeroWeight(String),
    /// A second one of these would contradict the engine's own.
    #[error("request {request} sets the header {name}: leave it out, it is set from the URL and the body")]
    OwnHeader {
        /// Which request.
        request: String,
        /// Which header.
        name: String,
    },
    /// A control character would end the line and smuggle another one in.
    #[error("{what} of request {request} holds a character that may not stand in an HTTP/1.1 head")]
    ForbiddenCharacter {
        /// Which request.
        request: String,
        /// Which part of it.
        what: &'static str,
    },
}

/// Encoded requests and how often each is due. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Mix {
    requests: Arc<[Encoded]>,
    total_weight: u64,
}

#[derive(Debug)]
struct Encoded {
    bytes: Vec<u8>,
    is_head: bool,
    /// Sum of the weights up to and with this request.
    cumulative_weight: u64,
}

impl Mix {
    /// Encodes the requests for one endpoint.
    pub fn new(requests: &[Request], endpoint: &Endpoint) -> Result<Mix, MixError> {
        let mut total_weight = 0;
        let mut encoded = Vec::with_capacity(requests.len());
        for request in requests {
            check(request)?;
            total_weight += u64::from(request.weight);
            encoded.push(Encoded {
                bytes: encode(request, &endpoint.authority),
                is_head: request.method == "HEAD",
                cumulative_weight: total_weight,
            });
        }
        if encoded.is_empty() {
            return Err(MixError::Empty);
        }
        Ok(Mix { requests: encoded.into(), total_weight })
    }

    /// How many different requests there are.
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Never: a mix holds at least one request.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// The request whose turn it is when a uniform random number in [0, 2^64) comes out as `random`.
    pub(crate) fn choose(&self, random: u64) -> usize {
        let point = ((u128::from(random) * u128::from(self.total_weight)) >> 64) as u64;
        self.requests.partition_point(|request| request.cumulative_weight <= point)
    }

    pub(crate) fn bytes(&self, index: usize) -> &[u8] {
        &self.requests[index].bytes
    }

    pub(crate) fn is_head(&self, index: usize) -> bool {
        self.requests[index].is_head
    }
}

fn check(request: &Request) -> Result<(), MixError> {
    let name = format!("{} {}", request.method, request.path);
    let forbidden = |what| Err(MixError::ForbiddenCharacter { request: name.clone(), what });
    if request.weight == 0 {
        return Err(MixError::ZeroWeight(name));
    }
    if request.method.is_empty() || !request.method.bytes().all(is_token) {
        return forbidden("the method");
    }
    if !request.path.starts_with('/') || request.path.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
        return forbidden("the path");
    }
    for (key, value) in &request.headers {
        if ["host", "content-length", "transfer-encoding"].iter().any(|own| key.eq_ignore_ascii_case(own)) {
            return Err(MixError::OwnHeader { request: name, name: key.clone() });
        }
        if key.is_empty() || !key.bytes().all(is_token) {
            return forbidden("a header name");
        }
        if value.bytes().any(|byte| (byte < b' ' && byte != b'\t') || byte == 0x7f) {
            return forbidden("a header value");
        }
    }
    Ok(())
}

/// A token character of RFC 9110, section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn encode(request: &Request, authority: &str) -> Vec<u8> {
    let mut head = format!("{} {} HTTP/1.1\r\nHost: {authority}\r\n", request.method, request.path);
    for (key, value) in &request.headers {
        head.push_str(&format!("{key}: {value}\r\n"));
    }
    if !request.body.is_empty() || matches!(request.method.as_str(), "POST" | "PUT" | "PATCH") {
        head.push_str(&format!("Content-Length: {}\r\n", request.body.len()));
    }
    head.push_str("\r\n");
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(&request.body);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint() -> Endpoint {
        Endpoint { address: ([127, 0, 0, 1], 80).into(), authority: "shop.test".to_owned() }
    }

    #[test]
    fn a_post_carries_its_length_and_headers() {
        let request = Request {
            method: "POST".to_owned(),
            headers: vec![("Accept".to_owned(), "text/plain".to_owned())],
            body: b"{}".to_vec(),
            ..Request::get("/a?b=c")
        };
        let mix = Mix::new(&[request], &endpoint()).unwrap();
        let text = std::str::from_utf8(mix.bytes(0)).unwrap();
        assert_eq!(
            text,
            "POST /a?b=c HTTP/1.1\r\nHost: shop.test\r\nAccept: text/plain\r\nContent-Length: 2\r\n\r\n{}"
        );
    }

    #[test]
    fn weights_share_out_the_random_range() {
        let requests = [1, 3].map(|weight| Request { weight, ..Request::get("/") });
        let mix = Mix::new(&requests, &endpoint()).unwrap();
        assert_eq!(mix.choose(0), 0);
        assert_eq!(mix.choose(u64::MAX / 4), 0);
        assert_eq!(mix.choose(u64::MAX / 4 + 1), 1);
        assert_eq!(mix.choose(u64::MAX), 1);
    }

    #[test]
    fn nothing_can_be_smuggled_into_the_head() {
        for request in [
            Request::get("/a b"),
            Request::get("/a\r\nX: y"),
            Request::get("no-slash"),
            Request { method: "GE T".to_owned(), ..Request::get("/") },
            Request { headers: vec![("A\n".to_owned(), "b".to_owned())], ..Request::get("/") },
            Request { headers: vec![("A".to_owned(), "b\r\nC: d".to_owned())], ..Request::get("/") },
            Request { headers: vec![("host".to_owned(), "other".to_owned())], ..Request::get("/") },
            Request { weight: 0, ..Request::get("/") },
        ] {
            assert!(Mix::new(std::slice::from_ref(&request), &endpoint()).is_err(), "{request:?}");
        }
    }
}
