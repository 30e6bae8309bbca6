//! Connections to a `loadline agent` that only a platform can reach.

use std::{fmt, os::unix::net::UnixStream, sync::Arc};

use crate::error::PlatformError;

/// Connections to a `loadline agent` inside a cluster; each is a session of its own.
#[derive(Clone)]
pub struct Agent(Arc<dyn Fn() -> Result<UnixStream, PlatformError> + Send + Sync>);

impl Agent {
    /// `connect` opens another connection.
    pub fn new(connect: impl Fn() -> Result<UnixStream, PlatformError> + Send + Sync + 'static) -> Agent {
        Agent(Arc::new(connect))
    }

    /// Opens another connection to the agent.
    ///
    /// # Errors
    /// When it is unreachable.
    pub fn connect(&self) -> Result<UnixStream, PlatformError> {
        (self.0)()
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Agent")
    }
}
