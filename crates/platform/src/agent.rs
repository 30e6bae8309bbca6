//! A way to `loadline agent` where only a platform can reach it.

use std::{fmt, os::unix::net::UnixStream, sync::Arc};

use crate::error::PlatformError;

/// A way to `loadline agent` inside a cluster; every connection is a conversation of its own.
#[derive(Clone)]
pub struct Agent(Arc<dyn Fn() -> Result<UnixStream, PlatformError> + Send + Sync>);

impl Agent {
    /// `connect` opens one more connection.
    pub fn new(connect: impl Fn() -> Result<UnixStream, PlatformError> + Send + Sync + 'static) -> Agent {
        Agent(Arc::new(connect))
    }

    /// One more conversation with the agent.
    ///
    /// # Errors
    /// When it can't be reached.
    pub fn connect(&self) -> Result<UnixStream, PlatformError> {
        (self.0)()
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Agent")
    }
}
