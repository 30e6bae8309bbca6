//! The options of a pod, and which of them go together.

use std::path::PathBuf;

use loadline_model::platform::{Expose, Kubernetes, LoadFrom, Manifests, Observers, PodPlacement, Probes};

use super::choices::{choice, set, switch};
use super::limits::limits;
use crate::draft::KubernetesDraft;
use crate::error::{Complaint, Names, Problems, suggestion};
use crate::units::parse_count;
use crate::url::parse_platform_url;

const WAYS: [(&str, Expose); 6] = [
    ("nodePort", Expose::NodePort),
    ("clusterIP", Expose::ClusterIP),
    ("podIP", Expose::PodIP),
    ("hostNetwork", Expose::HostNetwork),
    ("hostPort", Expose::HostPort),
    ("loadBalancer", Expose::LoadBalancer),
];
const PLACES: [(&str, PodPlacement); 2] =
    [("same-node", PodPlacement::SameNode), ("other-node", PodPlacement::OtherNode)];
/// More Services than a cluster is tested for (https://kubernetes.io/docs/setup/best-practices/cluster-large names pods and nodes;
/// its scalability thresholds end at 10,000 Services).
const MAX_SERVICES: u64 = 10_000;
const MAX_REPLICAS: u64 = 1_000;

/// The platform, and its name if it has none of its own: how it is exposed and where.
pub(super) fn kubernetes(draft: &KubernetesDraft, problems: &mut Problems) -> Option<(String, Kubernetes)> {
    let before = problems.count();
    let mut platform = Kubernetes {
        context: draft.context.as_ref().map(|text| text.value.trim().to_owned()),
        manifests: manifests(draft, problems),
        requests: limits(draft.requests.as_ref(), problems).unwrap_or_default(),
        agent_image: draft.agent_image.as_ref().map(|text| text.value.trim().to_owned()),
        ..Kubernetes::default()
    };
    set(&mut platform.expose, &draft.expose, problems, expose);
    set(&mut platform.static_pod, &draft.static_pod, problems, switch);
    set(&mut platform.placement, &draft.placement, problems, |text| placement(text).map(Some));
    set(&mut platform.services, &draft.services, problems, |text| {
        count(text, "the number of Services", MAX_SERVICES)
    });
    set(&mut platform.replicas, &draft.replicas, problems, |text| {
        count(text, "the number of pods", MAX_REPLICAS)
    });
    set(&mut platform.probes, &draft.probes, problems, |text| {
        choice(text, "a set of probes", &[("none", Probes::None), ("default", Probes::Default)])
    });
    set(&mut platform.user, &draft.user, problems, |text| user(text).map(Some));
    set(&mut platform.load_from, &draft.load_from, problems, |text| {
        let places = [("auto", LoadFrom::Auto), ("here", LoadFrom::Here), ("cluster", LoadFrom::Cluster)];
        choice(text, "a place for the load", &places)
    });
    set(&mut platform.observers, &draft.observers, problems, |text| {
        choice(text, "an observer", &[("kubelet", Observers::Kubelet), ("daemonset", Observers::DaemonSet)])
    });
    static_pod(&platform, draft, problems);
    (problems.count() == before).then(|| (default_name(&platform), platform))
}

/// Reads a way to expose, for files and for the command line.
pub(super) fn expose(text: &str) -> Result<Expose, Complaint> {
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
    let names = WAYS.map(|(name, _)| name);
    match WAYS.iter().find(|(name, _)| *name == word) {
        Some((_, expose)) => Ok(expose.clone()),
        None => Err(Complaint::new(format!("`{word}` is not a way to expose a service"))
            .label(format!("one of {}, ingress URL", Names(&names)))
            .help(suggestion(word, &names))),
    }
}

/// Reads a placement, for files and for the command line.
pub(super) fn placement(text: &str) -> Result<PodPlacement, Complaint> {
    choice(text, "a place for a pod", &PLACES)
}

fn count(text: &str, what: &str, most: u64) -> Result<u32, Complaint> {
    Ok(parse_count(text, what, 1, most)? as u32)
}

fn user(text: &str) -> Result<u32, Complaint> {
    let wrong = || Complaint::new(format!("`{}` is not a user's number", text.trim())).help("write 1000");
    text.trim().parse().map_err(|_| wrong())
}

fn manifests(draft: &KubernetesDraft, problems: &mut Problems) -> Option<Manifests> {
    let (file, workload) = match (&draft.manifests, &draft.workload) {
        (Some(file), Some(workload)) => (file, workload),
        (None, None) => return None,
        (Some(text), None) => {
            let complaint = Complaint::new("which of the manifests is measured?");
            problems.add(&text.place, complaint.help("write `workload: deployment/NAME`"));
            return None;
        }
        (None, Some(text)) => {
            problems.add(
                &text.place,
                Complaint::new("a workload of which manifests?").help("write `manifests: FILE`"),
            );
            return None;
        }
    };
    let path = PathBuf::from(file.value.trim());
    if !path.is_file() {
        let complaint = Complaint::new(format!("there is no file {}", path.display()));
        problems.add(&file.place, complaint.help("paths are relative to the working directory"));
    }
    workload.read(problems, workload_named)?;
    Some(Manifests { file: path, workload: workload.value.trim().to_owned() })
}

fn workload_named(text: &str) -> Result<(), Complaint> {
    let kinds = ["deployment", "statefulset", "daemonset", "pod"];
    match text.trim().split_once('/') {
        Some((kind, name)) if kinds.contains(&kind) && !name.is_empty() => Ok(()),
        Some((kind, _)) => {
            Err(Complaint::new(format!("`{kind}` is not a workload")).help(suggestion(kind, &kinds)))
        }
        None => Err(Complaint::new("a workload is a kind and a name").help("write deployment/NAME")),
    }
}

/// A static pod is one pod on this machine's node, made of one file.
fn static_pod(platform: &Kubernetes, draft: &KubernetesDraft, problems: &mut Problems) {
    if !platform.static_pod {
        return;
    }
    let place = draft.static_pod.as_ref().map_or(&draft.place, |text| &text.place);
    let mut refuse = |why: &str, help: &str| problems.add(place, Complaint::new(why).help(help));
    if platform.replicas > 1 {
        refuse("a static pod is a single one", "leave `replicas` out");
    }
    if platform.placement == Some(PodPlacement::OtherNode) {
        refuse("a static pod runs on the node that loadline runs on", "leave `placement` out");
    }
    if platform.manifests.is_some() {
        refuse("a static pod is made from the service", "leave `manifests` out");
    }
}

fn default_name(platform: &Kubernetes) -> String {
    let expose = match &platform.expose {
        Expose::Ingress(_) => "ingress",
        expose => WAYS.iter().find(|(_, other)| other == expose).map_or("", |(name, _)| name),
    };
    let mut name = format!("kubernetes {expose}");
    if platform.static_pod {
        name += " static";
    }
    if let Some((place, _)) =
        platform.placement.and_then(|place| PLACES.iter().find(|(_, other)| *other == place))
    {
        name = format!("{name} {place}");
    }
    if platform.services > 1 {
        name = format!("{name} among {}", platform.services);
    }
    name
}
