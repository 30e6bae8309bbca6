//! Platforms: where a service runs while it is measured, and everything on the machine that this takes.
//!
//! [`Ground::prepare`] lays what all deployments of a run share: a client namespace, joined to the node by a wire.
//! A [`Platform`] then deploys a [`Service`] on it: [`Host`] as a plain process, [`Local`] behind chosen [`Layer`]s,
//! [`Docker`] in a container, [`Kubernetes`] in a pod, [`External`] not at all. All that is made carries the [`RunName`]
//! and is removed by that name: at a deployment's end, at the run's end, and by [`clean()`] after a run that was killed.
//!
//! An ordinary user calls [`enter_user_namespace`] first; nothing else differs. From there no container and no cluster can be reached: for
//! those the user stays, with [`Ground::prepare_without_wire`].
//!
//! Rules are hooked into the node as a whole, as they are on a real node: with a node port or published port deployed,
//! the kernel tracks the connections of `host` deployments of the same run as well. Where each path is to be alone with what it takes, as
//! on a ladder of layers, [`Local::own_node`] gives a deployment a node of its own, joined to the client by a wire of its own; some layers
//! can be had on such a node only. [`missing()`] says beforehand what this machine or user lacks for a path.

mod addresses;
mod cgroup;
mod clean;
mod container;
mod deployment;
mod docker;
mod error;
mod external;
mod ground;
mod host;
mod iptables;
mod kubernetes;
mod layers;
mod local;
mod missing;
mod netlink;
mod netns;
mod nftables;
mod node;
mod output;
mod owner;
mod path;
mod ports;
mod process;
mod processes;
mod registry;
mod run_name;
mod service;
mod slots;
mod spawner;
mod sys;
mod tool;
mod user_namespace;

pub use cgroup::Cgroup;
pub use clean::{Kind, Removed, clean};
pub use container::{Container, find_container};
pub use deployment::{
    Agent, Deployment, KubeletReader, KubeletReading, Observer, Phase, Platform, Starting, Startup,
    Surroundings, Vantage,
};
pub use docker::DockerError;
pub use error::Error;
pub use external::External;
pub use ground::Ground;
pub use host::Host;
pub use kubernetes::{ClusterError, ClusterFacts, Cni, NodeFacts, cluster_facts};
pub use layers::cni::CniError;
pub use loadline_model::platform::{
    Backend, Docker, DockerNetwork, Expose, Image, ImageSource, IpvlanMode, Kubernetes, Layer, LayersError,
    Limits, LoadFrom, Manifests, Mount, Observers, Overlay, PodPlacement, Probes, Proxy, Publish, Sidecar,
    Sides, check_layers, has_own_network, preset,
};
pub use local::Local;
pub use missing::missing;
pub use netns::Netns;
pub use registry::Registry;
pub use run_name::RunName;
pub use service::Service;
pub use user_namespace::enter_user_namespace;
