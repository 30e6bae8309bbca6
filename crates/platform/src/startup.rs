//! The phases of a start.

use std::time::Duration;

/// The phases of a start, as far as its platform knows them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Startup {
    /// The phases in order. The caller adds when the service answered.
    pub phases: Vec<Phase>,
    /// Size of the image in the store of the platform, in bytes.
    pub image_bytes: Option<u64>,
}

/// One step of a start.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// The phase that was reached: `created`, `started`, `scheduled`, …
    pub name: &'static str,
    /// The time since the start was requested.
    pub after: Duration,
}
