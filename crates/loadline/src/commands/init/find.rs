//! What is in a folder that an experiment could be about: a service that was started from it, a Dockerfile, Kubernetes manifests.

use std::fs;
use std::path::{Path, PathBuf};

use loadline_observe::listening_ports;

/// Where manifests are looked for.
const FOLDERS: [&str; 5] = ["", "k8s", "kubernetes", "deploy", "manifests"];
/// What runs pods, as a manifest and an experiment name it.
const WORKLOADS: [(&str, &str); 3] =
    [("Deployment", "deployment"), ("StatefulSet", "statefulset"), ("DaemonSet", "daemonset")];

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The port that a process listens on whose working directory is the folder.
    pub port: Option<u16>,
    pub dockerfile: bool,
    pub manifests: Vec<Manifest>,
}

/// A manifest with something that runs pods.
#[derive(Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Relative to the folder.
    pub file: PathBuf,
    /// `deployment/shop`.
    pub workload: String,
}

impl Found {
    /// Each in words.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let port = self.port.map(|port| format!("a service of this folder on port {port}"));
        let dockerfile = self.dockerfile.then(|| "a Dockerfile".to_owned());
        let manifests = self
            .manifests
            .iter()
            .map(|Manifest { file, workload }| format!("{workload} in {}", file.display()));
        port.into_iter().chain(dockerfile).chain(manifests)
    }
}

/// Looks around.
pub fn find(folder: &Path) -> Found {
    Found {
        port: processes_in(folder).flat_map(listening_ports).min(),
        dockerfile: folder.join("Dockerfile").is_file(),
        manifests: manifests(folder),
    }
}

/// The processes whose working directory is the folder, of those that this user may look at.
fn processes_in(folder: &Path) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(move |pid| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == folder))
}

fn manifests(folder: &Path) -> Vec<Manifest> {
    let mut found = Vec::new();
    for part in FOLDERS {
        let entries = fs::read_dir(folder.join(part)).into_iter().flatten().flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        names.sort();
        for name in names {
            let file = Path::new(part).join(&name);
            if file.extension().is_none_or(|extension| extension != "yaml" && extension != "yml") {
                continue;
            }
            let text = fs::read_to_string(folder.join(&file)).unwrap_or_default();
            let workloads = text.split("\n---").filter_map(workload);
            found.extend(workloads.map(|workload| Manifest { file: file.clone(), workload }));
        }
    }
    found
}

/// What a document of a manifest runs, if it is written as people write it: `kind` and `metadata.name` on lines of their own.
fn workload(document: &str) -> Option<String> {
    let value = |key: &str| {
        let mut lines = document.lines().filter_map(|line| line.strip_prefix(key));
        Some(lines.next()?.trim().trim_matches(['"', '\'']).to_owned())
    };
    let kind = value("kind:")?;
    let (_, word) = WORKLOADS.iter().find(|(name, _)| *name == kind)?;
    let name = value("  name:")?;
    let is_a_name =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '.');
    is_a_name.then(|| format!("{word}/{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_tells_what_it_is_about() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(find(folder.path()), Found::default());
        fs::write(folder.path().join("Dockerfile"), "FROM scratch\n").expect("a file");
        fs::create_dir(folder.path().join("k8s")).expect("a folder");
        let manifest = "apiVersion: v1\nkind: Service\nmetadata:\n  name: shop\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  \
                        name: \"shop\"\nspec: {}\n---\nkind: Deployment\nmetadata:\n  name: '#'\n";
        fs::write(folder.path().join("k8s/shop.yaml"), manifest).expect("a file");
        let found = find(folder.path());
        assert_eq!((found.port, found.dockerfile), (None, true));
        let expected = Manifest { file: "k8s/shop.yaml".into(), workload: "deployment/shop".to_owned() };
        assert_eq!(found.manifests, [expected]);
        let lines: Vec<String> = found.lines().collect();
        assert_eq!(lines, ["a Dockerfile", "deployment/shop in k8s/shop.yaml"]);
    }
}
