//! Waiting until a service answers, and saying what it printed when it doesn't.

use std::time::{Duration, Instant};

use loadline_engine::{Arrivals, Load, Rate, Record, SliceSpec};
use loadline_model::experiment::Service;

use super::generator::Generator;
use super::site::LiveSite;
use super::{Execution, RunError};

/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(5);
/// Longest wait for one attempt's answer.
const ATTEMPT: Duration = Duration::from_secs(5);

impl Execution<'_> {
    /// Asks until the service is ready, for as long as it may take from here on; returns how long that took from `begun`, when its
    /// platform was told to deploy it.
    pub(super) fn wait_until_ready(
        &self,
        site: &mut LiveSite,
        service: &Service,
        generator: &Generator,
        begun: Instant,
    ) -> Result<Duration, RunError> {
        let path = service.ready.path.as_deref().unwrap_or("/");
        let connect = || generator.probe(path, ATTEMPT.min(service.ready.within));
        let mut probe = connect()?;
        // The first arrival of a uniform schedule is due at once, the second after the end.
        let load = Load::Open { rate: Rate::per_second(1000.0)?, arrivals: Arrivals::Uniform };
        let once = SliceSpec { load, duration: Duration::from_millis(1), seed: 0, offset: Duration::ZERO };
        let asked = Instant::now();
        loop {
            let last = match (probe.prepare(), &service.ready.path) {
                (Err(error), _) => error.to_string(),
                (Ok(()), None) => return Ok(begun.elapsed()),
                (Ok(()), Some(path)) => match probe.drive(once.clone()) {
                    Ok(record) if record.answered > 0 && record.errors.total() == 0 => {
                        return Ok(begun.elapsed());
                    }
                    failed => {
                        // As long as a cluster has not laid the way to the service, whoever is at its address may have answered: he
                        // is not asked again.
                        probe = connect()?;
                        match failed {
                            Ok(record) => format!("GET {path} failed ({})", kinds(&record)),
                            Err(error) => error.to_string(),
                        }
                    }
                },
            };
            if let Some(death) = site.death() {
                return Err(death);
            }
            self.check_interrupted()?;
            if asked.elapsed() >= service.ready.within {
                let why = format!("it was not ready within {:?}: {last}", service.ready.within);
                return Err(RunError::service(&site.label, why, &site.output()));
            }
            std::thread::sleep(PAUSE);
        }
    }
}

fn kinds(record: &Record) -> String {
    record.errors.by_name().into_keys().collect::<Vec<_>>().join(", ")
}
