//! The result of `loadline load`: one load, driven against a URL, and how far it can be trusted.
//!
//! Its JSON Schema is published as `docs/load.schema.json`. Figures are in the unit that their field names.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Distribution, Statement};
use crate::Record;
use crate::gates::{Gate, GateFailure, Suspect};

/// Name and version of the format; the version changes when a reader would have to.
pub const SCHEMA: &str = "loadline.load/1";

/// One load and its figures.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LoadResult {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Version of loadline that drove it.
    pub version: String,
    /// Word by word.
    pub command_line: Vec<String>,
    /// When it began, seconds since 1970-01-01 UTC.
    pub started_unix_s: f64,
    /// As asked, or until it was interrupted.
    pub duration_ns: u64,
    /// Whether it was stopped before its end.
    pub interrupted: bool,
    /// What was asked for.
    pub options: LoadOptions,
    /// Requests and what became of them.
    pub counts: LoadCounts,
    /// Failed requests by kind, only the kinds that occurred; statuses that were not expected by request, `GET /a: 401`.
    pub errors: BTreeMap<String, u64>,
    /// Requests answered in time, a second.
    pub answered_per_second: f64,
    /// Bytes of responses a second.
    pub received_bytes_per_second: f64,
    /// Where the time went.
    pub times: LoadTimes,
    /// What the load cost its generator.
    pub generator: LoadGenerator,
    /// Whether the figures can be trusted.
    pub trust: LoadTrust,
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadOptions {
    /// As it was given.
    pub url: String,
    /// The address or socket that was connected to.
    pub target: String,
    /// What was spoken.
    pub protocol: Protocol,
    /// Whether over TLS.
    pub tls: bool,
    /// The load in words.
    pub load: String,
    /// `None` unless there was one rate throughout.
    pub rate_per_second: Option<f64>,
    /// Whether each answer let the next request go.
    pub closed: bool,
    /// Seed of the schedule.
    pub seed: u64,
    /// Connections in all.
    pub connections: usize,
    /// Load threads.
    pub threads: usize,
    /// CPUs that these were pinned to; empty: none.
    pub cpus: Vec<usize>,
    /// Requests at once on a connection.
    pub streams: usize,
    /// `None` for as many as the service allows.
    pub requests_per_connection: Option<u64>,
    /// Longest wait for a response.
    pub timeout_ns: u64,
    /// By which clock a response had arrived.
    pub timestamps: Clock,
}

/// What is spoken on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Protocol {
    /// HTTP/1.1.
    #[serde(rename = "HTTP/1.1")]
    Http1,
    /// HTTP/2.
    #[serde(rename = "HTTP/2")]
    Http2,
}

/// Whose clock says when a response arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The engine's, when it had read it.
    User,
    /// The kernel's, when it received the packet.
    Kernel,
}

/// Requests and what became of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoadCounts {
    /// Requests that were due; in a closed loop, those that were sent.
    pub due: u64,
    /// Requests that were written.
    pub sent: u64,
    /// Before the end, 1 ms of grace included.
    pub sent_in_time: u64,
    /// Complete responses, whatever their status.
    pub answered: u64,
    /// Complete responses to requests that were sent in time; in a closed loop, those before the end.
    pub answered_in_time: u64,
    /// Requests that found every connection busy.
    pub waited: u64,
    /// Failed requests.
    pub errors: u64,
    /// Connections opened while the load went on.
    pub connections_opened: u64,
    /// Bytes of responses.
    pub received_bytes: u64,
}

impl From<&Record> for LoadCounts {
    fn from(record: &Record) -> LoadCounts {
        LoadCounts {
            due: record.due,
            sent: record.sent(),
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

/// Where the time went; `None` where nothing was recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadTimes {
    /// From the moment a request was due to its last byte.
    pub response: Option<Distribution>,
    /// From the moment a request was written to its last byte.
    pub service: Option<Distribution>,
    /// From the moment a request was due, with a connection free, to when it was written.
    pub send_lag: Option<Distribution>,
    /// From the moment a request was due to when a connection was free, of those requests alone that had to wait.
    pub wait: Option<Distribution>,
    /// Looking up the name of the service.
    pub resolve: Option<Distribution>,
    /// Handshakes of TCP.
    pub connect: Option<Distribution>,
    /// Handshakes of TLS.
    pub tls_handshake: Option<Distribution>,
}

impl From<&Record> for LoadTimes {
    fn from(record: &Record) -> LoadTimes {
        LoadTimes {
            response: Distribution::of(&record.response),
            service: Distribution::of(&record.service),
            send_lag: Distribution::of(&record.send_lag),
            wait: Distribution::of(&record.wait),
            resolve: Distribution::of(&record.resolve),
            connect: Distribution::of(&record.connect),
            tls_handshake: Distribution::of(&record.handshake),
        }
    }
}

/// What the load cost its generator.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadGenerator {
    /// CPU time of the load threads.
    pub cpu_ns: u64,
    /// The same divided by answered requests.
    pub cpu_ns_per_request: Option<f64>,
    /// Share of their time for which the load threads ran.
    pub busy_share: f64,
    /// Share of their time for which they were ready to run and did not; `None` if the kernel does not say.
    pub waiting_for_cpu_share: Option<f64>,
    /// Share of the machine's CPU time that the hypervisor took; `None` if the kernel does not say.
    pub stolen_cpu_share: Option<f64>,
}

/// Whether the figures can be trusted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadTrust {
    /// Whether all gates hold.
    pub trusted: bool,
    /// The gates that don't.
    pub doubts: Vec<LoadDoubt>,
}

/// A gate that does not hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadDoubt {
    /// `rate`, `send_lag`, `generator`, `errors`, `steal`, `foreign_cpu`.
    #[schemars(with = "String")]
    pub gate: Gate,
    /// Who is to blame, in a clause; `None` where the figure says it.
    pub accusation: Option<Statement<Suspect>>,
    /// The figure and its bound.
    pub text: Statement<GateFailure>,
    /// What to do about it.
    pub remedy: Statement<LoadRemedy>,
}

impl LoadDoubt {
    /// What a failed gate makes doubtful.
    pub fn of(failure: GateFailure) -> LoadDoubt {
        let gate = failure.gate();
        LoadDoubt {
            gate,
            accusation: gate.suspect().map(Statement::of),
            text: Statement::of(failure),
            remedy: Statement::of(LoadRemedy(gate)),
        }
    }
}

/// What to do about a gate that a single load fails: it has other options than an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadRemedy(pub Gate);
