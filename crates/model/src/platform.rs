//! The options of platforms: what an experiment says of where its services run.

mod capabilities;
mod docker;
mod image;
mod kubernetes;
mod layers;
mod limits;

pub use capabilities::{Capabilities, NeedsRoot, PortsOf, Starts};
pub use docker::{Docker, DockerNetwork, Mount, Publish};
pub use image::{Image, ImageSource};
pub use kubernetes::{Expose, Kubernetes, LoadFrom, Manifests, Observers, PodPlacement, Probes};
pub use layers::{
    Attachment, Backend, IpvlanMode, Layer, Layers, LayersError, MOST_SERVICES, Overlay, Proxy, Sidecar,
    Sides, check_layers, has_own_network, preset,
};
pub use limits::Limits;
