//! This machine, with a known disturbance on it.

mod planted;
