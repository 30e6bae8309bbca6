//! Everything that the engine can do to a service, done by an agent: the description travels whole, files and due times included.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use crate::servers::certificates::Certificates;
use crate::servers::nginx::{Logged, Nginx, connections};
use crate::servers::{free_port, local};
use crate::support::{Agent, setup};
use loadline_agent::{AgentError, EngineSetup, RemoteEngine};
use loadline_engine::{
    Arrivals, ClientIdentity, FileContents, Load, LoadSpec, Protocol, Record, Replay, Request, Reuse,
    SliceSpec, Think, ThinkDistribution, Timestamps, TlsOptions, Traffic, read_tls_files,
};

const HALF_A_SECOND: Duration = Duration::from_millis(500);

/// nginx on two ports: clear text with HTTP/2 offered or not, and TLS.
struct Service {
    nginx: Nginx,
    port: u16,
}

impl Service {
    /// `listen`: what follows the port. Everything is answered with `ok`.
    fn start(listen: &str, lines: &str) -> Service {
        let port = free_port();
        let server = format!(
            "server {{ listen 127.0.0.1:{port} {listen}; {lines} location / {{ return 200 'ok'; }} }}"
        );
        Service { nginx: Nginx::start(&server, &[]), port }
    }

    /// Drives half a second through an agent, which has everything from the setup alone.
    fn drive(&self, change: impl FnOnce(&mut LoadSpec, &mut Traffic)) -> Record {
        self.try_drive(change).unwrap()
    }

    fn try_drive(&self, change: impl FnOnce(&mut LoadSpec, &mut Traffic)) -> Result<Record, AgentError> {
        let agent = Agent::start();
        let mut setup = self.setup();
        change(&mut setup.load.load, &mut setup.load.traffic);
        let load = setup.load.load.load.clone();
        let mut engine = RemoteEngine::start(agent.connect(), setup, Arc::default())?;
        engine.drive(SliceSpec { load, duration: HALF_A_SECOND, seed: 7, offset: Duration::ZERO })
    }

    fn setup(&self) -> EngineSetup {
        let mut setup = setup(local(self.port), 2);
        setup.load.load.load = Load::Open { rate: "100/s".parse().unwrap(), arrivals: Arrivals::Uniform };
        setup
    }

    fn log(&self, requests: u64) -> Vec<Logged> {
        self.nginx.log(requests)
    }
}

fn all_answered(record: &Record, due: u64) {
    assert_eq!((record.due, record.answered, record.errors.total()), (due, due, 0), "{:?}", record.errors);
}

fn file(path: &str, text: &str) -> FileContents {
    FileContents { path: path.into(), bytes: text.as_bytes().into() }
}

#[test]
fn a_replay_is_driven_at_its_own_times() {
    let service = Service::start("", "");
    let times: Vec<u64> = [0, 1, 1, 40, 400].map(|millis| millis * 1_000_000).to_vec();
    let replay = Load::Replay(Replay::new("times.txt".into(), times));
    all_answered(&service.drive(|load, _| load.load = replay), 5);
    assert_eq!(service.log(5).len(), 5);
}

#[test]
fn a_replay_that_the_agent_does_not_have_is_refused_by_name() {
    let service = Service::start("", "");
    let agent = Agent::start();
    let mut engine = RemoteEngine::start(agent.connect(), service.setup(), Arc::default()).unwrap();
    let load = Load::Replay(Replay::new("times.txt".into(), vec![0]));
    let slice = SliceSpec { load, duration: HALF_A_SECOND, seed: 7, offset: Duration::ZERO };
    let error = engine.drive(slice).unwrap_err().to_string();
    assert!(error.contains("replay of times.txt (1 requests)"), "{error}");
}

#[test]
fn a_profile_is_driven_at_the_rates_that_it_has() {
    let service = Service::start("", "");
    let profile = Load::Profile {
        profile: "0/s..400/s@250ms,100/s@250ms".parse().unwrap(),
        arrivals: Arrivals::Uniform,
    };
    all_answered(&service.drive(|load, _| load.load = profile), 75);
}

#[test]
fn users_think_between_answer_and_request() {
    let service = Service::start("", "");
    let think = Think { mean: Duration::from_secs(100), distribution: ThinkDistribution::Constant };
    let record = service.drive(|load, _| load.load = Load::Closed { think: Some(think) });
    assert!(record.answered <= 2, "each of two connections sends at most one: {}", record.answered);
}

#[test]
fn connections_are_used_as_often_as_is_said() {
    let service = Service::start("", "");
    all_answered(&service.drive(|load, _| load.reuse = Reuse::Never), 50);
    assert_eq!(connections(&service.log(50)), 50);
    all_answered(&service.drive(|load, _| load.reuse = Reuse::Times(5)), 50);
    let later = &service.log(100)[50..];
    assert_eq!(later.iter().map(|request| request.of_connection).max(), Some(5));
}

#[test]
fn http_2_is_spoken_with_several_requests_at_once() {
    let service = Service::start("http2", "");
    let streams = NonZeroUsize::new(8).unwrap();
    all_answered(&service.drive(|load, _| load.protocol = Protocol::Http2 { streams }), 50);
    assert!(service.log(50).iter().all(|request| request.protocol == "HTTP/2.0"));
}

#[test]
fn the_kernel_s_timestamps_are_taken() {
    let service = Service::start("", "");
    let record = service.drive(|load, _| load.timestamps = Timestamps::Kernel);
    all_answered(&record, 50);
    assert_eq!(record.service.len(), 50);
}

#[test]
fn a_response_that_takes_too_long_is_an_error() {
    let port = free_port();
    // Nobody ever answers: the connection is taken by the kernel alone.
    let _listener = std::net::TcpListener::bind(local(port)).unwrap();
    let agent = Agent::start();
    let mut setup = setup(local(port), 1);
    setup.load.load.timeout = Duration::from_millis(50);
    let mut engine = RemoteEngine::start(agent.connect(), setup, Arc::default()).unwrap();
    let record = engine.drive(crate::support::slice("10/s", HALF_A_SECOND)).unwrap();
    assert_eq!(record.answered, 0);
    assert!(record.errors.total() > 0);
}

#[test]
fn the_rows_of_a_csv_file_fill_the_requests() {
    let service = Service::start("", "");
    service.drive(|_, traffic| {
        traffic.feed = Some(file("users.csv", "id\n17\n4\n"));
        traffic.requests = vec![Request::get("/users/{{id}}")];
    });
    let of = |path: &str| service.log(50).iter().filter(|request| request.path == path).count();
    assert_eq!((of("/users/17"), of("/users/4")), (25, 25));
}

#[test]
fn a_csv_file_that_is_none_is_refused_with_its_name() {
    let service = Service::start("", "");
    let error = service.try_drive(|_, traffic| traffic.feed = Some(file("users.csv", "id\n"))).unwrap_err();
    assert!(error.to_string().contains("users.csv has no data rows"), "{error}");
}

#[test]
fn a_response_that_is_not_as_expected_is_an_error() {
    let service = Service::start("", "");
    all_answered(&service.drive(|_, traffic| traffic.expect = vec!["body~ok".parse().unwrap()]), 50);
    let record = service.drive(|_, traffic| traffic.expect = vec!["body~other".parse().unwrap()]);
    assert_eq!((record.answered, record.errors.total()), (50, 50));
    assert!(record.errors.by_name().contains_key("body"), "{:?}", record.errors);
}

#[test]
fn a_client_shows_its_certificate_and_trusts_the_given_authority_alone() {
    let certificates = Certificates::make();
    let lines = format!(
        "{} ssl_verify_client on; ssl_client_certificate {};",
        certificates.for_nginx("one"),
        certificates.certificate("ca").display()
    );
    let service = Service::start("ssl", &lines);
    let options = |ca: &str, client: bool| {
        let identity = client.then(|| ClientIdentity {
            certificate: certificates.certificate("client"),
            key: certificates.key("client"),
        });
        let ca = Some(certificates.certificate(ca));
        read_tls_files(&TlsOptions { ca, identity, ..TlsOptions::default() }).unwrap()
    };
    all_answered(&service.drive(|_, traffic| traffic.tls = Some(options("ca", true))), 50);
    assert!(service.log(50).iter().all(|request| request.client_subject == "CN=client"));
    let record = service.drive(|_, traffic| traffic.tls = Some(options("ca", false)));
    assert_eq!(record.errors.total(), 50, "nginx answers 400");
    let error = service.try_drive(|_, traffic| traffic.tls = Some(options("stranger", true))).unwrap_err();
    assert!(error.to_string().contains("UnknownIssuer"), "{error}");
}
