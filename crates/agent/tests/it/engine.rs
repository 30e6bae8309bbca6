//! An agent's engine beside one of this process: the same requests at the same service give the same record.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::servers;
use crate::servers::nginx::Nginx;
use crate::servers::{free_port, local};
use crate::support::watched::Watched;
use crate::support::{Agent, sending, setup, slice, wait_for};
use loadline_agent::{AgentError, Driver, EngineSetup, RemoteEngine};
use loadline_engine::{Endpoint, Engine, Load, Options, Record, Request, SliceSpec};

const SECOND: Duration = Duration::from_secs(1);

fn request(method: &str, path: &str, body: &[u8], weight: u32) -> Request {
    let headers = vec![("X-Test".to_owned(), "ä \"quoted\"".to_owned())];
    Request { method: method.to_owned(), body: body.to_vec(), headers, weight, ..Request::get(path) }
}

/// The engine of this process that is set up as the agent's is.
fn local_engine(setup: &EngineSetup) -> Engine {
    let endpoint = Endpoint { authority: setup.authority.clone(), ..Endpoint::from(setup.address) };
    Engine::start(&Options::describing(&setup.load, endpoint).unwrap()).unwrap()
}

/// Drives a slice in the three steps of a run.
fn in_steps(driver: &mut dyn Driver, slice: &SliceSpec) -> Record {
    driver.prepare().unwrap();
    driver.begin(slice.clone(), Engine::next_start()).unwrap();
    driver.finish().unwrap()
}

#[test]
fn a_remote_engine_sends_what_a_local_one_sends_and_records_as_much() {
    let port = free_port();
    let server = format!(
        "server {{ listen 127.0.0.1:{port};
            location / {{ return 200 'hello'; }} location /missing {{ return 404; }} }}"
    );
    let nginx = Nginx::start(&server, &[]);
    let agent = Agent::start();
    // One connection, so that the log has the order in which they were sent.
    let requests = vec![request("GET", "/a", b"", 3), request("GET", "/missing", b"", 1)];
    let setup = sending(setup(local(port), 1), requests);
    let slice = slice("400/s", SECOND);
    let mut here = local_engine(&setup);
    let mut there = RemoteEngine::start(agent.connect(), setup, Arc::default()).unwrap();
    let [ours, theirs] = [&mut here as &mut dyn Driver, &mut there].map(|driver| in_steps(driver, &slice));

    let log = nginx.log(800);
    let (first, second) = log.split_at(400);
    let paths = |log: &[servers::nginx::Logged]| log.iter().map(|one| one.path.clone()).collect::<Vec<_>>();
    assert_eq!(paths(first), paths(second), "the same seed makes the same choices");

    let missing = paths(first).iter().filter(|path| *path == "/missing").count() as u64;
    assert!((50..150).contains(&missing), "a quarter of 400: {missing}");
    for record in [&ours, &theirs] {
        assert_eq!((record.due, record.answered, record.errors.total()), (400, 400, missing));
        assert_eq!(record.errors.by_name().into_iter().collect::<Vec<_>>(), [("status".to_owned(), missing)]);
        assert_eq!((record.duration, record.stopped, record.workers), (SECOND, false, 1));
        assert_eq!(record.connect.len(), 1, "it connected once");
        assert!(record.cpu_ns > 0 && record.started_ns > 0);
    }
    let counts = |record: &Record| {
        [&record.response, &record.service, &record.send_lag, &record.resolve, &record.handshake]
            .map(hdrhistogram::Histogram::len)
    };
    assert_eq!(counts(&theirs), counts(&ours));
    assert_eq!(theirs.received_bytes, ours.received_bytes);

    let again = there.drive(slice).unwrap();
    assert_eq!((again.due, again.answered, again.reconnects), (400, 400, 0));
}

#[test]
fn the_bytes_of_a_request_are_those_of_a_local_engine() {
    let (watched, agent) = (Watched::start(), Agent::start());
    let body = "{\"name\": \"Zoë\"}\r\n\0".as_bytes();
    let setup = EngineSetup {
        authority: "shop.test".to_owned(),
        ..sending(setup(watched.address, 1), vec![request("POST", "/orders?a=1&b=%20", body, 1)])
    };
    let once = slice("1/s", SECOND / 10);
    local_engine(&setup).drive(once.clone()).unwrap();
    RemoteEngine::start(agent.connect(), setup, Arc::default()).unwrap().drive(once).unwrap();
    let heard = watched.heard();
    assert_eq!(heard.len(), 2);
    assert_eq!(heard[0], heard[1]);
    assert!(heard[0].contains("\r\nHost: shop.test\r\n") && heard[0].contains("Zoë"), "{}", heard[0]);
}

#[test]
fn two_engines_drive_at_once() {
    let (watched, agent) = (Watched::start(), Agent::start());
    let mut engines = [agent.engine(watched.address, 2), agent.engine(watched.address, 3)];
    for engine in &mut engines {
        engine.prepare().unwrap();
    }
    wait_for("the service to take five connections", || watched.open() == 5);
    let begin = |engine: &mut RemoteEngine, (rate, offset)| {
        engine.begin(SliceSpec { offset: Duration::from_millis(offset), ..slice(rate, SECOND) }).unwrap();
    };
    engines.iter_mut().zip([("100/s", 0), ("300/s", 5)]).for_each(|(engine, load)| begin(engine, load));
    let records = engines.map(|mut engine| engine.finish().unwrap());
    assert_eq!(records.map(|record| (record.due, record.answered)), [(100, 100), (300, 300)]);
    wait_for("all connections to be closed", || watched.open() == 0);
}

#[test]
fn a_closed_loop_is_driven_too() {
    let (watched, agent) = (Watched::start(), Agent::start());
    let closed = SliceSpec { load: Load::Closed { think: None }, ..slice("1/s", SECOND / 5) };
    let record = agent.engine(watched.address, 4).drive(closed).unwrap();
    assert!(record.answered > 0);
    assert_eq!(record.answered, record.response.len());
}

#[test]
fn an_engine_whose_conversation_is_cut_stops_at_once() {
    let (watched, agent) = (Watched::start(), Agent::start());
    let mut engine = agent.engine(watched.address, 3);
    engine.prepare().unwrap();
    engine.begin(slice("100/s", 1000 * SECOND)).unwrap();
    wait_for("requests", || watched.heard().len() >= 10);
    assert_eq!(watched.open(), 3);
    drop(engine);
    wait_for("the connections to the service to be closed", || watched.open() == 0);
    // The agent is there for the next one.
    assert_eq!(agent.engine(watched.address, 1).drive(slice("10/s", SECOND / 2)).unwrap().answered, 5);
}

#[test]
fn a_stop_ends_the_slice_and_its_record_says_so() {
    let (watched, agent) = (Watched::start(), Agent::start());
    let stop = Arc::new(AtomicBool::new(false));
    let mut engine = agent.engine_with_stop(watched.address, stop.clone());
    engine.prepare().unwrap();
    engine.begin(slice("100/s", 1000 * SECOND)).unwrap();
    let record = std::thread::scope(|scope| {
        scope.spawn(|| {
            wait_for("requests", || watched.heard().len() >= 10);
            stop.store(true, Ordering::Relaxed);
        });
        engine.finish().unwrap()
    });
    assert!(record.stopped && record.duration < 1000 * SECOND, "{:?}", record.duration);
    assert!(record.answered >= 9);
    assert!(engine.drive(slice("1/s", 1000 * SECOND)).unwrap().stopped, "as with an engine of this process");
}

#[test]
fn an_agent_that_ends_takes_its_engines_with_it() {
    let (watched, mut agent) = (Watched::start(), Agent::start());
    let mut engine = agent.engine(watched.address, 2);
    engine.prepare().unwrap();
    engine.begin(slice("100/s", 1000 * SECOND)).unwrap();
    wait_for("requests", || watched.heard().len() >= 10);
    agent.end();
    wait_for("the connections to the service to be closed", || watched.open() == 0);
    let error = engine.finish().unwrap_err();
    assert!(matches!(error, AgentError::Broken(_)), "{error}");
    let error = engine.prepare().unwrap_err().to_string();
    assert_eq!(error, "the connection to the agent was closed after an earlier error");
}

#[test]
fn what_an_agent_can_not_do_it_says_and_goes_on() {
    let (watched, agent) = (Watched::start(), Agent::start());
    let nobody = local(free_port());
    let error = agent.engine(nobody, 1).prepare().unwrap_err().to_string();
    assert!(
        error.starts_with(&format!("the agent reported an error: cannot connect to {nobody}: ")),
        "{error}"
    );

    let mut engine = agent.engine(watched.address, 1);
    let says = |result: Result<Record, AgentError>, sentence: &str| {
        assert_eq!(result.unwrap_err().to_string(), format!("the agent reported an error: {sentence}"));
    };
    says(engine.finish(), "no slice is running");
    says(engine.drive(slice("1/s", 100_000 * SECOND)), "a slice of 100000s is longer than a day");
    engine.begin(slice("10/s", SECOND / 2)).unwrap();
    says(engine.drive(slice("10/s", SECOND)), "a slice is still running: finish it first");
    assert_eq!(engine.finish().unwrap().answered, 5);

    let refused = |setup: EngineSetup| {
        RemoteEngine::start(agent.connect(), setup, Arc::default()).err().unwrap().to_string()
    };
    let setup = setup(watched.address, 1);
    let cpu = EngineSetup { cpus: Some(vec![0, 4000]), ..setup.clone() };
    assert!(refused(cpu).starts_with("the agent reported an error: it may not use CPU 4000"));
    let mut timeout = setup.clone();
    timeout.load.load.timeout = Duration::MAX;
    assert!(refused(timeout).starts_with("the agent reported an error: a time-out of "));
    let mut unconnected = setup.clone();
    unconnected.load.load.connections = 0;
    assert!(refused(unconnected).contains("at least one connection"));
    let path = sending(setup, vec![Request::get("orders")]);
    assert!(refused(path).contains("does not begin with a `/`"));
}
