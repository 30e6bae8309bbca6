//! From what was seen of a single load (`loadline load`) to its result.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use loadline_model::Record;
use loadline_model::gates::{CpuUse, GateFailure};
use loadline_model::load::nanos;
use loadline_model::result::load::{
    LoadCounts, LoadDoubt, LoadGenerator, LoadOptions, LoadResult, LoadTimes, LoadTrust, SCHEMA,
};

/// What is known of a load that has ended.
#[derive(Clone, Debug)]
pub struct LoadRun {
    /// Version of loadline that drove it.
    pub version: String,
    /// Word by word.
    pub command_line: Vec<String>,
    /// When it began.
    pub started: SystemTime,
    /// What was asked for.
    pub options: LoadOptions,
    /// The requests of the mix, each on a line: `GET /a`.
    pub requests: Vec<String>,
    /// What the engine gathered.
    pub record: Record,
    /// CPU time that others took; `None` when the machine could not be read.
    pub cpu_use: Option<CpuUse>,
    /// How long the load threads were ready to run and did not, all together, ns; `None` if the kernel does not say.
    pub waited_for_cpu_ns: Option<u64>,
    /// The gates that it failed.
    pub gate_failures: Vec<GateFailure>,
}

/// The result of a load.
pub fn load_result(run: LoadRun) -> LoadResult {
    let record = &run.record;
    let errors = record.errors.by_request(&run.requests);
    let doubt = |failure: GateFailure| LoadDoubt::of(failure.with_kinds(&errors));
    LoadResult {
        schema: SCHEMA.to_owned(),
        version: run.version,
        command_line: run.command_line,
        started_unix_s: run.started.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64()),
        duration_ns: nanos(record.duration),
        interrupted: record.stopped,
        options: run.options,
        counts: LoadCounts::from(record),
        errors: errors.clone(),
        answered_per_second: per_second(record.answered_in_time, record.duration),
        received_bytes_per_second: per_second(record.received_bytes, record.duration),
        times: LoadTimes::from(record),
        generator: LoadGenerator {
            cpu_ns: record.cpu_ns,
            cpu_ns_per_request: (record.answered > 0).then(|| record.cpu_ns as f64 / record.answered as f64),
            busy_share: record.share_of_workers(record.cpu_ns),
            waiting_for_cpu_share: run.waited_for_cpu_ns.map(|ns| record.share_of_workers(ns)),
            stolen_cpu_share: run.cpu_use.map(|cpu| cpu.steal_ns as f64 / cpu.capacity_ns.max(1) as f64),
        },
        trust: LoadTrust {
            trusted: run.gate_failures.is_empty(),
            doubts: run.gate_failures.into_iter().map(doubt).collect(),
        },
    }
}

/// A load that was stopped at once has no length, and no rate.
fn per_second(count: u64, duration: Duration) -> f64 {
    if duration.is_zero() { 0.0 } else { count as f64 / duration.as_secs_f64() }
}

#[cfg(test)]
mod tests {
    use loadline_model::gates::Gate;
    use loadline_model::result::load::{Clock, Protocol};

    use super::*;

    fn run(record: Record) -> LoadRun {
        let options = LoadOptions {
            url: "http://127.0.0.1/".to_owned(),
            target: "127.0.0.1:80".to_owned(),
            protocol: Protocol::Http1,
            tls: false,
            load: "closed loop".to_owned(),
            rate_per_second: None,
            closed: true,
            seed: 7,
            connections: 64,
            threads: 2,
            cpus: Vec::new(),
            streams: 1,
            requests_per_connection: None,
            timeout_ns: 1,
            timestamps: Clock::User,
        };
        LoadRun {
            version: "0.1.0".to_owned(),
            command_line: vec!["loadline".to_owned()],
            started: UNIX_EPOCH + Duration::from_millis(1500),
            options,
            requests: vec!["GET /".to_owned()],
            record,
            cpu_use: Some(CpuUse { capacity_ns: 1_000, steal_ns: 30, most_stolen: None, foreign_ns: None }),
            waited_for_cpu_ns: Some(400_000_000),
            gate_failures: vec![GateFailure::Stolen { share: 0.03, most: 0.02 }],
        }
    }

    #[test]
    fn a_result_holds_rates_and_shares_of_what_was_gathered() {
        let mut record = Record { duration: Duration::from_secs(2), workers: 2, ..Record::empty() };
        (record.answered, record.answered_in_time, record.received_bytes) = (10, 8, 400);
        record.cpu_ns = 1_000_000_000;
        let result = load_result(run(record));
        assert_eq!((result.started_unix_s, result.duration_ns), (1.5, 2_000_000_000));
        assert_eq!((result.answered_per_second, result.received_bytes_per_second), (4.0, 200.0));
        assert_eq!(result.generator.cpu_ns_per_request, Some(1e8));
        assert_eq!((result.generator.busy_share, result.generator.waiting_for_cpu_share), (0.25, Some(0.1)));
        assert_eq!(result.generator.stolen_cpu_share, Some(0.03));
        let gates: Vec<Gate> = result.trust.doubts.iter().map(|doubt| doubt.gate).collect();
        assert_eq!((result.trust.trusted, gates), (false, vec![Gate::Steal]));
    }

    #[test]
    fn a_load_that_was_stopped_at_once_has_rates_of_zero() {
        let nothing = LoadRun { gate_failures: Vec::new(), ..run(Record::empty()) };
        let result = load_result(nothing);
        assert_eq!((result.answered_per_second, result.received_bytes_per_second), (0.0, 0.0));
        assert_eq!((result.generator.cpu_ns_per_request, result.generator.busy_share), (None, 0.0));
        assert!(result.times.response.is_none() && result.trust.trusted);
    }
}
