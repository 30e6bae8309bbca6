//! What a capacity's number alone does not say.

use std::mem::discriminant;

use loadline_model::CellId;
use loadline_model::rows::{Purpose, SliceRow, TrialOutcome};
use loadline_search::{Confirmed, Trial, irregularities};

use super::{Tried, achieved, failed};
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
    // A search that was not ended by its time has overloaded the service, or could not.
    let ended = trials.iter().any(|trial| trial.purpose == Purpose::Confirm);
    if rate.is_some() && !ended {
        found.push(CapacityFinding::TimeOver);
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
    if !overloaded.is_empty() {
        found.extend(collapse(usable(), &overloaded));
        found.extend(sheds(&overloaded));
    }
    found.extend(connections(data, cell, usable()));
    found
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
    let is_refused = |kind: &&String| REFUSED.iter().any(|status| kind.ends_with(status));
    let kind = overloaded.iter().flat_map(|slice| slice.errors.keys()).find(is_refused)?;
    let due: f64 = overloaded.iter().map(|slice| slice.due as f64).sum();
    let share = overloaded.iter().map(|slice| failed(slice)).sum::<f64>() / due.max(1.0);
    (share >= SHEDS).then(|| CapacityFinding::Sheds { share, kind: kind.clone() })
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
