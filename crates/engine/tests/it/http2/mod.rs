//! The HTTP/2 protocol against RFC 9113, with a peer that says exactly what each test has it say.

mod connection;
mod cuts;
mod flow;
mod hostile;
mod peer;
mod responses;
