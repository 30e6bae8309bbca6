//! The network plugin of a cluster, recognised by its DaemonSet or by what it wrote on the nodes, and how it sends packets to other nodes,
//! from its settings.

use std::collections::BTreeMap;

use k8s_openapi::api::{
    apps::v1::DaemonSet,
    core::v1::{ConfigMap, Node},
};
use kube::{
    Api,
    api::{ApiResource, DynamicObject, ListParams},
    core::GroupVersionKind,
};
use serde_json::Value;

use super::{
    Cni,
    proxy::{SYSTEM, config_map},
};
use crate::connection::Cluster;

/// DaemonSets and their plugins. Canal is Calico's policies over Flannel's network.
const KNOWN: [(&str, &str); 14] = [
    ("calico-node", "calico"),
    ("kube-flannel-ds", "flannel"),
    ("kube-flannel", "flannel"),
    ("canal", "canal"),
    ("cilium", "cilium"),
    ("kindnet", "kindnet"),
    ("weave-net", "weave"),
    ("antrea-agent", "antrea"),
    ("aws-node", "aws-vpc-cni"),
    ("azure-cns", "azure-cni"),
    ("ovnkube-node", "ovn-kubernetes"),
    ("kube-ovn-cni", "kube-ovn"),
    ("kube-router", "kube-router"),
    ("netd", "gke-netd"),
];

/// Annotations that agents write on their nodes, and the plugins. The first one that is found counts: Canal's nodes have Flannel's too.
/// (flannel `pkg/subnet/kube/annotations.go`, Calico `libcalico-go/lib/backend/k8s/resources/node.go`, Cilium `pkg/annotation/k8s.go`)
const WRITTEN: [(&str, &str); 3] = [
    (FLANNEL_BACKEND, "flannel"),
    ("projectcalico.org/IPv4Address", "calico"),
    ("network.cilium.io/ipv4-cilium-host", "cilium"),
];
const FLANNEL_BACKEND: &str = "flannel.alpha.coreos.com/backend-type";

/// The plugin by its DaemonSet or, of an agent that is no pod of the cluster, by what it wrote on the nodes. `None` if neither is known or
/// can be read.
pub(crate) fn ask(cluster: &Cluster, nodes: &[Node]) -> Option<Cni> {
    let sets = cluster
        .attempt(|client| async move { Api::<DaemonSet>::all(client).list(&ListParams::default()).await });
    let set = sets.ok().and_then(|sets| recognise(&sets.items));
    let (set, name) = match set {
        Some((set, name)) => (Some(set), name),
        None => (None, wrote(nodes)?),
    };
    let namespace = set.as_ref().map_or(SYSTEM, |set| set.metadata.namespace.as_deref().unwrap_or_default());
    let settings = |map: &str| config_map(cluster, namespace, map);
    let mode = match name {
        "calico" => calico_pools(cluster)
            .and_then(|pools| calico_pool_mode(&pools))
            .or_else(|| calico_mode(set.as_ref()?)),
        "flannel" => settings("kube-flannel-cfg")
            .and_then(|map| flannel_backend(&map))
            .or_else(|| annotation(nodes, FLANNEL_BACKEND)),
        "canal" => settings("canal-config").and_then(|map| flannel_backend(&map)),
        "cilium" => settings("cilium-config").and_then(|map| cilium_mode(&map)),
        _ => None,
    };
    Some(Cni { name: name.to_owned(), mode })
}

fn wrote(nodes: &[Node]) -> Option<&'static str> {
    WRITTEN.iter().find_map(|(key, name)| annotation(nodes, key).map(|_| *name))
}

fn annotation(nodes: &[Node], key: &str) -> Option<String> {
    nodes.iter().find_map(|node| node.metadata.annotations.as_ref()?.get(key).cloned())
}

fn recognise(sets: &[DaemonSet]) -> Option<(DaemonSet, &'static str)> {
    KNOWN.iter().find_map(|(set_name, name)| {
        let set = sets.iter().find(|set| set.metadata.name.as_deref() == Some(set_name))?;
        Some((set.clone(), *name))
    })
}

/// Calico's address pools, which have the effective mode.
fn calico_pools(cluster: &Cluster) -> Option<Vec<Value>> {
    let resource = ApiResource::from_gvk_with_plural(
        &GroupVersionKind::gvk("crd.projectcalico.org", "v1", "IPPool"),
        "ippools",
    );
    let pools = cluster.attempt(|client| {
        let api: Api<DynamicObject> = Api::all_with(client, &resource);
        async move { api.list(&ListParams::default()).await }
    });
    Some(pools.ok()?.items.into_iter().map(|pool| pool.data).collect())
}

/// `Always` and `CrossSubnet` encapsulate, the latter only between subnets
/// (<https://docs.tigera.io/calico/latest/reference/resources/ippool>).
fn calico_pool_mode(pools: &[Value]) -> Option<String> {
    let spec = &pools.first()?["spec"];
    let said = |field: &str| spec[field].as_str().filter(|mode| *mode != "Never").map(str::to_owned);
    let words = |kind: &str, mode: String| match mode.as_str() {
        "CrossSubnet" => format!("{kind}, between subnets only"),
        _ => kind.to_owned(),
    };
    let ipip = said("ipipMode").map(|mode| words("ipip", mode));
    Some(
        ipip.or_else(|| said("vxlanMode").map(|mode| words("vxlan", mode)))
            .unwrap_or_else(|| "routed".to_owned()),
    )
}

/// The mode that Calico's nodes got at their first start.
fn calico_mode(set: &DaemonSet) -> Option<String> {
    let containers = &set.spec.as_ref()?.template.spec.as_ref()?.containers;
    let variables = containers.iter().flat_map(|container| container.env.iter().flatten());
    let variables: BTreeMap<&str, &str> =
        variables.filter_map(|variable| Some((variable.name.as_str(), variable.value.as_deref()?))).collect();
    let on = |name: &str| variables.get(name).is_some_and(|value| *value != "Never");
    if on("CALICO_IPV4POOL_IPIP") {
        Some("ipip".to_owned())
    } else if on("CALICO_IPV4POOL_VXLAN") {
        Some("vxlan".to_owned())
    } else {
        variables.contains_key("CALICO_IPV4POOL_IPIP").then(|| "routed".to_owned())
    }
}

fn flannel_backend(map: &ConfigMap) -> Option<String> {
    let config: Value = serde_json::from_str(map.data.as_ref()?.get("net-conf.json")?).ok()?;
    Some(config["Backend"]["Type"].as_str()?.to_owned())
}

/// `routing-mode` since Cilium 1.14, `tunnel` before. Packets go past the node's own network stack where nothing needs its netfilter or its IPsec
/// (`finishKubeProxyReplacementInit` in daemon/cmd/kube_proxy_replacement.go; `strict` was the word for `true` before 1.14).
fn cilium_mode(map: &ConfigMap) -> Option<String> {
    let settings = map.data.as_ref()?;
    let said = |name: &str| settings.get(name).map(String::as_str);
    let is_on = |name: &str| said(name) == Some("true");
    // Both families are on by default, and both masquerade.
    let is_off = |name: String| said(&name) == Some("false");
    let masquerades =
        |family: &&str| !is_off(format!("enable-{family}")) && !is_off(format!("enable-{family}-masquerade"));
    let has_iptables_masquerade = !is_on("enable-bpf-masquerade") && ["ipv4", "ipv6"].iter().any(masquerades);
    let past_the_host = matches!(said("kube-proxy-replacement"), Some("true" | "strict"))
        && !has_iptables_masquerade
        && !is_on("enable-ipsec")
        && !is_on("enable-host-legacy-routing");
    let with_routing = |mode: String| if past_the_host { format!("{mode}, eBPF host routing") } else { mode };
    let mode = match (said("routing-mode"), said("tunnel-protocol").or(said("tunnel"))) {
        (Some("native"), _) | (None, Some("disabled")) => Some("native".to_owned()),
        (_, Some(protocol)) => Some(protocol.to_owned()),
        (Some(mode), None) => Some(mode.to_owned()),
        (None, None) => None,
    };
    mode.map(with_routing)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn set(name: &str, env: Value) -> DaemonSet {
        serde_json::from_value(json!({"metadata": {"name": name, "namespace": "kube-system"}, "spec": {
            "selector": {}, "template": {"spec": {"containers": [{"name": "c", "env": env}]}}}}))
        .unwrap()
    }

    fn map(name: &str, text: &str) -> ConfigMap {
        serde_json::from_value(json!({"data": {name: text}})).unwrap()
    }

    #[test]
    fn plugins_are_recognised_by_their_daemonsets() {
        for (name, expected) in
            [("calico-node", "calico"), ("kindnet", "kindnet"), ("aws-node", "aws-vpc-cni")]
        {
            let sets = [set("kube-proxy", json!([])), set(name, json!([]))];
            assert_eq!(recognise(&sets).unwrap().1, expected);
        }
        assert_eq!(recognise(&[set("kube-proxy", json!([]))]), None);
    }

    #[test]
    fn an_agent_outside_of_the_cluster_is_recognised_by_what_it_wrote_on_the_nodes() {
        let node = |annotations: Value| -> Node {
            serde_json::from_value(json!({"metadata": {"annotations": annotations}})).unwrap()
        };
        let flannel = json!({"flannel.alpha.coreos.com/backend-type": "host-gw"});
        let nodes = [node(json!({})), node(flannel)];
        assert_eq!(wrote(&nodes), Some("flannel"));
        assert_eq!(annotation(&nodes, FLANNEL_BACKEND).as_deref(), Some("host-gw"));
        let calico = json!({"projectcalico.org/IPv4Address": "10.0.0.1/24"});
        assert_eq!(wrote(&[node(calico)]), Some("calico"));
        assert_eq!(wrote(&[node(json!({"network.cilium.io/ipv4-cilium-host": "10.0.1.7"}))]), Some("cilium"));
        assert_eq!(wrote(&[node(json!({"node.alpha.kubernetes.io/ttl": "0"}))]), None);
    }

    #[test]
    fn calicos_mode_is_that_of_its_pool_or_of_its_first_start() {
        let pool = |ipip: &str, vxlan: &str| {
            calico_pool_mode(&[json!({"spec": {"ipipMode": ipip, "vxlanMode": vxlan}})]).unwrap()
        };
        assert_eq!(pool("Always", "Never"), "ipip");
        assert_eq!(pool("Never", "CrossSubnet"), "vxlan, between subnets only");
        assert_eq!(pool("Never", "Never"), "routed");
        let env = |ipip: &str, vxlan: &str| {
            let env = json!([{"name": "CALICO_IPV4POOL_IPIP", "value": ipip}, {"name": "CALICO_IPV4POOL_VXLAN", "value": vxlan}]);
            calico_mode(&set("calico-node", env))
        };
        assert_eq!(env("Always", "Never").as_deref(), Some("ipip"));
        assert_eq!(env("Never", "Always").as_deref(), Some("vxlan"));
        assert_eq!(env("Never", "Never").as_deref(), Some("routed"));
        assert_eq!(calico_mode(&set("calico-node", json!([]))), None);
    }

    #[test]
    fn flannels_and_ciliums_modes_are_in_their_settings() {
        let flannel = map("net-conf.json", r#"{"Network": "10.244.0.0/16", "Backend": {"Type": "host-gw"}}"#);
        assert_eq!(flannel_backend(&flannel).as_deref(), Some("host-gw"));
        assert_eq!(flannel_backend(&map("net-conf.json", "{")), None);
        assert_eq!(cilium_mode(&map("routing-mode", "native")).as_deref(), Some("native"));
        assert_eq!(cilium_mode(&map("tunnel", "vxlan")).as_deref(), Some("vxlan"));
        assert_eq!(cilium_mode(&map("tunnel", "disabled")).as_deref(), Some("native"));
        assert_eq!(cilium_mode(&map("other", "")), None);
    }

    #[test]
    fn cilium_goes_past_the_hosts_network_stack_where_nothing_needs_it() {
        let mode = |settings: &[(&str, &str)]| {
            let data = settings.iter().chain(&[("routing-mode", "native")]);
            let data = data.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            cilium_mode(&ConfigMap { data: Some(data), ..ConfigMap::default() }).unwrap()
        };
        let replaces = ("kube-proxy-replacement", "true");
        let by_bpf = ("enable-bpf-masquerade", "true");
        let (four, six) = (("enable-ipv4-masquerade", "false"), ("enable-ipv6-masquerade", "false"));
        for settings in [
            &[replaces, by_bpf][..],
            &[("kube-proxy-replacement", "strict"), by_bpf],
            &[replaces, four, six],
            &[replaces, four, ("enable-ipv6", "false")],
            &[replaces, ("enable-ipv4", "false"), six],
        ] {
            assert_eq!(mode(settings), "native, eBPF host routing", "{settings:?}");
        }
        for settings in [
            &[by_bpf][..],
            &[replaces],
            &[replaces, four],
            &[replaces, six],
            &[replaces, by_bpf, ("enable-ipsec", "true")],
            &[replaces, by_bpf, ("enable-host-legacy-routing", "true")],
        ] {
            assert_eq!(mode(settings), "native", "{settings:?}");
        }
    }
}
