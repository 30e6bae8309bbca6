//! What the observers read, against the real kernel.

mod real;
