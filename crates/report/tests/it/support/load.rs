//! Invented results of single loads.

use std::time::Duration;

use loadline_model::gates::{Gate, GateFailure, Late};
use loadline_model::load::{Arrivals, Load};
use loadline_model::result::load::*;
use loadline_model::{ErrorKind, Record};

/// All of them.
pub fn all() -> Vec<LoadResult> {
    vec![open(), closed(), untrusted(), nothing()]
}

/// What a load of two seconds gathered, whose responses took 1 µs to 1 ms and one of them 20 ms.
pub fn record() -> Record {
    let mut record = Record { duration: Duration::from_secs(2), ..Record::empty() };
    for us in (1..=1000).chain([20_000]) {
        record.keep_lag(us * 20);
        record.keep(0, us * 1_000, us * 900);
    }
    record.sent_in_time = record.due;
    record.answered_in_time = record.answered;
    record.received_bytes = 2_500_000;
    record.cpu_ns = 40_000_000;
    record
}

/// 500 requests a second over a connection or more, each answered.
pub fn open() -> LoadResult {
    result(&record(), options("500/s uniform", Some(500.0)))
}

/// A closed loop over HTTP/2 and TLS, with new connections on the way, and failures.
pub fn closed() -> LoadResult {
    let mut record = record();
    for (kind, times) in [(ErrorKind::Status, 1200), (ErrorKind::Timeout, 1)] {
        (0..times).for_each(|_| record.errors.count(kind));
    }
    record.reconnects = 12;
    (1..=12).for_each(|us| record.connect.record(us * 1_000).expect("within bounds"));
    (1..=12).for_each(|us| record.handshake.record(us * 100_000).expect("within bounds"));
    record.resolve.record(300_000).expect("within bounds");
    let mut result = result(&record, options("closed loop", None));
    result.options.closed = true;
    (result.options.protocol, result.options.streams, result.options.tls) = (Protocol::Http2, 8, true);
    (result.options.requests_per_connection, result.options.threads) = (Some(100), 2);
    result.options.cpus = vec![0, 1, 2];
    result
}

/// One that every kind of gate speaks against, and that was interrupted.
pub fn untrusted() -> LoadResult {
    let mut record = record();
    (record.waited, record.stopped) = (7, true);
    (1..=7).for_each(|ms| record.wait.record(ms * 1_000_000).expect("within bounds"));
    let asked = Load::Open { rate: "500/s".parse().expect("a rate"), arrivals: Arrivals::Uniform };
    let mut result = result(&record, options("500/s uniform", Some(500.0)));
    let failures = [
        GateFailure::NotSent { gate: Gate::Rate, share: 0.95, least: 0.999, asked },
        GateFailure::Late(Late { p99_us: 240.0, bound_us: 100.0 }),
        GateFailure::LoadSaturated { busy_share: 0.6, waiting_share: 0.38, most: 0.95 },
        GateFailure::Failed { failed: 7, due: 20, kinds: [("timeout".to_owned(), 7)].into() },
        GateFailure::Stolen { share: 0.031, most: 0.02 },
        GateFailure::LoadWaited { share: 0.38, most: 0.1 },
    ];
    result.trust = LoadTrust { trusted: false, doubts: failures.into_iter().map(LoadDoubt::of).collect() };
    result
}

/// One that was stopped at once.
pub fn nothing() -> LoadResult {
    let mut result = result(&Record::empty(), options("500/s uniform", Some(500.0)));
    (result.answered_per_second, result.received_bytes_per_second) = (0.0, 0.0);
    result.options.connections = 1;
    result.options.cpus = vec![3];
    result.options.requests_per_connection = Some(1);
    result
}

fn options(load: &str, rate_per_second: Option<f64>) -> LoadOptions {
    LoadOptions {
        url: "http://127.0.0.1:8080/orders?a=[1]".to_owned(),
        target: "127.0.0.1:8080".to_owned(),
        protocol: Protocol::Http1,
        tls: false,
        load: load.to_owned(),
        rate_per_second,
        closed: false,
        seed: 7,
        connections: 64,
        threads: 1,
        cpus: Vec::new(),
        streams: 1,
        requests_per_connection: None,
        timeout_ns: 10_000_000_000,
        timestamps: Clock::User,
    }
}

fn result(record: &Record, options: LoadOptions) -> LoadResult {
    let seconds = record.duration.as_secs_f64();
    LoadResult {
        schema: SCHEMA.to_owned(),
        version: "0.1.0".to_owned(),
        command_line: ["loadline", "load", "http://127.0.0.1:8080/orders?a=[1]"].map(str::to_owned).to_vec(),
        started_unix_s: 1_700_000_000.25,
        duration_ns: record.duration.as_nanos() as u64,
        interrupted: record.stopped,
        options,
        counts: LoadCounts::from(record),
        errors: record.errors.by_name(),
        answered_per_second: record.answered_in_time as f64 / seconds,
        received_bytes_per_second: record.received_bytes as f64 / seconds,
        times: LoadTimes::from(record),
        generator: LoadGenerator {
            cpu_ns: record.cpu_ns,
            cpu_ns_per_request: (record.answered > 0).then(|| record.cpu_ns as f64 / record.answered as f64),
            busy_share: 0.02,
            waiting_for_cpu_share: Some(0.001),
            stolen_cpu_share: None,
        },
        trust: LoadTrust { trusted: true, doubts: Vec::new() },
    }
}
