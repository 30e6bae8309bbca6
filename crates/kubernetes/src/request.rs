//! What a deployment needs of a cluster: consistent options, the port that the service listens on, and the permissions.

use loadline_machine::{Environment, Error, Netns, Owner, ports};
use loadline_model::platform::{Expose, Kubernetes, LoadFrom, Observers, PodPlacement, Probes};
use loadline_platform::Service;

use crate::{
    agents,
    error::ClusterError,
    exposure::ServiceKind,
    kubelet,
    nodes::Nodes,
    permissions::{self, CREATE_AND_DELETE, Permission},
    pod_spec::NodeRule,
};

/// Where a service in a network namespace of its own listens, if it has no port of its own.
const POD_PORT: u16 = 8080;

/// Rejects options that exclude each other.
pub(crate) fn check(options: &Kubernetes) -> Result<(), ClusterError> {
    let unfit = |why: String| Err(ClusterError::Unfit(why));
    let one_pod = matches!(options.expose, Expose::PodIP | Expose::HostNetwork | Expose::HostPort);
    if options.replicas == 0 || options.services == 0 {
        return unfit("`replicas` and `services` must be at least 1".to_owned());
    }
    if one_pod && options.replicas > 1 {
        return unfit(format!(
            "`replicas: {}` cannot be combined with an `expose` that leads to a single pod: expose a Service (nodePort, clusterIP)",
            options.replicas
        ));
    }
    if options.static_pod {
        if options.replicas > 1 {
            return unfit("`static: true` is one pod: leave `replicas` out".to_owned());
        }
        if options.manifests.is_some() {
            return unfit("`static: true` cannot be combined with `manifests`".to_owned());
        }
        if options.placement == Some(PodPlacement::OtherNode) {
            return unfit(
                "`static: true` cannot be combined with `placement: other-node`: its manifest is written on this machine".to_owned(),
            );
        }
    }
    if options.manifests.is_some() {
        let said = [
            (options.placement.is_some(), "placement"),
            (options.replicas > 1, "replicas"),
            (options.user.is_some(), "user"),
            (options.probes != Probes::None, "probes"),
        ];
        if let Some((_, option)) = said.into_iter().find(|(given, _)| *given) {
            return unfit(format!("`{option}` cannot be combined with `manifests`: set it in the manifests"));
        }
    }
    Ok(())
}

/// The Service that the way of exposing needs.
pub(crate) fn service_kind(expose: &Expose) -> Option<ServiceKind> {
    match expose {
        Expose::NodePort => Some(ServiceKind::NodePort),
        Expose::ClusterIP | Expose::Ingress(_) => Some(ServiceKind::ClusterIP),
        Expose::LoadBalancer => Some(ServiceKind::LoadBalancer),
        Expose::PodIP | Expose::HostNetwork | Expose::HostPort => None,
    }
}

/// All permissions that the deployment needs. Those for the kinds in the user's manifests are known only to the cluster.
pub(crate) fn permissions(options: &Kubernetes) -> Vec<Permission> {
    let mut all = permissions::REQUIRED_ALWAYS.to_vec();
    if options.static_pod {
        all.extend(kubelet::PERMISSIONS);
    } else if options.manifests.is_none() {
        all.push(Permission::in_namespace(CREATE_AND_DELETE, "apps", "deployments"));
        all.push(Permission::in_namespace(&["deletecollection"], "apps", "replicasets"));
    }
    if options.network_policy {
        all.push(Permission::in_namespace(CREATE_AND_DELETE, "networking.k8s.io", "networkpolicies"));
    }
    if let Expose::Ingress(_) = options.expose {
        all.push(Permission::in_namespace(CREATE_AND_DELETE, "networking.k8s.io", "ingresses"));
        all.push(Permission::in_cluster(&["list"], "networking.k8s.io", "ingressclasses"));
    }
    if options.load_from == LoadFrom::Cluster {
        all.extend(agents::LOAD_PERMISSIONS);
    }
    if options.observers == Observers::DaemonSet {
        all.extend(agents::OBSERVER_PERMISSIONS);
    }
    all
}

/// Which nodes the pod may run on. `load` is the load's node, if it runs on one.
pub(crate) fn node_rule(
    placement: Option<PodPlacement>,
    nodes: &Nodes,
    load: Option<&str>,
) -> Result<NodeRule, ClusterError> {
    let load = load.and_then(|name| nodes.named(name));
    let refused = |placement, why: String| Err(ClusterError::Placement { placement, why });
    match (placement, load) {
        (None, _) => Ok(NodeRule::Anywhere),
        (Some(PodPlacement::SameNode), None) => refused(
            "same-node",
            "the load runs on this machine, which is not a node of the cluster: run it in the cluster (`load_from: cluster`)".to_owned(),
        ),
        (Some(PodPlacement::SameNode), Some(node)) => match &node.unfit {
            Some(why) => refused("same-node", format!("the node {} {why}", node.name)),
            None => Ok(NodeRule::On(node.host_name.clone())),
        },
        // No node is this machine.
        (Some(PodPlacement::OtherNode), None) => Ok(NodeRule::Anywhere),
        (Some(PodPlacement::OtherNode), Some(node)) => {
            let others: Vec<_> = nodes.all.iter().filter(|other| other.name != node.name).collect();
            if others.iter().any(|other| other.unfit.is_none()) {
                return Ok(NodeRule::NotOn(node.host_name.clone()));
            }
            let why: Vec<String> = others
                .iter()
                .map(|other| format!("the node {} {}", other.name, other.unfit.as_deref().unwrap_or_default()))
                .collect();
            let why = if why.is_empty() {
                format!("the cluster has no node other than {}", node.name)
            } else {
                why.join("; ")
            };
            refused("other-node", why)
        }
    }
}

/// Where the service listens, and the port of the host that leads there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PodPorts {
    pub port: u16,
    pub host_port: Option<u16>,
}

/// Host ports are chosen to be free on this machine; on other nodes they probably are, too.
pub(crate) fn pod_ports(
    environment: &Environment,
    node: &Netns,
    owner: &Owner,
    expose: &Expose,
    service: &Service,
    on_this_machine: bool,
) -> Result<PodPorts, Error> {
    let any = || environment.ports().host_port(node, owner);
    match (expose, service.port) {
        (Expose::HostNetwork, Some(port)) => {
            if on_this_machine {
                ports::check_free(node, std::net::Ipv4Addr::UNSPECIFIED, port)?;
            }
            Ok(PodPorts { port, host_port: None })
        }
        (Expose::HostNetwork, None) => Ok(PodPorts { port: any()?, host_port: None }),
        (Expose::HostPort, port) => Ok(PodPorts { port: port.unwrap_or(POD_PORT), host_port: Some(any()?) }),
        (_, port) => Ok(PodPorts { port: port.unwrap_or(POD_PORT), host_port: None }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_model::platform::Manifests;

    use crate::nodes::ClusterNode;

    fn refusal(options: Kubernetes) -> String {
        check(&options).unwrap_err().to_string()
    }

    #[test]
    fn options_that_exclude_each_other_are_rejected_by_name() {
        let default = Kubernetes::default;
        check(&default()).unwrap();
        assert!(refusal(Kubernetes { replicas: 0, ..default() }).contains("at least 1"));
        assert!(
            refusal(Kubernetes { replicas: 2, expose: Expose::PodIP, ..default() }).contains("`replicas: 2`")
        );
        assert!(
            refusal(Kubernetes { static_pod: true, placement: Some(PodPlacement::OtherNode), ..default() })
                .contains("other-node")
        );
        let manifests = Some(Manifests { file: "x.yaml".into(), workload: "pod/x".to_owned() });
        assert!(
            refusal(Kubernetes { manifests, user: Some(1), ..default() })
                .contains("`user` cannot be combined with `manifests`")
        );
    }

    fn nodes(unfit: [Option<&str>; 2]) -> Nodes {
        let node = |name: &str, unfit: Option<&str>| ClusterNode {
            name: name.to_owned(),
            host_name: format!("host-{name}"),
            unfit: unfit.map(str::to_owned),
            ..ClusterNode::default()
        };
        Nodes::from(vec![node("a", unfit[0]), node("b", unfit[1])])
    }

    #[test]
    fn placement_is_relative_to_the_load() {
        let both = nodes([None, None]);
        let rule = |placement, load| node_rule(Some(placement), &both, load).unwrap();
        assert_eq!(rule(PodPlacement::SameNode, Some("a")), NodeRule::On("host-a".to_owned()));
        assert_eq!(rule(PodPlacement::OtherNode, Some("a")), NodeRule::NotOn("host-a".to_owned()));
        assert_eq!(rule(PodPlacement::OtherNode, None), NodeRule::Anywhere);
        assert_eq!(node_rule(None, &both, Some("a")).unwrap(), NodeRule::Anywhere);
    }

    #[test]
    fn a_placement_that_no_node_allows_says_why() {
        let refused =
            |placement, nodes: &Nodes, load| node_rule(Some(placement), nodes, load).unwrap_err().to_string();
        let one = Nodes::from(vec![nodes([None, None]).all.swap_remove(0)]);
        let message = refused(PodPlacement::OtherNode, &one, Some("a"));
        assert!(
            message.contains("`placement: other-node` is not possible: the cluster has no node other than a"),
            "{message}"
        );
        let message = refused(PodPlacement::OtherNode, &nodes([None, Some("is cordoned")]), Some("a"));
        assert!(message.contains("the node b is cordoned"), "{message}");
        let message = refused(PodPlacement::SameNode, &one, None);
        assert!(message.contains("which is not a node of the cluster"), "{message}");
    }

    #[test]
    fn a_permission_is_required_only_where_it_is_used() {
        let has = |options: Kubernetes, resource| {
            permissions(&options).iter().any(|permission| permission.resource == resource)
        };
        assert!(has(Kubernetes::default(), "deployments") && !has(Kubernetes::default(), "nodes/proxy"));
        let fixed = Kubernetes { static_pod: true, ..Kubernetes::default() };
        assert!(has(fixed.clone(), "nodes/proxy") && !has(fixed, "deployments"));
        assert!(!has(Kubernetes::default(), "networkpolicies"));
        assert!(has(Kubernetes { network_policy: true, ..Kubernetes::default() }, "networkpolicies"));
        assert!(has(Kubernetes { load_from: LoadFrom::Cluster, ..Kubernetes::default() }, "jobs"));
    }
}
