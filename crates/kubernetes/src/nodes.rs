//! The cluster's nodes, and which of them is this machine.
//! A node reports its kernel's boot id, which shows whether processes of its pods run on this kernel; it *is* this machine if, in addition,
//! one of its addresses is in our network namespace, or in one beside it, as in a cluster that is kept apart from the machine's own network.
//! Only the former is true of the nodes of `kind`: containers with their own networks.

use std::{fs, net::IpAddr, time::Duration};

use k8s_openapi::api::core::v1::Node;
use kube::{Api, api::ListParams};

use loadline_machine::{
    Environment, ErrorContext, Netlink, Netns, neighbour,
    wait::{self, CLUSTER_INTERVAL},
};

use crate::{connection::Cluster, error::ClusterError};

/// The label by which pods are placed on a node.
const HOST_NAME_LABEL: &str = "kubernetes.io/hostname";

/// The annotation by which a cluster for tests names the cgroup of its own programs, which may be stopped.
pub(crate) const SYSTEM_ANNOTATION: &str = "loadline.system";

/// The start of the reason for a node that is not ready.
pub(crate) const NOT_READY: &str = "is not ready";

/// The taints of a node that is not ready, which outlast that by a moment.
const NOT_READY_TAINTS: [&str; 2] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
/// How long all nodes may be unready: a control plane that has lost its API server takes them for dead until it sees their next reports.
const READY_TIMEOUT: Duration = Duration::from_secs(60);

/// One node.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ClusterNode {
    pub name: String,
    /// The value of its label `kubernetes.io/hostname`, nearly always its name.
    pub host_name: String,
    pub internal: Vec<IpAddr>,
    pub external: Vec<IpAddr>,
    /// Why it cannot run pods, if it cannot.
    pub unfit: Option<String>,
    /// Whether its kernel is this one, so that processes and cgroups of its pods are visible.
    pub same_kernel: bool,
    /// The cgroup of the cluster's own programs, if it is on this kernel and says that they may be stopped.
    pub system: Option<String>,
    /// Whether its network is this machine's as well, or a namespace beside it.
    pub here: bool,
}

/// All nodes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nodes {
    pub all: Vec<ClusterNode>,
    /// The network namespace of the node that is this machine, and the node's address in it, unless it is the run's.
    pub beside: Option<(Netns, IpAddr)>,
}

impl Nodes {
    /// Queries the nodes. Waits while none of them is ready; fails if no pod could run in the cluster.
    pub fn ask(cluster: &Cluster, environment: &Environment) -> Result<Nodes, ClusterError> {
        let may_pass =
            |error: &ClusterError| matches!(error, ClusterError::NoNode { why } if why.contains(NOT_READY));
        wait::retry(READY_TIMEOUT, CLUSTER_INTERVAL, may_pass, || Nodes::ask_once(cluster, environment))
    }

    fn ask_once(cluster: &Cluster, environment: &Environment) -> Result<Nodes, ClusterError> {
        let path = "/proc/sys/kernel/random/boot_id";
        let boot_id = fs::read_to_string(path).with_context(|| format!("read {path}"))?;
        let own = environment.node().with_netlink(async |net: &Netlink| net.addresses().await)?;
        let found = list(cluster)?;
        let all = found.iter().map(|node| ClusterNode::of(node, boot_id.trim(), &own)).collect();
        let mut nodes = Nodes { all, beside: None };
        nodes.check_any_fit()?;
        if environment.has_wire() && nodes.here().is_none() {
            nodes.find_beside();
        }
        Ok(nodes)
    }

    /// Treats the first node found in a namespace beside ours as this machine.
    fn find_beside(&mut self) {
        let candidates = self.all.iter_mut().filter(|node| node.same_kernel && node.unfit.is_none());
        for node in candidates {
            self.beside = node.address().and_then(|address| Some((neighbour(address)?, address)));
            if self.beside.is_some() {
                node.here = true;
                return;
            }
        }
    }

    /// The network of the node that is this machine; without one, the run's.
    pub fn network<'a>(&'a self, environment: &'a Environment) -> &'a Netns {
        self.beside.as_ref().map_or(environment.node(), |(network, _)| network)
    }

    /// The node that is this machine.
    pub fn here(&self) -> Option<&ClusterNode> {
        self.all.iter().find(|node| node.here)
    }

    pub fn named(&self, name: &str) -> Option<&ClusterNode> {
        self.all.iter().find(|node| node.name == name)
    }

    fn check_any_fit(&self) -> Result<(), ClusterError> {
        if self.all.iter().any(|node| node.unfit.is_none()) {
            return Ok(());
        }
        let why: Vec<String> = self
            .all
            .iter()
            .map(|node| format!("{} {}", node.name, node.unfit.as_deref().unwrap_or_default()))
            .collect();
        let why = if why.is_empty() { "the cluster has no nodes".to_owned() } else { why.join("; ") };
        Err(ClusterError::NoNode { why })
    }
}

#[cfg(test)]
impl From<Vec<ClusterNode>> for Nodes {
    fn from(all: Vec<ClusterNode>) -> Nodes {
        Nodes { all, beside: None }
    }
}

/// The nodes as the cluster describes them.
pub(crate) fn list(cluster: &Cluster) -> Result<Vec<Node>, ClusterError> {
    let list = cluster.call("list the cluster's nodes", |client| async move {
        Api::<Node>::all(client).list(&ListParams::default()).await
    })?;
    Ok(list.items)
}

/// One node as the cluster describes it.
pub(crate) fn get(cluster: &Cluster, name: &str) -> Result<Node, ClusterError> {
    cluster.call(&format!("look at the node {name}"), |client| {
        let name = name.to_owned();
        async move { Api::<Node>::all(client).get(&name).await }
    })
}

impl ClusterNode {
    fn of(node: &Node, boot_id: &str, own: &[IpAddr]) -> ClusterNode {
        let name = node.metadata.name.clone().unwrap_or_default();
        let label = node.metadata.labels.as_ref().and_then(|labels| labels.get(HOST_NAME_LABEL));
        let status = node.status.as_ref();
        let addresses = |kind: &str| -> Vec<IpAddr> {
            let all = status.iter().flat_map(|status| status.addresses.iter().flatten());
            all.filter(|a| a.type_ == kind).filter_map(|a| a.address.parse().ok()).collect()
        };
        let internal = addresses("InternalIP");
        let same_kernel =
            status.and_then(|s| s.node_info.as_ref()).is_some_and(|info| info.boot_id == boot_id);
        ClusterNode {
            host_name: label.cloned().unwrap_or_else(|| name.clone()),
            here: same_kernel && internal.iter().any(|address| own.contains(address)),
            external: addresses("ExternalIP"),
            system: node
                .metadata
                .annotations
                .as_ref()
                .and_then(|annotations| annotations.get(SYSTEM_ANNOTATION).cloned())
                .filter(|_| same_kernel),
            unfit: unfit(node),
            name,
            internal,
            same_kernel,
        }
    }

    /// The address of the node inside the cluster's network: its first internal IPv4 address.
    pub fn address(&self) -> Option<IpAddr> {
        first_v4(&self.internal)
    }

    /// The address of the node outside the cluster.
    pub fn outer_address(&self) -> Option<IpAddr> {
        first_v4(&self.external).or_else(|| self.address())
    }
}

fn first_v4(addresses: &[IpAddr]) -> Option<IpAddr> {
    addresses.iter().find(|address| address.is_ipv4()).or(addresses.first()).copied()
}

/// Why the node cannot run the pods: it is not ready, cordoned or tainted.
pub(crate) fn unfit(node: &Node) -> Option<String> {
    let conditions = node.status.iter().flat_map(|status| status.conditions.iter().flatten());
    match conditions.into_iter().find(|condition| condition.type_ == "Ready") {
        Some(ready) if ready.status == "True" => {}
        Some(not) => {
            return Some(format!(
                "{NOT_READY} ({})",
                not.message.as_deref().unwrap_or("it does not say why")
            ));
        }
        None => return Some(format!("{NOT_READY} (its kubelet has never reported)")),
    }
    let spec = node.spec.as_ref()?;
    if spec.unschedulable == Some(true) {
        return Some(format!(
            "is cordoned (kubectl uncordon {})",
            node.metadata.name.as_deref().unwrap_or_default()
        ));
    }
    let taint =
        spec.taints.iter().flatten().find(|t| matches!(t.effect.as_str(), "NoSchedule" | "NoExecute"))?;
    let tainted = format!("tainted with {}:{}", taint.key, taint.effect);
    match NOT_READY_TAINTS.contains(&taint.key.as_str()) {
        true => Some(format!("{NOT_READY} ({tainted})")),
        false => Some(format!("is {tainted}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn node(name: &str, internal: &str, boot_id: &str, spec: Value, ready: &str) -> Node {
        serde_json::from_value(json!({
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
            "spec": spec,
            "status": {
                "addresses": [{"type": "InternalIP", "address": internal}, {"type": "Hostname", "address": name}],
                "conditions": [{"type": "Ready", "status": ready, "message": "container runtime is down"}],
                "nodeInfo": {"bootID": boot_id, "architecture": "", "containerRuntimeVersion": "", "kernelVersion": "",
                    "kubeProxyVersion": "", "kubeletVersion": "", "machineID": "", "operatingSystem": "", "osImage": "", "systemUUID": ""}
            }
        }))
        .unwrap()
    }

    #[test]
    fn a_node_of_this_kernel_is_this_machine_only_with_one_of_its_addresses() {
        let own = ["10.0.0.1".parse().unwrap()];
        let of =
            |internal, boot_id| ClusterNode::of(&node("n", internal, boot_id, json!({}), "True"), "B", &own);
        assert!(of("10.0.0.1", "B").here);
        let kind = of("172.18.0.2", "B");
        assert!(kind.same_kernel && !kind.here);
        let other = of("10.0.0.1", "C");
        assert!(!other.same_kernel && !other.here);
    }

    #[test]
    fn a_cluster_without_a_usable_node_says_what_is_wrong_with_each() {
        let unfit = |spec, ready| ClusterNode::of(&node("n", "10.0.0.1", "", spec, ready), "B", &[]);
        let nodes = Nodes::from(vec![
            unfit(json!({}), "False"),
            unfit(json!({"unschedulable": true}), "True"),
            unfit(
                json!({"taints": [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]}),
                "True",
            ),
        ]);
        let message = nodes.check_any_fit().unwrap_err().to_string();
        for part in [
            "container runtime is down",
            "kubectl uncordon n",
            "tainted with node-role.kubernetes.io/control-plane:NoSchedule",
        ] {
            assert!(message.contains(part), "{message}");
        }
        let message = Nodes::default().check_any_fit().unwrap_err().to_string();
        assert!(message.contains("the cluster has no nodes"), "{message}");
        let tolerable = json!({"taints": [{"key": "k", "effect": "PreferNoSchedule"}]});
        Nodes::from(vec![unfit(tolerable, "True")]).check_any_fit().unwrap();
    }
}
