//! When a service, or what it needs, counts as ready: `ready: {http: /healthz, within: 60s}`.

use std::time::Duration;

use crate::http;
use crate::kinds::{duration, parsed};
use crate::options::Table;

/// What is written of readiness.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ReadyKeys {
    pub http: Option<String>,
    pub within: Duration,
}

impl Default for ReadyKeys {
    fn default() -> ReadyKeys {
        ReadyKeys { http: None, within: Duration::from_secs(30) }
    }
}

/// Without flags: a service has it, and so has what it needs.
pub(super) fn table() -> Table<ReadyKeys> {
    let (min, max) = (Duration::from_millis(100), Duration::from_secs(60 * 60));
    Table::<ReadyKeys>::new("Ready", "ready", "When it counts as ready")
        .key(
            "http",
            parsed(http::path).placeholder("PATH"),
            "A path whose GET is answered with success once the service is ready",
            |ready| &mut ready.http,
        )
        .default("/healthz of a built-in service; elsewhere an accepted connection is enough")
        .key(
            "within",
            duration("the time to get ready", min, max),
            "How long that may take once the platform has started it; 2 s at most of one that runs already",
            |ready| &mut ready.within,
        )
}
