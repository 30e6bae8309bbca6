//! Loads: rates with their unit and arrival process, or closed loops, and their connections.

use loadline_model::load::{Arrivals, Load, Rate, RateError, Reuse};
use serde_json::json;

use super::{ExperimentKeys, LOAD, way_out};
use crate::LoadSpec;
use crate::error::{Complaint, Place, Problems};
use crate::kinds::{Scalar, choice, count, switch};
use crate::options::{Table, Written};

const ARRIVALS: [(&str, Arrivals); 2] = [("poisson", Arrivals::Poisson), ("uniform", Arrivals::Uniform)];

/// What is written of a load.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LoadKeys {
    rate: Option<Rate>,
    arrivals: Option<Arrivals>,
    closed: bool,
    connections: u16,
    new_connections: bool,
}

impl Default for LoadKeys {
    fn default() -> LoadKeys {
        LoadKeys { rate: None, arrivals: None, closed: false, connections: 16, new_connections: false }
    }
}

pub(super) fn table() -> Table<LoadKeys> {
    Table::<LoadKeys>::new("Load", "load", "One load")
        .key(
            "rate",
            rate_kind(),
            "Requests with their unit of time: 2000/s or 100/min. Write either `rate` or `closed: true`",
            |load| &mut load.rate,
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
}

impl LoadKeys {
    /// What is written of a load of an experiment.
    pub fn of(spec: &LoadSpec) -> LoadKeys {
        let (rate, arrivals, closed) = match &spec.load {
            Load::Open { rate, arrivals } => (Some(*rate), Some(*arrivals), false),
            _ => (None, None, true),
        };
        LoadKeys {
            rate,
            arrivals: arrivals.filter(|arrivals| *arrivals != Arrivals::default()),
            closed,
            connections: u16::try_from(spec.connections).unwrap_or(u16::MAX),
            new_connections: spec.reuse == Reuse::Never,
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
        let Some(load) = load(written, problems) else { continue };
        if loads.iter().any(|other| is_same(other, &load)) {
            problems.add(&written.place, Complaint::new("two loads are the same").help("remove one of them"));
        }
        loads.push(load);
    }
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
    same_load && left.connections == right.connections && left.reuse == right.reuse
}

fn load(written: &Written<LoadKeys>, problems: &mut Problems) -> Option<LoadSpec> {
    let keys = &written.value;
    let mut refuse = |place: &Place, message: &str, help: &str| {
        problems.add(place, Complaint::new(message).help(help));
        None
    };
    let load = match (keys.rate, keys.closed) {
        (Some(rate), false) => Load::Open { rate, arrivals: keys.arrivals.unwrap_or_default() },
        (None, true) => Load::Closed { think: None },
        (Some(_), true) => {
            let message = "a load has a rate or is a closed loop, not both";
            return refuse(&written.place, message, "split it into two loads");
        }
        (None, false) => {
            return refuse(&written.place, "the load has no rate", "write `rate: 2000/s`, or `closed: true`");
        }
    };
    if load.is_closed() && keys.arrivals.is_some() {
        let message = "a closed loop has no arrival process";
        let help = "leave it out: each response triggers the next request";
        return refuse(written.place_of("arrivals"), message, help);
    }
    let reuse = if keys.new_connections { Reuse::Never } else { Reuse::Always };
    Some(LoadSpec { load, connections: usize::from(keys.connections), reuse })
}

fn rate_kind() -> Scalar<Rate> {
    let schema = json!({ "type": "string", "pattern": r"^\s*[0-9][0-9_.e]*\s*/\s*(s|min|h)\s*$" });
    Scalar::new(rate, Rate::to_string, schema).placeholder("RATE")
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
