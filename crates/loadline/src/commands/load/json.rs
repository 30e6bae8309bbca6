//! The result as JSON: everything, with units in the names, and every histogram whole.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use loadline_engine::{Load, Record, Reuse, Timestamps};
use serde::Serialize;

use super::plan::Plan;
use super::watchdog::Verdict;
use crate::arguments::LoadArguments;

/// Name and version of the format; the version changes when a reader would have to.
const SCHEMA: &str = "loadline.load/1";

/// Writes the result.
pub fn write(
    arguments: &LoadArguments,
    plan: &Plan,
    started: SystemTime,
    record: &Record,
    verdict: &Verdict,
    out: &mut dyn Write,
) -> Result<()> {
    // A load that was stopped at once has no length.
    let seconds = record.duration.as_secs_f64().max(f64::MIN_POSITIVE);
    let result = LoadResult {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        command_line: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        started_unix_s: started.duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64()),
        duration_ns: nanos(record.duration.as_nanos()),
        interrupted: record.stopped,
        options: UsedOptions::of(arguments, plan),
        counts: Counts::of(record),
        errors: record.errors.by_name(),
        answered_per_second: record.answered_in_time as f64 / seconds,
        received_bytes_per_second: record.received_bytes as f64 / seconds,
        times: AllTimes {
            response: Times::of(&record.response)?,
            service: Times::of(&record.service)?,
            send_lag: Times::of(&record.send_lag)?,
            wait: Times::of(&record.wait)?,
            resolve: Times::of(&record.resolve)?,
            connect: Times::of(&record.connect)?,
            tls_handshake: Times::of(&record.handshake)?,
        },
        generator: Generator::of(record, verdict),
        trust: Trust::of(verdict),
    };
    serde_json::to_writer_pretty(&mut *out, &result)?;
    writeln!(out)?;
    Ok(())
}

#[derive(Serialize)]
struct LoadResult {
    schema: &'static str,
    version: &'static str,
    command_line: Vec<String>,
    started_unix_s: f64,
    /// As asked, or until it was interrupted.
    duration_ns: u64,
    interrupted: bool,
    options: UsedOptions,
    counts: Counts,
    /// Failed requests by kind; only the kinds that occurred.
    errors: BTreeMap<String, u64>,
    answered_per_second: f64,
    received_bytes_per_second: f64,
    times: AllTimes,
    generator: Generator,
    trust: Trust,
}

#[derive(Serialize)]
struct UsedOptions {
    url: String,
    /// The address or socket that was connected to.
    target: String,
    protocol: &'static str,
    tls: bool,
    /// In words.
    load: String,
    /// `None` unless there was one rate throughout.
    rate_per_second: Option<f64>,
    closed: bool,
    seed: u64,
    connections: usize,
    threads: usize,
    cpus: Vec<usize>,
    /// Requests at once on a connection.
    streams: usize,
    /// `None` for as many as the service allows.
    requests_per_connection: Option<u64>,
    timeout_ns: u64,
    timestamps: &'static str,
}

impl UsedOptions {
    fn of(arguments: &LoadArguments, plan: &Plan) -> UsedOptions {
        let (options, slice) = (&plan.options, &plan.slice);
        UsedOptions {
            url: arguments.url.clone(),
            target: options.endpoint.target.to_string(),
            protocol: if options.streams.is_some() { "HTTP/2" } else { "HTTP/1.1" },
            tls: options.endpoint.tls.is_some(),
            load: slice.load.to_string(),
            rate_per_second: slice.load.rate().map(|rate| rate.as_per_second()),
            closed: matches!(slice.load, Load::Closed { .. }),
            seed: slice.seed,
            connections: options.connections,
            threads: options.threads,
            cpus: options.cpus.clone(),
            streams: options.streams.map_or(1, std::num::NonZeroUsize::get),
            requests_per_connection: match options.reuse {
                Reuse::Always => None,
                Reuse::Times(times) => Some(times),
                Reuse::Never => Some(1),
            },
            timeout_ns: nanos(options.timeout.as_nanos()),
            timestamps: match options.timestamps {
                Timestamps::User => "user",
                Timestamps::Kernel => "kernel",
            },
        }
    }
}

#[derive(Serialize)]
struct Counts {
    due: u64,
    sent: u64,
    /// Before the end, 1 ms of grace included.
    sent_in_time: u64,
    answered: u64,
    answered_in_time: u64,
    /// Requests that found every connection busy.
    waited: u64,
    errors: u64,
    /// Connections opened while the load went on.
    connections_opened: u64,
    received_bytes: u64,
}

impl Counts {
    fn of(record: &Record) -> Counts {
        Counts {
            due: record.due,
            // Every request that was written has its send lag.
            sent: record.send_lag.len(),
            sent_in_time: record.sent_in_time,
            answered: record.answered,
            answered_in_time: record.answered_in_time,
            waited: record.waited,
            errors: record.errors.total(),
            connections_opened: record.reconnects,
            received_bytes: record.received_bytes,
        }
    }
}

/// `None` where nothing was recorded.
#[derive(Serialize)]
struct AllTimes {
    response: Option<Times>,
    service: Option<Times>,
    send_lag: Option<Times>,
    wait: Option<Times>,
    resolve: Option<Times>,
    connect: Option<Times>,
    tls_handshake: Option<Times>,
}

#[derive(Serialize)]
struct Times {
    count: u64,
    mean_ns: f64,
    stdev_ns: f64,
    min_ns: u64,
    p50_ns: u64,
    p75_ns: u64,
    p90_ns: u64,
    p95_ns: u64,
    p99_ns: u64,
    p99_9_ns: u64,
    p99_99_ns: u64,
    p99_999_ns: u64,
    max_ns: u64,
    /// HdrHistogram's V2 encoding, compressed, as every HdrHistogram library reads it; ns.
    hdrhistogram_v2_base64: String,
}

impl Times {
    fn of(times: &Histogram<u64>) -> Result<Option<Times>> {
        if times.is_empty() {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(times, &mut bytes)?;
        let at = |quantile| times.value_at_quantile(quantile);
        Ok(Some(Times {
            count: times.len(),
            mean_ns: times.mean(),
            stdev_ns: times.stdev(),
            min_ns: times.min(),
            p50_ns: at(0.5),
            p75_ns: at(0.75),
            p90_ns: at(0.9),
            p95_ns: at(0.95),
            p99_ns: at(0.99),
            p99_9_ns: at(0.999),
            p99_99_ns: at(0.9999),
            p99_999_ns: at(0.99999),
            max_ns: times.max(),
            hdrhistogram_v2_base64: STANDARD.encode(bytes),
        }))
    }
}

#[derive(Serialize)]
struct Generator {
    /// CPU time of the load threads.
    cpu_ns: u64,
    cpu_ns_per_request: Option<f64>,
    /// Shares of the load threads' time.
    busy_share: f64,
    waiting_for_cpu_share: Option<f64>,
    /// Share of the machine's CPU time that the hypervisor took.
    stolen_cpu_share: Option<f64>,
}

impl Generator {
    fn of(record: &Record, verdict: &Verdict) -> Generator {
        Generator {
            cpu_ns: record.cpu_ns,
            cpu_ns_per_request: (record.answered > 0).then(|| record.cpu_ns as f64 / record.answered as f64),
            busy_share: verdict.busy_share,
            waiting_for_cpu_share: verdict.waiting_share,
            stolen_cpu_share: verdict.stolen_share,
        }
    }
}

#[derive(Serialize)]
struct Trust {
    trusted: bool,
    doubts: Vec<TrustDoubt>,
}

#[derive(Serialize)]
struct TrustDoubt {
    gate: &'static str,
    accusation: Option<&'static str>,
    text: String,
    remedy: &'static str,
}

impl Trust {
    fn of(verdict: &Verdict) -> Trust {
        let doubts = verdict.doubts.iter().map(|doubt| TrustDoubt {
            gate: doubt.gate.name(),
            accusation: doubt.accusation(),
            text: doubt.text.clone(),
            remedy: doubt.remedy(),
        });
        Trust { trusted: verdict.is_trusted(), doubts: doubts.collect() }
    }
}

fn nanos(ns: u128) -> u64 {
    u64::try_from(ns).unwrap_or(u64::MAX)
}
