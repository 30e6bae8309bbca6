//! Loads: rates with their unit and arrival process, profiles, replays or closed loops, and their connections.

use std::fs::File;
use std::io::BufReader;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

use loadline_model::load::{
    Arrivals, DEFAULT_TIMEOUT, Load, Profile, Protocol, Rate, RateError, Replay, Reuse, parse_replay,
};

use super::choices::{choice, switch};
use super::way_out;
use crate::LoadSpec;
use crate::draft::{Draft, LoadDraft, Text};
use crate::error::{Complaint, Place, Problems};
use crate::files::existing;
use crate::load::{MAX_STREAMS, think, timestamps};
use crate::units::{parse_count, parse_duration_within};

/// Connections of a load that names none.
const CONNECTIONS: usize = 16;

/// Longest wait for a response that can be asked for.
const MAX_TIMEOUT: Duration = Duration::from_secs(3600);

/// All loads of the draft that are valid.
pub(super) fn loads(draft: &Draft, problems: &mut Problems) -> Vec<LoadSpec> {
    let drafts = draft.loads.as_ref().map_or(&[][..], |loads| &loads.value);
    if drafts.is_empty() {
        let place = draft.loads.as_ref().map_or(&draft.place, |loads| &loads.place);
        let help =
            way_out(&draft.place, "write `loads: [{rate: 2000/s}]`", "write --rate 2000/s, or --closed");
        problems.add(place, Complaint::new("no load is given").help(help));
    }
    let mut loads: Vec<LoadSpec> = Vec::new();
    for load_draft in drafts {
        let Some(load) = load(load_draft, draft.folder.as_deref(), problems) else { continue };
        if loads.iter().any(|other| alike(other, &load)) {
            problems.add(&load_draft.place, Complaint::new("two loads are alike").help("remove one of them"));
        }
        loads.push(load);
    }
    loads
}

/// Whether two loads offer the same, whatever unit their rates are written in.
fn alike(left: &LoadSpec, right: &LoadSpec) -> bool {
    let same_load = match (&left.load, &right.load) {
        (Load::Open { rate: left, arrivals: one }, Load::Open { rate: right, arrivals: other }) => {
            left.as_per_second() == right.as_per_second() && one == other
        }
        (left, right) => left == right,
    };
    same_load && LoadSpec { load: right.load.clone(), ..left.clone() } == *right
}

fn load(draft: &LoadDraft, folder: Option<&Path>, problems: &mut Problems) -> Option<LoadSpec> {
    let before = problems.count();
    let connections = draft.connections.as_ref().map(|text| text.read(problems, connections));
    let timestamps = draft.timestamps.as_ref().and_then(|text| text.read(problems, timestamps));
    let timeout = draft.timeout.as_ref().and_then(|text| text.read(problems, timeout));
    let (reuse, protocol) = (reuse(draft, problems), protocol(draft, problems));
    let load = arrivals_of(draft, folder, problems);
    if problems.count() > before {
        return None;
    }
    Some(LoadSpec {
        load: load?,
        connections: connections.flatten().unwrap_or(CONNECTIONS),
        reuse,
        protocol,
        timestamps: timestamps.unwrap_or_default(),
        timeout: timeout.unwrap_or(DEFAULT_TIMEOUT),
    })
}

/// When requests are due.
fn arrivals_of(draft: &LoadDraft, folder: Option<&Path>, problems: &mut Problems) -> Option<Load> {
    let before = problems.count();
    let closed = is_on(&draft.closed, problems);
    let arrivals = draft.arrivals.as_ref().and_then(|text| text.read(problems, arrivals));
    let rate = draft.rate.as_ref().and_then(|text| text.read(problems, rate_or_profile));
    let replay = draft.replay.as_ref().and_then(|text| replay(text, folder, problems));
    let think = draft.think.as_ref().and_then(|text| text.read(problems, think));
    if problems.count() > before {
        return None;
    }
    let mut refuse = |place: &Place, message: &str, help: &str| {
        problems.add(place, Complaint::new(message).help(help));
        None
    };
    if usize::from(rate.is_some()) + usize::from(replay.is_some()) + usize::from(closed) > 1 {
        let message = "a load has a rate, is a replay or is a closed loop, not several of them";
        return refuse(&draft.place, message, "make a load of each");
    }
    let load = match (rate, replay) {
        (Some(RateOrProfile::Rate(rate)), _) => Load::Open { rate, arrivals: arrivals.unwrap_or_default() },
        (Some(RateOrProfile::Profile(profile)), _) => {
            Load::Profile { profile, arrivals: arrivals.unwrap_or_default() }
        }
        (None, Some(replay)) => Load::Replay(replay),
        (None, None) if closed => Load::Closed { think },
        (None, None) => {
            let help = "write `rate: 2000/s`, or `closed: true`";
            return refuse(&draft.place, "a load without its rate", help);
        }
    };
    match (&load, &draft.arrivals, &draft.think) {
        (Load::Closed { .. }, Some(text), _) => {
            let message = "a closed loop has no arrival process";
            refuse(&text.place, message, "leave it out: each answer lets the next request go")
        }
        (Load::Replay(_), Some(text), _) => {
            let message = "a replay has no arrival process";
            refuse(&text.place, message, "leave it out: its file says when requests are due")
        }
        (Load::Open { .. } | Load::Profile { .. } | Load::Replay(_), _, Some(text)) => {
            let message = "only the users of a closed loop think between requests";
            refuse(&text.place, message, "write `closed: true` in place of the rate, or leave it out")
        }
        _ => Some(load),
    }
}

fn reuse(draft: &LoadDraft, problems: &mut Problems) -> Reuse {
    let never = is_on(&draft.new_connections, problems);
    let times = draft.requests_per_connection.as_ref().and_then(|text| {
        text.read(problems, |text| parse_count(text, "the number of requests", 1, u64::MAX))
    });
    match times {
        Some(times) if never && times > 1 => {
            let complaint = Complaint::new("a connection is new for each request, or serves several");
            let place = draft.requests_per_connection.as_ref().map_or(&draft.place, |text| &text.place);
            problems.add(place, complaint.help("leave one of the two out"));
            Reuse::Never
        }
        Some(1) => Reuse::Never,
        Some(times) => Reuse::Times(times),
        None if never => Reuse::Never,
        None => Reuse::Always,
    }
}

fn protocol(draft: &LoadDraft, problems: &mut Problems) -> Protocol {
    let http2 = is_on(&draft.http2, problems);
    let streams = draft.streams.as_ref().and_then(|text| {
        text.read(problems, |text| {
            let streams = parse_count(text, "the number of streams", 1, MAX_STREAMS)?;
            Ok(usize::try_from(streams).ok().and_then(NonZeroUsize::new).unwrap_or(NonZeroUsize::MIN))
        })
    });
    match streams {
        Some(streams) => Protocol::Http2 { streams },
        None if http2 => Protocol::Http2 { streams: NonZeroUsize::MIN },
        None => Protocol::Http1,
    }
}

fn is_on(text: &Option<Text>, problems: &mut Problems) -> bool {
    text.as_ref().and_then(|text| text.read(problems, switch)).unwrap_or(false)
}

fn replay(text: &Text, folder: Option<&Path>, problems: &mut Problems) -> Option<Replay> {
    let path = existing(folder, text, problems)?;
    let read =
        match File::open(&path) {
            Ok(file) => parse_replay(&path, BufReader::new(file)).map_err(Complaint::of),
            Err(error) => Err(Complaint::new(format!("cannot read {}: {error}", path.display()))
                .help("check its permissions")),
        };
    problems.note(&text.place, read)
}

enum RateOrProfile {
    Rate(Rate),
    Profile(Profile),
}

fn rate_or_profile(text: &str) -> Result<RateOrProfile, Complaint> {
    // A rate alone is the usual case: what is wrong with it needs no word on segments.
    if !text.contains(['@', ',']) && !text.contains("..") {
        return rate(text).map(RateOrProfile::Rate);
    }
    text.parse().map(RateOrProfile::Profile).map_err(|error| {
        let error: loadline_model::load::ProfileError = error;
        Complaint::of(error)
    })
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
            let most = Rate::MAX_PER_SECOND;
            Complaint::new(format!("a rate must be from 1 a day to {most}/s, not {}", text.trim()))
                .help("2000/s is a usual one")
        }
    })
}

fn arrivals(text: &str) -> Result<Arrivals, Complaint> {
    choice(text, "an arrival process", &[("poisson", Arrivals::Poisson), ("uniform", Arrivals::Uniform)])
}

fn connections(text: &str) -> Result<usize, Complaint> {
    // More than one client address has ports for.
    let count = parse_count(text, "the number of connections", 1, 65_535)?;
    usize::try_from(count).map_err(|_| Complaint::new("too many connections"))
}

fn timeout(text: &str) -> Result<Duration, Complaint> {
    parse_duration_within(text, "a time-out", Duration::from_millis(1), MAX_TIMEOUT)
}
