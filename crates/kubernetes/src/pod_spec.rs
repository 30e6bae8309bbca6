//! A service as the specification of a pod: pure translation, without any request to a cluster.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::core::v1::{
        Affinity, Container, ContainerPort, EnvVar, EnvVarSource, HTTPGetAction, NodeAffinity, NodeSelector,
        NodeSelectorRequirement, NodeSelectorTerm, PodSpec, Probe, ResourceFieldSelector,
        ResourceRequirements, SecurityContext, TCPSocketAction,
    },
    apimachinery::pkg::{api::resource::Quantity, util::intstr::IntOrString},
};

use loadline_model::platform::{Limits, Probes};
use loadline_platform::Service;

use crate::image::PodImage;

/// The name of the one container, and of its port.
pub(crate) const CONTAINER: &str = "service";
const PORT_NAME: &str = "http";

/// How long a pod may take to terminate, unless loadline removes it.
const TERMINATION_GRACE_S: i64 = 30;
/// How long a pod may take to terminate when it is removed, the same as services on every platform.
pub(crate) const GRACE_S: u32 = 2;

/// The label with each node's host name.
const HOST_NAME_LABEL: &str = "kubernetes.io/hostname";

/// Where a pod may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NodeRule {
    Anywhere,
    On(String),
    NotOn(String),
}

/// What defines a pod besides its service.
#[derive(Clone, Debug)]
pub(crate) struct PodPlan {
    pub image: PodImage,
    /// Where the service listens.
    pub port: u16,
    pub host_network: bool,
    /// The port of the host that leads to it.
    pub host_port: Option<u16>,
    /// By the value of the nodes' label `kubernetes.io/hostname`.
    pub node: NodeRule,
    pub probes: Probes,
    pub requests: Limits,
    pub user: Option<u32>,
}

/// The specification.
pub(crate) fn pod_spec(service: &Service, plan: &PodPlan) -> PodSpec {
    PodSpec {
        containers: vec![container(service, plan)],
        affinity: affinity(&plan.node),
        host_network: plan.host_network.then_some(true),
        dns_policy: plan.host_network.then(|| "ClusterFirstWithHostNet".to_owned()),
        // The variables for the namespace's Services would make one Service differ from many.
        enable_service_links: Some(false),
        automount_service_account_token: Some(false),
        termination_grace_period_seconds: Some(TERMINATION_GRACE_S),
        ..Default::default()
    }
}

fn container(service: &Service, plan: &PodPlan) -> Container {
    let arguments = service.argv.iter().skip(1).map(|word| service.fill(word, "0.0.0.0", plan.port));
    Container {
        name: CONTAINER.to_owned(),
        image: Some(plan.image.name.clone()),
        image_pull_policy: Some(plan.image.pull_policy().to_owned()),
        command: plan.image.entrypoint.clone(),
        args: Some(arguments.collect()),
        env: Some(environment(service, plan.port)),
        ports: Some(vec![ContainerPort {
            name: Some(PORT_NAME.to_owned()),
            container_port: plan.port.into(),
            host_port: plan.host_port.map(i32::from),
            protocol: Some("TCP".to_owned()),
            ..Default::default()
        }]),
        resources: resources(&service.limits, &plan.requests),
        liveness_probe: probe(service, plan, &LIVENESS),
        readiness_probe: probe(service, plan, &READINESS),
        security_context: Some(SecurityContext {
            allow_privilege_escalation: Some(false),
            run_as_user: plan.user.map(i64::from),
            run_as_non_root: plan.user.map(|user| user != 0),
            ..Default::default()
        }),
        ..Default::default()
    }
}

fn environment(service: &Service, port: u16) -> Vec<EnvVar> {
    let plain = |name: &str, value: String| EnvVar {
        name: name.to_owned(),
        value: Some(value),
        ..Default::default()
    };
    let own = service.env.iter().map(|(name, value)| match field_of(value) {
        Some(field) => EnvVar { name: name.clone(), value_from: Some(field), ..Default::default() },
        None => plain(name, service.fill(value, "0.0.0.0", port)),
    });
    // The last variable of a name wins, as in a process's environment; the API accepts each name once.
    let mut all: Vec<EnvVar> = Vec::new();
    for variable in
        [plain("HOST", "0.0.0.0".to_owned()), plain("PORT", port.to_string())].into_iter().chain(own)
    {
        all.retain(|earlier| earlier.name != variable.name);
        all.push(variable);
    }
    all
}

/// A limit as Kubernetes itself substitutes it: whole CPUs, rounded up, and bytes; the node's where there is no limit
/// (<https://kubernetes.io/docs/tasks/inject-data-application/environment-variable-expose-pod-information/>).
fn field_of(value: &str) -> Option<EnvVarSource> {
    let resource = value.strip_prefix('{')?.strip_suffix('}')?;
    matches!(resource, "limits.cpu" | "limits.memory").then(|| EnvVarSource {
        resource_field_ref: Some(ResourceFieldSelector {
            resource: resource.to_owned(),
            ..Default::default()
        }),
        ..Default::default()
    })
}

/// The fraction of its CPU limit that a pod requests by default.
const REQUESTED_CPU: f64 = 0.1;

fn resources(limits: &Limits, requests: &Limits) -> Option<ResourceRequirements> {
    let requests = Limits {
        cpus: requests.cpus.or(limits.cpus.map(|cpus| cpus * REQUESTED_CPU)),
        memory_bytes: requests.memory_bytes.or(limits.memory_bytes),
    };
    (limits.any() || requests.any()).then(|| ResourceRequirements {
        limits: amounts(limits),
        requests: amounts(&requests),
        ..Default::default()
    })
}

fn amounts(limits: &Limits) -> Option<BTreeMap<String, Quantity>> {
    // Rounded first, because a tenth of 1.5 is a little more than 0.15.
    let millicores = |cpus: f64| Quantity(format!("{}m", ((cpus * 1e6).round() / 1e3).ceil() as u64));
    let cpu = limits.cpus.map(|cpus| ("cpu".to_owned(), millicores(cpus)));
    let memory = limits.memory_bytes.map(|bytes| ("memory".to_owned(), Quantity(bytes.to_string())));
    limits.any().then(|| cpu.into_iter().chain(memory).collect())
}

/// Delay and period of a probe in seconds, and its number of failures.
struct Checks {
    delay_s: i32,
    period_s: i32,
    failures: i32,
}

const LIVENESS: Checks = Checks { delay_s: 30, period_s: 10, failures: 3 };
const READINESS: Checks = Checks { delay_s: 10, period_s: 5, failures: 2 };

fn probe(service: &Service, plan: &PodPlan, checks: &Checks) -> Option<Probe> {
    if plan.probes == Probes::None {
        return None;
    }
    let port = IntOrString::String(PORT_NAME.to_owned());
    let (http_get, tcp_socket) = match &service.ready_path {
        Some(path) => {
            // The kubelet does not check the certificate.
            let scheme = service.https.then(|| "HTTPS".to_owned());
            (Some(HTTPGetAction { path: Some(path.clone()), port, scheme, ..Default::default() }), None)
        }
        None => (None, Some(TCPSocketAction { port, host: None })),
    };
    Some(Probe {
        http_get,
        tcp_socket,
        initial_delay_seconds: Some(checks.delay_s),
        period_seconds: Some(checks.period_s),
        failure_threshold: Some(checks.failures),
        ..Default::default()
    })
}

/// A rule for the scheduler and not `nodeName`, which would bypass the scheduler and its check of the node's capacity.
fn affinity(rule: &NodeRule) -> Option<Affinity> {
    let (operator, node) = match rule {
        NodeRule::Anywhere => return None,
        NodeRule::On(node) => ("In", node),
        NodeRule::NotOn(node) => ("NotIn", node),
    };
    let requirement = NodeSelectorRequirement {
        key: HOST_NAME_LABEL.to_owned(),
        operator: operator.to_owned(),
        values: Some(vec![node.clone()]),
    };
    let term = NodeSelectorTerm { match_expressions: Some(vec![requirement]), match_fields: None };
    Some(Affinity {
        node_affinity: Some(NodeAffinity {
            required_during_scheduling_ignored_during_execution: Some(NodeSelector {
                node_selector_terms: vec![term],
            }),
            ..Default::default()
        }),
        ..Default::default()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn plan() -> PodPlan {
        PodPlan {
            image: PodImage {
                name: "localhost/orders:1".to_owned(),
                pulled: false,
                entrypoint: None,
                hint: String::new(),
            },
            port: 8080,
            host_network: false,
            host_port: None,
            node: NodeRule::Anywhere,
            probes: Probes::None,
            requests: Limits::default(),
            user: None,
        }
    }

    fn service() -> Service {
        Service {
            argv: ["/usr/bin/orders", "--listen", "{host}:{port}"].map(str::to_owned).to_vec(),
            env: vec![
                ("GOMAXPROCS".to_owned(), "{limits.cpu}".to_owned()),
                ("HEAP".to_owned(), "-Xmx{limits.memory}".to_owned()),
                ("PORT".to_owned(), "{port}0".to_owned()),
            ],
            limits: Limits { cpus: Some(1.5), memory_bytes: Some(64 << 20) },
            ..Service::default()
        }
    }

    fn json_of(service: &Service, plan: &PodPlan) -> Value {
        serde_json::to_value(pod_spec(service, plan)).unwrap()
    }

    #[test]
    fn the_images_program_gets_the_services_arguments() {
        let spec = json_of(&service(), &plan());
        assert_eq!(spec["containers"][0]["args"], json!(["--listen", "0.0.0.0:8080"]));
        assert_eq!(spec["containers"][0]["command"], Value::Null);
        let mut own = plan();
        own.image.entrypoint = Some(vec!["/other".to_owned()]);
        assert_eq!(json_of(&service(), &own)["containers"][0]["command"], json!(["/other"]));
    }

    #[test]
    fn limits_apply_a_tenth_of_the_cpu_is_requested_by_default_and_limits_reach_the_environment() {
        let container = &json_of(&service(), &plan())["containers"][0];
        let amounts = json!({"cpu": "1500m", "memory": "67108864"});
        let requests = json!({"cpu": "150m", "memory": "67108864"});
        assert_eq!(container["resources"], json!({"limits": amounts, "requests": requests}));
        let reference = json!({"resourceFieldRef": {"resource": "limits.cpu"}});
        assert_eq!(
            container["env"],
            json!([
                {"name": "HOST", "value": "0.0.0.0"},
                {"name": "GOMAXPROCS", "valueFrom": reference},
                {"name": "HEAP", "value": "-Xmx67108864"},
                {"name": "PORT", "value": "80800"},
            ])
        );
        let reserving = Limits { cpus: Some(1.5), memory_bytes: Some(1 << 20) };
        let guaranteed = PodPlan { requests: reserving, ..plan() };
        let requests = json!({"cpu": "1500m", "memory": "1048576"});
        assert_eq!(
            json_of(&service(), &guaranteed)["containers"][0]["resources"],
            json!({"limits": amounts, "requests": requests})
        );
        let unlimited = Service { limits: Limits::default(), ..service() };
        assert_eq!(json_of(&unlimited, &plan())["containers"][0]["resources"], Value::Null);
    }

    #[test]
    fn default_probes_are_those_of_the_published_benchmark() {
        let probed = PodPlan { probes: Probes::Default, ..plan() };
        let with_path = Service { ready_path: Some("/healthz".to_owned()), ..service() };
        let container = &json_of(&with_path, &probed)["containers"][0];
        assert_eq!(
            container["livenessProbe"],
            json!({"httpGet": {"path": "/healthz", "port": "http"}, "initialDelaySeconds": 30, "periodSeconds": 10, "failureThreshold": 3})
        );
        assert_eq!(
            container["readinessProbe"],
            json!({"httpGet": {"path": "/healthz", "port": "http"}, "initialDelaySeconds": 10, "periodSeconds": 5, "failureThreshold": 2})
        );
        let over_tls = Service { https: true, ..with_path };
        let probe = &json_of(&over_tls, &probed)["containers"][0]["readinessProbe"];
        assert_eq!(probe["httpGet"], json!({"path": "/healthz", "port": "http", "scheme": "HTTPS"}));
        let without = &json_of(&service(), &probed)["containers"][0];
        assert_eq!(without["readinessProbe"]["tcpSocket"], json!({"port": "http"}));
    }

    #[test]
    fn a_user_is_checked_not_to_be_root_unless_it_is_asked_for() {
        let context = |user| {
            json_of(&service(), &PodPlan { user, ..plan() })["containers"][0]["securityContext"].clone()
        };
        assert_eq!(
            context(Some(1000)),
            json!({"allowPrivilegeEscalation": false, "runAsUser": 1000, "runAsNonRoot": true})
        );
        assert_eq!(context(Some(0))["runAsNonRoot"], json!(false));
        assert_eq!(context(None), json!({"allowPrivilegeEscalation": false}));
    }

    #[test]
    fn placement_is_a_rule_for_the_scheduler() {
        let rule = |node| {
            let spec = json_of(&service(), &PodPlan { node, ..plan() });
            spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"][0]
                ["matchExpressions"][0]["operator"].clone()
        };
        assert_eq!(rule(NodeRule::On("n".to_owned())), json!("In"));
        assert_eq!(rule(NodeRule::NotOn("n".to_owned())), json!("NotIn"));
        assert_eq!(rule(NodeRule::Anywhere), Value::Null);
    }

    #[test]
    fn the_hosts_network_keeps_the_clusters_names() {
        let spec = json_of(&service(), &PodPlan { host_network: true, ..plan() });
        assert_eq!(
            (&spec["hostNetwork"], &spec["dnsPolicy"]),
            (&json!(true), &json!("ClusterFirstWithHostNet"))
        );
    }
}
