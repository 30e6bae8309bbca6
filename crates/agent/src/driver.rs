//! What a run drives load with: an engine of its own, or one of an agent's.

use loadline_engine::{Engine, EngineError, Record, SliceSpec};
use loadline_model::TriedRequest;
use loadline_observe::Machine;

use crate::error::AgentError;
use crate::remote_engine::RemoteEngine;

/// An engine, wherever it is. The methods are those of [`Engine`].
pub trait Driver: Send {
    /// The machine that it is on; `None`: this one.
    fn machine(&self) -> Option<&Machine> {
        None
    }

    /// Opens the connections that are not open.
    ///
    /// # Errors
    /// When none could be opened.
    fn prepare(&mut self) -> Result<(), DriveError>;

    /// Begins a slice; [`Driver::finish`] must follow. `start_ns` is of this machine's CLOCK_MONOTONIC, as [`Engine::next_start`] gives it; an
    /// agent, whose clock is another, begins at its own next moment.
    fn begin(&mut self, slice: SliceSpec, start_ns: u64) -> Result<(), DriveError>;

    /// Waits for the slice to end, but not beyond `until_ns` of the same clock; returns whether it has. An agent is
    /// not asked; its slice counts as ended.
    fn wait(&mut self, until_ns: u64) -> bool {
        let _ = until_ns;
        true
    }

    /// Waits for the slice to end and returns its record.
    fn finish(&mut self) -> Result<Record, DriveError>;

    /// Connects where needed and drives one slice.
    fn drive(&mut self, slice: SliceSpec) -> Result<Record, DriveError>;

    /// Sends each request once and keeps all that comes back.
    fn try_out(&mut self) -> Result<Vec<TriedRequest>, DriveError>;
}

/// Why load could not be driven.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// By an engine of this process.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// By an agent.
    #[error(transparent)]
    Agent(#[from] AgentError),
}

impl Driver for Engine {
    fn prepare(&mut self) -> Result<(), DriveError> {
        Ok(Engine::prepare(self)?)
    }

    fn begin(&mut self, slice: SliceSpec, start_ns: u64) -> Result<(), DriveError> {
        Ok(Engine::begin(self, slice, start_ns)?)
    }

    fn wait(&mut self, until_ns: u64) -> bool {
        Engine::wait(self, until_ns)
    }

    fn finish(&mut self) -> Result<Record, DriveError> {
        Ok(Engine::finish(self)?)
    }

    fn drive(&mut self, slice: SliceSpec) -> Result<Record, DriveError> {
        Ok(Engine::drive(self, slice)?)
    }

    fn try_out(&mut self) -> Result<Vec<TriedRequest>, DriveError> {
        Ok(Engine::try_out(self)?)
    }
}

impl Driver for RemoteEngine {
    fn machine(&self) -> Option<&Machine> {
        Some(RemoteEngine::machine(self))
    }

    fn prepare(&mut self) -> Result<(), DriveError> {
        Ok(RemoteEngine::prepare(self)?)
    }

    fn begin(&mut self, slice: SliceSpec, _start_ns: u64) -> Result<(), DriveError> {
        Ok(RemoteEngine::begin(self, slice)?)
    }

    fn finish(&mut self) -> Result<Record, DriveError> {
        Ok(RemoteEngine::finish(self)?)
    }

    fn drive(&mut self, slice: SliceSpec) -> Result<Record, DriveError> {
        Ok(RemoteEngine::drive(self, slice)?)
    }

    fn try_out(&mut self) -> Result<Vec<TriedRequest>, DriveError> {
        Ok(RemoteEngine::try_out(self)?)
    }
}
