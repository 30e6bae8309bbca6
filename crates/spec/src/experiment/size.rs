//! How many cells an experiment may have. One with more is a slip, such as a matrix of platforms beside one of loads: it would run for days.

use std::time::Duration;

use loadline_model::LoadId;

use super::ExperimentKeys;
use crate::Experiment;
use crate::error::{Complaint, Problems};
use crate::options::Written;
use crate::units::show_duration;

/// The most.
const MOST_CELLS: usize = 1_000;
/// As many combinations are gone through for those that `cells` selects.
const MOST_COMBINATIONS: usize = 1_000_000;

/// Whether services, platforms and loads have no more combinations than that, before they are listed.
pub(super) fn combinations_fit(
    experiment: &Experiment,
    keys: &Written<ExperimentKeys>,
    problems: &mut Problems,
) -> bool {
    let of_load = experiment.services.len().saturating_mul(experiment.platforms.len());
    let most = if keys.value.cells.is_some() { MOST_COMBINATIONS } else { MOST_CELLS };
    let cells = LoadId::of(experiment.loads.len()).map(|load| (load, of_load));
    fits(experiment, cells, most, keys, problems)
}

/// Whether no more cells than that are selected.
pub(super) fn cells_fit(
    experiment: &Experiment,
    keys: &Written<ExperimentKeys>,
    problems: &mut Problems,
) -> bool {
    let cells = experiment.cells.iter().map(|cell| (cell.load, 1));
    fits(experiment, cells, MOST_CELLS, keys, problems)
}

/// `cells`: how many of a load.
fn fits(
    experiment: &Experiment,
    cells: impl Iterator<Item = (LoadId, usize)>,
    most: usize,
    keys: &Written<ExperimentKeys>,
    problems: &mut Problems,
) -> bool {
    let (mut count, mut seconds) = (0_usize, 0.0);
    for (load, of_load) in cells {
        count = count.saturating_add(of_load);
        seconds += of_load as f64 * least_s(experiment, load);
    }
    if count > most {
        let what = if experiment.capacity.is_some() { "one trial of each" } else { "their slices" };
        let takes = show_duration(rounded(seconds));
        let complaint =
            Complaint::new(format!("this is {count} cells, more than {most}: {what} would take {takes}"));
        let help = "take fewer services, platforms or loads, or select some of their cells (`cells`)";
        problems.add(&keys.place, complaint.help(help));
    }
    count <= most
}

/// What a cell of a load takes at least, s. How many trials a search makes is not known beforehand.
fn least_s(experiment: &Experiment, load: LoadId) -> f64 {
    if let Some(capacity) = &experiment.capacity {
        let rate = experiment.load(load).load.rate().map(|rate| rate.as_per_second());
        return capacity.slice_s(rate.unwrap_or(f64::INFINITY));
    }
    let slices = experiment.plan.slices_of(load);
    f64::from(experiment.plan.deployments) * f64::from(slices.count) * slices.length.as_secs_f64()
}

/// In whole hours, or minutes, or seconds.
fn rounded(seconds: f64) -> Duration {
    let unit = [3600.0, 60.0].into_iter().find(|unit| seconds >= *unit).unwrap_or(1.0);
    Duration::from_secs((seconds / unit).round() as u64 * unit as u64)
}
