//! The options of the platform `kubernetes`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Limits;

/// The platform `kubernetes`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kubernetes {
    /// The kubeconfig; `None` is what KUBECONFIG names, else `~/.kube/config`.
    pub kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig; `None` is the current one.
    pub context: Option<String>,
    /// How clients reach the service.
    pub expose: Expose,
    /// Whether the pod is a static one: a manifest in the kubelet's folder, without a Deployment.
    pub static_pod: bool,
    /// Where the pod runs; `None` is wherever the scheduler puts it.
    pub placement: Option<PodPlacement>,
    /// Among how many Services it stands, its own included; at least 1.
    pub services: u32,
    /// Whether a network policy selects its pods, which lets in what is sent to the service's port and nothing else.
    #[serde(default)]
    pub network_policy: bool,
    /// What the kubelet checks.
    pub probes: Probes,
    /// How many pods; at least 1.
    pub replicas: u32,
    /// What a pod reserves on its node. Left out: a tenth of its CPU limit, because all services of a run stand beside each other and
    /// would keep each other off the nodes, and all of its memory limit.
    pub requests: Limits,
    /// User id in the container; `None` is the image's.
    pub user: Option<u32>,
    /// The user's own manifests in place of a Deployment made from the service.
    pub manifests: Option<Manifests>,
    /// Where the load runs.
    pub load_from: LoadFrom,
    /// Who reads the counters of a pod that isn't on this machine.
    pub observers: Observers,
    /// loadline's own image, for load and observers in the cluster; `None` is the one that `loadline image` makes, already on the nodes.
    pub agent_image: Option<String>,
    /// Whether the cluster's own programs are stopped while a slice is measured.
    #[serde(default)]
    pub quiesce: bool,
}

/// How clients reach a service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Expose {
    /// A port of every node.
    NodePort,
    /// The Service's virtual address.
    ClusterIP,
    /// The pod's own address.
    PodIP,
    /// The node's network namespace.
    HostNetwork,
    /// A port of the pod's node, by the port mapping of the container network.
    HostPort,
    /// The address that the cloud or a controller like MetalLB gives.
    LoadBalancer,
    /// A URL that an ingress controller answers.
    Ingress(String),
}

/// Where a pod runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PodPlacement {
    /// On the node where the load runs.
    SameNode,
    /// On another one.
    OtherNode,
}

/// What the kubelet checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Probes {
    /// Nothing.
    #[default]
    None,
    /// Liveness every 10 s after 30 s (3 failures), readiness every 5 s after 10 s (2 failures).
    Default,
}

/// Manifests that the user brings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifests {
    /// A YAML file, with several documents if need be.
    pub file: PathBuf,
    /// Which of them is measured: `deployment/NAME`, `statefulset/NAME`, `daemonset/NAME` or `pod/NAME`.
    pub workload: String,
}

/// Where the load runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadFrom {
    /// On this machine when the service's address can be reached from it, else in the cluster.
    #[default]
    Auto,
    /// On this machine.
    Here,
    /// In the cluster, by a Job.
    Cluster,
}

/// Who reads the counters of a pod that isn't on this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Observers {
    /// The kubelet.
    #[default]
    Kubelet,
    /// A DaemonSet of loadline's own.
    DaemonSet,
}

impl Default for Kubernetes {
    fn default() -> Kubernetes {
        Kubernetes {
            kubeconfig: None,
            context: None,
            expose: Expose::NodePort,
            static_pod: false,
            placement: None,
            services: 1,
            network_policy: false,
            probes: Probes::default(),
            replicas: 1,
            requests: Limits::default(),
            user: None,
            manifests: None,
            load_from: LoadFrom::default(),
            observers: Observers::default(),
            agent_image: None,
            quiesce: false,
        }
    }
}
