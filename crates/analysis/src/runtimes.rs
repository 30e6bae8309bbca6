//! The language runtimes of the services: how they were set up, and whether their compilers were done.

use loadline_model::SiteId;
use loadline_model::metrics::{JIT, SERVICE_CPU};
use loadline_model::notes::Note;
use loadline_model::plan::Site;
use loadline_model::rows::SliceRow;

use crate::RunData;
use crate::cells;
use crate::counted::Counted;
use crate::result::{SiteRuntime, Statement};

/// The share of a service's CPU time above which its compiler is not done. A JVM that is warm compiles now and then, for well below one percent.
const STILL_COMPILING: f64 = 0.02;

/// The runtimes of all sites but the twins, of those that have one.
pub fn runtimes(data: &RunData) -> Vec<SiteRuntime> {
    let plan = &data.run.plan;
    let sites = plan.site_ids().zip(&plan.sites).filter(|(_, site)| !site.twin);
    sites
        .filter_map(|(id, site)| {
            let of_site = data.deployments.iter().filter(|row| row.site == id);
            let last = of_site.filter(|row| !row.runtime.is_empty()).max_by_key(|row| row.round)?;
            Some(SiteRuntime {
                label: cells::label(&data.run.experiment, site),
                facts: last.runtime.facts.clone(),
                unseen: last.runtime.unseen.iter().cloned().map(Statement::of).collect(),
            })
        })
        .collect()
}

/// A note for each site whose service still compiled itself while it was measured.
pub fn still_compiling(data: &RunData, counted: &Counted<'_>) -> Vec<Note> {
    let plan = &data.run.plan;
    let compiled = |(id, site): (SiteId, &Site)| {
        let cells = plan.cells_of(id).filter_map(|(cell, _)| counted.get(&cell));
        let slices: Vec<&SliceRow> = cells.flat_map(|slices| slices.values().copied()).collect();
        let sum = |name: &str| slices.iter().filter_map(|slice| slice.observations.get(name)).sum::<f64>();
        let share = sum(JIT) / sum(SERVICE_CPU);
        // Without CPU time there is no share.
        (share > STILL_COMPILING)
            .then(|| Note::StillCompiling { site: cells::label(&data.run.experiment, site), share })
    };
    plan.site_ids().zip(&plan.sites).filter_map(compiled).collect()
}
