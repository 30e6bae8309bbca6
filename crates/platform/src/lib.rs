//! The interface of platforms: a [`Platform`] is where a service runs while it is measured. It deploys a [`Service`] in the environment
//! of a run; the [`Deployment`] says where the client connects, and has the service observed and ended.
//!
//! A platform is a crate of its own, which knows none of the others. What it makes on a machine it makes through `loadline-machine`,
//! where it also registers how it is removed. `loadline-platforms` lists them all.

mod agent;
mod deployment;
mod error;
mod platform;
mod service;
mod startup;
mod subject;

pub use agent::Agent;
pub use deployment::{Deployment, Vantage};
pub use error::PlatformError;
pub use loadline_model::platform::Capabilities;
pub use platform::{PendingDeployment, Platform, PlatformInfo};
pub use service::{Service, mebibytes};
pub use startup::{Phase, Startup};
pub use subject::{Subject, Usage, UsageReader};
