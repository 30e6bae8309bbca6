//! `loadline agent` inside the cluster: a Job where the load runs, a DaemonSet that reads counters on each node.
//! An agent listens on its pod's loopback only, and is reached through the API server's port-forward.

use std::{
    collections::BTreeMap,
    os::unix::net::UnixStream,
    path::Path,
    sync::{Arc, PoisonError},
    time::Duration,
};

use k8s_openapi::{
    api::{
        apps::v1::{DaemonSet, DaemonSetSpec},
        batch::v1::{Job, JobSpec},
        core::v1::{
            Container, HostPathVolumeSource, Pod, PodSpec, PodTemplateSpec, SecurityContext, Toleration,
            Volume, VolumeMount,
        },
    },
    apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta},
};
use kube::Api;
use loadline_image::Program;

use loadline_machine::{
    ErrorContext, Owner,
    wait::{self, CLUSTER_INTERVAL},
};
use loadline_model::platform::{Image, ImageSource, Kubernetes};
use loadline_platform::{Agent, PlatformError};

use crate::{
    apply::apply,
    error::ClusterError,
    image::PodImage,
    labels, logs,
    permissions::{self, Permission},
    readiness::{self, WaitTarget},
    run_cluster::RunCluster,
    termination::DeployedPod,
};

/// Where an agent listens in its pod.
const PORT: u16 = 7373;
/// What an agent prints once it listens.
const LISTENING: &str = "listening on";
const LISTENING_TIMEOUT: Duration = Duration::from_secs(10);

/// The label that says which of the run's agents a pod is.
const PART_LABEL: &str = "loadline.part";
const CGROUPS: &str = "/sys/fs/cgroup";

/// The permissions for a Job and for connecting to it.
pub(crate) const LOAD_PERMISSIONS: [Permission; 2] = [
    Permission::in_namespace(&["create", "patch"], "batch", "jobs"),
    Permission::in_namespace(&["create", "get"], "", "pods/portforward"),
];
/// The permissions for a DaemonSet and for connecting to it.
pub(crate) const OBSERVER_PERMISSIONS: [Permission; 2] = [
    Permission::in_namespace(&["create", "patch"], "apps", "daemonsets"),
    Permission::in_namespace(&["create", "get"], "", "pods/portforward"),
];

#[derive(Clone, Copy)]
enum Part {
    Load,
    Observers,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Part::Load => "load",
            Part::Observers => "observers",
        }
    }
}

/// Where the load runs in the cluster: its agent, and the name of its node.
pub(crate) fn load(
    cluster: &Arc<RunCluster>,
    options: &Kubernetes,
    program: Option<&Path>,
    progress: &mut dyn FnMut(&str),
) -> Result<(Agent, String), ClusterError> {
    let mut made = cluster.agents.load.lock().unwrap_or_else(PoisonError::into_inner);
    let member = match &*made {
        Some(member) => member.clone(),
        None => {
            permissions::check(&cluster.cluster, &cluster.namespace(), &LOAD_PERMISSIONS)?;
            let image = image(options, program)?;
            let spec = PodSpec { restart_policy: Some("Never".to_owned()), ..pod_spec(container(&image)) };
            let template = template(cluster, Part::Load, spec);
            let job = Job {
                metadata: metadata(cluster, Part::Load),
                spec: Some(JobSpec { backoff_limit: Some(0), template, ..Default::default() }),
                status: None,
            };
            apply(&cluster.cluster, cluster.run, &job)?;
            made.insert(member(cluster, Part::Load, None, &image, progress)?).clone()
        }
    };
    Ok((agent(cluster, &member.name), member.node))
}

/// The agent that reads counters on the node.
pub(crate) fn observer(
    cluster: &Arc<RunCluster>,
    options: &Kubernetes,
    program: Option<&Path>,
    node: &str,
    progress: &mut dyn FnMut(&str),
) -> Result<Agent, ClusterError> {
    let mut made = cluster.agents.observers.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(member) = made.get(node) {
        return Ok(agent(cluster, &member.name));
    }
    let image = image(options, program)?;
    let template = template(cluster, Part::Observers, observer_spec(&image));
    let selector =
        LabelSelector { match_labels: Some(labels_of(cluster, Part::Observers)), ..Default::default() };
    let set = DaemonSet {
        metadata: metadata(cluster, Part::Observers),
        spec: Some(DaemonSetSpec { selector, template, ..Default::default() }),
        status: None,
    };
    apply(&cluster.cluster, cluster.run, &set)?;
    // Other nodes may be down.
    let member = member(cluster, Part::Observers, Some(node), &image, progress)?;
    let member = made.entry(node.to_owned()).or_insert(member);
    Ok(agent(cluster, &member.name))
}

fn image(options: &Kubernetes, program: Option<&Path>) -> Result<PodImage, ClusterError> {
    if let Some(name) = &options.agent_image {
        return PodImage::of(&Image { source: ImageSource::Name(name.clone()), entrypoint: None });
    }
    let image = match program {
        Some(path) => Program::open(path).map(|program| (program, path.to_owned())),
        None => Program::running().map(|program| {
            let path = program.path().to_owned();
            (program, path)
        }),
    };
    let (program, path) = image.map_err(ClusterError::Program)?;
    PodImage::of_program(program, &path)
}

fn container(image: &PodImage) -> Container {
    Container {
        name: "agent".to_owned(),
        image: Some(image.name.clone()),
        image_pull_policy: Some(image.pull_policy().to_owned()),
        args: Some(["agent".to_owned(), "--listen".to_owned(), format!("127.0.0.1:{PORT}")].to_vec()),
        security_context: Some(SecurityContext {
            allow_privilege_escalation: Some(false),
            ..Default::default()
        }),
        ..Default::default()
    }
}

fn pod_spec(container: Container) -> PodSpec {
    PodSpec {
        containers: vec![container],
        enable_service_links: Some(false),
        automount_service_account_token: Some(false),
        ..Default::default()
    }
}

/// A pod that sees the node's processes and cgroups. Only a privileged container is in the node's cgroup namespace, where paths are the
/// same.
fn observer_spec(image: &PodImage) -> PodSpec {
    let mut container = container(image);
    container.security_context =
        Some(SecurityContext { privileged: Some(true), run_as_user: Some(0), ..Default::default() });
    container.volume_mounts = Some(vec![VolumeMount {
        name: "cgroups".to_owned(),
        mount_path: CGROUPS.to_owned(),
        read_only: Some(true),
        ..Default::default()
    }]);
    let host_path = HostPathVolumeSource { path: CGROUPS.to_owned(), type_: Some("Directory".to_owned()) };
    PodSpec {
        host_pid: Some(true),
        volumes: Some(vec![Volume {
            name: "cgroups".to_owned(),
            host_path: Some(host_path),
            ..Default::default()
        }]),
        // On every node that the service may be on.
        tolerations: Some(vec![Toleration { operator: Some("Exists".to_owned()), ..Default::default() }]),
        ..pod_spec(container)
    }
}

fn labels_of(cluster: &RunCluster, part: Part) -> BTreeMap<String, String> {
    let mut all = labels::of(&Owner::run(cluster.run));
    all.insert(PART_LABEL.to_owned(), part.name().to_owned());
    all
}

fn metadata(cluster: &RunCluster, part: Part) -> ObjectMeta {
    let owner = Owner::run(cluster.run);
    ObjectMeta {
        labels: Some(labels_of(cluster, part)),
        ..labels::metadata(&owner, format!("{}-{}", owner.label(), part.name()))
    }
}

fn template(cluster: &RunCluster, part: Part, spec: PodSpec) -> PodTemplateSpec {
    let metadata = ObjectMeta { labels: Some(labels_of(cluster, part)), ..Default::default() };
    PodTemplateSpec { metadata: Some(metadata), spec: Some(spec) }
}

/// The part's pod, on the given node if any, once it runs and its agent listens.
fn member(
    cluster: &RunCluster,
    part: Part,
    node: Option<&str>,
    image: &PodImage,
    progress: &mut dyn FnMut(&str),
) -> Result<DeployedPod, ClusterError> {
    let namespace = cluster.namespace();
    let target = WaitTarget {
        namespace: namespace.clone(),
        selector: labels::selector_of(&labels_of(cluster, part)),
        node: node.map(str::to_owned),
        workload: format!("{namespace}-{}", part.name()),
        replicas: 1,
        image: Some(image.clone()),
    };
    let pods = readiness::wait_until_ready(&cluster.cluster, &target, progress)?;
    // As many as were target.
    let member = DeployedPod::of(&pods[0]);
    let listens = || logs::tail(&cluster.cluster, &namespace, &member.name, false).contains(LISTENING);
    let listening = wait::until(LISTENING_TIMEOUT, CLUSTER_INTERVAL, || listens().then_some(()));
    if listening.is_none() {
        let words = logs::last_lines(&cluster.cluster, &namespace, &member.name);
        let why = format!("its agent does not listen; its last output:\n{words}");
        return Err(ClusterError::Stuck { pod: member.name, why });
    }
    Ok(member)
}

/// Connections to the pod's agent, each by its own port-forward.
fn agent(cluster: &Arc<RunCluster>, pod: &str) -> Agent {
    let (cluster, pod) = (Arc::clone(cluster), pod.to_owned());
    Agent::new(move || {
        let (ours, theirs) = UnixStream::pair().with_context(|| "create a socket pair")?;
        theirs.set_nonblocking(true).with_context(|| "prepare a socket")?;
        let forwarder = cluster.cluster.call(&format!("connect to the agent in the pod {pod}"), |client| {
            let (api, pod): (Api<Pod>, _) = (Api::namespaced(client, &cluster.namespace()), pod.clone());
            async move { api.portforward(&pod, &[PORT]).await }
        });
        let forwarder = forwarder.map_err(PlatformError::from)?;
        cluster.cluster.handle().spawn(bridge(theirs, forwarder));
        Ok(ours)
    })
}

/// Copies in both directions until either side ends.
async fn bridge(socket: UnixStream, mut forwarder: kube::api::Portforwarder) {
    let (Ok(mut socket), Some(mut stream)) =
        (tokio::net::UnixStream::from_std(socket), forwarder.take_stream(PORT))
    else {
        return;
    };
    // The end of either side ends the connection; a client that waits for an answer sees its socket closed.
    if let Err(error) = tokio::io::copy_bidirectional(&mut socket, &mut stream).await {
        tracing::debug!("a connection to an agent broke: {error}");
    }
    drop(stream);
    if let Err(error) = forwarder.join().await {
        tracing::debug!("a port-forward broke: {error}");
    }
}
