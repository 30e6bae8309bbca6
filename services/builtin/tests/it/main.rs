//! The built-in services over HTTP.

mod http;
mod shutdown;
