//! What a service may use on a platform: limits, CPUs and environment that are common to all, a service's own, or a platform's own.
//!
//! A platform's own come before a service's own, and these before the common ones: the platform is what most experiments vary.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Experiment, Placement, Slices};
use crate::ids::{PlatformId, ServiceId};
use crate::platform::Limits;

/// CPUs that a service runs on, where they are not chosen automatically.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServiceCpus {
    /// It is not pinned and sees all of them.
    All,
    /// It is pinned to these.
    Pinned(Vec<usize>),
}

impl Experiment {
    /// The limits of a service on a platform. CPUs and memory are overridden apart from each other.
    pub fn limits_of(&self, service: ServiceId, platform: PlatformId) -> Limits {
        self.platform(platform).limits.or(self.service(service).limits).or(self.limits)
    }

    /// The shortest slice that is chosen for its services.
    pub fn shortest_slice(&self) -> Duration {
        let platforms = || (0..self.platforms.len()).map(PlatformId);
        let services = (0..self.services.len()).map(ServiceId);
        Slices::shortest(services.flat_map(|service| platforms().map(move |on| self.limits_of(service, on))))
    }

    /// Which CPUs a service on a platform is asked to have, and the load.
    pub fn placement_of(&self, service: ServiceId, platform: PlatformId) -> Placement {
        let own = self.platform(platform).cpus.as_ref().or(self.service(service).cpus.as_ref());
        let common = self.placement.clone();
        match own {
            None => common,
            Some(ServiceCpus::All) => Placement { service_cpus: None, service_sees_all: true, ..common },
            Some(ServiceCpus::Pinned(cpus)) => {
                Placement { service_cpus: Some(cpus.clone()), service_sees_all: false, ..common }
            }
        }
    }

    /// The environment of a service on a platform. Of variables with the same name the platform's counts, then the service's.
    pub fn env_of(&self, service: ServiceId, platform: PlatformId) -> Vec<(String, String)> {
        let mut merged: Vec<(String, String)> = Vec::new();
        let layers = [&self.env, &self.service(service).env, &self.platform(platform).env];
        for (name, value) in layers.into_iter().flatten() {
            match merged.iter_mut().find(|(earlier, _)| earlier == name) {
                Some((_, earlier)) => earlier.clone_from(value),
                None => merged.push((name.clone(), value.clone())),
            }
        }
        merged
    }
}
