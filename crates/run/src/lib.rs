//! The run loop: deployments and blocks of slices in random order, each stored in the journal as it ends.
//!
//! The loop itself knows no platform, no store and no clock. A [`Deployer`] starts the services and connects the load to them, a
//! [`Strategy`] decides what is measured next, a [`Journal`] keeps what was measured. [`deploy`] holds the deployer of real platforms.

mod block;
mod clock;
pub mod deploy;
mod deployer;
mod drive;
mod error;
mod execution;
mod fleet;
pub mod gates;
mod hooks;
mod journal;
mod loud_spell;
mod measure;
mod notes;
pub mod order;
pub mod placement;
mod preview;
mod profile;
mod reading;
mod ready;
mod runtimes;
mod side_by_side;
pub mod strategy;
mod tails;
mod taken;
mod time_spent;
mod try_out;
mod turn;
mod warm_up;
mod warmth;

pub use clock::{Clock, SystemClock};
pub use deployer::{Deployer, LiveSite, MachineId, ReadOut, Readiness, StartingSite};
pub use error::{BoxError, RunError};
pub use execution::{Outcome, Run, execute};
pub use journal::Journal;
pub use loadline_model::Event;
pub use preview::preview;
pub use strategy::Strategy;
pub use taken::TaskTimes;
pub use try_out::try_out;
pub use turn::{Turn, Visit};
