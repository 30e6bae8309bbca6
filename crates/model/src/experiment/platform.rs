//! Where services run.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use super::ServiceCpus;
use crate::ids::PlatformId;
use crate::platform::{Capabilities, Docker, Expose, Kubernetes, Layer, Limits};

/// Where a service runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Platform {
    /// Unique among the platforms.
    pub name: String,
    /// Its kind and options.
    pub kind: PlatformKind,
    /// The platform that it is compared with: the rung below it on a ladder. `None`: the first platform.
    #[serde(default)]
    pub above: Option<PlatformId>,
    /// Whether it is the top of a ladder: deployed a second time, so that the sum of the layers below it can be held against the whole.
    #[serde(default)]
    pub top: bool,
    /// What services may use here, instead of their own limits and the common ones.
    #[serde(default, skip_serializing_if = "Limits::is_none")]
    pub limits: Limits,
    /// CPUs of services here, instead of their own and the common ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<ServiceCpus>,
    /// Environment of services here, over their own and the common one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, String)>,
}

impl Platform {
    /// A platform that stands on no other and has nothing of its own.
    pub fn new(name: impl Into<String>, kind: PlatformKind) -> Platform {
        Platform {
            name: name.into(),
            kind,
            above: None,
            top: false,
            limits: Limits::default(),
            cpus: None,
            env: Vec::new(),
        }
    }
}

/// The kinds of platform that this version can deploy to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlatformKind {
    /// A plain process on the node.
    Host,
    /// A process behind layers of a platform's path.
    Local(Vec<Layer>),
    /// A container.
    Docker(Docker),
    /// A pod of a cluster.
    Kubernetes(Kubernetes),
    /// Something that already runs.
    External {
        /// As it was written.
        url: String,
        /// Where to connect.
        address: SocketAddr,
        /// Value of the `Host` header.
        authority: String,
    },
}

impl PlatformKind {
    /// Whether TLS is spoken there to a service that does or does not speak it (`service_https`) where it is started.
    pub fn speaks_tls(&self, service_https: bool) -> bool {
        match self {
            PlatformKind::External { url, .. } => url.starts_with("https://"),
            _ => service_https,
        }
    }

    /// Whether a proxy on its path reads the requests, as HTTP/1.1 in clear text.
    pub fn has_http_proxy(&self) -> bool {
        match self {
            PlatformKind::Local(layers) => layers.iter().any(|layer| matches!(layer, Layer::Sidecar(_))),
            PlatformKind::Kubernetes(kubernetes) => matches!(kubernetes.expose, Expose::Ingress(_)),
            _ => false,
        }
    }

    /// What the platform can do; `own_node`: whether the plan gives each deployment a node of its own.
    pub fn capabilities(&self, own_node: bool) -> Capabilities {
        match self {
            PlatformKind::Host => Capabilities::of_host(own_node),
            PlatformKind::Local(layers) => Capabilities::of_layers(layers),
            PlatformKind::Docker(docker) => docker.capabilities(),
            PlatformKind::Kubernetes(kubernetes) => kubernetes.capabilities(),
            PlatformKind::External { .. } => Capabilities::of_external(),
        }
    }
}
