//! How a start went.

use std::time::Duration;

/// How a start went, as far as its platform can tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Startup {
    /// What happened when, in order. That it answered is added by whoever asked it.
    pub phases: Vec<Phase>,
    /// Size of the image in the store of the platform, in bytes.
    pub image_bytes: Option<u64>,
}

/// One step of a start.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// What was reached: `created`, `started`, `scheduled`, …
    pub name: &'static str,
    /// Since the start was asked for.
    pub after: Duration,
}
