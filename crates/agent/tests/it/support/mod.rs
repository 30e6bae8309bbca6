//! What the tests share: an agent in threads of this process, and a service that tells what it heard and who is connected.

pub mod watched;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroUsize;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use loadline_agent::protocol::Greeting;
use loadline_agent::{EngineSetup, RemoteEngine, ServeError};
use loadline_engine::{Arrivals, Load, LoadDescription, LoadSpec, Request, SliceSpec, Traffic};

/// Longest wait for anything: far more than it takes, so that a loaded machine fails no test.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// An agent, which ends with the value.
pub struct Agent {
    pub address: SocketAddr,
    end: UnixStream,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
}

impl Agent {
    pub fn start() -> Agent {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (end, told) = UnixStream::pair().unwrap();
        let thread = std::thread::spawn(move || loadline_agent::serve(&listener, told));
        Agent { address, end, thread: Some(thread) }
    }

    /// A stream to it.
    pub fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }

    /// An engine of its own for this service.
    pub fn engine(&self, service: SocketAddr, connections: usize) -> RemoteEngine {
        RemoteEngine::start(self.connect(), setup(service, connections), Arc::default()).unwrap()
    }

    /// The same, with a flag that stops it.
    pub fn engine_with_stop(&self, service: SocketAddr, stop: Arc<AtomicBool>) -> RemoteEngine {
        RemoteEngine::start(self.connect(), setup(service, 2), stop).unwrap()
    }

    /// Has it end, and waits until it has.
    pub fn end(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.end.write_all(b".").unwrap();
            thread.join().unwrap().unwrap();
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // A test that has failed does not wait for an agent that may be what is wrong.
        if !std::thread::panicking() {
            self.end();
        }
    }
}

/// One thread that sends `GET /`.
pub fn setup(service: SocketAddr, connections: usize) -> EngineSetup {
    EngineSetup {
        address: service,
        authority: service.to_string(),
        load: LoadDescription {
            load: LoadSpec::new(Load::Closed { think: None }, connections),
            traffic: Traffic::of(vec![Request::get("/")]),
        },
        threads: NonZeroUsize::MIN,
        cpus: None,
    }
}

/// The same engine with other requests.
pub fn sending(setup: EngineSetup, requests: Vec<Request>) -> EngineSetup {
    let traffic = Traffic { requests, ..setup.load.traffic };
    EngineSetup { load: LoadDescription { traffic, ..setup.load }, ..setup }
}

/// Equally spaced requests from the start on.
pub fn slice(rate: &str, duration: Duration) -> SliceSpec {
    let load = Load::Open { rate: rate.parse().unwrap(), arrivals: Arrivals::Uniform };
    SliceSpec { load, duration, seed: 7, offset: Duration::ZERO }
}

pub fn wait_for(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A message as it goes over the wire.
pub fn frame(json: &str) -> Vec<u8> {
    [&(json.len() as u32).to_be_bytes(), json.as_bytes()].concat()
}

pub fn greeting(greeting: &Greeting) -> Vec<u8> {
    frame(&serde_json::to_string(greeting).unwrap())
}

/// The next message on a stream, as JSON.
pub fn next_message(mut stream: &TcpStream) -> serde_json::Value {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    let mut body = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut body).unwrap();
    serde_json::from_slice(&body).unwrap()
}

/// Waits until the other side has ended the stream; that it broke off is as good.
pub fn assert_ended(mut stream: &TcpStream) {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut rest = Vec::new();
    if let Err(error) = stream.read_to_end(&mut rest) {
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error}");
    }
}
