//! Platforms as they were written.

use schemars::JsonSchema;

use super::{LimitsDraft, Located, Text};
use crate::error::Place;
use crate::texts;

/// Where the services run.
#[derive(Clone, Debug, PartialEq)]
pub struct PlatformDraft {
    /// Where it was written.
    pub place: Place,
    /// Name in tables; by default what kind it is.
    pub name: Option<Text>,
    /// What kind it is.
    pub kind: KindDraft,
    /// Name of the platform that it is compared with; by default the first.
    pub above: Option<Text>,
    /// Whether the layers up to here are summed up and held against the whole.
    pub top: Option<Text>,
}

impl PlatformDraft {
    /// One with nothing but its kind.
    pub fn of(kind: KindDraft, place: Place) -> PlatformDraft {
        PlatformDraft { place, name: None, kind, above: None, top: None }
    }
}

/// The kind of a platform.
#[derive(Clone, Debug, PartialEq)]
pub enum KindDraft {
    /// `host`, `pod` or `container`.
    Word(Text),
    /// A container.
    Docker(Box<DockerDraft>),
    /// A pod of a cluster.
    Kubernetes(Box<KubernetesDraft>),
    /// Layers of one's own choice.
    Local(Located<Vec<LayerDraft>>),
    /// A URL.
    External(Text),
}

/// One layer of a local platform.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerDraft {
    /// `cgroup`, `veth`, `bridge`, …
    pub name: Text,
    /// Of rules, spin and cni: how many, or which file.
    pub value: Option<Text>,
    /// Of a node port: what makes its rules.
    pub backend: Option<Text>,
    /// Of a node port: among how many services it stands.
    pub services: Option<Text>,
    /// Of a sidecar: which program.
    pub proxy: Option<Text>,
    /// Of a sidecar: where.
    pub sides: Option<Text>,
}

impl LayerDraft {
    /// As it is written on the command line: `veth`, `rules=100`.
    pub fn written(&self) -> String {
        let name = self.name.value.trim();
        self.value.as_ref().map_or(name.to_owned(), |value| format!("{name}={}", value.value.trim()))
    }

    /// A layer with nothing but its name.
    pub fn named(name: Text) -> LayerDraft {
        LayerDraft { name, value: None, backend: None, services: None, proxy: None, sides: None }
    }
}

/// A container of the Docker Engine, or of Podman.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Docker")]
pub struct DockerDraft {
    /// Where it was written.
    #[schemars(skip)]
    pub place: Place,
    /// How the container is joined to a network; Docker's bridge by default.
    #[schemars(with = "Option<texts::DockerNetworkText>")]
    pub network: Option<Text>,
    /// How the client reaches it: by a port that the kernel translates (the default), by docker-proxy, or at the container's own address.
    #[schemars(with = "Option<texts::PublishText>")]
    pub publish: Option<Text>,
    /// User in the container: 1000 or 1000:1000; the image's by default.
    #[schemars(with = "Option<texts::UserText>")]
    pub user: Option<Text>,
    /// Folders and files of this machine in the container: /data:/data or /data:/data:ro.
    pub mounts: Option<Located<Vec<Text>>>,
}

/// A pod of a cluster in the kubeconfig.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(deny_unknown_fields, rename = "Kubernetes")]
pub struct KubernetesDraft {
    /// Where it was written.
    #[schemars(skip)]
    pub place: Place,
    /// Context of the kubeconfig; the current one by default.
    pub context: Option<Text>,
    /// How the client reaches the service; nodePort by default. An ingress is written with its URL: `ingress http://shop.example/`.
    #[schemars(with = "Option<texts::ExposeText>")]
    pub expose: Option<Text>,
    /// A static pod: a manifest in the kubelet's folder, on this machine.
    #[schemars(rename = "static", with = "Option<bool>")]
    pub static_pod: Option<Text>,
    /// On the node where the load runs, or on another; by default wherever the scheduler puts it.
    #[schemars(with = "Option<texts::PlacementText>")]
    pub placement: Option<Text>,
    /// Among how many Services it stands, its own included; 1 by default.
    #[schemars(with = "Option<u32>", range(min = 1))]
    pub services: Option<Text>,
    /// What the kubelet checks: nothing, or liveness every 10 s and readiness every 5 s.
    #[schemars(with = "Option<texts::ProbesText>")]
    pub probes: Option<Text>,
    /// How many pods; 1 by default.
    #[schemars(with = "Option<u32>", range(min = 1))]
    pub replicas: Option<Text>,
    /// What a pod reserves on its node; by default a tenth of its CPU limit and all of its memory limit.
    pub requests: Option<LimitsDraft>,
    /// User id in the container; the image's by default.
    #[schemars(with = "Option<u32>")]
    pub user: Option<Text>,
    /// Your own manifests (YAML), in place of what is made from the service. Needs `workload`.
    pub manifests: Option<Text>,
    /// Which of the manifests is measured: deployment/NAME, statefulset/NAME, daemonset/NAME or pod/NAME.
    pub workload: Option<Text>,
    /// Where the load runs: here, in the cluster, or (auto) in the cluster if the service can't be reached from here.
    #[schemars(with = "Option<texts::LoadFromText>")]
    pub load_from: Option<Text>,
    /// Who reads the counters of a pod that isn't on this machine: the kubelet, or a DaemonSet of loadline's own.
    #[schemars(with = "Option<texts::ObserversText>")]
    pub observers: Option<Text>,
    /// The image of loadline itself in a registry, for load and observers in the cluster; by default one that `loadline image` made is
    /// expected on the nodes.
    pub agent_image: Option<Text>,
}

impl KubernetesDraft {
    /// With nothing said.
    pub fn empty(place: Place) -> KubernetesDraft {
        KubernetesDraft {
            place,
            context: None,
            expose: None,
            static_pod: None,
            placement: None,
            services: None,
            probes: None,
            replicas: None,
            requests: None,
            user: None,
            manifests: None,
            workload: None,
            load_from: None,
            observers: None,
            agent_image: None,
        }
    }
}
