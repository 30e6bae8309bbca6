//! `loadline agent` as a cluster starts it: a process of its own, driven over a connection.

use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpStream};
use std::num::NonZeroUsize;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use crate::support::PROGRAM;
use crate::support::place::Place;
use crate::support::programs::Served;
use loadline_agent::{EngineSetup, RemoteEngine, Stream};
use loadline_engine::{Arrivals, Load, LoadDescription, LoadSpec, Request, SliceSpec, Traffic};
use rustix::process::{Pid, Signal, kill_process};

/// An agent in the background; ends with the value.
struct Agent {
    child: Child,
    address: SocketAddr,
}

impl Agent {
    fn start() -> Agent {
        let mut command = Command::new(PROGRAM);
        command.args(["agent", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("listening on ").and_then(|address| address.parse().ok());
        Agent { child, address: address.unwrap_or_else(|| panic!("{line:?}")) }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).expect("a way to the agent")
    }

    /// Asks it to end, and returns its exit code and what it complained about.
    fn end(mut self, signal: Signal) -> (Option<i32>, String) {
        kill_process(Pid::from_child(&self.child), signal).expect("the agent is alive");
        let mut complaints = String::new();
        self.child.stderr.take().expect("a pipe").read_to_string(&mut complaints).expect("text");
        (self.child.wait().expect("a child").code(), complaints)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // It has ended already unless an assertion failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One connection to the service, driven through `stream`.
fn engine(stream: impl Stream + 'static, service: &Served) -> RemoteEngine {
    let setup = EngineSetup {
        address: service.address,
        authority: "orders.test".to_owned(),
        load: LoadDescription {
            load: LoadSpec::new(Load::Closed { think: None }, 1),
            traffic: Traffic::of(vec![Request::get("/api/orders")]),
        },
        threads: NonZeroUsize::MIN,
        cpus: None,
    };
    RemoteEngine::start(stream, setup, Arc::default()).expect("an engine")
}

fn slice(seconds: u64) -> SliceSpec {
    let load = Load::Open { rate: "200/s".parse().expect("a rate"), arrivals: Arrivals::Uniform };
    SliceSpec { load, duration: Duration::from_secs(seconds), seed: 1, offset: Duration::ZERO }
}

#[test]
fn an_agent_drives_a_built_in_service_and_ends_cleanly() {
    let _place = Place::new();
    let (service, agent) = (Served::start(&["orders"]), Agent::start());
    let mut engine = engine(agent.connect(), &service);
    let record = engine.drive(slice(1)).expect("a record");
    assert_eq!((record.due, record.answered, record.errors.total()), (200, 200, 0));
    drop(engine);
    assert_eq!(agent.end(Signal::TERM), (Some(0), String::new()));
}

#[test]
fn ctrl_c_ends_an_agent_in_the_middle_of_a_slice() {
    let _place = Place::new();
    let (service, agent) = (Served::start(&["orders"]), Agent::start());
    let mut engine = engine(agent.connect(), &service);
    engine.prepare().expect("a connection");
    engine.begin(slice(1000)).expect("a slice");
    let (code, _) = agent.end(Signal::INT);
    assert_eq!(code, Some(0));
    let error = engine.finish().expect_err("no record").to_string();
    assert!(error.starts_with("the connection to the agent broke: "), "{error}");
}

#[test]
fn a_run_reaches_an_agent_by_any_stream() {
    let _place = Place::new();
    let (service, agent) = (Served::start(&["orders"]), Agent::start());
    // As a port-forward does: a Unix socket here, bytes carried to and fro.
    let (ours, theirs) = UnixStream::pair().expect("a pair");
    let far = agent.connect();
    let carriers = [
        std::thread::spawn({
            let (mut from, mut to) =
                (theirs.try_clone().expect("a socket"), far.try_clone().expect("a socket"));
            move || {
                let carried = std::io::copy(&mut from, &mut to);
                to.shutdown(std::net::Shutdown::Write).and(carried)
            }
        }),
        std::thread::spawn(move || std::io::copy(&mut &far, &mut &theirs)),
    ];
    let mut engine = engine(ours, &service);
    assert_eq!(engine.drive(slice(1)).expect("a record").answered, 200);
    drop(engine);
    for carrier in carriers {
        assert!(carrier.join().expect("no panic").expect("carried") > 0);
    }
    assert_eq!(agent.end(Signal::TERM).0, Some(0));
}

#[test]
fn an_agent_listens_on_loopback_only() {
    let place = Place::new();
    let ended = place.run(["agent", "--listen", "0.0.0.0:7777"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("listen on 127.0.0.1:7777"), "{}", ended.stderr);
    assert_eq!(place.run(["agent"]).code, Some(2), "an address must be given");
}

#[test]
fn a_port_that_is_taken_is_an_error() {
    let place = Place::new();
    let agent = Agent::start();
    let ended = place.run(["agent", "--listen", &agent.address.to_string()]);
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains(&format!("cannot listen on {}", agent.address)), "{}", ended.stderr);
}

#[test]
fn the_agent_has_help_of_its_own_and_is_not_in_the_list() {
    let place = Place::new();
    assert!(!place.run(["--help"]).stdout.contains("agent"));
    let help = place.run(["agent", "--help"]).stdout;
    assert!(help.contains("--listen <ADDRESS>") && help.contains("port-forward"), "{help}");
}
