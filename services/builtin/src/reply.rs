//! The responses of the services.
//! Bodies are whole and their length known, so a keep-alive connection never needs chunks.

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};

/// A response of any service.
pub(crate) type Reply = Response<Full<Bytes>>;

fn reply(status: StatusCode, content_type: &'static str, body: Bytes) -> Reply {
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// A text with the given status.
pub(crate) fn text(status: StatusCode, body: impl Into<Bytes>) -> Reply {
    reply(status, "text/plain; charset=utf-8", body.into())
}

/// A JSON document with the given status.
pub(crate) fn json(status: StatusCode, body: Vec<u8>) -> Reply {
    reply(status, "application/json", body.into())
}

/// 200 with a text.
pub(crate) fn ok(body: impl Into<Bytes>) -> Reply {
    text(StatusCode::OK, body)
}

/// 400 with the reason as a sentence.
pub(crate) fn bad_request(reason: impl Into<Bytes>) -> Reply {
    text(StatusCode::BAD_REQUEST, reason)
}

/// 404, naming the paths that exist.
pub(crate) fn not_found(known: &'static str) -> Reply {
    text(StatusCode::NOT_FOUND, format!("Not found; try {known}.\n"))
}

/// 405 with the methods that the path accepts.
pub(crate) fn method_not_allowed(allowed: &'static str) -> Reply {
    let mut response = text(StatusCode::METHOD_NOT_ALLOWED, format!("This path accepts {allowed}.\n"));
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}
