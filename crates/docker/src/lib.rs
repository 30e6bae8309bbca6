//! The service in a container of the Docker Engine, or of Podman through the same API.
//! Its limits, labels and removal are those of every other deployment; how it is joined to the client is chosen.

mod archive;
mod cleaner;
mod client;
mod deployment;
mod endpoint;
mod error;
mod image;
mod macvlan;
mod network;
mod platform;
mod remove;
mod request;
mod surroundings;
mod transfer;
mod userland_proxy;
mod watch;

pub use cleaner::CLEANERS;
pub use error::DockerError;
pub use platform::DockerPlatform;
