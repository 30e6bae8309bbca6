//! Once an engine is warm, a request costs no allocation and no lock: what 20,000 of them allocate, and how often they wait for a lock,
//! is what 1,000 do.

mod sys;

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use crate::servers::certificates::Certificates;
use crate::servers::nginx::Nginx;
use crate::servers::{free_port, local};
use crate::support;
use crate::support::{alone, options, slice};
use loadline_engine::{
    Endpoint, Engine, Expectation, Feed, Load, Mix, MixOptions, Options, Record, Request, Reuse, SliceSpec,
    Timestamps, Tls, TlsOptions, Wire,
};

#[global_allocator]
static ALLOCATOR: sys::Counting = sys::Counting;

/// What a slice allocates however many requests it has: its histograms, a command, an answer.
const OF_A_SLICE: u64 = 60;

/// Drives a slice and says how many allocations its workers made.
fn counted(engine: &mut Engine, spec: SliceSpec) -> (Record, u64) {
    let before = sys::allocations();
    let record = engine.drive(spec).unwrap();
    assert_eq!(record.errors.total(), 0, "{:?}", record.errors);
    (record, sys::allocations() - before)
}

/// An engine whose workers' allocations are counted.
fn counting(options: Options) -> Engine {
    let options = Options {
        on_thread_start: Arc::new(|| {
            sys::count_this_thread();
            Ok(())
        }),
        ..options
    };
    Engine::start(&options).unwrap()
}

fn few_and_many_requests_allocate_the_same(what: &str, options: Options) {
    let mut engine = counting(options);
    // Warm, and with every connection used at once.
    counted(&mut engine, slice("20000/s", 0.5));
    counted(&mut engine, SliceSpec { load: Load::Closed { think: None }, ..slice("1/s", 0.1) });
    let (few, of_few) = counted(&mut engine, slice("1000/s", 0.5));
    let (many, of_many) = counted(&mut engine, slice("20000/s", 0.5));
    println!("{what}: {of_few} allocations for {} requests, {of_many} for {}", few.answered, many.answered);
    assert_eq!((few.due, many.due), (500, 10_000));
    assert!(of_few <= OF_A_SLICE, "{what}: {of_few}");
    assert!(of_many <= of_few + 10, "{what}: {of_few} for 500 requests, {of_many} for 10,000");
}

fn nginx() -> (Nginx, SocketAddr) {
    let address = local(free_port());
    let text = [b'x'; 600];
    let lines = "root {folder}; sub_filter_types *; sub_filter nowhere x; access_log off; location = /fixed { return 200 ok; }";
    (Nginx::start(&format!("server {{ listen {address}; {lines} }}"), &[("chunked", &text)]), address)
}

#[test]
fn plain_requests() {
    let _alone = alone();
    let (_nginx, address) = nginx();
    let request = [Request::get("/fixed")];
    few_and_many_requests_allocate_the_same("one worker", support::options_for(address, 8, &request));
    let workers = Options { threads: 2, ..support::options_for(address, 8, &request) };
    few_and_many_requests_allocate_the_same("two workers", workers);
    let stamped = Options { timestamps: Timestamps::Kernel, ..support::options_for(address, 8, &request) };
    few_and_many_requests_allocate_the_same("kernel timestamps", stamped);
}

#[test]
fn chunked_responses_whose_head_and_body_are_checked() {
    let _alone = alone();
    let (_nginx, address) = nginx();
    let options = support::options_for(address, 8, &[Request::get("/chunked")]);
    few_and_many_requests_allocate_the_same("chunked", options.clone());
    let whole = format!("body={}", "x".repeat(600));
    for check in ["header:server~nginx", "body~xxx", &whole] {
        let expectation = Arc::new(Expectation::parse([check]).unwrap());
        few_and_many_requests_allocate_the_same(&check[..8], Options { expectation, ..options.clone() });
    }
}

#[test]
fn requests_that_are_filled_from_a_table() {
    let _alone = alone();
    let (_nginx, address) = nginx();
    let feed = Feed::parse("table.csv".as_ref(), "id,name\n1,a\n22,bb\n333,ccc\n".as_bytes()).unwrap();
    let endpoint = Endpoint::from(address);
    let request = Request {
        headers: vec![("X-Name".to_owned(), "{{name}}".to_owned())],
        ..Request::get("/fixed?{{id}}")
    };
    let mix =
        Mix::with(&[request], &endpoint, &MixOptions { feed: Some(feed), ..MixOptions::default() }).unwrap();
    few_and_many_requests_allocate_the_same(
        "table",
        Options { connections: 8, ..Options::new(endpoint, mix) },
    );
}

#[test]
fn http_2_with_streams() {
    let _alone = alone();
    let address = local(free_port());
    let server =
        format!("server {{ listen {address} http2; access_log off; location / {{ return 200 ok; }} }}");
    let _nginx = Nginx::start(&server, &[]);
    let endpoint = Endpoint::from(address);
    let http2 = MixOptions { wire: Wire::Http2, ..MixOptions::default() };
    let mix = Mix::with(&[Request::get("/")], &endpoint, &http2).unwrap();
    let options = Options { connections: 2, streams: NonZeroUsize::new(8), ..Options::new(endpoint, mix) };
    few_and_many_requests_allocate_the_same("HTTP/2", options);
}

#[test]
fn intervals_are_handed_over_in_records_that_are_used_again() {
    let _alone = alone();
    let (_nginx, address) = nginx();
    let interval = Some(Duration::from_millis(50));
    let options = Options { interval, ..support::options_for(address, 8, &[Request::get("/fixed")]) };
    few_and_many_requests_allocate_the_same("intervals", options);
}

#[test]
fn connections_for_one_request_each() {
    let _alone = alone();
    let (_nginx, address) = nginx();
    let options =
        Options { reuse: Reuse::Never, ..support::options_for(address, 64, &[Request::get("/fixed")]) };
    let mut engine = counting(options);
    counted(&mut engine, slice("2000/s", 0.5));
    let (_, of_few) = counted(&mut engine, slice("200/s", 0.5));
    let (_, of_many) = counted(&mut engine, slice("2000/s", 0.5));
    println!("new connections: {of_few} allocations for 100 requests, {of_many} for 1,000");
    assert!(of_many <= of_few + 10, "{of_few} for 100 requests, {of_many} for 1,000");
}

/// rustls makes a buffer for each record that it writes and reads (`OutboundOpaqueMessage`), so that TLS allocates: a few times a
/// request and no more than that.
#[test]
fn tls_allocates_what_rustls_does() {
    let _alone = alone();
    let certificates = Certificates::make();
    let address = local(free_port());
    let one = certificates.for_nginx("one");
    let server =
        format!("server {{ listen {address} ssl; {one} access_log off; location / {{ return 200 ok; }} }}");
    let _nginx = Nginx::start(&server, &[]);
    let tls = Tls::new("one.test", &TlsOptions { insecure: true, ..TlsOptions::default() }, false).unwrap();
    let endpoint = Endpoint { tls: Some(tls), ..Endpoint::from(address) };
    let options = Options {
        on_thread_start: Arc::new(|| {
            sys::count_this_thread();
            Ok(())
        }),
        ..options(endpoint, 8)
    };
    let mut engine = Engine::start(&options).unwrap();
    counted(&mut engine, slice("2000/s", 0.5));
    let (record, allocations) = counted(&mut engine, slice("10000/s", 0.5));
    let each = allocations as f64 / record.answered as f64;
    println!("TLS: {each:.2} allocations a request");
    assert!(each < 4.0, "{each}");
}

const TARGET: &str = "LOADLINE_TEST_TARGET";
const RATE: &str = "LOADLINE_TEST_RATE";

/// Not a test: a load for another program to look at, driven by 2 workers at the rate that the environment names.
#[test]
#[ignore = "started by the tests below"]
fn load_to_be_looked_at() {
    let address: SocketAddr = std::env::var(TARGET).unwrap().parse().unwrap();
    let rate = std::env::var(RATE).unwrap();
    let options = Options { threads: 2, ..support::options_for(address, 16, &[Request::get("/fixed")]) };
    let record = Engine::start(&options).unwrap().drive(slice(&rate, 1.0)).unwrap();
    assert_eq!((record.answered, record.errors.total()), (record.due, 0), "{:?}", record.errors);
}

/// Runs the load above under `observer`.
fn look_at(address: SocketAddr, rate: &str, observer: &[&str]) {
    let program = std::env::current_exe().unwrap();
    let output = Command::new(observer[0])
        .args(&observer[1..])
        .arg(program)
        .args(["--exact", "steady_state::load_to_be_looked_at", "--ignored"])
        .env(TARGET, address.to_string())
        .env(RATE, rate)
        .output()
        .unwrap_or_else(|error| {
            panic!("can't start {}: {error}; tests/install-tools installs it", observer[0])
        });
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A lock that is contended, a thread that sleeps on a condition or a channel: all are calls of futex(2).
#[test]
fn requests_wait_for_no_lock_and_ask_for_no_memory() {
    let _alone = alone();
    let (nginx, address) = nginx();
    let calls = |rate: &str| {
        let trace = nginx.path(&format!("trace-{}", rate.replace('/', "-")));
        let trace_text = trace.display().to_string();
        let asked = "trace=futex,mmap,munmap,brk,madvise,mremap";
        look_at(address, rate, &["strace", "-f", "--seccomp-bpf", "-qq", "-e", asked, "-o", &trace_text]);
        std::fs::read_to_string(trace).unwrap().lines().count()
    };
    let (few, many) = (calls("100/s"), calls("5000/s"));
    println!("{few} calls of futex and for memory with 100 requests, {many} with 5,000");
    // How often the threads wait for each other at the start and the end varies a little.
    assert!(many <= few + 100, "{few} calls with 100 requests, {many} with 5,000");
}

/// The samples of the load threads contain no function that allocates or locks.
#[test]
fn perf_shows_no_allocation_and_no_lock() {
    let _alone = alone();
    let (nginx, address) = nginx();
    let data = nginx.path("perf.data").display().to_string();
    // Of the program itself alone; the kernel's own locks are its own affair.
    look_at(
        address,
        "20000/s",
        &["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "4000", "-o", &data, "--"],
    );
    let report = Command::new("perf")
        .args(["report", "-i", &data, "--stdio", "-q", "--sort", "comm,symbol", "-F", "sample,comm,symbol"])
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&report.stdout).into_owned();
    let load: Vec<&str> = report.lines().filter(|line| line.contains("load-")).collect();
    let samples = |lines: &[&str]| -> u64 {
        lines.iter().map(|line| line.split_whitespace().next().unwrap().parse::<u64>().unwrap()).sum()
    };
    let names = ["alloc", "calloc", "realloc", "free", "lock", "mutex", "futex", "park"];
    let is_suspicious = |line: &&&str| {
        // The crate `alloc` has containers, too: a heap that is sifted and a vector with room to spare allocate nothing.
        let symbol = line.to_lowercase();
        let symbol = ["clock", "alloc::collections::", "alloc::vec::"]
            .iter()
            .fold(symbol, |symbol, harmless| symbol.replace(harmless, ""));
        names.iter().any(|name| symbol.contains(name))
    };
    let suspicious: Vec<&str> = load.iter().filter(is_suspicious).copied().collect();
    println!(
        "{} samples of the load threads, {} in suspicious functions",
        samples(&load),
        samples(&suspicious)
    );
    println!("{}", load[..load.len().min(12)].join("\n"));
    assert!(samples(&load) > 200, "too few samples:\n{report}");
    // Starting and ending a slice do allocate.
    assert!(samples(&suspicious) * 100 <= samples(&load), "{}", suspicious.join("\n"));
}
