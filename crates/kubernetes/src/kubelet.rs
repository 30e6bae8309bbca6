//! What a node's kubelet reports about a pod, through the API server: `/metrics/resource`
//! (<https://kubernetes.io/docs/reference/instrumentation/node-metrics/>).
//!
//! Measured on 1.34: it samples a container only every 10 to 15 s, however often it is asked. `/stats/summary` and
//! `/metrics/cadvisor` give the very same figures, the former with a time in whole seconds; this one has milliseconds and is short.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use loadline_platform::{Usage, UsageReader};

use crate::{connection::Cluster, permissions::Permission, run_cluster::RunCluster, termination};

/// The permissions for it.
pub(crate) const PERMISSIONS: [Permission; 1] = [Permission::in_cluster(&["get"], "", "nodes/proxy")];

/// The note about every deployment that is observed this way.
pub(crate) const COARSE: &str = "the kubelet samples the pod only every 10 to 15 s, so its figures cover long stretches; `observers: daemonset` reads every slice exactly";

const CPU_S: &str = "container_cpu_usage_seconds_total";
const MEMORY_BYTES: &str = "container_memory_working_set_bytes";

/// Reads the pod's figures, once per call and without retries: a failed reading is missing.
pub(crate) fn reader(cluster: &Arc<RunCluster>, node: &str, pod: &str) -> UsageReader {
    let cluster = Arc::clone(cluster);
    let labels = [format!("namespace=\"{}\"", cluster.namespace()), format!("pod=\"{pod}\"")];
    let path = format!("/api/v1/nodes/{node}/proxy/metrics/resource");
    UsageReader::new(move || reading(&ask(&cluster.cluster, &path)?, &labels))
}

fn ask(cluster: &Cluster, path: &str) -> Option<String> {
    let (client, request) = (cluster.client(), http::Request::get(path).body(Vec::new()).ok()?);
    let asked = cluster.once(termination::QUERY_TIMEOUT, async move { client.request_text(request).await });
    asked.inspect_err(|failure| tracing::debug!("cannot read the kubelet's metrics: {failure:?}")).ok()
}

/// The figures of the pod with the labels: the sum of its containers, at the time of the latest.
fn reading(metrics: &str, labels: &[String]) -> Option<Usage> {
    let of = |name: &'static str| {
        let lines = metrics.lines().filter_map(move |line| line.strip_prefix(name)?.strip_prefix('{'));
        lines.filter_map(|line| sample(line, labels)).collect::<Vec<(f64, u64)>>()
    };
    let (cpu, memory) = (of(CPU_S), of(MEMORY_BYTES));
    let at_ms = cpu.iter().map(|(_, at_ms)| *at_ms).max()?;
    let bytes = memory.iter().map(|(bytes, _)| *bytes as u64).reduce(|sum, bytes| sum + bytes);
    Some(Usage {
        at: SystemTime::UNIX_EPOCH + Duration::from_millis(at_ms),
        cpu_ns: (cpu.iter().map(|(seconds, _)| seconds).sum::<f64>() * 1e9).round() as u64,
        memory_bytes: bytes,
    })
}

/// Value and time in milliseconds of `LABELS} VALUE TIME`, if the labels are there
/// (<https://prometheus.io/docs/instrumenting/exposition_formats/>).
fn sample(line: &str, labels: &[String]) -> Option<(f64, u64)> {
    let (said, numbers) = line.split_once('}')?;
    let has = |label: &String| said.split(',').any(|one| one == label);
    labels.iter().all(has).then_some(())?;
    let mut numbers = numbers.split_whitespace();
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const METRICS: &str = r#"# TYPE container_cpu_usage_seconds_total counter
container_cpu_usage_seconds_total{container="service",namespace="x",pod="orders"} 1.28528348 1767225601500
container_cpu_usage_seconds_total{container="mesh",namespace="x",pod="orders"} 0.5 1767225601400
container_cpu_usage_seconds_total{container="service",namespace="x",pod="orders-2"} 9 1767225609000
container_cpu_usage_seconds_total{container="service",namespace="y",pod="orders"} 9 1767225609000
container_memory_working_set_bytes{container="service",namespace="x",pod="orders"} 2.260992e+06 1767225601500
"#;

    fn labels(pod: &str) -> [String; 2] {
        ["namespace=\"x\"".to_owned(), format!("pod=\"{pod}\"")]
    }

    #[test]
    fn a_pods_figures_are_those_of_its_containers() {
        let found = reading(METRICS, &labels("orders")).unwrap();
        assert_eq!((found.cpu_ns, found.memory_bytes), (1_785_283_480, Some(2_260_992)));
        let since_1970 = found.at.duration_since(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(since_1970, Duration::from_millis(1_767_225_601_500));
    }

    #[test]
    fn missing_figures_are_not_invented() {
        assert_eq!(reading(METRICS, &labels("order")), None);
        assert_eq!(reading(METRICS, &labels("orders-2")).unwrap().memory_bytes, None);
        assert_eq!(reading("not found", &labels("orders")), None);
    }
}
