//! Whether a service, or what it needs, is ready: it answers a request with success, or accepts a connection.

use std::time::Duration;

use loadline_agent::Driver;
use loadline_engine::SliceSpec;
use loadline_model::experiment::Ready;
use loadline_model::load::{Arrivals, Load, Rate};

use super::generator::Generator;
use crate::deployer::Readiness;
use crate::error::RunError;

/// Timeout of one attempt.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Asks until something is ready.
#[derive(Default)]
pub struct ReadyProbe {
    /// What has not connected yet.
    unconnected: Option<Box<dyn Driver>>,
}

impl ReadyProbe {
    /// Asks once, from where the load comes from.
    pub fn ask(&mut self, generator: &Generator, ready: &Ready) -> Result<Readiness, RunError> {
        let path = ready.path.as_deref().unwrap_or("/");
        let mut driver = match self.unconnected.take() {
            Some(driver) => driver,
            None => generator.probe(path, TIMEOUT.min(ready.within))?,
        };
        if let Err(error) = driver.prepare() {
            // It is kept only if it never connected. A failure response may come from another program as long as a cluster has not set up the
            // path to the service, so a new connection is needed; and a service may have no connection to spare for a finished probe.
            self.unconnected = Some(driver);
            return Ok(Readiness::NotYet(error.to_string()));
        }
        if ready.path.is_none() {
            return Ok(Readiness::Ready);
        }
        // The first arrival of a uniform schedule is due at once, the second after the end.
        let load = Load::Open { rate: Rate::per_second(1000.0)?, arrivals: Arrivals::Uniform };
        let once = SliceSpec { load, duration: Duration::from_millis(1), seed: 0, offset: Duration::ZERO };
        let why = match driver.drive(once) {
            Ok(record) if record.answered > 0 && record.errors.total() == 0 => return Ok(Readiness::Ready),
            Ok(record) => {
                let request = format!("GET {path}");
                let errors = record.errors.by_request(std::slice::from_ref(&request));
                let status = |kind: &String| {
                    kind.strip_prefix(&format!("{request}: ")).map(|code| format!("status {code}"))
                };
                let kinds: Vec<String> =
                    errors.into_keys().map(|kind| status(&kind).unwrap_or(kind)).collect();
                format!("{request} failed ({})", kinds.join(", "))
            }
            Err(error) => error.to_string(),
        };
        Ok(Readiness::NotYet(why))
    }
}
