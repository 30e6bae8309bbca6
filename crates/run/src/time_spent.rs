//! Where the wall time of a run goes, by its clock.

use loadline_model::TimeSpent;

use crate::error::RunError;
use crate::execution::Execution;

impl Execution<'_> {
    /// Does `act`, and adds the time that it takes to a part of the run's.
    pub fn timed<T>(&mut self, part: fn(&mut TimeSpent) -> &mut f64, act: impl FnOnce(&mut Self) -> T) -> T {
        let begun = self.clock.now();
        let result = act(self);
        *part(&mut self.spent) += (self.clock.now() - begun).as_secs_f64();
        result
    }

    /// Stores where the time has gone so far.
    pub fn store_time_spent(&mut self) -> Result<(), RunError> {
        self.spent.total_s = (self.clock.now() - self.begun).as_secs_f64();
        self.journal.time_spent(&self.spent).map_err(RunError::Journal)
    }
}
