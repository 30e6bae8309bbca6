//! Waiting until a service answers, and saying what it printed when it doesn't.

use std::time::{Duration, Instant};

use crate::deployer::Readiness;
use crate::error::RunError;
use crate::execution::Execution;
use crate::fleet::Member;

/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(5);

impl Execution<'_> {
    /// Asks until the service is ready, for as long as it may take from here on; returns how long that took from `begun`, when its
    /// platform was told to deploy it.
    pub(crate) fn wait_until_ready(&self, member: &mut Member, begun: Instant) -> Result<Duration, RunError> {
        let service = self.plan.site(member.id).service;
        let within = self.experiment.service(service).ready.within;
        let asked = self.clock.now();
        loop {
            let why_not = match member.site.ask_ready()? {
                Readiness::Ready => return Ok(self.clock.now() - begun),
                Readiness::NotYet(why) => why,
            };
            if let Some(end) = member.end() {
                return Err(end);
            }
            self.check_interrupted()?;
            if self.clock.now() - asked >= within {
                let why = format!("it was not ready within {within:?}: {why_not}");
                return Err(RunError::service(&member.label, why, &member.site.output_tail()));
            }
            self.clock.sleep(PAUSE);
        }
    }
}
