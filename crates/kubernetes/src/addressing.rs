//! Where a client connects to the pod: the address for each way of exposing it, and what is needed so that answers come back.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, ToSocketAddrs},
    time::Duration,
};

use k8s_openapi::api::{core::v1::Service as ClusterService, networking::v1::IngressClass};
use kube::{Api, api::ListParams};

use loadline_machine::{
    Error, ErrorContext, Netns, Owner, nftables,
    wait::{self, CLUSTER_INTERVAL},
};
use loadline_model::platform::Expose;

use crate::{connection::Cluster, error::ClusterError, nodes::ClusterNode};

/// How long a cluster may take to assign a load balancer's address.
const LOAD_BALANCER_TIMEOUT: Duration = Duration::from_secs(30);
/// How long to try to reach a pod that is ready: kube-proxy and routes may lag behind.
const REACH_TIMEOUT: Duration = Duration::from_secs(8);
/// The same on a node of the cluster, which reaches all pods as a rule: there kube-proxy is merely slow.
const NODE_REACH_TIMEOUT: Duration = Duration::from_secs(30);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// A running deployment, as far as its addresses depend on it.
pub(crate) struct DeployedService<'a> {
    /// The deployment's Service, if there is one.
    pub service: Option<&'a ClusterService>,
    /// The first pod's address, and its node.
    pub pod_ip: Option<IpAddr>,
    pub pod_node: &'a ClusterNode,
    /// Where the service listens in the pod, and the port of the host that leads there.
    pub port: u16,
    pub host_port: Option<u16>,
}

/// Where the client is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ClientOrigin<'a> {
    /// Through this machine, which is a node.
    Node(&'a ClusterNode),
    /// On a machine that is not a node.
    Outside,
    /// From a pod.
    Cluster,
}

/// An address, and the `Host` header if it differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub address: SocketAddr,
    pub authority: Option<String>,
}

/// Where the client connects. Load balancers and ingresses have addresses of their own: [`load_balancer`], [`url`].
pub(crate) fn target(expose: &Expose, found: &DeployedService, from: ClientOrigin) -> Option<Target> {
    let spec = found.service.and_then(|service| service.spec.as_ref());
    let node_of = |node: &ClusterNode| match from {
        ClientOrigin::Outside => node.outer_address(),
        _ => node.address(),
    };
    let (ip, port) = match expose {
        Expose::NodePort => {
            let port = spec?.ports.as_ref()?.first()?.node_port?;
            let entered = if let ClientOrigin::Node(here) = from { here } else { found.pod_node };
            (node_of(entered)?, u16::try_from(port).ok()?)
        }
        Expose::ClusterIP => (cluster_ip(found.service?)?, found.port),
        Expose::PodIP => (found.pod_ip?, found.port),
        Expose::HostNetwork => (node_of(found.pod_node)?, found.port),
        Expose::HostPort => (node_of(found.pod_node)?, found.host_port?),
        Expose::LoadBalancer | Expose::Ingress(_) => return None,
    };
    Some(Target { address: SocketAddr::new(ip, port), authority: None })
}

/// A Service's address inside the cluster; a headless one has none.
pub(crate) fn cluster_ip(service: &ClusterService) -> Option<IpAddr> {
    service.spec.as_ref()?.cluster_ip.as_ref()?.parse().ok()
}

/// Waits for the address that the cluster's provider assigns to a Service.
pub(crate) fn load_balancer(
    cluster: &Cluster,
    namespace: &str,
    name: &str,
    port: u16,
    node: &Netns,
) -> Result<Target, ClusterError> {
    let look = || {
        let service = cluster.call(&format!("look at the Service {name}"), |client| {
            let (api, name): (Api<ClusterService>, _) = (Api::namespaced(client, namespace), name.to_owned());
            async move { api.get(&name).await }
        });
        service.map(|service| assigned_address(&service)).transpose()
    };
    let Some(host) = wait::until(LOAD_BALANCER_TIMEOUT, CLUSTER_INTERVAL, look).transpose()? else {
        let seconds = LOAD_BALANCER_TIMEOUT.as_secs();
        return Err(ClusterError::Unfit(format!(
            "`expose: loadBalancer` is not possible: the cluster assigned no load balancer address within {seconds} s: it has no cloud controller or MetalLB"
        )));
    };
    Ok(Target { address: resolve(&host, port, node)?, authority: None })
}

fn assigned_address(service: &ClusterService) -> Option<String> {
    let ingress = service.status.as_ref()?.load_balancer.as_ref()?.ingress.as_ref()?.first()?;
    ingress.ip.clone().or_else(|| ingress.hostname.clone())
}

/// The address behind an ingress's URL.
pub(crate) fn url(url: &http::Uri, node: &Netns) -> Result<Target, ClusterError> {
    let host = url.host().unwrap_or_default();
    let address = resolve(host, url.port_u16().unwrap_or(80), node)?;
    Ok(Target { address, authority: url.authority().map(ToString::to_string) })
}

/// Fails if nothing in the cluster would serve an Ingress.
pub(crate) fn check_ingress(cluster: &Cluster) -> Result<(), ClusterError> {
    let classes = cluster.call("list the ingress classes", |client| async move {
        Api::<IngressClass>::all(client).list(&ListParams::default()).await
    })?;
    if !classes.items.is_empty() {
        return Ok(());
    }
    let why = "`expose: {ingress: …}` is not possible: the cluster has no IngressClass, so nothing serves an Ingress: install an ingress controller";
    Err(ClusterError::Unfit(why.to_owned()))
}

/// A literal address, or the first address of the name.
fn resolve(host: &str, port: u16, node: &Netns) -> Result<SocketAddr, Error> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = bare.parse::<IpAddr>() {
        return Ok(SocketAddr::new(address, port));
    }
    node.run(|| {
        let mut found =
            (bare, port).to_socket_addrs().with_context(|| format!("find the address of {bare}"))?;
        found
            .next()
            .ok_or(io::Error::from(io::ErrorKind::NotFound))
            .with_context(|| format!("find the address of {bare}"))
    })
}

/// Whether there is any answer, even a refusal: then packets pass in both directions.
pub(crate) fn can_reach(from: &Netns, address: SocketAddr, client: ClientOrigin<'_>) -> Result<bool, Error> {
    let timeout = match client {
        ClientOrigin::Node(_) => NODE_REACH_TIMEOUT,
        ClientOrigin::Outside | ClientOrigin::Cluster => REACH_TIMEOUT,
    };
    let answers = || match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
        Err(error) if error.kind() != io::ErrorKind::ConnectionRefused => None,
        _ => Some(()),
    };
    from.run(|| Ok(wait::until(timeout, CLUSTER_INTERVAL, answers).is_some()))
}

/// The hosts to which the client's connections must be masqueraded: other machines have no route back to the client.
/// kube-proxy masquerades the connections of a NodePort, and a pod on this machine has a route back.
pub(crate) fn masqueraded_hosts(expose: &Expose, found: &DeployedService, target: IpAddr) -> Vec<Ipv4Addr> {
    let addresses = match expose {
        Expose::NodePort => vec![],
        Expose::LoadBalancer | Expose::Ingress(_) => vec![Some(target)],
        _ if found.pod_node.here => vec![],
        Expose::ClusterIP | Expose::PodIP | Expose::HostNetwork | Expose::HostPort => {
            vec![Some(target), found.pod_ip]
        }
    };
    let mut v4: Vec<Ipv4Addr> = addresses
        .into_iter()
        .filter_map(|address| match address? {
            IpAddr::V4(v4) => Some(v4),
            IpAddr::V6(_) => None,
        })
        .collect();
    v4.sort_unstable();
    v4.dedup();
    v4
}

/// Masquerades the client's connections to these hosts, so that they leave the node with its own address. Without a wire they do so anyway.
pub(crate) fn masquerade(
    node: &Netns,
    client: Ipv4Addr,
    owner: &Owner,
    masqueraded_hosts: &[Ipv4Addr],
) -> Result<(), Error> {
    if masqueraded_hosts.is_empty() {
        return Ok(());
    }
    let script = masquerading(owner, client, masqueraded_hosts);
    node.run(|| nftables::install(&script))
}

fn masquerading(owner: &Owner, client: Ipv4Addr, masqueraded_hosts: &[Ipv4Addr]) -> String {
    let masqueraded_hosts: Vec<String> = masqueraded_hosts.iter().map(Ipv4Addr::to_string).collect();
    format!(
        "table ip {} {{\nchain postrouting {{\ntype nat hook postrouting priority srcnat;\n\
         ip saddr {client} ip daddr {{ {} }} masquerade\n}}\n}}\n",
        owner.label(),
        masqueraded_hosts.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn node(name: &str, internal: &str, external: Option<&str>, here: bool) -> ClusterNode {
        ClusterNode {
            name: name.to_owned(),
            internal: vec![internal.parse().unwrap()],
            external: external.map(|address| address.parse().unwrap()).into_iter().collect(),
            here,
            ..ClusterNode::default()
        }
    }

    fn service() -> ClusterService {
        serde_json::from_value(
            json!({"spec": {"clusterIP": "10.96.0.7", "ports": [{"port": 8080, "nodePort": 30123}]}}),
        )
        .unwrap()
    }

    #[test]
    fn each_way_of_exposing_has_its_address() {
        let (here, there) =
            (node("a", "10.0.0.1", None, true), node("b", "10.0.0.2", Some("203.0.113.2"), false));
        let service = service();
        let found = DeployedService {
            service: Some(&service),
            pod_ip: Some("10.244.1.5".parse().unwrap()),
            pod_node: &there,
            port: 8080,
            host_port: Some(21000),
        };
        let at = |expose, from| target(&expose, &found, from).unwrap().address.to_string();
        assert_eq!(at(Expose::NodePort, ClientOrigin::Node(&here)), "10.0.0.1:30123");
        assert_eq!(at(Expose::NodePort, ClientOrigin::Outside), "203.0.113.2:30123");
        assert_eq!(at(Expose::NodePort, ClientOrigin::Cluster), "10.0.0.2:30123");
        assert_eq!(at(Expose::ClusterIP, ClientOrigin::Node(&here)), "10.96.0.7:8080");
        assert_eq!(at(Expose::PodIP, ClientOrigin::Node(&here)), "10.244.1.5:8080");
        assert_eq!(at(Expose::HostNetwork, ClientOrigin::Node(&here)), "10.0.0.2:8080");
        assert_eq!(at(Expose::HostPort, ClientOrigin::Outside), "203.0.113.2:21000");
    }

    #[test]
    fn the_client_is_masqueraded_to_other_machines_only() {
        let (here, there) = (node("a", "10.0.0.1", None, true), node("b", "10.0.0.2", None, false));
        let hidden = |expose: &Expose, pod_node, target: &str| {
            let pod_ip = Some("10.244.1.5".parse().unwrap());
            let found = DeployedService { service: None, pod_ip, pod_node, port: 8080, host_port: None };
            let from = masqueraded_hosts(expose, &found, target.parse().unwrap());
            from.iter().map(Ipv4Addr::to_string).collect::<Vec<_>>()
        };
        assert_eq!(hidden(&Expose::PodIP, &here, "10.244.1.5"), [""; 0]);
        assert_eq!(hidden(&Expose::PodIP, &there, "10.244.1.5"), ["10.244.1.5"]);
        assert_eq!(hidden(&Expose::ClusterIP, &there, "10.96.0.7"), ["10.96.0.7", "10.244.1.5"]);
        assert_eq!(hidden(&Expose::NodePort, &there, "10.0.0.1"), [""; 0]);
        assert_eq!(hidden(&Expose::LoadBalancer, &here, "203.0.113.9"), ["203.0.113.9"]);
    }

    #[test]
    fn masquerading_applies_to_the_client_and_those_hosts_only() {
        let owner = Owner { run: "3fa90c".parse().unwrap(), slot: Some(1) };
        let script = masquerading(&owner, Ipv4Addr::new(198, 18, 0, 2), &[Ipv4Addr::new(10, 0, 0, 2)]);
        assert!(script.starts_with("table ip loadline-3fa90c-1 {"));
        assert!(script.contains("ip saddr 198.18.0.2 ip daddr { 10.0.0.2 } masquerade"));
    }
}
