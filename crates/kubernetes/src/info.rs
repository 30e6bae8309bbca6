//! A one-line description of a cluster.

use loadline_platform::PlatformInfo;

use crate::facts::{ClusterFacts, NodeFacts};

/// All facts, and the description.
pub(crate) fn describe(facts: &ClusterFacts) -> PlatformInfo {
    let version = facts.version.as_deref().unwrap_or("(unknown version)");
    let nodes = match facts.nodes.len() {
        1 => "1 node".to_owned(),
        count => format!("{count} nodes"),
    };
    let cni = facts.cni.as_ref().map(|cni| match &cni.mode {
        Some(mode) => format!("{} ({mode})", cni.name),
        None => cni.name.clone(),
    });
    let parts = [
        Some(format!("Kubernetes {version}")),
        Some(nodes),
        same(&facts.nodes, |node| node.runtime.as_str()),
        cni,
        facts.proxy_mode.as_ref().map(|mode| format!("kube-proxy {mode}")),
        facts.services.map(|count| format!("{count} Service{}", if count == 1 { "" } else { "s" })),
        facts.rules_here.map(|count| format!("{count} rules here")),
        same(&facts.nodes, |node| node.kernel.as_str()).map(|kernel| format!("Linux {kernel}")),
    ];
    PlatformInfo {
        summary: parts.into_iter().flatten().collect::<Vec<_>>().join(", "),
        facts: serde_json::to_value(facts).unwrap_or_default(),
    }
}

/// The value that all nodes have in common, if they do.
fn same(nodes: &[NodeFacts], what: impl Fn(&NodeFacts) -> &str) -> Option<String> {
    let first = nodes.first().map(&what)?;
    nodes.iter().all(|node| what(node) == first).then(|| first.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_what_is_known_and_what_nodes_have_in_common() {
        let node = |runtime: &str| NodeFacts {
            runtime: runtime.to_owned(),
            kernel: "6.1.0".to_owned(),
            ..NodeFacts::default()
        };
        let facts = ClusterFacts {
            version: Some("v1.34.4".to_owned()),
            nodes: vec![node("containerd://1.6.20"), node("cri-o://1.30")],
            cni: None,
            proxy_mode: Some("iptables".to_owned()),
            services: Some(3),
            endpoint_slices: None,
            rules_here: None,
        };
        let expected = "Kubernetes v1.34.4, 2 nodes, kube-proxy iptables, 3 Services, Linux 6.1.0";
        assert_eq!(describe(&facts).summary, expected);
    }
}
