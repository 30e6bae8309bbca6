//! Facts about a cluster, recorded with a run so that its figures can be interpreted later.
//! This user may lack the permission to read any of them except the nodes; those are then unknown.

mod cni;
mod local;
mod proxy;

use k8s_openapi::{
    api::{
        core::v1::{Node, Service},
        discovery::v1::EndpointSlice,
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{Api, Resource, api::ListParams};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use loadline_machine::Environment;

use crate::{connection::Cluster, error::ClusterError, nodes, nodes::Nodes, static_pod};

/// Facts about a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterFacts {
    /// The API server's version, such as `v1.34.4`.
    pub version: Option<String>,
    /// Each node.
    pub nodes: Vec<NodeFacts>,
    /// The network plugin.
    pub cni: Option<Cni>,
    /// How Services are implemented: `iptables`, `nftables`, `ipvs`, `userspace`, or the replacement of kube-proxy.
    pub proxy_mode: Option<String>,
    /// Services in the whole cluster.
    pub services: Option<u64>,
    /// EndpointSlices in the whole cluster.
    pub endpoint_slices: Option<u64>,
    /// Rules of iptables and nftables on the node that is this machine.
    pub rules_here: Option<u64>,
}

/// Facts about a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeFacts {
    /// Its name.
    pub name: String,
    /// Whether it is this machine.
    pub here: bool,
    /// Version of the kubelet.
    pub kubelet: String,
    /// Name and version of the container runtime, such as `containerd://1.7.22`.
    pub runtime: String,
    /// Version of the kernel.
    pub kernel: String,
    /// The name of the operating system.
    pub os_image: String,
    /// `none` or `static`.
    pub cpu_manager: Option<String>,
}

/// The network plugin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cni {
    /// `calico`, `flannel`, `cilium`, …, or the plugins' own names.
    pub name: String,
    /// How packets get to other nodes: `vxlan`, `ipip`, `host-gw`, `tunnel`, `native`, …
    pub mode: Option<String>,
}

/// Queries all facts.
pub(crate) fn ask(cluster: &Cluster, environment: &Environment) -> Result<ClusterFacts, ClusterError> {
    let known = Nodes::ask(cluster, environment)?;
    let here = known.here().map(|node| node.name.as_str());
    let network = known.network(environment);
    let version = cluster.attempt(|client| async move { client.apiserver_version().await });
    let found = nodes::list(cluster)?;
    Ok(ClusterFacts {
        version: version.ok().map(|version| version.git_version),
        nodes: found.iter().map(|node| node_facts(cluster, node, here)).collect(),
        cni: cni::ask(cluster, &found)
            .or_else(|| local::cni(network, &static_pod::kubelet_config(cluster, here?).ok()?)),
        proxy_mode: here.and_then(|_| local::proxy_mode(network)).or_else(|| proxy::mode(cluster)),
        services: count::<Service>(cluster),
        endpoint_slices: count::<EndpointSlice>(cluster),
        rules_here: here.and_then(|_| local::rules(network)),
    })
}

fn node_facts(cluster: &Cluster, node: &Node, here: Option<&str>) -> NodeFacts {
    let name = node.metadata.name.clone().unwrap_or_default();
    let info = node.status.as_ref().and_then(|status| status.node_info.clone()).unwrap_or_default();
    let config = static_pod::kubelet_config(cluster, &name).ok();
    NodeFacts {
        here: here == Some(&name),
        cpu_manager: config.and_then(|config| Some(config["cpuManagerPolicy"].as_str()?.to_owned())),
        name,
        kubelet: info.kubelet_version,
        runtime: info.container_runtime_version,
        kernel: info.kernel_version,
        os_image: info.os_image,
    }
}

/// The number of objects without fetching them: one, plus the remaining count.
fn count<K>(cluster: &Cluster) -> Option<u64>
where
    K: Resource<DynamicType = ()> + k8s_openapi::Metadata<Ty = ObjectMeta>,
    K: Clone + std::fmt::Debug + DeserializeOwned + Send + 'static,
{
    let list = cluster.attempt(|client| async move {
        Api::<K>::all(client).list_metadata(&ListParams::default().limit(1)).await
    });
    let list = list.ok()?;
    let more = list.metadata.remaining_item_count.unwrap_or_default();
    Some(list.items.len() as u64 + u64::try_from(more).ok()?)
}
