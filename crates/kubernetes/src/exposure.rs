//! Services and Ingresses: how a pod is reached other than by its own address.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::{
        apps::v1::{Deployment, DeploymentSpec},
        core::v1::{PodSpec, PodTemplateSpec, Service, ServicePort, ServiceSpec},
        networking::v1::{
            HTTPIngressPath, HTTPIngressRuleValue, Ingress, IngressBackend, IngressRule,
            IngressServiceBackend, IngressSpec, NetworkPolicy, NetworkPolicyIngressRule, NetworkPolicyPort,
            NetworkPolicySpec, ServiceBackendPort,
        },
    },
    apimachinery::pkg::{
        apis::meta::v1::{LabelSelector, ObjectMeta},
        util::intstr::IntOrString,
    },
};

use loadline_machine::Owner;

use crate::labels;

/// Kinds of Services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServiceKind {
    ClusterIP,
    NodePort,
    LoadBalancer,
}

impl ServiceKind {
    fn name(self) -> &'static str {
        match self {
            ServiceKind::ClusterIP => "ClusterIP",
            ServiceKind::NodePort => "NodePort",
            ServiceKind::LoadBalancer => "LoadBalancer",
        }
    }
}

/// A Deployment of pods with the owner's labels.
pub(crate) fn deployment(owner: &Owner, replicas: u32, spec: PodSpec) -> Deployment {
    let labels = labels::of(owner);
    let template = PodTemplateSpec {
        metadata: Some(ObjectMeta { labels: Some(labels.clone()), ..Default::default() }),
        spec: Some(spec),
    };
    Deployment {
        metadata: labels::metadata(owner, owner.label()),
        spec: Some(DeploymentSpec {
            replicas: Some(replicas.try_into().unwrap_or(i32::MAX)),
            selector: LabelSelector { match_labels: Some(labels), ..Default::default() },
            template,
            ..Default::default()
        }),
        status: None,
    }
}

/// A Service of the pods that `selector` matches, on their own port.
pub(crate) fn service(
    owner: &Owner,
    name: String,
    kind: ServiceKind,
    selector: &BTreeMap<String, String>,
    port: u16,
) -> Service {
    let port = ServicePort {
        name: Some("http".to_owned()),
        port: port.into(),
        target_port: Some(IntOrString::Int(port.into())),
        protocol: Some("TCP".to_owned()),
        ..Default::default()
    };
    Service {
        metadata: labels::metadata(owner, name),
        spec: Some(ServiceSpec {
            type_: Some(kind.name().to_owned()),
            selector: Some(selector.clone()),
            ports: Some(vec![port]),
            ..Default::default()
        }),
        status: None,
    }
}

/// An Ingress that leads a host's requests below `path` to the owner's Service. Without a host, those of all hosts.
pub(crate) fn ingress(owner: &Owner, host: Option<&str>, path: &str, port: u16) -> Ingress {
    let backend = IngressServiceBackend {
        name: owner.label(),
        port: Some(ServiceBackendPort { number: Some(port.into()), name: None }),
    };
    let path = HTTPIngressPath {
        path: Some(path.to_owned()),
        path_type: "Prefix".to_owned(),
        backend: IngressBackend { service: Some(backend), resource: None },
    };
    let rule =
        IngressRule { host: host.map(str::to_owned), http: Some(HTTPIngressRuleValue { paths: vec![path] }) };
    Ingress {
        metadata: labels::metadata(owner, owner.label()),
        spec: Some(IngressSpec { rules: Some(vec![rule]), ..Default::default() }),
        status: None,
    }
}

/// Lets in TCP to this port of the pods that `selector` matches, from anywhere, and nothing else.
pub(crate) fn network_policy(owner: &Owner, selector: &BTreeMap<String, String>, port: u16) -> NetworkPolicy {
    let port = NetworkPolicyPort {
        port: Some(IntOrString::Int(port.into())),
        protocol: Some("TCP".to_owned()),
        ..Default::default()
    };
    let rule = NetworkPolicyIngressRule { from: None, ports: Some(vec![port]) };
    NetworkPolicy {
        metadata: labels::metadata(owner, owner.label()),
        spec: Some(NetworkPolicySpec {
            pod_selector: Some(LabelSelector { match_labels: Some(selector.clone()), ..Default::default() }),
            policy_types: Some(vec!["Ingress".to_owned()]),
            ingress: Some(vec![rule]),
            egress: None,
        }),
    }
}

/// The names of `count` dummy Services besides the deployment's own.
pub(crate) fn dummy_service_names(owner: &Owner, count: u32) -> impl Iterator<Item = String> {
    let label = owner.label();
    (1..=count).map(move |index| format!("{label}-s{index}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn owner() -> Owner {
        Owner { run: "3fa90c".parse().unwrap(), slot: Some(2) }
    }

    #[test]
    fn a_service_leads_to_the_pods_of_its_deployment_only() {
        let labels = labels::of(&owner());
        let made =
            serde_json::to_value(service(&owner(), owner().label(), ServiceKind::NodePort, &labels, 7000))
                .unwrap();
        assert_eq!(made["spec"]["selector"], json!({"loadline.run": "3fa90c", "loadline.slot": "2"}));
        assert_eq!(made["spec"]["ports"][0]["targetPort"], json!(7000));
        assert_eq!(made["metadata"]["namespace"], json!("loadline-3fa90c"));
        let pods = serde_json::to_value(deployment(&owner(), 3, PodSpec::default())).unwrap();
        assert_eq!(pods["spec"]["selector"]["matchLabels"], made["spec"]["selector"]);
        assert_eq!(pods["spec"]["template"]["metadata"]["labels"], made["spec"]["selector"]);
    }

    #[test]
    fn an_ingress_leads_to_the_service_of_the_same_name() {
        let made = serde_json::to_value(ingress(&owner(), Some("orders.example"), "/api", 8080)).unwrap();
        let rule = &made["spec"]["rules"][0];
        assert_eq!(rule["host"], json!("orders.example"));
        assert_eq!(
            rule["http"]["paths"][0]["backend"]["service"],
            json!({"name": "loadline-3fa90c-2", "port": {"number": 8080}})
        );
    }

    #[test]
    fn a_network_policy_lets_in_what_is_sent_to_the_port_of_its_own_pods() {
        let labels = labels::of(&owner());
        let made = serde_json::to_value(network_policy(&owner(), &labels, 7000)).unwrap();
        assert_eq!(
            made["spec"],
            json!({
                "podSelector": {"matchLabels": {"loadline.run": "3fa90c", "loadline.slot": "2"}},
                "policyTypes": ["Ingress"],
                "ingress": [{"ports": [{"port": 7000, "protocol": "TCP"}]}]
            })
        );
    }

    #[test]
    fn names_of_dummy_services_fit_a_dns_label() {
        let longest = Owner { slot: Some(loadline_machine::addresses::SLOTS), ..owner() };
        assert!(dummy_service_names(&longest, 20_000).all(|name| name.len() <= 63));
        assert_eq!(
            dummy_service_names(&owner(), 2).collect::<Vec<_>>(),
            ["loadline-3fa90c-2-s1", "loadline-3fa90c-2-s2"]
        );
    }
}
