//! A static pod: a manifest in a folder that the kubelet of this machine watches, without any controller.
//! <https://kubernetes.io/docs/tasks/configure-pod-container/static-pod/>

use std::{
    fs,
    path::{Path, PathBuf},
};

use k8s_openapi::api::core::v1::{Pod, PodSpec};
use serde_json::Value;

use loadline_machine::{Error, ErrorContext, Owner, RunFolder};

use crate::{
    cleaner::KubernetesSection, connection::Cluster, error::ClusterError, labels, nodes::ClusterNode,
    pod_spec::GRACE_S,
};

/// The configuration that a node's kubelet runs with (`/configz`, kubernetes, pkg/kubelet/server/server.go).
pub(crate) fn kubelet_config(cluster: &Cluster, node: &str) -> Result<Value, ClusterError> {
    let path = format!("/api/v1/nodes/{node}/proxy/configz");
    let answer: Value =
        cluster.call(&format!("read the configuration of the kubelet of {node}"), |client| {
            let request = http::Request::get(&path).body(Vec::new());
            async move { client.request(request.map_err(kube::Error::HttpError)?).await }
        })?;
    Ok(answer["kubeletconfig"].clone())
}

/// The folder that the node's kubelet watches.
pub(crate) fn folder(cluster: &Cluster, node: &ClusterNode) -> Result<PathBuf, ClusterError> {
    let config = kubelet_config(cluster, &node.name)?;
    let unfit = |why: String| ClusterError::Unfit(why);
    let path = config["staticPodPath"].as_str().filter(|path| !path.is_empty()).ok_or_else(|| {
        unfit(format!(
            "`static: true` is not possible: the kubelet of {} watches no folder: set staticPodPath in its configuration",
            node.name
        ))
    })?;
    let path = PathBuf::from(path);
    if path.is_dir() {
        return Ok(path);
    }
    Err(unfit(format!(
        "`static: true` is not possible: {}, where the kubelet of {} looks, is not a folder of this machine (does the kubelet run in a container?)",
        path.display(),
        node.name
    )))
}

/// The manifest of the pod.
pub(crate) fn pod(owner: &Owner, mut spec: PodSpec) -> Pod {
    // It cannot be shortened afterwards.
    spec.termination_grace_period_seconds = Some(GRACE_S.into());
    Pod { metadata: labels::metadata(owner, owner.label()), spec: Some(spec), status: None }
}

/// Writes the manifest after registering it.
pub(crate) fn write(owner: &Owner, dir: &Path, pod: &Pod, run: &RunFolder) -> Result<(), Error> {
    let name = format!("{}.json", owner.label());
    // Kubelets skip names that begin with a dot (pkg/kubelet/config/file_linux.go), and must not read half a file.
    let (path, draft) = (dir.join(&name), dir.join(format!(".{name}")));
    run.update(|section: &mut KubernetesSection| section.static_pods.extend([draft.clone(), path.clone()]))?;
    let text = serde_json::to_vec_pretty(pod).map_err(std::io::Error::from);
    let written = text.and_then(|text| fs::write(&draft, text)).and_then(|()| fs::rename(&draft, &path));
    written.with_context(|| format!("write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_static_pod_ends_as_fast_as_a_removed_one() {
        let pod = pod(&Owner { run: "3fa90c".parse().unwrap(), slot: Some(1) }, PodSpec::default());
        assert_eq!(pod.spec.unwrap().termination_grace_period_seconds, Some(2));
    }
}
