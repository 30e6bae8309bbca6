//! Loads: rates with their unit and arrival process, or closed loops, and their connections.

use loadline_model::load::{Arrivals, Load, Rate, RateError, Reuse};

use super::choices::{choice, switch};
use super::way_out;
use crate::LoadSpec;
use crate::draft::{Draft, LoadDraft};
use crate::error::{Complaint, Place, Problems};
use crate::units::parse_count;

/// Connections of a load that names none.
const CONNECTIONS: usize = 16;

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
    for draft in drafts {
        let Some(load) = load(draft, problems) else { continue };
        if loads.iter().any(|other| alike(other, &load)) {
            problems.add(&draft.place, Complaint::new("two loads are alike").help("remove one of them"));
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
    same_load && left.connections == right.connections && left.reuse == right.reuse
}

fn load(draft: &LoadDraft, problems: &mut Problems) -> Option<LoadSpec> {
    let before = problems.count();
    let connections = draft.connections.as_ref().map(|text| text.read(problems, connections));
    let closed = draft.closed.as_ref().and_then(|text| text.read(problems, switch)).unwrap_or(false);
    let new_connections =
        draft.new_connections.as_ref().and_then(|text| text.read(problems, switch)).unwrap_or(false);
    let arrivals = draft.arrivals.as_ref().map(|text| text.read(problems, arrivals));
    let rate = draft.rate.as_ref().and_then(|text| text.read(problems, rate));
    if problems.count() > before {
        return None;
    }
    let mut refuse = |place: &Place, message: &str, help: &str| {
        problems.add(place, Complaint::new(message).help(help));
        None
    };
    let load = match (rate, closed) {
        (Some(rate), false) => Load::Open { rate, arrivals: arrivals.flatten().unwrap_or_default() },
        (None, true) => Load::Closed { think: None },
        (Some(_), true) => {
            let message = "a load has a rate or is a closed loop, not both";
            return refuse(&draft.place, message, "make two loads of it");
        }
        (None, false) => {
            return refuse(
                &draft.place,
                "a load without its rate",
                "write `rate: 2000/s`, or `closed: true`",
            );
        }
    };
    if let (Load::Closed { .. }, Some(text)) = (&load, &draft.arrivals) {
        let message = "a closed loop has no arrival process";
        return refuse(&text.place, message, "leave it out: each answer lets the next request go");
    }
    let reuse = if new_connections { Reuse::Never } else { Reuse::Always };
    Some(LoadSpec { name: None, load, connections: connections.flatten().unwrap_or(CONNECTIONS), reuse })
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
