//! A search for the most that services carry: `capacity: {objectives: [success >= 99%, p99 <= 50ms]}`.

mod contradictions;

use loadline_model::experiment::{
    Bound, CLAIM_METRICS, Capacity, ERRORS, OF_DEPLOYMENTS, Objective, ObjectiveFault, SENT, SUCCESS, Service,
};
use loadline_model::load::{Load, Rate};
use loadline_model::metrics::OWN;
use serde_json::json;

use super::ExperimentKeys;
use super::loads::rate;
use super::metric::{any_metric_of, short};
use super::published::Figures;
use crate::LoadSpec;
use crate::error::{Complaint, Problems, suggestion};
use crate::kinds::{List, Scalar, switch};
use crate::machine::Machine;
use crate::options::{Table, Written};
use crate::units::{parse_percentage, parse_share, show_share};

/// The heading of its flags in the help.
const SEARCH: &str = "Search";
/// Where nothing else is asked for.
const DEFAULT_OBJECTIVES: [&str; 2] = ["success >= 99%", "p99 <= 50ms"];
const DEFAULT_PRECISION: f64 = 0.02;
/// A search for more takes hours, and finds what a service is at one moment.
const FINEST: f64 = 0.002;
const COARSEST: f64 = 0.5;
/// What is declared by collector begins like this, and has two more names.
const COLLECTORS: &str = "jvm.gc.";
const EXAMPLE: &str = "write `p99 <= 50ms` or `success >= 99%`";

/// What is written of a search.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CapacityKeys {
    objectives: Vec<Objective>,
    precision: f64,
    most: Option<Rate>,
    /// Each request of a mix is searched for by itself, which is a service for each of them once it is read.
    pub(super) each_request: bool,
}

impl Default for CapacityKeys {
    fn default() -> CapacityKeys {
        CapacityKeys { objectives: Vec::new(), precision: DEFAULT_PRECISION, most: None, each_request: false }
    }
}

pub(super) fn table() -> Table<CapacityKeys> {
    Table::<CapacityKeys>::new(
        "Capacity",
        "capacity",
        "A search for the highest rate that meets all objectives",
    )
    .key(
        "objectives",
        List { element: objective(), needs_one: true },
        "What a slice must meet: p99 <= 50ms, success >= 99%, cpu.service <= 80us",
        |keys| &mut keys.objectives,
    )
    .default("success >= 99% and p99 <= 50ms")
    .key("precision", share(), "Half the width that the interval of a capacity is to have", |keys| {
        &mut keys.precision
    })
    .flag("--precision", SEARCH)
    .key("most", most(), "Try no higher rate", |keys| &mut keys.most)
    .flag("--most", SEARCH)
    .default("what the generator can send")
    .key(
        "each_request",
        switch(),
        "Search for each request by itself: a service with several stands for as many services with one",
        |keys| &mut keys.each_request,
    )
    .switch("--each-request", SEARCH, "true", "Search for each request by itself, not for the mix")
}

/// Flags that only a search has.
pub const FLAGS: [&str; 3] = ["--precision", "--most", "--each-request"];

fn objective() -> Scalar<Objective> {
    let pattern = r"^\s*[a-z][a-z0-9_]*(\.[a-z0-9_]+)*\s*(<=|>=)\s*[0-9].*$";
    Scalar::new(
        read,
        |objective: &Objective| objective.text.clone(),
        json!({ "type": "string", "pattern": pattern }),
    )
}

fn share() -> Scalar<f64> {
    let pattern = r"^\s*[0-9][0-9_]*(\.[0-9_]*)?\s*%\s*$";
    let parse = |text: &str| match parse_share(text)? {
        share if (FINEST..=COARSEST).contains(&share) => Ok(share),
        _ => Err(Complaint::new("a precision is from 0.2% to 50%").help("write 2%")),
    };
    Scalar::new(parse, |share| show_share(*share), json!({ "type": "string", "pattern": pattern }))
        .placeholder("SHARE")
}

fn most() -> Scalar<Rate> {
    let pattern = r"^\s*[0-9][0-9_.e]*\s*/\s*(s|min|h)\s*$";
    Scalar::new(rate, Rate::to_string, json!({ "type": "string", "pattern": pattern })).placeholder("RATE")
}

/// `METRIC <= FIGURE`
fn read(text: &str) -> Result<Objective, Complaint> {
    let (word, at_most, figure) = match (text.split_once("<="), text.split_once(">=")) {
        (Some((word, figure)), None) => (word.trim(), true, figure.trim()),
        (None, Some((word, figure))) => (word.trim(), false, figure.trim()),
        _ => return Err(Complaint::new(format!("`{}` is no objective", text.trim())).help(EXAMPLE)),
    };
    let metric = match word {
        SUCCESS | SENT => word.to_owned(),
        _ => any_metric_of(word)?,
    };
    if OF_DEPLOYMENTS.contains(&metric.as_str()) {
        let complaint =
            Complaint::new(format!("`{metric}` is of a deployment, and objectives are about slices"));
        return Err(complaint.help("claim it in an experiment without `capacity`"));
    }
    let is_share = metric == SUCCESS || metric == SENT;
    if is_share && at_most {
        let complaint = Complaint::new(format!("an objective of `{word}` is a least share"));
        return Err(complaint.help(format!("write `{word} >= 99%`")));
    }
    let is_known = metric == ERRORS || CLAIM_METRICS.contains(&metric.as_str());
    let value = match (is_share, is_known) {
        (true, _) => parse_percentage(figure).and_then(|share| match share {
            share if share <= 1.0 => Ok((share, None)),
            _ => Err(Complaint::new("no share is above 100%")),
        }),
        (false, true) => Figures::of(&metric).figure(figure).map(|value| (value, None)),
        (false, false) => Figures::in_its_unit(figure).map(|(value, unit)| (value, Some(unit))),
    };
    let sign = if at_most { "<=" } else { ">=" };
    let example = match (is_share, is_known) {
        (true, _) => "99%",
        (false, true) => Figures::of(&metric).example(),
        (false, false) => Figures::Times.example(),
    };
    let (value, unit) =
        value.map_err(|complaint| complaint.help(format!("write `{word} {sign} {example}`")))?;
    let bound = if at_most { Bound::AtMost(value) } else { Bound::AtLeast(value) };
    Ok(Objective { text: format!("{} {sign} {figure}", short(&metric)), metric, bound, unit })
}

/// The search of an experiment, if it has one. Its loads are rates, at which the searches begin.
pub(super) fn capacity(
    keys: &Written<ExperimentKeys>,
    services: &[Service],
    loads: &[LoadSpec],
    machine: &Machine<'_>,
    problems: &mut Problems,
) -> Option<Capacity> {
    let written = keys.value.capacity.as_ref()?;
    let place = &written.place;
    if loads.iter().any(|load| !matches!(load.load, Load::Open { .. })) {
        let complaint = Complaint::new("a search begins at a rate, and changes it");
        problems.add(keys.place_of("loads"), complaint.help("write one rate a load, as `rate: 100/s`"));
    }
    let CapacityKeys { objectives, precision, most, each_request: _ } = written.value.clone();
    let defaults = || DEFAULT_OBJECTIVES.iter().filter_map(|text| read(text).ok()).collect();
    let objectives = if objectives.is_empty() { defaults() } else { objectives };
    contradictions::note(&objectives, place, problems);
    for objective in &objectives {
        problems.note(written.place_of("objectives"), can_be_judged(objective, services, machine));
    }
    let begins_above = |most: &Rate| {
        let from = loads.iter().filter_map(|load| load.load.rate());
        from.map(|rate| rate.as_per_second()).any(|from| from > most.as_per_second())
    };
    if most.as_ref().is_some_and(begins_above) {
        let complaint = Complaint::new("the search begins above the highest rate that it may try");
        problems.add(written.place_of("most"), complaint.help("raise `most`, or lower the rate of the load"));
    }
    let plan = &keys.value.plan;
    if plan.has("until") {
        let complaint = Complaint::new("a search ends by itself, once its intervals are narrow enough");
        problems
            .add(plan.place_of("until"), complaint.help("leave `until` out; `precision` says how narrow"));
    }
    if plan.has("repeats") && plan.value.plan.repeats > 0 {
        let complaint = Complaint::new("a search makes a disturbed trial again anyway");
        problems.add(plan.place_of("repeats"), complaint.help("leave `repeats` out"));
    }
    Some(Capacity { objectives, precision, most })
}

/// Refuses an objective that no slice can be judged by. What services show, and which collectors a JVM has, is known once they are deployed.
fn can_be_judged(
    objective: &Objective,
    services: &[Service],
    machine: &Machine<'_>,
) -> Result<(), Complaint> {
    let Objective { metric, text, .. } = objective;
    if metric.starts_with(OWN) {
        let complaint =
            Complaint::new(format!("no service shows its own metrics, of which `{metric}` is one"));
        let help = "write `metrics: PATH` for the service that does";
        let any_shown = services.iter().any(|service| service.metrics.is_some());
        return if any_shown { Ok(()) } else { Err(complaint.help(help)) };
    }
    let is_of_a_collector = metric.strip_prefix(COLLECTORS).is_some_and(|rest| rest.contains('.'));
    match objective.fault(&machine.metrics).filter(|_| !is_of_a_collector) {
        None => Ok(()),
        Some(ObjectiveFault::NoMetric) => {
            let declared = machine.metrics.iter().map(|metric| metric.name.as_ref());
            let names: Vec<&str> = CLAIM_METRICS.into_iter().chain(declared).collect();
            Err(Complaint::new(format!("there is no metric `{metric}`")).help(suggestion(metric, &names)))
        }
        Some(fault @ ObjectiveFault::OtherUnit(unit)) => {
            let complaint = Complaint::new(format!("`{text}` bounds nothing: {fault}"));
            Err(complaint.help(format!("write `{metric} <= {}`", Figures::from(unit).example())))
        }
    }
}

impl CapacityKeys {
    /// What is written of a search.
    pub fn of(capacity: &Capacity) -> CapacityKeys {
        CapacityKeys {
            objectives: capacity.objectives.clone(),
            precision: capacity.precision,
            most: capacity.most,
            each_request: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_objective_names_a_metric_and_its_bound() {
        for (text, metric, bound) in [
            ("p99 <= 50ms", "response.p99", Bound::AtMost(50e6)),
            ("response.mean<=2ms", "response.mean", Bound::AtMost(2e6)),
            ("success >= 99.5%", SUCCESS, Bound::AtLeast(0.995)),
            ("sent >= 98%", SENT, Bound::AtLeast(0.98)),
            ("cpu.service <= 80us", "cpu.service", Bound::AtMost(80e3)),
            ("rate.achieved >= 500/s", "rate.achieved", Bound::AtLeast(500.0)),
            ("errors <= 0.001", ERRORS, Bound::AtMost(0.001)),
            ("pressure.cpu <= 10us", "pressure.cpu", Bound::AtMost(10e3)),
            ("app.cache_misses_total <= 0.5", "app.cache_misses_total", Bound::AtMost(0.5)),
        ] {
            let read = read(text).unwrap();
            assert_eq!((read.metric.as_str(), read.bound), (metric, bound), "{text}");
            assert_eq!(super::read(&read.text), Ok(read.clone()), "{text}");
        }
    }

    #[test]
    fn what_can_be_met_by_nothing_is_refused() {
        for text in ["", "p99", "p99 < 50ms", "p99 <= 50", "success <= 99%", "success >= 120%", "p98 <= 5ms"]
        {
            assert!(read(text).is_err(), "{text}");
        }
        for text in ["start.answered <= 2s", "jvm.heap.used <= many", "jvm. <= 5", "heap <= 5Mi"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
