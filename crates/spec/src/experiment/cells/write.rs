//! Cells and contrasts as they are written.

use std::collections::BTreeSet;

use loadline_model::experiment::{CellSpec, ContrastSpec};
use loadline_model::{LoadId, PlatformId, ServiceId};

use super::{CellsKeys, ContrastKeys, SelectorKeys, SideKeys, load_word};
use crate::Experiment;
use crate::error::Place;
use crate::node::Text;
use crate::options::Written;

impl CellsKeys {
    /// What is written of the cells of an experiment; nothing if all are measured.
    pub fn of(experiment: &Experiment) -> Option<CellsKeys> {
        let every = experiment.every_cell();
        let (measured, left_out): (Vec<CellSpec>, Vec<CellSpec>) =
            every.into_iter().partition(|cell| experiment.cells.contains(cell));
        if left_out.is_empty() || measured.is_empty() {
            return None;
        }
        let selectors = |cells: &[CellSpec]| selectors(experiment, cells);
        Some(match left_out.len() <= measured.len() {
            true => CellsKeys::AllBut(selectors(&left_out)),
            false => CellsKeys::Only(selectors(&measured)),
        })
    }
}

/// An entry for each site, with the loads unless it is all of them.
fn selectors(experiment: &Experiment, cells: &[CellSpec]) -> Vec<Written<SelectorKeys>> {
    let sites: BTreeSet<(ServiceId, PlatformId)> =
        cells.iter().map(|cell| (cell.service, cell.platform)).collect();
    let selector = |(service, platform)| {
        let of_site = cells.iter().filter(|cell| (cell.service, cell.platform) == (service, platform));
        let loads: Vec<LoadId> = of_site.map(|cell| cell.load).collect();
        SelectorKeys {
            service: service_word(experiment, service),
            platform: platform_word(experiment, platform),
            load: load_words(experiment, &loads),
        }
    };
    sites.into_iter().map(|site| selector(site).into()).collect()
}

impl ContrastKeys {
    /// What is written of the contrasts of an experiment; nothing if all is compared with the first.
    pub fn of_all(experiment: &Experiment) -> Option<Vec<Written<ContrastKeys>>> {
        if experiment.contrasts == experiment.default_contrasts() || experiment.contrasts.is_empty() {
            return None;
        }
        let sites = |contrast: &ContrastSpec| {
            let site = |cell: CellSpec| (cell.service, cell.platform);
            (site(contrast.candidate), site(contrast.baseline))
        };
        // Neighbours that differ in their loads alone are one entry.
        let runs = experiment
            .contrasts
            .chunk_by(|one, next| sites(one) == sites(next) && one.candidate.load < next.candidate.load);
        Some(runs.map(|run| ContrastKeys::of(experiment, run).into()).collect())
    }

    fn of(experiment: &Experiment, run: &[ContrastSpec]) -> ContrastKeys {
        let (candidate, baseline) = (run[0].candidate, run[0].baseline);
        let loads: Vec<LoadId> = run.iter().map(|contrast| contrast.candidate.load).collect();
        let is_compared = |load: &LoadId| {
            let measured = |cell: CellSpec| experiment.cells.contains(&CellSpec { load: *load, ..cell });
            measured(candidate) && measured(baseline)
        };
        let possible: Vec<LoadId> = LoadId::of(experiment.loads.len()).filter(is_compared).collect();
        let words = |load: &LoadId| word(load_word(&experiment.loads, *load));
        let against = SideKeys {
            service: service_word(experiment, baseline.service)
                .filter(|_| candidate.service != baseline.service),
            platform: platform_word(experiment, baseline.platform)
                .filter(|_| candidate.platform != baseline.platform),
        };
        ContrastKeys {
            of: Written::from(SideKeys {
                service: service_word(experiment, candidate.service),
                platform: platform_word(experiment, candidate.platform),
            }),
            against: against.into(),
            load: (loads != possible).then(|| loads.iter().map(words).collect()),
        }
    }
}

fn word(value: String) -> Text {
    Text { value, place: Place::File }
}

/// The name of a service, unless it is the only one.
fn service_word(experiment: &Experiment, id: ServiceId) -> Option<Vec<Text>> {
    (experiment.services.len() > 1).then(|| vec![word(experiment.service(id).name.clone())])
}

/// The name of a platform, unless it is the only one.
fn platform_word(experiment: &Experiment, id: PlatformId) -> Option<Vec<Text>> {
    (experiment.platforms.len() > 1).then(|| vec![word(experiment.platform(id).name.clone())])
}

/// The words for loads, unless it is all of them.
fn load_words(experiment: &Experiment, loads: &[LoadId]) -> Option<Vec<Text>> {
    let words = || loads.iter().map(|load| word(load_word(&experiment.loads, *load))).collect();
    (loads.len() < experiment.loads.len()).then(words)
}
