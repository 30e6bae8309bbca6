//! How the services' starts went: medians over deployments, because one start in ten may meet a busy disk.

use loadline_model::rows::DeploymentRow;

use crate::RunData;
use crate::cells;
use crate::median::median;
use crate::result::{Start, StartPhase};

/// The name of the last phase.
const ANSWERED: &str = "answered";

/// Starts of every site but the twins.
pub fn starts(data: &RunData) -> Vec<Start> {
    let plan = &data.run.plan;
    let sites = plan.site_ids().zip(&plan.sites).filter(|(_, site)| !site.twin);
    sites
        .filter_map(|(id, site)| {
            let rows: Vec<&DeploymentRow> = data.deployments.iter().filter(|row| row.site == id).collect();
            let first = rows.first()?;
            let mut names: Vec<&str> = first.startup.phases.iter().map(|phase| phase.name.as_str()).collect();
            names.push(ANSWERED);
            Some(Start {
                label: cells::label(&data.run.experiment, site),
                deployments: rows.len(),
                phases: names.into_iter().filter_map(|name| phase(name, &rows)).collect(),
                image_bytes: median(rows.iter().filter_map(|row| row.startup.image_bytes).map(|b| b as f64))
                    .map(|b| b as u64),
                idle_memory_bytes: median(
                    rows.iter().filter_map(|row| row.startup.idle_memory_bytes).map(|b| b as f64),
                )
                .map(|b| b as u64),
            })
        })
        .collect()
}

fn phase(name: &str, rows: &[&DeploymentRow]) -> Option<StartPhase> {
    let times = || {
        rows.iter().filter_map(|row| match name {
            ANSWERED => Some(row.ready_ms),
            _ => row.startup.phases.iter().find(|phase| phase.name == name).map(|phase| phase.after_ms),
        })
    };
    let range_ms = [times().reduce(f64::min)?, times().reduce(f64::max)?];
    Some(StartPhase { name: name.to_owned(), median_ms: median(times())?, range_ms })
}
