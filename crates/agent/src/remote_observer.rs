//! The observers on the machine of an agent.

use loadline_model::metrics::MetricDeclaration;
use loadline_model::runtime::Runtime;
use loadline_observe::{Machine, Snapshot, Wanted};

use crate::conversation::Conversation;
use crate::error::AgentError;
use crate::protocol::{ObserverAsk, Opening, PATIENCE};
use crate::stream::Stream;

/// Reads the counters of one container, and of the machine that it runs on.
pub struct RemoteObserver {
    conversation: Conversation,
    machine: Machine,
}

impl RemoteObserver {
    /// Has the agent at the other end of `stream` find a container by the id that its runtime gave it: 64 hexadecimal digits.
    ///
    /// # Errors
    /// When there is no agent of this version, or no such container on its machine.
    pub fn start(stream: impl Stream + 'static, container: &str) -> Result<RemoteObserver, AgentError> {
        let opening = Opening::Observer { container: container.to_owned() };
        let (conversation, machine) = Conversation::open(stream, &opening)?;
        Ok(RemoteObserver { conversation, machine })
    }

    /// The metrics that the agent's probes declare.
    ///
    /// # Errors
    /// When the conversation has ended.
    pub fn metrics(&mut self) -> Result<Vec<MetricDeclaration>, AgentError> {
        self.conversation.ask(&ObserverAsk::Metrics, PATIENCE, None)
    }

    /// What the agent's probes read now. Two readings make observations on this side: [`loadline_observe::between_remote`].
    ///
    /// # Errors
    /// When the conversation has ended.
    pub fn read(&mut self, wanted: &Wanted) -> Result<Snapshot, AgentError> {
        self.conversation.ask(&ObserverAsk::Read(wanted.clone()), PATIENCE, None)
    }

    /// What the agent's probes find out about the language runtime in the container.
    ///
    /// # Errors
    /// When the conversation has ended.
    pub fn runtime(&mut self) -> Result<Runtime, AgentError> {
        self.conversation.ask(&ObserverAsk::Runtime, PATIENCE, None)
    }

    /// What kind of machine the container is on.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }
}
