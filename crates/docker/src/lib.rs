//! The service in a container of the Docker Engine, or of Podman through the same API.
//! Its limits, labels and removal are those of every other deployment; its network is chosen.

mod archive;
mod cleaner;
mod client;
mod deployment;
mod endpoint;
mod error;
mod image;
mod info;
mod macvlan;
mod monitor;
mod network;
mod platform;
mod remove;
mod request;
mod run_network;
mod transfer;
mod userland_proxy;

pub use cleaner::CLEANERS;
pub use error::DockerError;
pub use platform::DockerPlatform;
