//! Loads: rates with their unit and arrival process, rates over time, replays or closed loops, and their connections.

use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use loadline_model::load::{
    Arrivals, DEFAULT_TIMEOUT, Load, Profile, ProfileError, Protocol, Rate, RateError, Replay, Reuse, Think,
    Timestamps, parse_replay,
};
use serde_json::json;

use super::matrix::MatrixKind;
use super::names::{name, unique};
use super::{ExperimentKeys, LOAD, way_out};
use crate::LoadSpec;
use crate::error::{Complaint, Place, Problems};
use crate::files::existing;
use crate::kinds::{Scalar, choice, count, duration, parsed, switch, trimmed};
use crate::load::{MAX_STREAMS, show_think, think};
use crate::options::{Table, Written};

const ARRIVALS: [(&str, Arrivals); 2] = [("poisson", Arrivals::Poisson), ("uniform", Arrivals::Uniform)];

const TIMESTAMPS: [(&str, Timestamps); 2] = [("user", Timestamps::User), ("kernel", Timestamps::Kernel)];
/// Longest wait for a response that can be asked for.
const MAX_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// A rate, the same throughout or over time.
#[derive(Clone, Debug, PartialEq)]
enum RateOrProfile {
    Rate(Rate),
    Profile(Profile),
}

impl fmt::Display for RateOrProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RateOrProfile::Rate(rate) => rate.fmt(f),
            RateOrProfile::Profile(profile) => profile.fmt(f),
        }
    }
}

/// What is written of a load.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LoadKeys {
    name: Option<String>,
    rate: Option<RateOrProfile>,
    replay: Option<String>,
    arrivals: Option<Arrivals>,
    closed: bool,
    think: Option<Think>,
    connections: u16,
    new_connections: bool,
    requests_per_connection: Option<u64>,
    http2: bool,
    streams: Option<u16>,
    timestamps: Timestamps,
    timeout: Duration,
    matrix: Option<()>,
}

impl Default for LoadKeys {
    fn default() -> LoadKeys {
        LoadKeys {
            name: None,
            rate: None,
            replay: None,
            arrivals: None,
            closed: false,
            think: None,
            connections: 16,
            new_connections: false,
            requests_per_connection: None,
            http2: false,
            streams: None,
            timestamps: Timestamps::default(),
            timeout: DEFAULT_TIMEOUT,
            matrix: None,
        }
    }
}

pub(super) fn table() -> Table<LoadKeys> {
    Table::<LoadKeys>::new("Load", "load", "One load")
        .key("name", parsed(name), "What `cells` and `contrasts` call it", |load| &mut load.name)
        .key(
            "rate",
            rate_kind(),
            "Requests with their unit of time: 2000/s or 100/min; or a rate over time, which each slice plays from its start: 1000/s..5000/s@30s. Write either `rate`, `replay` or `closed: true`",
            |load| &mut load.rate,
        )
        .key(
            "replay",
            trimmed(),
            "File of due times, one a line, in seconds or as 250ms; relative to the experiment file. Each slice replays it from its start",
            |load| &mut load.replay,
        )
        .key("arrivals", choice("an arrival process", &ARRIVALS), "Arrival process of a rate", |load| {
            &mut load.arrivals
        })
        .flag("--arrivals", LOAD)
        .default("poisson")
        .key(
            "closed",
            switch(),
            "A closed loop: each connection sends its next request when the last one is answered",
            |load| &mut load.closed,
        )
        .key(
            "think",
            think_kind(),
            "Time between an answer and the next request of a closed loop, exponential: 100ms; or always the same: 100ms:fixed",
            |load| &mut load.think,
        )
        .flag("--think", LOAD)
        .default("none")
        // More than one client address has ports for is refused.
        .key("connections", count("the number of connections", 1, 65_535), "Connections kept open", |load| {
            &mut load.connections
        })
        .flag("--connections", LOAD)
        .key(
            "new_connections",
            switch(),
            "A new connection for each request; its handshake is part of the response time",
            |load| &mut load.new_connections,
        )
        .switch("--new-connections", LOAD, "true", "Open a connection for every request; its handshake counts")
        .key(
            "requests_per_connection",
            count::<u64>("the number of requests", 1, u64::MAX),
            "Close a connection after so many requests",
            |load| &mut load.requests_per_connection,
        )
        .flag("--requests-per-connection", LOAD)
        .default("as many as the service allows")
        .key("http2", switch(), "Speak HTTP/2, over TLS as in clear text", |load| &mut load.http2)
        .switch("--http2", LOAD, "true", "Speak HTTP/2, over TLS as in clear text")
        .key(
            "streams",
            count::<u16>("the number of streams", 1, MAX_STREAMS),
            "Requests at once on a connection of HTTP/2, which this implies",
            |load| &mut load.streams,
        )
        .flag("--streams", LOAD)
        .default("1")
        .key(
            "timestamps",
            choice("a source of timestamps", &TIMESTAMPS),
            "Whose clock times requests and responses: user, when the client has read them, or kernel, when the packets came",
            |load| &mut load.timestamps,
        )
        .key(
            "timeout",
            duration("a time-out", Duration::from_millis(1), MAX_TIMEOUT),
            "Longest wait for a response",
            |load| &mut load.timeout,
        )
        .flag("--timeout", LOAD)
        .key(
            "matrix",
            MatrixKind,
            "One load with each combination of these values: {connections: [1, 16], rate: [100/s, 1000/s]}; `exclude` leaves some out",
            |load| &mut load.matrix,
        )
}

impl LoadKeys {
    /// What is written of a load of an experiment.
    pub fn of(spec: &LoadSpec) -> LoadKeys {
        let keys = LoadKeys {
            name: spec.name.clone(),
            connections: u16::try_from(spec.connections).unwrap_or(u16::MAX),
            new_connections: spec.reuse == Reuse::Never,
            requests_per_connection: match spec.reuse {
                Reuse::Times(requests) => Some(requests),
                Reuse::Always | Reuse::Never => None,
            },
            http2: spec.protocol.streams() == Some(NonZeroUsize::MIN),
            streams: spec
                .protocol
                .streams()
                .filter(|streams| *streams > NonZeroUsize::MIN)
                .map(|streams| u16::try_from(streams.get()).unwrap_or(u16::MAX)),
            timestamps: spec.timestamps,
            timeout: spec.timeout,
            ..LoadKeys::default()
        };
        let unusual = |arrivals: Arrivals| (arrivals != Arrivals::default()).then_some(arrivals);
        match &spec.load {
            Load::Open { rate, arrivals } => {
                LoadKeys { rate: Some(RateOrProfile::Rate(*rate)), arrivals: unusual(*arrivals), ..keys }
            }
            Load::Profile { profile, arrivals } => {
                let rate = Some(RateOrProfile::Profile(profile.clone()));
                LoadKeys { rate, arrivals: unusual(*arrivals), ..keys }
            }
            Load::Replay(replay) => LoadKeys { replay: Some(replay.path().display().to_string()), ..keys },
            Load::Closed { think } => LoadKeys { closed: true, think: *think, ..keys },
        }
    }
}

/// All loads that are valid.
pub(super) fn loads(keys: &Written<ExperimentKeys>, problems: &mut Problems) -> Vec<LoadSpec> {
    let written = match &keys.value.loads {
        Some(written) if !written.is_empty() => written,
        // What is wrong with them has been noted.
        None if keys.has("loads") || keys.has_unknown => return Vec::new(),
        _ => {
            let help =
                way_out(&keys.place, "write `loads: [{rate: 2000/s}]`", "write --rate 2000/s, or --closed");
            problems.add(keys.place_of("loads"), Complaint::new("no load is given").help(help));
            return Vec::new();
        }
    };
    let mut loads: Vec<LoadSpec> = Vec::new();
    for written in written {
        let Some(load) = load(written, keys.value.folder.as_deref(), problems) else { continue };
        if loads.iter().any(|other| is_same(other, &load)) {
            problems.add(&written.place, Complaint::new("two loads are the same").help("remove one of them"));
        }
        loads.push(load);
    }
    let named =
        written.iter().filter_map(|written| Some((written.value.name.as_deref()?, written.place_of("name"))));
    unique("loads", named, "give each a `name` of its own, or leave it out", problems);
    loads
}

/// Whether two loads offer the same, whatever unit their rates are written in.
fn is_same(left: &LoadSpec, right: &LoadSpec) -> bool {
    let same_load = match (&left.load, &right.load) {
        (Load::Open { rate: left, arrivals: one }, Load::Open { rate: right, arrivals: other }) => {
            left.as_per_second() == right.as_per_second() && one == other
        }
        (left, right) => left == right,
    };
    let unnamed = |spec: &LoadSpec| LoadSpec { name: None, load: left.load.clone(), ..spec.clone() };
    same_load && unnamed(left) == unnamed(right)
}

fn load(written: &Written<LoadKeys>, folder: Option<&Path>, problems: &mut Problems) -> Option<LoadSpec> {
    let keys = &written.value;
    let before = problems.count();
    let (load, reuse) = (arrivals(written, folder, problems), reuse(written, problems));
    if problems.count() > before {
        return None;
    }
    let streams = keys.streams.and_then(|streams| NonZeroUsize::new(usize::from(streams)));
    Some(LoadSpec {
        name: keys.name.clone(),
        load: load?,
        connections: usize::from(keys.connections),
        reuse,
        protocol: match streams.or(keys.http2.then_some(NonZeroUsize::MIN)) {
            Some(streams) => Protocol::Http2 { streams },
            None => Protocol::Http1,
        },
        timestamps: keys.timestamps,
        timeout: keys.timeout,
    })
}

/// When requests are due.
fn arrivals(written: &Written<LoadKeys>, folder: Option<&Path>, problems: &mut Problems) -> Option<Load> {
    let keys = &written.value;
    let mut refuse = |place: &Place, message: &str, help: &str| {
        problems.add(place, Complaint::new(message).help(help));
        None
    };
    if usize::from(written.has("rate")) + usize::from(written.has("replay")) + usize::from(keys.closed) > 1 {
        let message = "a load has a rate, is a replay or is a closed loop, not several of them";
        return refuse(&written.place, message, "split it into separate loads");
    }
    if keys.closed && keys.arrivals.is_some() {
        let message = "a closed loop has no arrival process";
        let help = "leave it out: each response triggers the next request";
        return refuse(written.place_of("arrivals"), message, help);
    }
    if keys.replay.is_some() && keys.arrivals.is_some() {
        let message = "a replay has no arrival process";
        let help = "leave it out: its file says when requests are due";
        return refuse(written.place_of("arrivals"), message, help);
    }
    if !keys.closed && keys.think.is_some() {
        let message = "only the users of a closed loop think between requests";
        let help = "write `closed: true` in place of the rate, or leave it out";
        return refuse(written.place_of("think"), message, help);
    }
    let arrivals = keys.arrivals.unwrap_or_default();
    match (&keys.rate, &keys.replay) {
        (Some(RateOrProfile::Rate(rate)), _) => Some(Load::Open { rate: *rate, arrivals }),
        (Some(RateOrProfile::Profile(profile)), _) => {
            Some(Load::Profile { profile: profile.clone(), arrivals })
        }
        (None, Some(path)) => replay(path, written.place_of("replay"), folder, problems).map(Load::Replay),
        (None, None) if keys.closed => Some(Load::Closed { think: keys.think }),
        (None, None) => {
            refuse(&written.place, "the load has no rate", "write `rate: 2000/s`, or `closed: true`")
        }
    }
}

fn reuse(written: &Written<LoadKeys>, problems: &mut Problems) -> Reuse {
    let keys = &written.value;
    match keys.requests_per_connection {
        Some(requests) if keys.new_connections && requests > 1 => {
            let complaint = Complaint::new("a connection is new for each request, or serves several");
            let place = written.place_of("requests_per_connection");
            problems.add(place, complaint.help("leave one of the two out"));
            Reuse::Never
        }
        Some(1) => Reuse::Never,
        Some(requests) => Reuse::Times(requests),
        None if keys.new_connections => Reuse::Never,
        None => Reuse::Always,
    }
}

fn replay(path: &str, place: &Place, folder: Option<&Path>, problems: &mut Problems) -> Option<Replay> {
    let path = existing(folder, path, place, problems)?;
    let read = match File::open(&path) {
        Ok(file) => parse_replay(&path, BufReader::new(file)).map_err(Complaint::of),
        Err(error) => {
            let message = format!("cannot read {}: {error}", path.display());
            Err(Complaint::new(message).help("check its permissions"))
        }
    };
    problems.note(place, read)
}

fn rate_kind() -> Scalar<RateOrProfile> {
    let pattern = r"^\s*[0-9][0-9_.e]*\s*/\s*(s|min|h)\s*((\.\.|@|,).*)?$";
    let schema = json!({ "type": "string", "pattern": pattern });
    Scalar::new(rate_or_profile, RateOrProfile::to_string, schema).placeholder("RATE")
}

fn think_kind() -> Scalar<Think> {
    let pattern = r"^\s*[0-9][0-9_]*(\.[0-9_]*)?\s*(ns|us|µs|ms|s|min|h)\s*(:fixed)?\s*$";
    let schema = json!({ "type": "string", "pattern": pattern });
    Scalar::new(think, |think| show_think(*think), schema).placeholder("TIME")
}

fn rate_or_profile(text: &str) -> Result<RateOrProfile, Complaint> {
    // A rate alone is the usual case: what is wrong with it needs no word on segments.
    if !text.contains(['@', ',']) && !text.contains("..") {
        return rate(text).map(RateOrProfile::Rate);
    }
    text.parse().map(RateOrProfile::Profile).map_err(|error: ProfileError| Complaint::of(error))
}

/// Reads a rate with its unit.
pub(super) fn rate(text: &str) -> Result<Rate, Complaint> {
    text.parse().map_err(|error| match error {
        RateError::NoUnit(count) => Complaint::new("a rate needs its unit")
            .label("requests per what?")
            .help(format!("write {count}/s or {count}/min")),
        RateError::UnknownUnit(unit) => {
            Complaint::new(format!("`/{unit}` is not a unit of a rate")).help("units are /s, /min and /h")
        }
        RateError::NotANumber(count) => Complaint::new(format!("`{count}` is not a number of requests"))
            .help("write a rate as 2000/s or 100/min"),
        RateError::OutOfRange(_) => {
            let max = Rate::MAX_PER_SECOND;
            Complaint::new(format!("a rate must be from 1 a day to {max}/s, not {}", text.trim()))
                .help("2000/s is typical")
        }
    })
}
