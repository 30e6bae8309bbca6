//! This side of a conversation: greeting, opening, then asks and answers.
//! What leaves in doubt which answer belongs to which ask ends it, and with its stream the agent's part.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use loadline_observe::Machine;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::AgentError;
use crate::frame::{self, FrameError};
use crate::patient::{Patient, is_time_out};
use crate::protocol::{Answer, EngineAsk, Greeting, Opening, PATIENCE};
use crate::stream::Stream;

/// A conversation that has been opened.
pub struct Conversation {
    /// `None` once it is over.
    stream: Option<Box<dyn Stream>>,
}

impl Conversation {
    /// Greets the agent and says what it is about; returns what machine the agent is on.
    pub fn open(
        stream: impl Stream + 'static,
        opening: &Opening,
    ) -> Result<(Conversation, Machine), AgentError> {
        stream.limit_writes(PATIENCE).map_err(FrameError::Stream)?;
        let mut conversation = Conversation { stream: Some(Box::new(stream)) };
        let ours = Greeting::ours();
        let theirs: Greeting = conversation.exchange(&ours, PATIENCE, None)?;
        if !theirs.fits(&ours) {
            return Err(AgentError::Version { program: theirs.program, protocol: theirs.protocol });
        }
        if let Some(why) = theirs.refused {
            return Err(AgentError::Refused(why));
        }
        let machine = conversation.ask(opening, PATIENCE, None)?;
        Ok((conversation, machine))
    }

    /// Asks and waits for the answer, which an engine is told to hurry with once `stop` is set.
    pub fn ask<T: DeserializeOwned>(
        &mut self,
        ask: &impl Serialize,
        patience: Duration,
        stop: Option<&AtomicBool>,
    ) -> Result<T, AgentError> {
        self.exchange::<Answer<T>>(ask, patience, stop)?.map_err(AgentError::Failed)
    }

    fn exchange<T: DeserializeOwned>(
        &mut self,
        ask: &impl Serialize,
        patience: Duration,
        stop: Option<&AtomicBool>,
    ) -> Result<T, AgentError> {
        // Put back only when all went well.
        let Some(mut stream) = self.stream.take() else { return Err(AgentError::Over) };
        let answer = exchange(stream.as_mut(), ask, patience, stop).map_err(|error| match error {
            FrameError::Stream(error) if is_time_out(&error) => AgentError::Silent { patience },
            error => AgentError::Broken(error),
        })?;
        self.stream = Some(stream);
        Ok(answer)
    }
}

fn exchange<T: DeserializeOwned>(
    stream: &mut dyn Stream,
    ask: &impl Serialize,
    patience: Duration,
    stop: Option<&AtomicBool>,
) -> Result<T, FrameError> {
    let stop = stop.map(|flag| Ok::<_, FrameError>((flag, frame::encode(&EngineAsk::Stop)?))).transpose()?;
    frame::write(&mut *stream, ask)?;
    frame::read(Patient { stream, deadline: Instant::now() + patience, stop })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ObserverAsk;
    use std::os::unix::net::UnixStream;

    #[test]
    fn an_agent_that_does_not_answer_is_given_up() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let mut conversation = Conversation { stream: Some(Box::new(ours)) };
        let patience = Duration::from_millis(30);
        let error = conversation.ask::<()>(&ObserverAsk::Metrics, patience, None).unwrap_err();
        assert!(error.to_string().starts_with("the agent did not answer within 30ms: "), "{error}");
        let error = conversation.ask::<()>(&ObserverAsk::Metrics, patience, None).unwrap_err();
        assert!(matches!(error, AgentError::Over), "a late answer must not be taken for the next one's");
        let asked: ObserverAsk = frame::read(&theirs).unwrap();
        assert_eq!(asked, ObserverAsk::Metrics);
        assert!(matches!(frame::read::<ObserverAsk>(&theirs), Err(FrameError::Ended)), "the agent is let go");
    }
}
