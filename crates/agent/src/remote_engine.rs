//! An engine that an agent runs, with the verbs of [`loadline_engine::Engine`].

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use loadline_engine::{Record, SliceSpec};
use loadline_model::TriedRequest;
use loadline_observe::Machine;
use serde::de::DeserializeOwned;

use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::protocol::{EngineAsk, EngineSetup, EngineVerb, Opening, PATIENCE};
use crate::record::Recorded;
use crate::stream::Stream;

/// How long an answer may be on its way when all that was waited for is over.
const WAY: Duration = Duration::from_secs(5);

/// An engine inside the cluster. Dropping it ends the conversation, and with it the engine and its connections.
///
/// An answer is due when the slice is over and 15 s, or the time-out of requests and 5 s if that is more, have passed.
pub struct RemoteEngine {
    conversation: Conversation,
    machine: Machine,
    /// Of the requests.
    timeout: Duration,
    /// How many different requests there are.
    requests: u32,
    /// Of the slice that was begun.
    length: Duration,
    stop: Arc<AtomicBool>,
}

impl RemoteEngine {
    /// Has the agent at the other end of `stream` start an engine. Nothing is connected yet. `stop` ends the slice under way, as
    /// [`loadline_engine::Options::stop`] does.
    ///
    /// # Errors
    /// When there is no agent of this version, or it can't start such an engine.
    pub fn start(
        stream: impl Stream + 'static,
        setup: EngineSetup,
        stop: Arc<AtomicBool>,
    ) -> Result<RemoteEngine, AgentError> {
        let timeout = setup.load.load.timeout;
        let requests = setup.load.traffic.requests.len() as u32;
        let (conversation, machine) = Conversation::open(stream, &Opening::Engine(Box::new(setup)))?;
        Ok(RemoteEngine { conversation, machine, timeout, requests, length: Duration::ZERO, stop })
    }

    /// What kind of machine the engine is on.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Opens the connections that are not open.
    ///
    /// # Errors
    /// When the agent can't reach the service, or this side the agent.
    pub fn prepare(&mut self) -> Result<(), AgentError> {
        self.ask(EngineVerb::Prepare, Duration::ZERO)
    }

    /// Begins a slice at the agent's next moment; [`RemoteEngine::finish`] must follow. A replay is the one of the setup, whose due times the
    /// agent has.
    pub fn begin(&mut self, slice: SliceSpec) -> Result<(), AgentError> {
        self.length = length(&slice);
        self.ask(EngineVerb::Begin(slice), Duration::ZERO)
    }

    /// Waits for the slice to end and returns its record. [`Record::started_ns`] is by the clock of the agent's machine.
    pub fn finish(&mut self) -> Result<Record, AgentError> {
        let Recorded(record) = self.ask(EngineVerb::Finish, self.length)?;
        Ok(record)
    }

    /// Connects where needed and drives one slice.
    pub fn drive(&mut self, slice: SliceSpec) -> Result<Record, AgentError> {
        let length = length(&slice);
        let Recorded(record) = self.ask(EngineVerb::Drive(slice), length)?;
        Ok(record)
    }

    /// Sends each request once and keeps all that comes back.
    pub fn try_out(&mut self) -> Result<Vec<TriedRequest>, AgentError> {
        self.ask(EngineVerb::TryOut, self.timeout.saturating_mul(self.requests))
    }

    fn ask<T: DeserializeOwned>(&mut self, verb: EngineVerb, length: Duration) -> Result<T, AgentError> {
        let patience = patience(length, self.timeout);
        self.conversation.ask(&EngineAsk::Do(verb), patience, Some(&self.stop))
    }
}

/// How long an answer to something that takes `length` is waited for: requests under way at its end may take their time.
fn patience(length: Duration, timeout: Duration) -> Duration {
    length.saturating_add(PATIENCE.max(timeout.saturating_add(WAY)))
}

/// How long a slice takes.
fn length(slice: &SliceSpec) -> Duration {
    slice.offset.saturating_add(slice.duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_due_soon_after_the_slice() {
        let seconds = Duration::from_secs;
        assert_eq!(patience(seconds(0), seconds(1)), seconds(15));
        assert_eq!(patience(seconds(3), seconds(10)), seconds(18));
        assert_eq!(patience(seconds(3), seconds(60)), seconds(68));
    }
}
