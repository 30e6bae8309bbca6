//! Claims: that each is about something that this experiment measures, and what it says in figures.

use loadline_model::experiment::{CLAIM_COUNTS, CLAIM_METRICS, Claim, Says, TimeUnit};
use loadline_model::{LoadId, PlatformId};
use serde_json::json;

use super::loads;
use super::published::Figures;
use super::says::{closes, difference, show_closes, show_difference};
use crate::error::{Complaint, Place, Problems, suggestion};
use crate::kinds::{OneOrMore, choice, switch, text, trimmed};
use crate::node::Text;
use crate::options::{Table, Written};
use crate::{Experiment, LoadSpec};

/// What is written of a claim.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ClaimKeys {
    text: Option<String>,
    cells: Written<WhereKeys>,
    metric: Option<String>,
    difference: Option<String>,
    closes: Option<String>,
    baseline: Option<String>,
    unit: Option<TimeUnit>,
    must: bool,
}

/// What is written of the cells that a claim is about.
#[derive(Clone, Debug, Default, PartialEq)]
struct WhereKeys {
    platform: Option<String>,
    against: Option<String>,
    service: Option<String>,
    rates: Option<Vec<Text>>,
    closed: bool,
}

/// Units of time that figures are published in.
const UNITS: [(&str, TimeUnit); 4] =
    [("ns", TimeUnit::Ns), ("us", TimeUnit::Us), ("ms", TimeUnit::Ms), ("s", TimeUnit::S)];

pub(super) fn table() -> Table<ClaimKeys> {
    let description = "A statement about the difference between a platform and the baseline";
    Table::<ClaimKeys>::new("Claim", "claim", description)
        .key("text", text(), "The claim in its author's words", |claim| &mut claim.text)
        .required("write the claim in its author's words")
        .key("where", where_table(), "Which cells it is about", |claim| &mut claim.cells)
        .key("metric", trimmed(), "What is measured: response.mean, response.p99 or another metric", |claim| {
            &mut claim.metric
        })
        .required("write `metric: response.mean`")
        .key(
            "difference",
            text(),
            "The difference to the baseline: 4.5ms, 26%, or a range, 26%..37%. A single value is a claim of about that much, a fifth more or less; `negligible` is a claim of less than 5 %, `negligible 2%` of less than 2 %",
            |claim| &mut claim.difference,
        )
        .key(
            "closes",
            text(),
            "The part of another platform's difference that this platform does not have: `60% of nodePort`",
            |claim| &mut claim.closes,
        )
        .key(
            "baseline",
            text(),
            "The baseline's figure where the claim was published, or its range over the cells: 17ms, 12ms..17ms; of rate.achieved 716/s. A share is not judged where the baseline here is more than twice or less than half of it",
            |claim| &mut claim.baseline,
        )
        .key(
            "unit",
            choice("a unit of time", &UNITS),
            "Unit that times were published in: the report shows the figures of this run in it, too",
            |claim| &mut claim.unit,
        )
        .default("what suits each figure")
        .key("must", switch(), "Whether the run fails, with exit code 4, if it is refuted", |claim| &mut claim.must)
        .check(|claim, problems| {
            if claim.value.difference.is_some() == claim.value.closes.is_some() {
                let complaint = Complaint::new("a claim needs either `difference` or `closes`");
                let help = "write `difference: 4.5ms`, or `closes: 60% of nodePort`";
                problems.add(&claim.place, complaint.help(help));
            }
        })
}

fn where_table() -> Table<WhereKeys> {
    let rates = OneOrMore {
        alone: vec![json!({ "type": "string", "pattern": r"^\s*[0-9][0-9_.e]*\s*/\s*(s|min|h)\s*$" })],
        element: json!({ "type": "string" }),
        separator: ',',
        placeholder: "RATE",
    };
    Table::<WhereKeys>::new("Where", "where", "Which cells a claim is about; what is left out is any")
        .key("platform", trimmed(), "Name of the platform", |cells| &mut cells.platform)
        .key(
            "against",
            trimmed(),
            "Name of the platform that it is compared with, if there are several",
            |cells| &mut cells.against,
        )
        .key("service", trimmed(), "Name of the service", |cells| &mut cells.service)
        .key("rate", rates, "Rates, as they are among the loads: 100/min, or a list", |cells| {
            &mut cells.rates
        })
        .key("closed", switch(), "The closed loops, where the service is as busy as it can be", |cells| {
            &mut cells.closed
        })
}

/// What claims may be about.
struct Measured<'a> {
    services: Vec<&'a str>,
    platforms: Vec<&'a str>,
    /// Platforms that are compared with another, or with another service.
    candidates: Vec<&'a str>,
    loads: &'a [LoadSpec],
}

impl Measured<'_> {
    fn of(experiment: &Experiment) -> Measured<'_> {
        let name = |id: PlatformId| experiment.platform(id).name.as_str();
        Measured {
            services: experiment.services.iter().map(|service| service.name.as_str()).collect(),
            platforms: experiment.platforms.iter().map(|platform| platform.name.as_str()).collect(),
            candidates: experiment
                .contrasts
                .iter()
                .map(|contrast| name(contrast.candidate.platform))
                .collect(),
            loads: &experiment.loads,
        }
    }

    /// The name of a platform that is compared with another one.
    fn candidate(&self, name: &str) -> Result<String, Complaint> {
        let name = known(name, "platform", &self.platforms)?;
        if self.candidates.contains(&name.as_str()) {
            return Ok(name);
        }
        if self.platforms.first() == Some(&name.as_str()) {
            let complaint =
                Complaint::new(format!("`{name}` is the baseline, which cannot be compared with itself"));
            return Err(complaint.help("name one of the other platforms"));
        }
        Err(Complaint::new(format!("`{name}` is not compared with anything"))
            .help("name a platform that is, or add the comparison to `contrasts`"))
    }
}

impl ClaimKeys {
    /// What is written of a claim of an experiment with these loads.
    pub fn of(claim: &Claim, loads: &[LoadSpec]) -> ClaimKeys {
        let rates = claim.loads.iter().filter_map(|id| loads[id.0].load.rate());
        let rates: Vec<Text> =
            rates.map(|rate| Text { value: rate.to_string(), place: Place::File }).collect();
        let (difference, closes) = match &claim.says {
            Says::Closes { of, from, to } => (None, Some(show_closes(of, *from, *to))),
            says => (show_difference(says), None),
        };
        ClaimKeys {
            text: Some(claim.text.clone()),
            cells: Written::from(WhereKeys {
                platform: claim.platform.clone(),
                against: claim.against.clone(),
                service: claim.service.clone(),
                rates: Some(rates).filter(|rates| !rates.is_empty()),
                closed: claim.loads.iter().any(|id| loads[id.0].load.is_closed()),
            }),
            metric: Some(claim.metric.clone()),
            difference,
            closes,
            baseline: claim.baseline.map(|range| Figures::of(&claim.metric).show_range(range)),
            unit: claim.unit,
            must: claim.must,
        }
    }
}

/// All claims that are valid.
pub(super) fn claims(
    written: &[Written<ClaimKeys>],
    experiment: &Experiment,
    problems: &mut Problems,
) -> Vec<Claim> {
    let measured = Measured::of(experiment);
    written.iter().filter_map(|written| claim(written, &measured, problems)).collect()
}

fn claim(written: &Written<ClaimKeys>, measured: &Measured, problems: &mut Problems) -> Option<Claim> {
    let before = problems.count();
    let (keys, cells) = (&written.value, &written.value.cells);
    let platform = cells.value.platform.as_ref();
    let platform =
        platform.and_then(|name| problems.note(cells.place_of("platform"), measured.candidate(name)));
    let against = cells.value.against.as_ref();
    let against = against.and_then(|name| {
        problems.note(cells.place_of("against"), known(name, "platform", &measured.platforms))
    });
    let service = cells.value.service.as_ref();
    let service = service.and_then(|name| {
        problems.note(cells.place_of("service"), known(name, "service", &measured.services))
    });
    let rates = cells.value.rates.as_deref().unwrap_or_default();
    let mut loads: Vec<LoadId> =
        rates.iter().filter_map(|text| text.read(problems, |rate| load(rate, measured.loads))).collect();
    if cells.value.closed {
        let closed = problems.note(cells.place_of("closed"), closed_loops(measured.loads));
        loads.extend(closed.into_iter().flatten());
    }
    let metric = keys.metric.as_ref()?;
    let metric = problems.note(written.place_of("metric"), known(metric, "metric", &CLAIM_METRICS));
    let says = match (&keys.difference, &keys.closes) {
        (Some(text), None) => problems.note(written.place_of("difference"), difference(text)),
        (None, Some(text)) => {
            let says = closes(text)
                .and_then(|(of, from, to)| Ok(Says::Closes { of: measured.candidate(&of)?, from, to }));
            problems.note(written.place_of("closes"), says)
        }
        _ => None,
    };
    if let (Some(metric), Some(Says::Difference { .. })) = (&metric, &says)
        && CLAIM_COUNTS.contains(&metric.as_str())
    {
        let complaint = Complaint::new(format!("`{metric}` is not a time"));
        problems.add(written.place_of("difference"), complaint.help("claim a share: 14%"));
    }
    if let (Some(metric), Some(_)) = (&metric, keys.unit)
        && CLAIM_COUNTS.contains(&metric.as_str())
    {
        let complaint = Complaint::new(format!("`{metric}` is not a time"));
        problems.add(written.place_of("unit"), complaint.help("leave `unit` out"));
    }
    let baseline = keys.baseline.as_ref().zip(metric.as_deref()).and_then(|(text, metric)| {
        problems.note(written.place_of("baseline"), Figures::of(metric).range(text))
    });
    if problems.count() > before {
        return None;
    }
    Some(Claim {
        text: keys.text.clone()?,
        platform,
        against,
        service,
        loads,
        metric: metric?,
        says: says?,
        baseline,
        unit: keys.unit,
        must: keys.must,
    })
}

fn known(name: &str, what: &str, names: &[&str]) -> Result<String, Complaint> {
    let name = name.trim();
    match names.contains(&name) {
        true => Ok(name.to_owned()),
        false => {
            Err(Complaint::new(format!("there is no {what} `{name}` here")).help(suggestion(name, names)))
        }
    }
}

fn load(text: &str, among: &[LoadSpec]) -> Result<LoadId, Complaint> {
    let rate = loads::rate(text)?.as_per_second();
    let same = |load: &LoadSpec| load.load.rate().is_some_and(|other| other.as_per_second() == rate);
    among.iter().position(same).map(LoadId).ok_or_else(|| {
        Complaint::new(format!("there is no load of {} in this experiment", text.trim()))
            .help("name one of the `loads`")
    })
}

/// The loads that are closed loops, of which there must be one.
fn closed_loops(among: &[LoadSpec]) -> Result<Vec<LoadId>, Complaint> {
    let closed = among.iter().enumerate().filter(|(_, load)| load.load.is_closed());
    let closed: Vec<LoadId> = closed.map(|(index, _)| LoadId(index)).collect();
    match closed.is_empty() {
        false => Ok(closed),
        true => {
            Err(Complaint::new("there is no closed loop here").help("add `{closed: true}` to the `loads`"))
        }
    }
}
