//! The language runtimes of the services: how they were set up, and whether their compilers were done.

use loadline_model::SiteId;
use loadline_model::metrics::{JIT, SERVICE_CPU};
use loadline_model::notes::Note;
use loadline_model::plan::Site;

use crate::RunData;
use crate::cells;
use crate::counted::Counted;
use crate::result::{SiteRuntime, Statement};

/// The share of a service's CPU time above which its compiler is not done. A JVM that is warm compiles now and then, for well below one percent.
const STILL_COMPILING: f64 = 0.02;

/// The runtimes of all sites but the twins, of those that have one.
pub fn runtimes(data: &RunData, counted: &Counted<'_>) -> Vec<SiteRuntime> {
    let plan = &data.run.plan;
    let sites = plan.site_ids().zip(&plan.sites).filter(|(_, site)| !site.twin);
    sites
        .filter_map(|(id, site)| {
            let of_site = data.deployments.iter().filter(|row| row.site == id);
            let last = of_site.filter(|row| !row.runtime.is_empty()).max_by_key(|row| row.round)?;
            Some(SiteRuntime {
                label: cells::label(&data.run.experiment, site),
                facts: last.runtime.facts.clone(),
                jit_share: jit_share(data, id, counted),
                unseen: last.runtime.unseen.iter().cloned().map(Statement::of).collect(),
            })
        })
        .collect()
}

/// A note of the sites whose services still compiled themselves while they were measured, if there are any.
pub fn still_compiling(data: &RunData, counted: &Counted<'_>) -> Option<Note> {
    let plan = &data.run.plan;
    let compiled = |(id, site): (SiteId, &Site)| {
        let share = jit_share(data, id, counted).filter(|share| *share > STILL_COMPILING)?;
        Some((cells::label(&data.run.experiment, site), share))
    };
    let sites: Vec<(String, f64)> = plan.site_ids().zip(&plan.sites).filter_map(compiled).collect();
    (!sites.is_empty()).then_some(Note::StillCompiling { sites })
}

/// The JIT's share of a site's CPU time in the cell where it was largest: a load that takes much CPU time does not hide what the others find.
fn jit_share(data: &RunData, site: SiteId, counted: &Counted<'_>) -> Option<f64> {
    let cells = data.run.plan.cells_of(site).filter_map(|(cell, _)| counted.get(&cell));
    let shares = cells.filter_map(|slices| {
        let of_all = |name: &str| -> Option<f64> {
            let seen = slices.values().filter_map(|slice| slice.observations.get(name));
            seen.reduce(|sum, one| sum + one)
        };
        Some(of_all(JIT)? / of_all(SERVICE_CPU).filter(|cpu| *cpu > 0.0)?)
    });
    shares.reduce(f64::max)
}
