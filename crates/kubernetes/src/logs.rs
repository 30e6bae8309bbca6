//! The output of a pod's container, read through the API server.

use k8s_openapi::api::core::v1::Pod;
use kube::{Api, api::LogParams};

use crate::connection::Cluster;

/// Kept of a service's output, as on every platform.
const TAIL_BYTES: usize = 64 * 1024;
/// Shown in an error.
const LAST_LINES: usize = 10;
/// The API limits lines from the end, but bytes only from the start; lines are rarely shorter than this.
const TAIL_LINES: i64 = (TAIL_BYTES / 16) as i64;

/// The last 64 KiB, those of the container's previous instance first. Empty if nothing can be read.
pub(crate) fn tail(cluster: &Cluster, namespace: &str, pod: &str, restarted: bool) -> String {
    let mut text = if restarted { read(cluster, namespace, pod, true) } else { String::new() };
    text += &read(cluster, namespace, pod, false);
    let mut from = text.len().saturating_sub(TAIL_BYTES);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text.split_off(from)
}

/// The last few lines of the container that ran last, for an error.
pub(crate) fn last_lines(cluster: &Cluster, namespace: &str, pod: &str) -> String {
    let mut text = read(cluster, namespace, pod, false);
    if text.trim().is_empty() {
        text = read(cluster, namespace, pod, true);
    }
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LAST_LINES)..].join("\n")
}

fn read(cluster: &Cluster, namespace: &str, pod: &str, previous: bool) -> String {
    let read = cluster.attempt(|client| {
        let parameters = LogParams { previous, tail_lines: Some(TAIL_LINES), ..Default::default() };
        let (api, pod): (Api<Pod>, _) = (Api::namespaced(client, namespace), pod.to_owned());
        async move { api.logs(&pod, &parameters).await }
    });
    // A container that never ran has none, and the cause is reported elsewhere.
    read.unwrap_or_default()
}
