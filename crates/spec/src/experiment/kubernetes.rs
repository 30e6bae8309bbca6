//! The options of a pod, and which of them go together.

use std::path::PathBuf;

use loadline_model::platform::{
    Expose, Kubernetes, Limits, LoadFrom, Manifests, Observers, PodPlacement, Probes,
};
use serde_json::json;

use super::limits;
use crate::error::{Complaint, Names, Problems, suggestion};
use crate::kinds::{Scalar, choice, count, parsed, switch, trimmed, word_of};
use crate::options::{Table, Written};
use crate::url::parse_platform_url;

const EXPOSES: [(&str, Expose); 6] = [
    ("nodePort", Expose::NodePort),
    ("clusterIP", Expose::ClusterIP),
    ("podIP", Expose::PodIP),
    ("hostNetwork", Expose::HostNetwork),
    ("hostPort", Expose::HostPort),
    ("loadBalancer", Expose::LoadBalancer),
];
pub(crate) const PLACEMENTS: [(&str, PodPlacement); 2] =
    [("same-node", PodPlacement::SameNode), ("other-node", PodPlacement::OtherNode)];
const PROBES: [(&str, Probes); 2] = [("none", Probes::None), ("default", Probes::Default)];
const LOAD_FROM: [(&str, LoadFrom); 3] =
    [("auto", LoadFrom::Auto), ("here", LoadFrom::Here), ("cluster", LoadFrom::Cluster)];
const OBSERVERS: [(&str, Observers); 2] =
    [("kubelet", Observers::Kubelet), ("daemonset", Observers::DaemonSet)];
/// More Services than a cluster is tested for (https://kubernetes.io/docs/setup/best-practices/cluster-large names pods and nodes;
/// its scalability thresholds end at 10,000 Services).
const MAX_SERVICES: u64 = 10_000;
const MAX_REPLICAS: u64 = 1_000;

/// What is written of a pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct KubernetesKeys {
    options: Kubernetes,
    pub requests: Option<Written<Limits>>,
    manifests: Option<PathBuf>,
    workload: Option<String>,
}

pub(super) fn table() -> Table<KubernetesKeys> {
    Table::<KubernetesKeys>::new("Kubernetes", "kubernetes", "A pod of a cluster in the kubeconfig")
        .may_be_empty()
        .key("kubeconfig", file_kind(), "The kubeconfig of this platform's cluster", |pod| {
            &mut pod.options.kubeconfig
        })
        .default("what KUBECONFIG names, else `~/.kube/config`")
        .key("context", trimmed(), "Context of the kubeconfig", |pod| &mut pod.options.context)
        .default("the current one")
        .key(
            "expose",
            expose_kind(),
            "How the client reaches the service. An ingress is written with its URL: `ingress http://shop.example/`",
            |pod| &mut pod.options.expose,
        )
        .key("static", switch(), "A static pod: a manifest in the kubelet's folder, on this machine", |pod| {
            &mut pod.options.static_pod
        })
        .key(
            "placement",
            choice("a place for a pod", &PLACEMENTS),
            "On the node where the load runs, or on another",
            |pod| &mut pod.options.placement,
        )
        .default("wherever the scheduler puts it")
        .key(
            "services",
            count("the number of Services", 1, MAX_SERVICES),
            "The number of Services that the namespace has, its own included",
            |pod| &mut pod.options.services,
        )
        .key(
            "network_policy",
            switch(),
            "A network policy for the service's pods, which lets in what is sent to the service's port and nothing else",
            |pod| &mut pod.options.network_policy,
        )
        .key(
            "probes",
            choice("a set of probes", &PROBES),
            "What the kubelet checks: nothing, or (default) liveness every 10 s and readiness every 5 s",
            |pod| &mut pod.options.probes,
        )
        .key("replicas", count("the number of pods", 1, MAX_REPLICAS), "Number of pods", |pod| {
            &mut pod.options.replicas
        })
        .key("requests", limits::table(), "What a pod reserves on its node", |pod| &mut pod.requests)
        .default("a tenth of its CPU limit and all of its memory limit")
        .key("user", user_kind(), "User id in the container", |pod| &mut pod.options.user)
        .default("the image's")
        .key(
            "manifests",
            file_kind(),
            "Your own manifests (YAML), instead of those made from the service. Needs `workload`",
            |pod| &mut pod.manifests,
        )
        .key(
            "workload",
            parsed(workload),
            "Which object of the manifests is measured: deployment/NAME, statefulset/NAME, daemonset/NAME or pod/NAME",
            |pod| &mut pod.workload,
        )
        .key(
            "load_from",
            choice("a place for the load", &LOAD_FROM),
            "Where the load runs: here, in the cluster, or (auto) in the cluster if the service cannot be reached from here",
            |pod| &mut pod.options.load_from,
        )
        .key(
            "observers",
            choice("an observer", &OBSERVERS),
            "Who reads the counters of a pod on another machine: the kubelet, or a DaemonSet of loadline's own",
            |pod| &mut pod.options.observers,
        )
        .key(
            "agent_image",
            trimmed(),
            "The image of loadline itself in a registry, for load and observers in the cluster",
            |pod| &mut pod.options.agent_image,
        )
        .default("one that `loadline image` made, present on the nodes")
        .key(
            "quiesce",
            switch(),
            "Stop the cluster's own programs while a slice is measured. Only a cluster for tests, which says by the annotation loadline.system of its nodes in which cgroup they are",
            |pod| &mut pod.options.quiesce,
        )
}

fn expose_kind() -> Scalar<Expose> {
    let names = EXPOSES.map(|(name, _)| name);
    let schema =
        json!({ "anyOf": [{ "enum": names }, { "type": "string", "pattern": r"^ingress\s+http://" }] });
    let show = |expose: &Expose| match expose {
        Expose::Ingress(url) => format!("ingress {url}"),
        expose => word_of(expose.clone(), &EXPOSES).to_owned(),
    };
    Scalar::new(expose, show, schema)
}

fn expose(text: &str) -> Result<Expose, Complaint> {
    let word = text.trim();
    if let Some(url) = word.strip_prefix("ingress") {
        if url.trim().is_empty() {
            return Err(
                Complaint::new("an ingress needs its URL").help("write `ingress http://shop.example/`")
            );
        }
        if parse_platform_url(url)?.https {
            return Err(Complaint::new("an ingress is measured over http alone")
                .help("measure its plain HTTP port: write http://…"));
        }
        return Ok(Expose::Ingress(url.trim().to_owned()));
    }
    let names = EXPOSES.map(|(name, _)| name);
    match EXPOSES.iter().find(|(name, _)| *name == word) {
        Some((_, expose)) => Ok(expose.clone()),
        None => Err(Complaint::new(format!("`{word}` is not a way to expose a service"))
            .label(format!("one of {}, ingress URL", Names(&names)))
            .help(suggestion(word, &names))),
    }
}

fn user_kind() -> Scalar<u32> {
    let parse = |text: &str| {
        let complaint = || Complaint::new(format!("`{}` is not a user id", text.trim())).help("write 1000");
        text.trim().parse().map_err(|_| complaint())
    };
    Scalar::new(parse, u32::to_string, json!({ "type": "integer", "format": "uint32", "minimum": 0 }))
}

fn file_kind() -> Scalar<PathBuf> {
    let parse = |text: &str| {
        let path = PathBuf::from(text.trim());
        match path.is_file() {
            true => Ok(path),
            false => Err(Complaint::new(format!("there is no file {}", path.display()))
                .help("paths are relative to the working directory")),
        }
    };
    Scalar::new(parse, |path| path.display().to_string(), json!({ "type": "string" }))
}

fn workload(text: &str) -> Result<String, Complaint> {
    let kinds = ["deployment", "statefulset", "daemonset", "pod"];
    match text.trim().split_once('/') {
        Some((kind, name)) if kinds.contains(&kind) && !name.is_empty() => Ok(text.trim().to_owned()),
        Some((kind, _)) => {
            Err(Complaint::new(format!("`{kind}` is not a workload")).help(suggestion(kind, &kinds)))
        }
        None => Err(Complaint::new("a workload is a kind and a name").help("write deployment/NAME")),
    }
}

impl KubernetesKeys {
    /// What is written of a pod of an experiment.
    pub fn of(pod: &Kubernetes) -> KubernetesKeys {
        let (manifests, workload) =
            pod.manifests.clone().map(|manifests| (manifests.file, manifests.workload)).unzip();
        let requests = pod.requests.any().then(|| Written::from(pod.requests));
        let options = Kubernetes { manifests: None, requests: Limits::default(), ..pod.clone() };
        KubernetesKeys { options, requests, manifests, workload }
    }
}

pub(super) fn kubernetes(written: &Written<KubernetesKeys>, problems: &mut Problems) -> Kubernetes {
    let keys = written.value.clone();
    let pod = Kubernetes {
        requests: keys.requests.map(|requests| requests.value).unwrap_or_default(),
        manifests: manifests(written, problems),
        ..keys.options
    };
    static_pod(&pod, written, problems);
    if pod.network_policy && pod.expose == Expose::HostNetwork {
        let complaint = Complaint::new("no network policy applies to a pod in the node's network")
            .help("leave `network_policy` out, or expose the pod in another way");
        problems.add(written.place_of("network_policy"), complaint);
    }
    pod
}

fn manifests(written: &Written<KubernetesKeys>, problems: &mut Problems) -> Option<Manifests> {
    let (key, message, help) = match (&written.value.manifests, &written.value.workload) {
        (Some(file), Some(workload)) => {
            return Some(Manifests { file: file.clone(), workload: workload.clone() });
        }
        (None, None) => return None,
        (Some(_), None) => (
            "manifests",
            "`manifests` needs `workload`: which object is measured?",
            "write `workload: deployment/NAME`",
        ),
        (None, Some(_)) => ("workload", "`workload` needs `manifests`", "write `manifests: FILE`"),
    };
    problems.add(written.place_of(key), Complaint::new(message).help(help));
    None
}

/// A static pod is one pod on this machine's node, made of one file.
fn static_pod(pod: &Kubernetes, written: &Written<KubernetesKeys>, problems: &mut Problems) {
    if !pod.static_pod {
        return;
    }
    let mut refuse =
        |why: &str, help: &str| problems.add(written.place_of("static"), Complaint::new(why).help(help));
    if pod.replicas > 1 {
        refuse("there can be only one static pod", "leave `replicas` out");
    }
    if pod.placement == Some(PodPlacement::OtherNode) {
        refuse("a static pod runs on the node that loadline runs on", "leave `placement` out");
    }
    if pod.manifests.is_some() {
        refuse("a static pod is made from the service", "leave `manifests` out");
    }
}

/// How it is exposed, and where.
pub(super) fn default_name(pod: &Kubernetes) -> String {
    let expose = match &pod.expose {
        Expose::Ingress(_) => "ingress",
        expose => word_of(expose.clone(), &EXPOSES),
    };
    let mut name = format!("kubernetes {expose}");
    if pod.static_pod {
        name += " static";
    }
    if let Some(placement) = pod.placement {
        name = format!("{name} {}", word_of(placement, &PLACEMENTS));
    }
    if pod.services > 1 {
        name = format!("{name} among {}", pod.services);
    }
    if pod.network_policy {
        name += " with a policy";
    }
    name
}
