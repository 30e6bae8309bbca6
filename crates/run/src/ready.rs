//! Waiting until a service answers, and showing its output if it does not.

use std::time::{Duration, Instant};

use loadline_observe::listening_elsewhere;

use crate::deployer::Readiness;
use crate::error::RunError;
use crate::execution::Execution;
use crate::fleet::Member;

/// Polling intervals: a fiftieth of what it took so far, within these. A fast start is known to a millisecond, and a slow one is not slowed
/// by its probes.
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(5);
/// How long a service that loadline does not start is waited for: it runs already, or somebody has to start it.
const RUNS_ALREADY: Duration = Duration::from_secs(2);

impl Execution<'_> {
    /// Probes until the service is ready, for at most the time it may take from now on; returns how long that took since `begun`, when its
    /// deployment was requested.
    pub(crate) fn wait_until_ready(&self, member: &mut Member, begun: Instant) -> Result<Duration, RunError> {
        let service = self.plan.site(member.id).service;
        let within = self.experiment.service(service).ready.within;
        let within = if member.site.is_external() { within.min(RUNS_ALREADY) } else { within };
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
                let why = format!("not ready within {within:?}: {why_not}{}", hint(member));
                return Err(RunError::service(&member.label, why, &member.site.output_tail()));
            }
            let pause = (self.clock.now() - begun) / 50;
            self.clock.sleep(pause.clamp(SHORTEST_PAUSE, LONGEST_PAUSE));
        }
    }
}

/// What a service that does not answer is doing instead, if that can be seen.
fn hint(member: &Member) -> String {
    let ports = listening_elsewhere(&member.site.pids());
    let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
    match &ports[..] {
        [] if member.site.is_external() => {
            "; start it first: loadline does not start what has a URL".to_owned()
        }
        [] => String::new(),
        [port] => format!(
            "; it listens on port {port} instead: pass it {{port}}, which $PORT holds as well, or write `port: {port}`"
        ),
        several => format!(
            "; it listens on ports {} instead: pass it {{port}}, which $PORT holds as well",
            several.join(", ")
        ),
    }
}
