//! The engine against servers of every kind: real ones, small ones of the tests, and ones that misbehave.

mod corpora;
mod drive;
mod http1;
mod http2;
mod http2_nginx;
mod many_connections;
mod misbehaving;
mod misbehaviour;
mod misbehaviour_http2;
mod pauses;
mod real_http2;
mod real_network;
mod real_servers;
mod real_tls;
mod server;
mod servers;
mod stall;
mod stalling;
mod steady_state;
mod support;
mod takeover;
