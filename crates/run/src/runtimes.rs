//! The language runtimes of a stage's services: what their probes find out once they are warm.

use crate::error::RunError;
use crate::execution::Execution;
use crate::fleet::Fleet;

impl Execution<'_> {
    /// Looks into the runtimes of all services, while no load runs, and stores what was found.
    pub(crate) fn look_into_runtimes(&mut self, round: u32, fleet: &mut Fleet) -> Result<(), RunError> {
        for member in fleet.iter_mut() {
            let found = member.site.runtime();
            if !found.is_empty() {
                self.journal.runtime(member.id, round, &found).map_err(RunError::Journal)?;
            }
        }
        Ok(())
    }
}
