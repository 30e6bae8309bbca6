//! Conversations that can't be had: other versions, strangers, and too many at once. None of them harms the next.

use std::io::Write;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use crate::support::watched::Watched;
use crate::support::{Agent, assert_ended, frame, greeting, next_message, setup, slice, wait_for};
use loadline_agent::protocol::Greeting;
use loadline_agent::{AgentError, LONGEST_BYTES, MOST_CONVERSATIONS, RemoteEngine};
use proptest::prelude::*;

fn start(stream: TcpStream) -> Result<RemoteEngine, AgentError> {
    let nobody = "127.0.0.1:1".parse().unwrap();
    RemoteEngine::start(stream, setup(nobody, 1), Arc::default())
}

/// What this side says to an agent that says this.
fn met_with(said: Vec<u8>) -> AgentError {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut theirs, _) = listener.accept().unwrap();
    let agent = std::thread::spawn(move || {
        next_message(&theirs);
        theirs.write_all(&said).unwrap();
        // This side may have hung up already.
        let _ = theirs.shutdown(Shutdown::Write);
        assert_ended(&theirs);
    });
    let error = start(ours).err().expect("no engine");
    agent.join().unwrap();
    error
}

fn assert_works(agent: &Agent) {
    let watched = Watched::start();
    let record = agent.engine(watched.address, 1).drive(slice("10/s", Duration::from_millis(200))).unwrap();
    assert_eq!(record.answered, 2);
}

#[test]
fn an_agent_of_another_version_is_refused_with_both_versions() {
    let other = Greeting { program: "0.0.9".to_owned(), ..Greeting::ours() };
    let error = met_with(greeting(&other)).to_string();
    let (ours, protocol) = (env!("CARGO_PKG_VERSION"), Greeting::ours().protocol);
    assert!(
        error.starts_with(&format!(
            "cannot work with this agent: it is loadline 0.0.9 with protocol {protocol}"
        )),
        "{error}"
    );
    assert!(error.contains(&format!("this is loadline {ours} with protocol {protocol}")), "{error}");
    let other = Greeting { protocol: protocol + 1, ..Greeting::ours() };
    assert!(
        matches!(met_with(greeting(&other)), AgentError::Version { protocol: theirs, .. } if theirs == protocol + 1)
    );
}

#[test]
fn an_agent_talks_to_no_other_version_but_says_its_own() {
    let agent = Agent::start();
    let mut stream = agent.connect();
    let other = Greeting { protocol: 99, ..Greeting::ours() };
    stream.write_all(&greeting(&other)).unwrap();
    assert_eq!(next_message(&stream)["protocol"], Greeting::ours().protocol);
    assert_ended(&stream);
}

#[test]
fn something_that_is_no_agent_is_told_from_one() {
    let error = met_with(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()).to_string();
    assert!(error.starts_with("the connection to the agent broke: a message claims to be "), "{error}");
    let error = met_with(frame("[1, 2]")).to_string();
    assert!(error.ends_with("check that the other side is loadline"), "{error}");
    let error = met_with(Vec::new()).to_string();
    assert!(error.ends_with("the other side closed the connection"), "{error}");
}

#[test]
fn asking_again_before_the_answer_ends_the_conversation() {
    let (watched, agent) = (Watched::start(), Agent::start());
    let mut stream = agent.connect();
    stream.write_all(&greeting(&Greeting::ours())).unwrap();
    next_message(&stream);
    let setup = serde_json::to_string(&setup(watched.address, 1)).unwrap();
    stream.write_all(&frame(&format!("{{\"engine\": {setup}}}"))).unwrap();
    assert!(next_message(&stream)["Ok"]["boot_id"].is_string(), "the machine of the agent");
    let drive = serde_json::to_string(&slice("100/s", Duration::from_secs(1000))).unwrap();
    stream.write_all(&frame(&format!("{{\"do\": {{\"drive\": {drive}}}}}"))).unwrap();
    wait_for("requests", || watched.heard().len() >= 5);
    stream.write_all(&frame("{\"do\": \"finish\"}").repeat(3)).unwrap();
    assert_ended(&stream);
    wait_for("the connection to the service to be closed", || watched.open() == 0);
}

#[test]
fn a_message_that_is_too_long_ends_its_conversation_before_it_is_read() {
    let agent = Agent::start();
    let mut stream = agent.connect();
    stream.write_all(&(LONGEST_BYTES as u32 + 1).to_be_bytes()).unwrap();
    assert_ended(&stream);
    assert_works(&agent);
}

#[test]
fn one_conversation_too_many_is_refused_until_another_ends() {
    let agent = Agent::start();
    let mut engines: Vec<RemoteEngine> =
        (0..MOST_CONVERSATIONS).map(|_| start(agent.connect()).unwrap()).collect();
    let error = start(agent.connect()).err().unwrap().to_string();
    assert_eq!(error, "the agent refused the connection: it already has 64 connections");
    engines.pop();
    wait_for("a free place", || start(agent.connect()).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn garbage_ends_its_own_conversation_and_no_other(
        greets in any::<bool>(),
        honest in any::<bool>(),
        garbage in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let agent = Agent::start();
        let mut neighbour = start(agent.connect()).unwrap();
        let stream = agent.connect();
        let mut said = if greets { greeting(&Greeting::ours()) } else { Vec::new() };
        if honest {
            // A length that is right, so that it comes to what is in the frame.
            said.extend((garbage.len() as u32).to_be_bytes());
        }
        said.extend(&garbage);
        // It may have hung up before all is said.
        let _ = (&stream).write_all(&said).and_then(|()| stream.shutdown(Shutdown::Write));
        assert_ended(&stream);
        let error = neighbour.finish().unwrap_err().to_string();
        prop_assert_eq!(error, "the agent reported an error: no slice is running");
    }
}
