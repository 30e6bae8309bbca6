//! The registry's section with what a run has in clusters, and how it is removed.

use std::{
    fs,
    net::IpAddr,
    path::{Path, PathBuf},
};

use loadline_machine::{
    Cleaner, Error, ErrorContext, Freezer, Netns, Owner, Removed, RunName, Section, neighbour, nftables,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{connection::Cluster, error::ClusterError, kubeconfig::ClusterRecord, labels, namespace};

/// The cleaner of what a run created in clusters.
pub const CLEANERS: &[&dyn Cleaner] = &[&KubernetesCleaner];

/// The section of a run.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct KubernetesSection {
    /// The clusters with a namespace of the run.
    #[serde(default)]
    pub clusters: Vec<ClusterRecord>,
    /// Manifests in the folder of this machine's kubelet.
    #[serde(default)]
    pub static_pods: Vec<PathBuf>,
    /// Addresses of nodes whose network namespaces are beside this machine's own, and may have rules of the run.
    #[serde(default)]
    pub beside: Vec<IpAddr>,
    /// Cgroups of clusters' own programs, which may be stopped.
    #[serde(default)]
    pub stopped: Vec<String>,
}

impl Section for KubernetesSection {
    const CLEANER: &'static dyn Cleaner = &KubernetesCleaner;
}

/// Removes the manifests of static pods, a run's namespaces, and its rules in network namespaces beside ours.
struct KubernetesCleaner;

impl Cleaner for KubernetesCleaner {
    fn name(&self) -> &'static str {
        "kubernetes"
    }

    /// A kubelet restarts a static pod's containers as long as its manifest exists.
    fn prevent_restarts(
        &self,
        owner: &Owner,
        section: &Value,
        removed: &mut Vec<Removed>,
    ) -> Result<(), Error> {
        let section = KubernetesSection::deserialize(section).unwrap_or_default();
        // Nothing can be asked of a cluster that is stopped. One that is gone needs nothing.
        for freezer in section.stopped.iter().filter_map(|cgroup| Freezer::of(cgroup)) {
            freezer.thaw()?;
        }
        let names = remove_static_pods(owner, &section.static_pods)?;
        removed.extend(names.into_iter().map(|name| Removed { run: owner.run, kind: "static pod", name }));
        Ok(())
    }

    /// The cleanup guard of a deployment removes its objects at its end; everything of a run is removed with its namespaces.
    fn remove(
        &self,
        owner: &Owner,
        section: &Value,
        node: &Netns,
        removed: &mut Vec<Removed>,
    ) -> Result<(), Error> {
        if owner.slot.is_some() {
            return Ok(());
        }
        let section = KubernetesSection::deserialize(section).unwrap_or_default();
        for network in section.beside.iter().filter_map(|address| neighbour(*address)) {
            let names = network.run(|| nftables::remove(owner))?;
            removed.extend(names.into_iter().map(|name| Removed { run: owner.run, kind: "nft table", name }));
        }
        let names = remove_namespaces(owner.run, &section.clusters, node)?;
        removed.extend(names.into_iter().map(|name| Removed { run: owner.run, kind: "namespace", name }));
        Ok(())
    }

    fn section_of_first_version(&self, state: &Map<String, Value>) -> Option<Value> {
        let list = |name: &str| state.get(name).cloned().unwrap_or(json!([]));
        Some(json!({"clusters": list("clusters"), "static_pods": list("static_pods")}))
    }
}

/// Removes the owner's manifests, and returns their paths.
fn remove_static_pods(owner: &Owner, static_pods: &[PathBuf]) -> Result<Vec<String>, Error> {
    let mut removed = Vec::new();
    for path in static_pods.iter().filter(|path| is_owned(owner, path)) {
        match fs::remove_file(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            outcome => {
                outcome.with_context(|| format!("remove {}", path.display()))?;
                removed.push(path.display().to_string());
            }
        }
    }
    Ok(removed)
}

fn is_owned(owner: &Owner, path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    owner.owns_label(stem.trim_start_matches('.'))
}

/// Removes a run's namespaces from its clusters. Returns their names, each with its cluster's context.
fn remove_namespaces(
    run: RunName,
    clusters: &[ClusterRecord],
    node: &Netns,
) -> Result<Vec<String>, ClusterError> {
    let mut removed = Vec::new();
    let mut outcome = Ok(());
    for mark in clusters {
        let one = Cluster::connect(mark.clone(), node).and_then(|cluster| namespace::remove(&cluster, run));
        let failure = match one {
            Ok(true) => {
                removed.push(format!("{} (context {})", labels::namespace(run), mark.context));
                continue;
            }
            Ok(false) => continue,
            Err(error) => {
                let (namespace, context) = (labels::namespace(run), mark.context.clone());
                ClusterError::NamespaceLeft { namespace, context, reason: error.to_string() }
            }
        };
        match outcome {
            Ok(()) => outcome = Err(failure),
            Err(_) => tracing::warn!("{failure}"),
        }
    }
    outcome.map(|()| removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifests_are_recognised_by_their_names() {
        let run = "3fa90c".parse().unwrap();
        let slot = Owner { run, slot: Some(1) };
        for owner in [slot, Owner::run(run)] {
            assert!(is_owned(&owner, Path::new("/etc/kubernetes/manifests/loadline-3fa90c-1.json")));
            assert!(is_owned(&owner, Path::new("/etc/kubernetes/manifests/.loadline-3fa90c-1.json")));
            assert!(!is_owned(&owner, Path::new("/etc/kubernetes/manifests/kube-apiserver.yaml")));
        }
        assert!(!is_owned(&slot, Path::new("/etc/kubernetes/manifests/loadline-3fa90c-12.json")));
    }

    #[test]
    fn a_state_of_the_first_version_names_the_clusters() {
        let state =
            json!({"clusters": [{"kubeconfig": ["/k"], "context": "a"}], "static_pods": ["/m/x.json"]});
        let section = KubernetesCleaner.section_of_first_version(state.as_object().unwrap()).unwrap();
        let section = KubernetesSection::deserialize(section).unwrap();
        assert_eq!((section.clusters[0].context.as_str(), section.static_pods.len()), ("a", 1));
    }
}
