//! A deployed service in a cluster: its address, its state and its output, until it is removed.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use k8s_openapi::api::core::v1::Pod;

use loadline_machine::{
    Container, Error, ProcessHandle, find_container,
    wait::{self, CLUSTER_INTERVAL},
};
use loadline_model::platform::Observers;
use loadline_platform::{Deployment, PlatformError, Startup, Subject, Vantage};

use crate::{
    addressing::Target,
    context::Context,
    error::ClusterError,
    kubelet, logs,
    nodes::{self, ClusterNode},
    permissions,
    pin::{Pinned, pin},
    removal::ClusterCleanup,
    startup_timeline::StartupTimeline,
    termination::{self, DeployedPod},
};

/// Polling interval for pods that cannot be watched from here.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How long the kubelet may take to report the end of a process that is known to have ended.
const CAUSE_TIMEOUT: Duration = Duration::from_secs(4);

/// Pods, with the objects that expose them. Dropping it removes all of them.
pub(crate) struct PodDeployment {
    made: ClusterCleanup,
    target: Target,
    /// Where its Service is inside the cluster, if it has one.
    pub inside: Option<SocketAddr>,
    vantage: Vantage,
    members: Vec<DeployedPod>,
    /// Handles on the containers' processes, which show when they end; empty unless all pods are on this machine's kernel.
    processes: Vec<ProcessHandle>,
    subject: Subject,
    moments: Option<StartupTimeline>,
    image: Option<String>,
    left_out: Vec<String>,
    leaves_running: bool,
    asked: Instant,
    ended: Option<String>,
}

impl PodDeployment {
    pub fn new(
        context: &Context,
        made: ClusterCleanup,
        pods: &[Pod],
        moments: StartupTimeline,
        target: Target,
        vantage: Vantage,
        progress: &mut dyn FnMut(&str),
    ) -> Result<PodDeployment, ClusterError> {
        let first = &pods[0];
        let node = context.node_of(first)?;
        let containers = containers_here(context, pods)?;
        let mut left_out = Vec::new();
        if pods.len() > 1 {
            left_out.push(format!(
                "the counters cover only one of its {} pods: use a single replica to measure all of it",
                pods.len()
            ));
        }
        pin_all(&context.service.cpus, &containers, &mut left_out)?;
        if context.options.quiesce {
            left_out.push(
                "the cluster's own programs are stopped while slices are measured (`quiesce`): what they would take of the CPUs is in no figure"
                    .to_owned(),
            );
        }
        let processes = match containers.iter().flatten().map(open_handle).collect::<Option<Vec<_>>>() {
            Some(held) if held.len() == pods.len() => held,
            _ => Vec::new(),
        };
        let container = containers.into_iter().next().flatten();
        let subject = match (container, context.options.observers) {
            (Some(container), _) => {
                Subject::Here { root_pids: vec![container.pid], cgroup: Some(container.cgroup) }
            }
            (None, Observers::DaemonSet) => {
                Subject::Agent(context.observer(&node.name, progress)?, container_id(first))
            }
            (None, Observers::Kubelet) => kubelet_of(context, node, first, &mut left_out),
        };
        let image = first.spec.as_ref().and_then(|spec| spec.containers.first()?.image.clone());
        Ok(PodDeployment {
            made,
            target,
            inside: None,
            vantage,
            members: pods.iter().map(DeployedPod::of).collect(),
            processes,
            subject,
            moments: Some(moments),
            image,
            left_out,
            leaves_running: !context.options.quiesce,
            asked: Instant::now(),
            ended: None,
        })
    }

    /// Asks the cluster for the reason, repeatedly as it may not know it yet.
    fn cause(&self) -> String {
        match wait::until(CAUSE_TIMEOUT, CLUSTER_INTERVAL, || self.ask().transpose()) {
            Some(Ok(why)) => why,
            None => "its process ended, and the cluster does not say why".to_owned(),
            Some(Err(error)) => format!("its process ended, and the cluster cannot be asked why: {error}"),
        }
    }

    fn ask(&self) -> Result<Option<String>, ClusterError> {
        let (cluster, namespace) = (&self.made.cluster.cluster, self.made.cluster.namespace());
        for member in &self.members {
            let why = termination::ask(cluster, &namespace, member)
                .map_err(|failure| cluster.explain(&format!("look at the pod {}", member.name), failure))?;
            if why.is_some() {
                return Ok(why);
            }
        }
        Ok(None)
    }
}

impl Deployment for PodDeployment {
    fn address(&self) -> SocketAddr {
        self.target.address
    }

    fn peer_address(&self) -> SocketAddr {
        self.inside.unwrap_or(self.target.address)
    }

    fn authority(&self) -> Option<&str> {
        self.target.authority.as_deref()
    }

    fn vantage(&self) -> Vantage {
        self.vantage.clone()
    }

    fn subject(&self) -> Subject {
        self.subject.clone()
    }

    fn quiesce(&self, stopped: bool) -> Result<Option<Duration>, PlatformError> {
        Ok(self.made.cluster.quiesce(stopped).map_err(ClusterError::from)?)
    }

    fn leaves_running(&self) -> bool {
        self.leaves_running
    }

    fn left_out(&self) -> &[String] {
        &self.left_out
    }

    fn ended(&mut self) -> Option<String> {
        if self.ended.is_some() {
            return self.ended.clone();
        }
        if self.processes.iter().any(ProcessHandle::has_ended) {
            self.ended = Some(self.cause());
        } else if self.processes.is_empty() && self.asked.elapsed() > POLL_INTERVAL {
            // An API server that does not answer says nothing about the pods.
            self.ended = self.ask().inspect_err(|error| tracing::debug!("{error}")).ok().flatten();
            self.asked = Instant::now();
        }
        self.ended.clone()
    }

    fn output_tail(&self) -> String {
        let Some(member) = self.members.first() else { return String::new() };
        let (cluster, namespace) = (&self.made.cluster.cluster, self.made.cluster.namespace());
        // Its last output is in the log of its previous instance, if it was restarted.
        logs::tail(cluster, &namespace, &member.name, self.ended.is_some() || member.restarts > 0)
    }

    fn startup(&mut self) -> Startup {
        let phases = self.moments.take().map(|moments| moments.phases()).unwrap_or_default();
        Startup { phases, image_bytes: self.image_bytes() }
    }

    fn stop(mut self: Box<Self>) -> Result<(), PlatformError> {
        Ok(self.made.remove()?)
    }
}

impl PodDeployment {
    /// The size that the pod's node reports for the image; it lists the largest fifty (kubelet, `nodeStatusMaxImages`).
    fn image_bytes(&self) -> Option<u64> {
        let (member, image) = (self.members.first()?, self.image.as_ref()?);
        let node = nodes::get(&self.made.cluster.cluster, &member.node).ok()?;
        let images = node.status?.images?;
        let found = images.into_iter().find(|one| one.names.iter().flatten().any(|name| name == image))?;
        u64::try_from(found.size_bytes?).ok()
    }
}

/// The pods' containers as this machine's kernel sees them, `None` for those elsewhere.
fn containers_here(context: &Context, pods: &[Pod]) -> Result<Vec<Option<Container>>, Error> {
    let of = |pod: &Pod| {
        let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).unwrap_or_default();
        match context.nodes.named(node) {
            Some(node) if node.same_kernel => find_container(&container_id(pod)),
            _ => Ok(None),
        }
    };
    pods.iter().map(of).collect()
}

/// Pins what can be pinned, and returns notes about the rest.
fn pin_all(
    cpus: &[usize],
    containers: &[Option<Container>],
    left_out: &mut Vec<String>,
) -> Result<(), ClusterError> {
    if cpus.is_empty() {
        return Ok(());
    }
    for container in containers {
        let pinned = container.as_ref().map(|container| pin(&container.cgroup, cpus)).transpose()?;
        let sentence = match pinned {
            None => {
                "pods on other machines are not pinned to CPUs: use the kubelet's CPU manager (policy static, whole CPUs as limit and request)"
            }
            Some(Pinned::All) => {
                "a pod is pinned to its CPUs only after it has started, when it may already have counted all CPUs: the kubelet's CPU manager pins it from the start (policy static, whole CPUs as limit and request)"
            }
            Some(Pinned::NotAll) => "a pod started threads faster than they could be pinned to CPUs",
            Some(Pinned::Elsewhere) => {
                "a pod is not pinned to the service's CPUs: its kubelet assigned it others (CPU manager, policy static)"
            }
            Some(Pinned::NotAllowed) => {
                "a pod is not pinned to CPUs: its processes belong to another user: run loadline as root, or use the kubelet's CPU manager (policy static, whole CPUs as limit and request)"
            }
        };
        left_out.push(sentence.to_owned());
    }
    Ok(())
}

fn kubelet_of(context: &Context, node: &ClusterNode, pod: &Pod, left_out: &mut Vec<String>) -> Subject {
    let (cluster, namespace) = (&context.cluster, context.cluster.namespace());
    match permissions::check(&cluster.cluster, &namespace, &kubelet::PERMISSIONS) {
        Ok(()) => {
            left_out.push(kubelet::COARSE.to_owned());
            let pod = pod.metadata.name.as_deref().unwrap_or_default();
            Subject::Usage(kubelet::reader(cluster, &node.name, pod))
        }
        Err(error) => {
            left_out.push(format!("cannot ask the kubelet what the pod uses: {error}"));
            Subject::Nobody
        }
    }
}

/// The id of the pod's first container without the runtime's name: `containerd://0a1b…` is `0a1b…`.
fn container_id(pod: &Pod) -> String {
    let mut statuses = pod.status.iter().flat_map(|status| status.container_statuses.iter().flatten());
    let id = statuses.next().and_then(|status| status.container_id.as_deref()).unwrap_or_default();
    id.split_once("://").map_or(id, |(_, id)| id).to_owned()
}

fn open_handle(container: &Container) -> Option<ProcessHandle> {
    ProcessHandle::open(container.pid).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_containers_id_is_given_without_its_runtime() {
        let pod = |id: &str| -> Pod {
            serde_json::from_value(json!({"status": {"containerStatuses": [
                {"name": "service", "image": "", "imageID": "", "ready": true, "restartCount": 0, "containerID": id}]}}))
            .unwrap()
        };
        assert_eq!(container_id(&pod("containerd://0a1b")), "0a1b");
        assert_eq!(container_id(&pod("")), "");
        assert_eq!(container_id(&Pod::default()), "");
    }
}
