//! An experiment as its author means it: services, platforms, loads and the plan, valid by construction.

mod capacity;
mod cells;
mod claim;
mod condition;
mod hooks;
mod margin;
mod need;
mod placement;
mod plan;
mod platform;
mod precision;
mod resources;
mod service;
mod slices;

use serde::{Deserialize, Serialize};

use crate::ids::{LoadId, PlatformId, ServiceId};
use crate::platform::Limits;

pub use crate::load::LoadSpec;
pub use capacity::{Bound, CAPACITY, Capacity, ERRORS, Objective, ObjectiveFault, SENT, SUCCESS};
pub use cells::{CellSpec, ContrastSpec};
pub use claim::{CLAIM_COUNTS, CLAIM_METRICS, Claim, OF_DEPLOYMENTS, Says, TimeUnit};
pub use condition::{Amount, Condition, Direction, higher_is};
pub use hooks::Hooks;
pub use margin::Margin;
pub use need::{Need, PROXIED};
pub use placement::Placement;
pub use plan::{Interleave, Isolation, Nodes, OnFailure, PlanSpec};
pub use platform::{Platform, PlatformKind};
pub use precision::Precision;
pub use resources::ServiceCpus;
pub use service::{Ready, RequestSpec, Service, Start};
pub use slices::Slices;

/// One experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Short name, shown as the title.
    pub name: String,
    /// The question that the run is to answer, in the author's words.
    pub question: Option<String>,
    /// What is measured; at least one, names unique.
    pub services: Vec<Service>,
    /// What a service may use where neither it nor its platform says otherwise.
    pub limits: Limits,
    /// Environment of all services, added to the inherited one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, String)>,
    /// Where the services run; at least one, names unique.
    pub platforms: Vec<Platform>,
    /// What is offered; at least one, no two alike.
    pub loads: Vec<LoadSpec>,
    /// What is measured, in order and each once; runs from before cells were written down have their plan alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<CellSpec>,
    /// What is compared with what, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contrasts: Vec<ContrastSpec>,
    /// What is searched for, if the rates of the loads are where searches begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Capacity>,
    /// How much is measured, in which order.
    pub plan: PlanSpec,
    /// Which CPUs serve and which load; `None` is chosen automatically.
    pub placement: Placement,
    /// What somebody says of it, judged at the end.
    #[serde(default)]
    pub claims: Vec<Claim>,
    /// The run fails if one of these holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fail_if: Vec<Condition>,
    /// What is run around the measuring.
    #[serde(default, skip_serializing_if = "Hooks::is_empty")]
    pub hooks: Hooks,
}

impl Experiment {
    /// Whether platforms stand above each other, rather than all being compared with the first.
    pub fn is_ladder(&self) -> bool {
        self.platforms.iter().any(|platform| platform.above.is_some())
    }

    /// Whether anything is deployed beside a service, on its platform, because that needs it.
    pub fn has_needs_beside(&self) -> bool {
        self.services.iter().flat_map(|service| &service.needs).any(|need| !need.shared)
    }

    /// Whether services share something that they need.
    pub fn has_shared_needs(&self) -> bool {
        self.services.iter().flat_map(|service| &service.needs).any(|need| need.shared)
    }

    /// A service. The id is one of this experiment's.
    pub fn service(&self, id: ServiceId) -> &Service {
        &self.services[id.0]
    }

    /// A platform. The id is one of this experiment's.
    pub fn platform(&self, id: PlatformId) -> &Platform {
        &self.platforms[id.0]
    }

    /// A load. The id is one of this experiment's.
    pub fn load(&self, id: LoadId) -> &LoadSpec {
        &self.loads[id.0]
    }
}
