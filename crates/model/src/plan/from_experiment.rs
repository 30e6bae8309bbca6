//! The plan of an experiment: which sites its cells need, which of them are deployed a second time, and the ids of it all.

use std::collections::BTreeSet;

use super::{CellPlan, ContrastKind, ContrastPlan, Plan, Role, Site};
use crate::experiment::{CellSpec, Experiment};
use crate::ids::{CellId, LoadId, SiteId};

/// The plan of an experiment.
pub(super) fn plan(experiment: &Experiment) -> Plan {
    let bases = bases(experiment);
    let twins = twins(experiment, &bases);
    let sites = sites(experiment, &bases, &twins);
    let mut cells: Vec<CellPlan> = Vec::new();
    for load in LoadId::of(experiment.loads.len()) {
        for (index, site) in sites.iter().enumerate() {
            let spec = site.under(load);
            let is_measured =
                if site.twin { twins.contains(&spec) } else { experiment.cells.contains(&spec) };
            if is_measured {
                cells.push(CellPlan { site: SiteId(index), load, role: Role::Uncompared });
            }
        }
    }
    let mut plan = Plan { sites, cells, contrasts: Vec::new(), seed: experiment.plan.seed };
    plan.contrasts = contrasts(experiment, &plan);
    let roles: Vec<Role> = plan.cell_ids().map(|cell| role(&plan, cell)).collect();
    for (cell, role) in plan.cells.iter_mut().zip(roles) {
        cell.role = role;
    }
    plan
}

/// The cells that others are compared with and that are compared with nothing themselves. Where nothing is like that, those of the first
/// service and platform that anything is compared with, or that is measured.
fn bases(experiment: &Experiment) -> BTreeSet<CellSpec> {
    let candidates: BTreeSet<CellSpec> =
        experiment.contrasts.iter().map(|contrast| contrast.candidate).collect();
    let mut baselines = experiment.contrasts.iter().map(|contrast| contrast.baseline);
    let bases: BTreeSet<CellSpec> = baselines.clone().filter(|cell| !candidates.contains(cell)).collect();
    let first = baselines.next().or(experiment.cells.first().copied());
    match first.map(|cell| Site::of(&cell)) {
        Some(first) if bases.is_empty() => {
            experiment.cells.iter().filter(|cell| Site::of(cell) == first).copied().collect()
        }
        _ => bases,
    }
}

/// The cells that are measured a second time, to see the noise: the bases, and the tops of ladders.
fn twins(experiment: &Experiment, bases: &BTreeSet<CellSpec>) -> BTreeSet<CellSpec> {
    if !experiment.plan.twin {
        return BTreeSet::new();
    }
    let tops = experiment.cells.iter().filter(|cell| experiment.platform(cell.platform).top);
    bases.iter().chain(tops).copied().collect()
}

/// The sites of all cells: the first base, the twins, then the others by service and platform.
fn sites(experiment: &Experiment, bases: &BTreeSet<CellSpec>, twins: &BTreeSet<CellSpec>) -> Vec<Site> {
    let first = bases.iter().map(Site::of).min();
    // Tops of ladders come after the bases.
    let twins: BTreeSet<(bool, Site)> =
        twins.iter().map(|cell| (experiment.platform(cell.platform).top, Site::of(cell))).collect();
    let others: BTreeSet<Site> = experiment.cells.iter().map(Site::of).collect();
    let mut sites: Vec<Site> = first.into_iter().collect();
    sites.extend(twins.into_iter().map(|(_, site)| Site { twin: true, ..site }));
    sites.extend(others.into_iter().filter(|site| first != Some(*site)));
    sites
}

/// What the experiment compares, and each twin with what it is the second deployment of. What is not measured is compared with nothing.
fn contrasts(experiment: &Experiment, plan: &Plan) -> Vec<ContrastPlan> {
    let planned = experiment.contrasts.iter().filter_map(|contrast| {
        let candidate = plan.find(Site::of(&contrast.candidate), contrast.candidate.load)?;
        let baseline = plan.find(Site::of(&contrast.baseline), contrast.baseline.load)?;
        Some(ContrastPlan { candidate, baseline, kind: ContrastKind::Planned })
    });
    let noise = plan.cell_ids().filter(|cell| plan.site_of(*cell).twin).filter_map(|candidate| {
        let baseline =
            plan.find(Site { twin: false, ..*plan.site_of(candidate) }, plan.load_of(candidate))?;
        Some(ContrastPlan { candidate, baseline, kind: ContrastKind::Noise })
    });
    planned.chain(noise).collect()
}

fn role(plan: &Plan, cell: CellId) -> Role {
    if plan.site_of(cell).twin {
        Role::Twin
    } else if plan.planned_contrasts().any(|contrast| contrast.candidate == cell) {
        Role::Candidate
    } else if plan.contrasts.iter().any(|contrast| contrast.baseline == cell) {
        Role::Baseline
    } else {
        Role::Uncompared
    }
}

impl Site {
    /// What a cell measures.
    fn of(cell: &CellSpec) -> Site {
        Site { service: cell.service, platform: cell.platform, twin: false }
    }

    /// The cell of the experiment that measures this site, or what it is the twin of, under a load.
    fn under(&self, load: LoadId) -> CellSpec {
        CellSpec { load, service: self.service, platform: self.platform }
    }
}
