//! Claims: that each is about something that this experiment measures, and what it says in figures.

use super::choices::switch;
use super::loads;
use super::way_out;
use crate::draft::{ClaimDraft, Draft, Text};
use crate::error::{Complaint, Problems, suggestion};
use crate::units::{parse_duration, parse_share};
use crate::{LoadSpec, Platform, Service};
use loadline_model::LoadId;
use loadline_model::experiment::{CLAIM_COUNTS, CLAIM_METRICS, Claim, Says};

/// "About 60 %" is read as 60 % give or take this part of it.
const ABOUT: f64 = 0.2;
/// What nobody would call more than negligible.
const NEGLIGIBLE: f64 = 0.05;

/// What claims may be about.
pub(super) struct Measured<'a> {
    pub services: &'a [Service],
    pub platforms: &'a [Platform],
    pub loads: &'a [LoadSpec],
}

/// All claims of the draft that are valid.
pub(super) fn claims(draft: &Draft, measured: &Measured, problems: &mut Problems) -> Vec<Claim> {
    let drafts = draft.claims.iter().flat_map(|claims| &claims.value);
    drafts.filter_map(|draft| claim(draft, measured, problems)).collect()
}

fn claim(draft: &ClaimDraft, measured: &Measured, problems: &mut Problems) -> Option<Claim> {
    let before = problems.count();
    let mut needed = |text: &Option<Text>, key: &str, example: &str| {
        let missing =
            || Complaint::new(format!("a claim without its `{key}`")).help(format!("write {example}"));
        match text {
            Some(text) => Some(text.clone()),
            None => problems.note(&draft.place, Err(missing())),
        }
    };
    let text = needed(&draft.text, "text", "the claim in its author's words");
    let metric = needed(&draft.metric, "metric", "`metric: response.mean`");
    let platforms: Vec<&str> = measured.platforms.iter().map(|platform| platform.name.as_str()).collect();
    let services: Vec<&str> = measured.services.iter().map(|service| service.name.as_str()).collect();
    let cells = draft.cells.as_ref();
    let platform = cells
        .and_then(|cells| cells.platform.as_ref())
        .and_then(|text| text.read(problems, |name| candidate(name, &platforms)));
    let service = cells
        .and_then(|cells| cells.service.as_ref())
        .and_then(|text| text.read(problems, |name| known(name, "service", &services)));
    let rates = cells.and_then(|cells| cells.rate.as_ref()).map_or(&[][..], |rates| &rates.value);
    let mut loads: Vec<LoadId> =
        rates.iter().filter_map(|text| text.read(problems, |rate| load(rate, measured.loads))).collect();
    if let Some(text) = cells.and_then(|cells| cells.closed.as_ref()) {
        loads.extend(text.read(problems, |text| closed_loops(text, measured.loads)).into_iter().flatten());
    }
    let metric = metric.and_then(|text| text.read(problems, |name| known(name, "metric", &CLAIM_METRICS)));
    let says = match (&draft.difference, &draft.closes) {
        (Some(text), None) => text.read(problems, difference),
        (None, Some(text)) => text.read(problems, |text| closes(text, &platforms)),
        _ => {
            let help = way_out(&draft.place, "write `difference: 4.5ms`, or `closes: 60% of nodePort`", "");
            problems.add(
                &draft.place,
                Complaint::new("a claim says one thing: `difference` or `closes`").help(help),
            );
            None
        }
    };
    if let (Some(metric), Some(Says::Difference { .. }), Some(written)) = (&metric, &says, &draft.difference)
        && CLAIM_COUNTS.contains(&metric.as_str())
    {
        let complaint = Complaint::new(format!("`{metric}` is no time"));
        problems.add(&written.place, complaint.help("claim a share of it: 14%"));
    }
    if problems.count() > before {
        return None;
    }
    Some(Claim { text: text?.value, platform, against: None, service, loads, metric: metric?, says: says? })
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

fn candidate(name: &str, platforms: &[&str]) -> Result<String, Complaint> {
    match known(name, "platform", platforms)? {
        baseline if platforms.first() == Some(&baseline.as_str()) => {
            Err(Complaint::new(format!("`{baseline}` is the baseline, which is not compared with itself"))
                .help("a claim is about one of the other platforms"))
        }
        name => Ok(name),
    }
}

fn load(text: &str, among: &[LoadSpec]) -> Result<LoadId, Complaint> {
    let rate = loads::rate(text)?.as_per_second();
    let same = |load: &LoadSpec| load.load.rate().is_some_and(|other| other.as_per_second() == rate);
    among.iter().position(same).map(LoadId).ok_or_else(|| {
        Complaint::new(format!("there is no load of {} here", text.trim())).help("name one of the `loads`")
    })
}

/// The loads that are closed loops, of which there must be one.
fn closed_loops(text: &str, among: &[LoadSpec]) -> Result<Vec<LoadId>, Complaint> {
    if !switch(text)? {
        return Ok(Vec::new());
    }
    let closed = among.iter().enumerate().filter(|(_, load)| load.load.is_closed());
    let closed: Vec<LoadId> = closed.map(|(index, _)| LoadId(index)).collect();
    match closed.is_empty() {
        false => Ok(closed),
        true => {
            Err(Complaint::new("there is no closed loop here").help("add `{closed: true}` to the `loads`"))
        }
    }
}

/// `4.5ms`, `26%..37%`, `negligible`, `negligible 2%`.
fn difference(text: &str) -> Result<Says, Complaint> {
    if let Some(share) = text.trim().strip_prefix("negligible") {
        let share = if share.trim().is_empty() { NEGLIGIBLE } else { parse_share(share)? };
        return Ok(Says::Share { from: -share, to: share });
    }
    if text.contains('%') {
        let (from, to) = range(text, parse_share)?;
        return Ok(Says::Share { from, to });
    }
    let (from_ns, to_ns) = range(text, |text| Ok(parse_duration(text)?.as_nanos() as f64))?;
    Ok(Says::Difference { from_ns, to_ns })
}

/// `60% of nodePort`
fn closes(text: &str, platforms: &[&str]) -> Result<Says, Complaint> {
    let Some((share, of)) = text.split_once(" of ") else {
        return Err(Complaint::new("of which platform's difference?").help("write `60% of nodePort`"));
    };
    let (from, to) = range(share, parse_share)?;
    Ok(Says::Closes { of: candidate(of, platforms)?, from, to })
}

/// `A..B`, or `A` for about A; either may be negative.
fn range(text: &str, parse: impl Fn(&str) -> Result<f64, Complaint>) -> Result<(f64, f64), Complaint> {
    let signed = |text: &str| match text.trim().strip_prefix(['-', '−']) {
        Some(magnitude) => Ok(-parse(magnitude)?),
        None => parse(text),
    };
    let (from, to) = match text.split_once("..") {
        Some((from, to)) => (signed(from)?, signed(to)?),
        None => {
            let about = signed(text)?;
            (about - ABOUT * about.abs(), about + ABOUT * about.abs())
        }
    };
    if from > to {
        return Err(Complaint::new("the range is the wrong way round").help("write the lower end first"));
    }
    Ok((from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_figure_is_a_claim_of_about_that_much() {
        assert_eq!(difference("5ms"), Ok(Says::Difference { from_ns: 4e6, to_ns: 6e6 }));
        assert_eq!(difference("-50%"), Ok(Says::Share { from: -0.6, to: -0.4 }));
    }

    #[test]
    fn ranges_and_negligible_are_taken_as_they_are() {
        assert_eq!(difference("26%..37%"), Ok(Says::Share { from: 0.26, to: 0.37 }));
        assert_eq!(difference("negligible"), Ok(Says::Share { from: -0.05, to: 0.05 }));
        assert_eq!(difference("negligible 2%"), Ok(Says::Share { from: -0.02, to: 0.02 }));
        assert!(difference("37%..26%").is_err());
    }

    #[test]
    fn a_gap_is_closed_of_another_platform_that_is_measured() {
        let platforms = ["host", "nodePort"];
        let expected = Says::Closes { of: "nodePort".to_owned(), from: 0.48, to: 0.72 };
        assert_eq!(closes("60% of nodePort", &platforms), Ok(expected));
        assert!(closes("60% of host", &platforms).is_err(), "the baseline has no difference to itself");
        assert!(closes("60%", &platforms).is_err());
    }
}
