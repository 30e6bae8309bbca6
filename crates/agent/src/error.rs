//! Why a conversation with an agent could not be had or went wrong.

use std::time::Duration;

use crate::frame::FrameError;
use crate::protocol::{PROGRAM, PROTOCOL};

/// Why an agent can't be used, or not any more.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// It is another version of this program.
    #[error(
        "the agent is loadline {program} with protocol {protocol}, and this is loadline {PROGRAM} with protocol {PROTOCOL}: \
        give the cluster the image of this version"
    )]
    Version {
        /// The agent's version.
        program: String,
        /// The agent's protocol.
        protocol: u32,
    },
    /// It will not talk.
    #[error("the agent refuses to talk: {0}")]
    Refused(String),
    /// It could not do what it was asked to; the conversation goes on.
    #[error("the agent says: {0}")]
    Failed(String),
    /// It said nothing for too long.
    #[error(
        "the agent did not answer within {patience:?}: its pod, its node or the way through the API server is gone or overloaded"
    )]
    Silent {
        /// How long it was waited for.
        patience: Duration,
    },
    /// The connection, or what came over it, is broken.
    #[error("the conversation with the agent broke off: {0}")]
    Broken(#[from] FrameError),
    /// An earlier error has ended the conversation.
    #[error("the conversation with the agent ended with an earlier error")]
    Over,
    /// The due times of such a load are in a file of this machine.
    #[error("a load that is replayed from a file can't be driven by an agent: give a rate")]
    Replay,
}
