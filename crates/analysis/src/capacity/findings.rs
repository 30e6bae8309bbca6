//! What a capacity's number alone does not say.

use std::collections::BTreeMap;
use std::mem::discriminant;

use loadline_model::CellId;
use loadline_model::rows::{Purpose, SliceRow, TrialOutcome};
use loadline_search::{Confirmed, MOST_LOST, MOST_TRIALS, Trial, bounds, irregularities};

use super::{Tried, achieved};
use crate::RunData;
use crate::result::{CapacityFinding, Irregularity};

/// A service that answers fewer than this part of what it can has collapsed.
const COLLAPSED: f64 = 0.7;
/// Share of refused requests under an overload from which on it sheds load.
const SHEDS: f64 = 0.05;
/// Disturbed trials are mentioned from this share on.
const OFTEN: f64 = 0.25;
/// Statuses that say "later" (RFC 9110, RFC 6585).
const REFUSED: [&str; 2] = ["503", "429"];
/// Service times that are longer by less than this factor are as fast as ever.
const AS_FAST: f64 = 1.5;

pub(super) fn findings(
    data: &RunData,
    cell: CellId,
    tried: &[Tried<'_>],
    rounds: &[Vec<Trial>],
    rate: Option<f64>,
    carried: Option<f64>,
) -> Vec<CapacityFinding> {
    let usable = || tried.iter().filter(|tried| tried.outcome.is_of_the_service());
    let unsent = tried.iter().any(|tried| tried.outcome == TrialOutcome::NotSent);
    let trials: Vec<Trial> = usable().map(|tried| tried.trial).collect();
    let rates = || trials.iter().map(|trial| trial.rate);
    let mut found = Vec::new();
    if trials.is_empty() && unsent {
        let lowest = tried.iter().map(|tried| tried.trial.rate).fold(f64::INFINITY, f64::min);
        found.push(CapacityFinding::LimitedByGenerator { rate: lowest });
    }
    if rate.is_none() && !trials.is_empty() {
        let (highest, lowest) = (rates().fold(0.0, f64::max), rates().fold(f64::INFINITY, f64::min));
        found.push(match (trials[0].passed, unsent) {
            (true, true) => CapacityFinding::LimitedByGenerator { rate: highest },
            (true, false) => CapacityFinding::CarriesAll { rate: highest },
            (false, _) => CapacityFinding::CarriesNothing { rate: lowest },
        });
    }
    found.extend(rate.and_then(|_| ended_early(tried)));
    if let (Some(_), Some(missing)) = (rate, missing_bound(&trials)) {
        found.push(missing);
    }
    if let Some(failed) = rounds.iter().filter_map(|trials| Confirmed::of(trials).failed).reduce(f64::min) {
        found.push(CapacityFinding::LessForLonger { failed, carries: carried });
    }
    let disturbed = tried.iter().filter(|tried| tried.outcome == TrialOutcome::Disturbed).count();
    if disturbed as f64 > OFTEN * tried.len() as f64 {
        found.push(CapacityFinding::Disturbed { trials: disturbed, of: tried.len() });
    }
    found.extend(irregular(rounds).into_iter().map(CapacityFinding::Irregular));
    let overloaded: Vec<&SliceRow> =
        usable().filter(|tried| tried.trial.purpose == Purpose::Overload).map(|tried| tried.slice).collect();
    if overloaded.is_empty() && trials.iter().any(is_of_confirming) {
        found.push(CapacityFinding::NotOverloaded);
    } else if !overloaded.is_empty() {
        found.extend(collapse(usable(), &overloaded));
        found.extend(sheds(&overloaded));
    }
    found.extend(connections(data, cell, usable()));
    found
}

fn is_of_confirming(trial: &Trial) -> bool {
    trial.purpose == Purpose::Confirm
}

/// Why a search ended before it had confirmed what it found, if in a deployment it did.
fn ended_early(tried: &[Tried<'_>]) -> Option<CapacityFinding> {
    let mut rounds: BTreeMap<u32, Vec<&Tried<'_>>> = BTreeMap::new();
    tried.iter().for_each(|tried| rounds.entry(tried.slice.round).or_default().push(tried));
    rounds.into_values().find_map(|tried| {
        if tried.iter().any(|tried| tried.outcome.is_of_the_service() && is_of_confirming(&tried.trial)) {
            return None;
        }
        let trials = tried.iter().filter(|tried| tried.outcome.is_of_the_service()).count();
        let lost = tried.len() - trials;
        let gave_up = trials >= MOST_TRIALS || lost >= MOST_LOST;
        Some(if gave_up { CapacityFinding::GaveUp { trials, lost } } else { CapacityFinding::TimeOver })
    })
}

/// The bound that a search did not find although it had the time: trials at single rates that contradict each other too much.
fn missing_bound(trials: &[Trial]) -> Option<CapacityFinding> {
    let found = bounds(trials);
    let lower = found.lower.is_none();
    let is_missing = trials.iter().any(is_of_confirming) && (lower || found.upper.is_none());
    is_missing.then_some(CapacityFinding::NoBound { lower })
}

/// The kinds that at least half of the deployments show: deployments of different capacities are no irregularity.
fn irregular(rounds: &[Vec<Trial>]) -> Vec<Irregularity> {
    let each: Vec<Vec<Irregularity>> = rounds.iter().map(|trials| irregularities(trials)).collect();
    let mut kept: Vec<Irregularity> = Vec::new();
    for irregularity in each.iter().flatten() {
        let is_same = |other: &Irregularity| discriminant(other) == discriminant(irregularity);
        let shown = each.iter().filter(|round| round.iter().any(is_same)).count();
        if 2 * shown >= each.len() && !kept.iter().any(is_same) {
            kept.push(*irregularity);
        }
    }
    kept
}

fn collapse<'a>(
    usable: impl Iterator<Item = &'a Tried<'a>>,
    overloaded: &[&SliceRow],
) -> Option<CapacityFinding> {
    let each = usable.filter(|tried| tried.trial.passed).map(|tried| achieved(&[tried.slice]));
    let most = each.fold(0.0, f64::max);
    let overloaded = achieved(overloaded);
    (overloaded < COLLAPSED * most).then_some(CapacityFinding::Collapse { most, overloaded })
}

fn sheds(overloaded: &[&SliceRow]) -> Option<CapacityFinding> {
    let is_refused = |kind: &str| REFUSED.iter().any(|status| kind.ends_with(status));
    let mut refused: BTreeMap<&String, u64> = BTreeMap::new();
    for (kind, count) in
        overloaded.iter().flat_map(|slice| &slice.errors).filter(|(kind, _)| is_refused(kind))
    {
        *refused.entry(kind).or_default() += count;
    }
    let (kind, _) = refused.iter().max_by_key(|(_, count)| **count)?;
    let due: f64 = overloaded.iter().map(|slice| slice.due as f64).sum();
    let share = refused.values().sum::<u64>() as f64 / due.max(1.0);
    (share >= SHEDS).then(|| CapacityFinding::Sheds { share, kind: (*kind).clone() })
}

/// Whether the first rates that fail do so for want of connections: requests waited for one while the service was as fast as at the lowest rate.
fn connections<'a>(
    data: &RunData,
    cell: CellId,
    usable: impl Iterator<Item = &'a Tried<'a>>,
) -> Option<CapacityFinding> {
    let mut usable: Vec<&Tried<'_>> = usable.filter(|tried| tried.trial.counts()).collect();
    usable.sort_by(|one, other| one.trial.rate.total_cmp(&other.trial.rate));
    let median = |tried: &Tried<'_>| tried.slice.service.value_at_quantile(0.5) as f64;
    let usual = usable.iter().find(|tried| tried.trial.passed).map(|tried| median(tried))?;
    let first = usable.iter().find(|tried| !tried.trial.passed)?;
    let waited = first.slice.waited as f64 / first.slice.due.max(1) as f64;
    let is_for_want_of_them = waited > 0.5 && median(first) < AS_FAST * usual;
    let connections = data.run.experiment.load(data.run.plan.load_of(cell)).connections;
    is_for_want_of_them.then_some(CapacityFinding::LimitedByConnections { connections })
}
