//! Why a session with an agent could not be opened or failed.

use std::time::Duration;

use crate::frame::FrameError;
use crate::protocol::{PROGRAM, PROTOCOL};

/// Why an agent cannot be used, or no longer.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// It is another version of this program.
    #[error(
        "cannot work with this agent: it is loadline {program} with protocol {protocol}, and this is loadline {PROGRAM} with protocol {PROTOCOL}: \
        give the cluster the image of this version"
    )]
    Version {
        /// The agent's version.
        program: String,
        /// The agent's protocol.
        protocol: u32,
    },
    /// It accepts no session.
    #[error("the agent refused the connection: {0}")]
    Refused(String),
    /// It could not do what it was asked to; the conversation goes on.
    #[error("the agent reported an error: {0}")]
    Failed(String),
    /// It did not answer in time.
    #[error(
        "the agent did not answer within {patience:?}: its pod, its node or the port-forward through the API server is down or overloaded"
    )]
    Silent {
        /// How long it was waited for.
        patience: Duration,
    },
    /// The connection, or what came over it, is broken.
    #[error("the connection to the agent broke: {0}")]
    Broken(#[from] FrameError),
    /// An earlier error has ended the conversation.
    #[error("the connection to the agent was closed after an earlier error")]
    Over,
}
