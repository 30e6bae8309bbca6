//! How a cluster implements Services, from the settings of kube-proxy or of its replacement.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use serde_json::Value;

use crate::connection::Cluster;

pub(super) const SYSTEM: &str = "kube-system";
/// kube-proxy's default on Linux.
const DEFAULT: &str = "iptables";

pub(crate) fn mode(cluster: &Cluster) -> Option<String> {
    let of_cilium = config_map(cluster, SYSTEM, "cilium-config").and_then(|map| replaced_by_cilium(&map));
    of_cilium.or_else(|| configured(&config_map(cluster, SYSTEM, "kube-proxy")?))
}

/// A ConfigMap, `None` if it does not exist or may not be read.
pub(crate) fn config_map(cluster: &Cluster, namespace: &str, name: &str) -> Option<ConfigMap> {
    let found = cluster.attempt(|client| {
        let (api, name): (Api<ConfigMap>, _) = (Api::namespaced(client, namespace), name.to_owned());
        async move { api.get_opt(&name).await }
    });
    found.ok().flatten()
}

/// As kubeadm keeps it (`KubeProxyConfiguration`, field `mode`).
fn configured(map: &ConfigMap) -> Option<String> {
    let config: Value = serde_saphyr::from_str(map.data.as_ref()?.get("config.conf")?).ok()?;
    let mode = config["mode"].as_str().unwrap_or_default();
    Some(if mode.is_empty() { DEFAULT } else { mode }.to_owned())
}

fn replaced_by_cilium(map: &ConfigMap) -> Option<String> {
    let said = map.data.as_ref()?.get("kube-proxy-replacement")?;
    matches!(said.as_str(), "true" | "strict").then(|| "cilium".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(name: &str, text: &str) -> ConfigMap {
        serde_json::from_value(json!({"data": {name: text}})).unwrap()
    }

    #[test]
    fn an_empty_mode_is_the_default() {
        let mode = |text: &str| configured(&map("config.conf", text));
        assert_eq!(mode("kind: KubeProxyConfiguration\nmode: nftables\n").as_deref(), Some("nftables"));
        assert_eq!(mode("kind: KubeProxyConfiguration\nmode: \"\"\n").as_deref(), Some("iptables"));
        assert_eq!(mode("kind: KubeProxyConfiguration\n").as_deref(), Some("iptables"));
        assert_eq!(configured(&map("other", "")), None);
    }

    #[test]
    fn cilium_replaces_kube_proxy_only_where_it_says_so() {
        assert_eq!(replaced_by_cilium(&map("kube-proxy-replacement", "true")).as_deref(), Some("cilium"));
        assert_eq!(replaced_by_cilium(&map("kube-proxy-replacement", "false")), None);
    }
}
