//! Which cluster is used: the files of the kubeconfig and a context in them, as recorded in the registry.
//! The rules are kubectl's (<https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/>).

use std::path::PathBuf;

use kube::{
    Config,
    config::{KubeConfigOptions, Kubeconfig, KubeconfigError},
};
use serde::{Deserialize, Serialize};

use loadline_machine::ErrorContext;
use loadline_model::platform::Kubernetes;

use crate::error::ClusterError;

/// A cluster as the registry records it, so that it can be found after the run was killed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct ClusterRecord {
    /// The files, merged in this order; absolute.
    pub kubeconfig: Vec<PathBuf>,
    /// The context, by name even if it was the current one: that may change.
    pub context: String,
}

impl ClusterRecord {
    /// The cluster that the options and the environment specify now.
    pub fn find(options: &Kubernetes) -> Result<ClusterRecord, ClusterError> {
        let kubeconfig = files(options.kubeconfig.as_ref())?;
        let merged = read(&kubeconfig)?;
        let known = || {
            let names: Vec<String> = merged.contexts.iter().map(|c| format!("`{}`", c.name)).collect();
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        };
        let current = merged.current_context.as_deref().filter(|name| !name.is_empty());
        let Some(context) = options.context.as_deref().or(current) else {
            return Err(ClusterError::NoCurrentContext { files: shown(&kubeconfig), known: known() });
        };
        if !merged.contexts.iter().any(|known| known.name == context) {
            let context = context.to_owned();
            return Err(ClusterError::NoContext { files: shown(&kubeconfig), context, known: known() });
        }
        Ok(ClusterRecord { context: context.to_owned(), kubeconfig })
    }

    /// What a client needs: the server and the credentials.
    pub async fn config(&self) -> Result<Config, ClusterError> {
        let merged = read(&self.kubeconfig)?;
        let options = KubeConfigOptions { context: Some(self.context.clone()), ..Default::default() };
        let proxy = self.proxy_of(&merged);
        let mut config = Config::from_custom_kubeconfig(merged, &options)
            .await
            .map_err(|error| self.bad(error.to_string()))?;
        // The library uses the environment's proxy without its exceptions; only the cluster's own proxy is certain to be meant.
        config.proxy_url = proxy
            .map(|url| url.parse().map_err(|error| self.bad(format!("the proxy {url}: {error}"))))
            .transpose()?;
        Ok(config)
    }

    fn proxy_of(&self, merged: &Kubeconfig) -> Option<String> {
        let context = merged.contexts.iter().find(|named| named.name == self.context)?.context.as_ref()?;
        let cluster = merged.clusters.iter().find(|named| named.name == context.cluster)?;
        cluster.cluster.as_ref()?.proxy_url.clone().filter(|url| !url.is_empty())
    }

    fn bad(&self, reason: String) -> ClusterError {
        ClusterError::BadKubeconfig { files: shown(&self.kubeconfig), reason }
    }
}

/// The given file, else those that KUBECONFIG names, else the one in the home folder. Of several, missing files are skipped.
fn files(given: Option<&PathBuf>) -> Result<Vec<PathBuf>, ClusterError> {
    let named: Vec<PathBuf> = std::env::var_os("KUBECONFIG")
        .map(|paths| std::env::split_paths(&paths).filter(|path| !path.as_os_str().is_empty()).collect())
        .unwrap_or_default();
    let candidates = match (given, std::env::home_dir()) {
        (Some(file), _) => vec![file.clone()],
        (None, _) if !named.is_empty() => named,
        (None, Some(home)) => vec![home.join(".kube/config")],
        (None, None) => vec![PathBuf::from(".kube/config")],
    };
    let there: Vec<PathBuf> = candidates.iter().filter(|path| path.exists()).cloned().collect();
    match candidates.into_iter().next() {
        Some(path) if there.is_empty() => Err(ClusterError::NoKubeconfig { path }),
        _ => there
            .into_iter()
            .map(|path| {
                Ok(std::path::absolute(&path)
                    .with_context(|| format!("make {} an absolute path", path.display()))?)
            })
            .collect(),
    }
}

/// Of several files that were there once those that still are: the others' clusters may be gone.
fn read(files: &[PathBuf]) -> Result<Kubeconfig, ClusterError> {
    let is_left = files.iter().any(|path| path.exists());
    let merged = files
        .iter()
        .filter(|path| !is_left || path.exists())
        .try_fold(Kubeconfig::default(), |merged, path| merged.merge(Kubeconfig::read_from(path)?));
    merged.map_err(|error| match error {
        KubeconfigError::ReadConfig(source, path) if source.kind() == std::io::ErrorKind::NotFound => {
            ClusterError::NoKubeconfig { path }
        }
        other => ClusterError::BadKubeconfig { files: shown(files), reason: other.to_string() },
    })
}

fn shown(files: &[PathBuf]) -> String {
    files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(text: &str, context: &str) -> (tempfile::TempDir, ClusterRecord) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config");
        std::fs::write(&path, text).unwrap();
        (dir, ClusterRecord { kubeconfig: vec![path], context: context.to_owned() })
    }

    fn config(mark: &ClusterRecord) -> Result<Config, ClusterError> {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(mark.config())
    }

    const TWO: &str = "
clusters:
- {name: a, cluster: {server: 'https://10.0.0.1:6443'}}
- {name: b, cluster: {server: 'https://10.0.0.2:6443', proxy-url: 'http://10.0.0.9:3128'}}
contexts:
- {name: a, context: {cluster: a, user: u}}
- {name: b, context: {cluster: b, user: u}}
users:
- {name: u, user: {token: t}}
";

    #[test]
    fn the_context_chooses_the_server_and_its_proxy() {
        let (_dir, mark_a) = mark(TWO, "a");
        let config_a = config(&mark_a).unwrap();
        assert_eq!(config_a.cluster_url.to_string(), "https://10.0.0.1:6443/");
        assert_eq!(config_a.proxy_url, None);
        let (_dir, mark_b) = mark(TWO, "b");
        assert_eq!(config(&mark_b).unwrap().proxy_url.unwrap().to_string(), "http://10.0.0.9:3128/");
    }

    #[test]
    fn an_unknown_context_is_reported_with_the_known_ones() {
        let (_dir, mark) = mark(TWO, "a");
        let find = |context: Option<&str>| {
            let kubeconfig = Some(mark.kubeconfig[0].clone());
            ClusterRecord::find(&Kubernetes {
                kubeconfig,
                context: context.map(str::to_owned),
                ..Kubernetes::default()
            })
        };
        assert_eq!(find(Some("a")).unwrap(), mark);
        let message = find(Some("c")).unwrap_err().to_string();
        assert!(message.contains("has no context `c`; it has `a`, `b`"), "{message}");
        let message = find(None).unwrap_err().to_string();
        assert!(message.contains("has no current context: name one"), "{message}");
    }

    #[test]
    fn a_file_that_no_longer_exists_is_named() {
        let mark = ClusterRecord { kubeconfig: vec!["/nowhere/config".into()], context: "a".to_owned() };
        let message = config(&mark).unwrap_err().to_string();
        assert!(message.contains("there is no kubeconfig at /nowhere/config"), "{message}");
    }

    #[test]
    fn a_cluster_is_found_although_the_file_of_another_no_longer_exists() {
        let (_dir, mut mark) = mark(TWO, "b");
        mark.kubeconfig.insert(0, "/nowhere/config".into());
        assert_eq!(config(&mark).unwrap().cluster_url.to_string(), "https://10.0.0.2:6443/");
    }

    #[test]
    fn an_invalid_kubeconfig_is_reported_with_its_path() {
        let (_dir, mark) = mark("clusters: [", "a");
        let message = config(&mark).unwrap_err().to_string();
        assert!(
            message.starts_with("cannot use the kubeconfig /") && message.contains("/config: "),
            "{message}"
        );
    }
}
