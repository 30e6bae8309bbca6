//! Each request sent once to each service, to see what it says. Nothing is measured.

use std::collections::BTreeMap;

use loadline_model::{CellId, SiteId, Tried, TriedRequest};

use crate::error::RunError;
use crate::execution::{Execution, Outcome, Run, execute_with};
use crate::fleet::Fleet;
use crate::strategy::Strategy;

/// Deploys what the strategy wants deployed, and in place of measuring it sends each request once, in each protocol that a load has.
///
/// # Errors
/// When the journal could not be started or finished.
pub fn try_out(run: Run<'_>, strategy: &mut dyn Strategy) -> Result<(Outcome, Vec<Tried>), RunError> {
    let mut tried = Vec::new();
    let outcome =
        execute_with(run, strategy, &mut |execution, _, fleet| execution.try_out(fleet, &mut tried))?;
    Ok((outcome, tried))
}

impl Execution<'_> {
    fn try_out(&mut self, fleet: &mut Fleet, tried: &mut Vec<Tried>) -> Result<(), RunError> {
        let sites: Vec<SiteId> = fleet.iter().map(|member| member.id).collect();
        for site in sites {
            // By whether it is HTTP/2.
            let mut cells: BTreeMap<bool, CellId> = BTreeMap::new();
            for (cell, load) in self.plan.cells_of(site) {
                cells.entry(self.experiment.load(load).protocol.streams().is_some()).or_insert(cell);
            }
            for cell in cells.into_values() {
                self.check_interrupted()?;
                // The site may have been abandoned.
                let Some(member) = fleet.get(site) else { break };
                match member.with_engine(cell, |engine| engine.try_out()) {
                    Ok(requests) => tried.push(self.tried(site, requests)),
                    Err(failure) => self.continue_without(fleet, failure)?,
                }
            }
        }
        Ok(())
    }

    fn tried(&self, site: SiteId, requests: Vec<TriedRequest>) -> Tried {
        let planned = self.plan.site(site);
        Tried {
            service: self.experiment.service(planned.service).name.clone(),
            platform: self.experiment.platform(planned.platform).name.clone(),
            requests,
        }
    }
}
