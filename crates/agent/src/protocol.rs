//! What is said in a conversation, in the order in which it is said. Each message is a frame: four bytes of length, big-endian, then JSON.
//!
//! 1. [`Greeting`], by this side and then by the agent. It has the same shape in every version, so that two that differ can say so.
//! 2. [`Opening`], answered with a [`loadline_observe::Machine`]: the agent's.
//! 3. Any number of [`EngineAsk`] or [`ObserverAsk`], each answered before the next. [`EngineAsk::Stop`] alone is said at any time and has
//!    no answer.
//!
//! An answer is `{"Ok": …}` with what was asked for, `null` where that is nothing, or `{"Err": "a sentence"}`, after which the conversation
//! goes on unless it was the opening that failed. What is not understood ends it. Durations are `{"secs": …, "nanos": …}`, figures carry their unit in their name.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::time::Duration;

use loadline_engine::{LoadDescription, SliceSpec};
use loadline_observe::Wanted;
use serde::{Deserialize, Serialize};

/// Grows with every change to these messages or to what they carry.
pub const PROTOCOL: u32 = 8;

/// The version of the program.
pub const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// How long either side waits for what needs no work: a greeting, an opening, room to write.
pub const PATIENCE: Duration = Duration::from_secs(15);

/// The first message of each side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// [`PROGRAM`].
    pub program: String,
    /// Why the agent refuses the connection; a sentence.
    pub refused: Option<String>,
}

/// What the conversation is about. Answered with the agent's machine once the engine stands or the container is found.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opening {
    /// An engine; [`EngineAsk`] follows.
    Engine(Box<EngineSetup>),
    /// The container of this id, 64 hexadecimal digits, on the agent's machine; [`ObserverAsk`] follows.
    Observer {
        /// As its runtime gave it.
        container: String,
    },
}

/// The engine that an agent is to start.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EngineSetup {
    /// The service, as the agent reaches it.
    pub address: SocketAddr,
    /// Value of the `Host` header.
    pub authority: String,
    /// What to do to it, with the contents of all files that this takes and the due times of a replay: a slice of a replay names it alone.
    pub load: LoadDescription,
    /// Load threads; no more than connections are started.
    pub threads: NonZeroUsize,
    /// CPUs of the agent's machine that the threads are pinned to, in turn. `None` leaves them on all CPUs that the agent may use.
    pub cpus: Option<Vec<usize>>,
}

/// What is asked of an engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineAsk {
    /// Something that is answered.
    Do(EngineVerb),
    /// End the slice under way, and every later one as soon as it begins, as the engine's stop flag does. Not answered.
    Stop,
}

/// The verbs of [`loadline_engine::Engine`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineVerb {
    /// Open the connections that are not open. Answered with nothing.
    Prepare,
    /// Begin a slice at the agent's own `Engine::next_start()`. Answered with nothing, at once.
    Begin(SliceSpec),
    /// Answered with the record of the slice once it is over.
    Finish,
    /// All three: answered with the record of this slice.
    Drive(SliceSpec),
    /// Send each request once. Answered with a list of [`loadline_model::TriedRequest`].
    TryOut,
}

/// What is asked of an observer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObserverAsk {
    /// Answered with the [`loadline_model::metrics::MetricDeclaration`]s of its probes.
    Metrics,
    /// Answered with a [`loadline_observe::Snapshot`] of the container and its machine: what each probe read.
    Read(Wanted),
    /// Answered with a [`loadline_model::runtime::Runtime`], which may take the agent some seconds to find out.
    Runtime,
}

/// What an ask is answered with.
pub type Answer<T> = Result<T, String>;

impl Greeting {
    /// This program's.
    pub fn ours() -> Greeting {
        Greeting { protocol: PROTOCOL, program: PROGRAM.to_owned(), refused: None }
    }

    /// Whether two programs understand each other.
    pub fn fits(&self, other: &Greeting) -> bool {
        (self.protocol, &self.program) == (other.protocol, &other.program)
    }
}
