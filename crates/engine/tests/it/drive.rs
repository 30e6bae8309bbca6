//! The engine against small real servers, each with a behaviour of its own.

use std::time::{Duration, Instant};

use crate::server::Server;
use crate::support::undisturbed::undisturbed;
use loadline_engine::{
    Arrivals, Endpoint, Engine, ErrorKind, Load, Mix, Options, Record, Request, Reuse, SliceSpec,
};

fn options(server: &Server, connections: usize) -> Options {
    let endpoint = Endpoint::from(server.address);
    let mix = Mix::new(&[Request::get("/")], &endpoint).unwrap();
    Options { connections, timeout: Duration::from_millis(500), ..Options::new(endpoint, mix) }
}

fn slice(rate: &str, seconds: f64) -> SliceSpec {
    SliceSpec {
        load: Load::Open { rate: rate.parse().unwrap(), arrivals: Arrivals::Uniform },
        duration: Duration::from_secs_f64(seconds),
        seed: 7,
        offset: Duration::ZERO,
    }
}

fn drive(server: &Server, connections: usize, rate: &str, seconds: f64) -> Record {
    Engine::start(&options(server, connections)).unwrap().drive(slice(rate, seconds)).unwrap()
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[test]
fn every_due_request_is_sent_and_answered() {
    undisturbed(|| {
        let server = Server::answering(OK);
        let record = drive(&server, 4, "500/s", 1.0);
        assert_eq!((record.due, record.sent_in_time, record.answered), (500, 500, 500));
        assert_eq!(record.response.len(), 500);
        assert_eq!(record.service.len(), 500);
        assert_eq!(record.send_lag.len(), 500);
        assert_eq!(record.errors.total(), 0);
        assert_eq!(record.reconnects, 0);
    });
}

#[test]
fn workers_share_one_schedule() {
    let server = Server::answering(OK);
    let of = |threads| {
        let mut engine = Engine::start(&Options { threads, ..options(&server, 6) }).unwrap();
        engine.drive(slice("301/s", 0.5)).unwrap().answered
    };
    assert_eq!([of(1), of(2), of(3)], [151, 151, 151]);
}

#[test]
fn an_engine_stays_connected_between_slices() {
    let server = Server::answering(OK);
    let mut engine = Engine::start(&options(&server, 3)).unwrap();
    for _ in 0..3 {
        assert_eq!(engine.drive(slice("100/s", 0.2)).unwrap().errors.total(), 0);
    }
    assert_eq!(server.connections(), 3);
}

#[test]
fn a_closed_loop_keeps_every_connection_busy() {
    let server = Server::delaying(Duration::from_millis(20));
    let mut engine = Engine::start(&options(&server, 5)).unwrap();
    let record = engine.drive(SliceSpec { load: Load::Closed { think: None }, ..slice("1/s", 0.5) }).unwrap();
    // 5 connections × 0.5 s ÷ 20 ms = 125, less for every delay of the machine's own.
    assert!((50..=130).contains(&record.answered), "{}", record.answered);
    assert!(record.service.min() >= 19_900_000, "{}", record.service.min());
}

#[test]
fn a_closed_loop_of_one_connection_a_request_does_not_wait_for_the_next_look_at_the_clock() {
    let server = Server::answering_once(OK);
    let mut engine = Engine::start(&Options { reuse: Reuse::Never, ..options(&server, 1) }).unwrap();
    let record = engine.drive(SliceSpec { load: Load::Closed { think: None }, ..slice("1/s", 0.5) }).unwrap();
    // Every 10 ms the worker looks whether it is to stop; were that all that wakes it, there would be 50.
    assert!(record.answered > 100, "{}", record.answered);
    assert_eq!(record.errors.total(), 0);
}

#[test]
fn a_request_that_finds_no_connection_waits_and_its_wait_counts() {
    let server = Server::delaying(Duration::from_millis(50));
    // One connection carries 20/s; 40/s are due for half a second: the last of 20 is done after 1 s, 525 ms after it was due.
    let patient = Options { timeout: Duration::from_secs(10), ..options(&server, 1) };
    let record = Engine::start(&patient).unwrap().drive(slice("40/s", 0.5)).unwrap();
    assert_eq!(record.answered, 20);
    assert!(record.waited >= 18, "{}", record.waited);
    assert!(record.response.max() >= 500_000_000, "{}", record.response.max());
    assert!(record.service.value_at_quantile(0.5) < 100_000_000);
    assert!(record.send_lag.value_at_quantile(0.5) < 20_000_000, "waiting is no send lag");
}

#[test]
fn a_stall_shows_in_response_time_as_arithmetic_predicts_and_not_in_service_time() {
    undisturbed(|| {
        let server = Server::stalling(Duration::from_secs(1), Duration::from_secs(10));
        let mut engine =
            Engine::start(&Options { timeout: Duration::from_secs(5), ..options(&server, 16) }).unwrap();
        let record = engine.drive(slice("1000/s", 10.0)).unwrap();
        assert_eq!((record.answered, record.errors.total()), (10_000, 0));
        // A tenth of the requests is due within the stall; the wait falls from 1 s to 0, so quantile q is (q − 0.9) ÷ 0.1 s.
        for (quantile, seconds) in [(0.92, 0.2), (0.95, 0.5), (0.99, 0.9), (0.999, 0.99)] {
            let response = record.response.value_at_quantile(quantile) as f64 / 1e9;
            println!("q{quantile}: response {response:.4} s, arithmetic {seconds} s");
            assert!((response - seconds).abs() < 0.05, "q{quantile}: {response} s, not {seconds} s");
        }
        let service = record.service.value_at_quantile(0.99) as f64 / 1e9;
        println!("q0.99: service {service:.6} s");
        // Only the 16 requests that were under way, 0.16 % of all, saw the stall in their service time.
        assert!(service < 0.1, "{service}");
    });
}

#[test]
fn failures_are_counted_by_kind_and_end() {
    let cases: [(&[u8], ErrorKind); 6] = [
        (b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", ErrorKind::Status),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", ErrorKind::EarlyEnd),
        (b"garbage in, garbage out\r\n\r\n", ErrorKind::Malformed),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and more", ErrorKind::Malformed),
        (b"", ErrorKind::EarlyEnd),
        (b"HTTP/1.1 200 OK\r\n", ErrorKind::EarlyEnd),
    ];
    for (answer, kind) in cases {
        let server = Server::answering_once(answer);
        let record = drive(&server, 2, "50/s", 0.4);
        let text = String::from_utf8_lossy(answer);
        assert_eq!(record.errors.of(kind), 20, "{text:?}: {:?}", record.errors);
        assert_eq!(record.errors.total(), 20, "{text:?}");
    }
}

#[test]
fn a_reset_is_counted_as_one() {
    let server = Server::resetting();
    let record = drive(&server, 2, "50/s", 0.4);
    assert_eq!(record.errors.of(ErrorKind::Reset), 20, "{:?}", record.errors);
}

#[test]
fn silence_ends_in_time_outs_that_count_as_response_time() {
    let server = Server::silent();
    let begun = Instant::now();
    let record = drive(&server, 4, "20/s", 0.4);
    assert_eq!(record.errors.of(ErrorKind::Timeout), 8, "{:?}", record.errors);
    assert_eq!(record.response.len(), 8);
    assert!(record.response.min() >= 499_000_000, "{}", record.response.min());
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn nobody_listening_is_an_error_before_the_slice() {
    let address = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let endpoint = Endpoint::from(address);
    let server = Server::answering(OK);
    let options =
        Options { mix: Mix::new(&[Request::get("/")], &endpoint).unwrap(), endpoint, ..options(&server, 2) };
    let error = Engine::start(&options).unwrap().drive(slice("10/s", 0.1)).unwrap_err();
    assert!(error.to_string().contains("cannot connect"), "{error}");
}

#[test]
fn a_service_that_closes_after_each_response_is_reconnected_to() {
    undisturbed(|| {
        let server = Server::answering_once(b"HTTP/1.0 200 OK\r\n\r\nuntil the end");
        let record = drive(&server, 2, "50/s", 0.4);
        assert_eq!((record.answered, record.errors.total()), (20, 0), "{:?}", record.errors);
        // The last one, too, if there is a CPU for it before the slice ends.
        assert_eq!(record.reconnects, 20);
    });
}

#[test]
fn a_body_larger_than_the_socket_buffers_is_sent_whole() {
    let server = Server::echoing_length();
    let endpoint = Endpoint::from(server.address);
    let request = Request { method: "POST".into(), body: vec![b'x'; 8 << 20], ..Request::get("/") };
    let options = Options {
        mix: Mix::new(&[request], &endpoint).unwrap(),
        timeout: Duration::from_secs(5),
        ..options(&server, 1)
    };
    let record = Engine::start(&options).unwrap().drive(slice("10/s", 0.3)).unwrap();
    assert_eq!((record.answered, record.errors.total()), (3, 0), "{:?}", record.errors);
}

#[test]
fn setting_the_stop_flag_ends_a_slice_early() {
    let server = Server::answering(OK);
    let options = options(&server, 2);
    let stop = options.stop.clone();
    let mut engine = Engine::start(&options).unwrap();
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let record = engine.drive(slice("100/s", 60.0)).unwrap();
    stopper.join().unwrap();
    assert!(record.stopped);
    assert!(record.duration < Duration::from_secs(30));
    assert!(record.due < 3000);
}
