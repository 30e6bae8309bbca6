//! The user's own manifests: put into the run's namespace and labelled; one of their workloads is measured.

use std::{collections::BTreeMap, fs, path::Path};

use kube::{
    Api,
    api::{ApiResource, DynamicObject, Patch},
    core::GroupVersionKind,
    discovery::{self, Scope},
};
use serde_json::{Map, Value, json};

use loadline_machine::Owner;
use loadline_model::platform::Manifests;

use crate::{apply, connection::Cluster, error::ClusterError, labels, removal::ClusterCleanup};

/// The workload that is measured, as described in its manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Workload {
    pub name: String,
    /// The labels of its pods, those of the deployment included.
    pub labels: BTreeMap<String, String>,
    pub replicas: usize,
    pub host_network: bool,
    /// The first port that a container declares, and the port of the host that leads there.
    pub port: Option<u16>,
    pub host_port: Option<u16>,
}

/// All objects of the file, labelled, and the workload.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub workload: Workload,
    objects: Vec<Value>,
    file: std::path::PathBuf,
}

const WORKLOADS: [(&str, &str); 4] = [
    ("deployment", "Deployment"),
    ("statefulset", "StatefulSet"),
    ("daemonset", "DaemonSet"),
    ("pod", "Pod"),
];

impl Read {
    /// Reads the file and labels its objects as the owner's.
    pub fn from_file(manifests: &Manifests, owner: &Owner) -> Result<Read, ClusterError> {
        let bad = |why: String| ClusterError::Manifests { file: manifests.file.clone(), why };
        let text =
            fs::read_to_string(&manifests.file).map_err(|error| bad(format!("cannot read it: {error}")))?;
        read(&text, manifests, owner).map_err(bad)
    }

    /// Creates the objects, in the file's order.
    pub fn apply(
        &self,
        cluster: &Cluster,
        namespace: &str,
        made: &mut ClusterCleanup,
    ) -> Result<(), ClusterError> {
        for object in &self.objects {
            let resource = self.resource(cluster, object)?;
            let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            made.register(resource.clone());
            cluster.call(&format!("make the {} {name}", resource.kind), |client| {
                let api: Api<DynamicObject> = Api::namespaced_with(client, namespace, &resource);
                let (object, name) = (object.clone(), name.clone());
                async move { api.patch(&name, &apply::parameters(), &Patch::Apply(&object)).await.map(drop) }
            })?;
        }
        Ok(())
    }

    /// The API resource of this kind. Cluster-scoped objects would outlive the run, or belong to others.
    fn resource(&self, cluster: &Cluster, object: &Value) -> Result<ApiResource, ClusterError> {
        let (version, kind) = (text(object, "apiVersion"), text(object, "kind"));
        let (group, version) = version.split_once('/').unwrap_or(("", version));
        let gvk = GroupVersionKind::gvk(group, version, kind);
        let (resource, capabilities) =
            cluster.call(&format!("look up the kind {kind} of {version}"), |client| {
                let gvk = gvk.clone();
                async move { discovery::pinned_kind(&client, &gvk).await }
            })?;
        if capabilities.scope == Scope::Namespaced {
            return Ok(resource);
        }
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let why = format!(
            "the {kind} {name} is cluster-scoped, and a run creates objects in its own namespace only: create it beforehand and remove it from the file"
        );
        Err(ClusterError::Manifests { file: self.file.clone(), why })
    }
}

fn read(yaml: &str, manifests: &Manifests, owner: &Owner) -> Result<Read, String> {
    let (kind, name) = workload_name(&manifests.workload)?;
    let documents: Vec<Value> = serde_saphyr::from_multiple(yaml).map_err(|error| error.to_string())?;
    let mut objects = flatten(documents);
    let mut workload = None;
    let mut there = Vec::new();
    for object in &mut objects {
        check(object)?;
        label(object, owner);
        let found = (text(object, "kind"), object["metadata"]["name"].as_str().unwrap_or_default());
        if found == (kind, name) {
            workload = Some(Workload::of(object, name));
        }
        there.push(format!("{}/{}", found.0.to_ascii_lowercase(), found.1));
    }
    let workload = workload.ok_or_else(|| {
        format!(
            "it contains no {}, but {}",
            manifests.workload,
            if there.is_empty() { "nothing".to_owned() } else { there.join(", ") }
        )
    })?;
    Ok(Read { workload, objects, file: Path::to_owned(&manifests.file) })
}

/// Kind and name of `deployment/orders`.
fn workload_name(text: &str) -> Result<(&'static str, &str), String> {
    let (kind, name) = text.split_once('/').unwrap_or((text, ""));
    let known = WORKLOADS.iter().find(|(short, _)| kind.eq_ignore_ascii_case(short));
    match known {
        Some((_, kind)) if !name.is_empty() => Ok((kind, name)),
        _ => Err(format!(
            "`workload: {text}` is not valid: write deployment/NAME, statefulset/NAME, daemonset/NAME or pod/NAME"
        )),
    }
}

/// Splits lists into their items, and drops empty documents.
fn flatten(documents: Vec<Value>) -> Vec<Value> {
    let parts = |mut document: Value| match document.get_mut("items").map(Value::take) {
        Some(Value::Array(items)) if text(&document, "kind").ends_with("List") => items,
        Some(items) => {
            document["items"] = items;
            vec![document]
        }
        None => vec![document],
    };
    documents.into_iter().filter(|document| !document.is_null()).flat_map(parts).collect()
}

fn check(object: &Value) -> Result<(), String> {
    for field in ["apiVersion", "kind"] {
        if text(object, field).is_empty() {
            return Err(format!("an object has no {field}"));
        }
    }
    match object["metadata"]["name"].as_str() {
        Some(_) => Ok(()),
        None => Err(format!("a {} has no metadata.name", text(object, "kind"))),
    }
}

/// Adds the owner's labels to the object and to its pod template, and removes its namespace, which the run chooses.
fn label(object: &mut Value, owner: &Owner) {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("namespace");
        add_labels(metadata, owner);
    }
    // Everything with a pod template: workloads, and Jobs below a CronJob's own template.
    for pointer in ["/spec/template", "/spec/jobTemplate/spec/template"] {
        if let Some(template) = object.pointer_mut(pointer).and_then(Value::as_object_mut) {
            let metadata = template.entry("metadata").or_insert_with(|| json!({}));
            if let Some(metadata) = metadata.as_object_mut() {
                add_labels(metadata, owner);
            }
        }
    }
}

fn add_labels(metadata: &mut Map<String, Value>, owner: &Owner) {
    let all = metadata.entry("labels").or_insert_with(|| json!({}));
    if all.is_null() {
        *all = json!({});
    }
    if let Some(all) = all.as_object_mut() {
        all.extend(labels::of(owner).into_iter().map(|(name, value)| (name, Value::String(value))));
    }
}

impl Workload {
    /// A labelled object's.
    fn of(object: &Value, name: &str) -> Workload {
        let pod = if text(object, "kind") == "Pod" { object } else { &object["spec"]["template"] };
        let labels = pod["metadata"]["labels"].as_object().into_iter().flatten();
        let ports = pod["spec"]["containers"].as_array().into_iter().flatten();
        let first = ports.filter_map(|container| container["ports"].as_array()).flatten().next();
        let number = |field: &str| u16::try_from(first?[field].as_u64()?).ok();
        Workload {
            name: name.to_owned(),
            labels: labels
                .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
                .collect(),
            replicas: object["spec"]["replicas"].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(1),
            host_network: pod["spec"]["hostNetwork"] == true,
            port: number("containerPort"),
            host_port: number("hostPort"),
        }
    }
}

fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object[field].as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: production}
data: {a: b}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: orders}
spec:
  replicas: 2
  selector: {matchLabels: {app: orders}}
  template:
    metadata: {labels: {app: orders}}
    spec:
      containers:
      - {name: orders, image: orders, ports: [{containerPort: 7000, hostPort: 7001}]}
---
";

    fn owner() -> Owner {
        Owner { run: "3fa90c".parse().unwrap(), slot: Some(1) }
    }

    fn read_as(yaml: &str, workload: &str) -> Result<Read, String> {
        read(yaml, &Manifests { file: "orders.yaml".into(), workload: workload.to_owned() }, &owner())
    }

    #[test]
    fn everything_is_labelled_and_loses_its_namespace() {
        let found = read_as(FILE, "deployment/orders").unwrap();
        assert_eq!(found.objects.len(), 2);
        assert_eq!(
            found.objects[0]["metadata"],
            json!({"name": "settings", "labels": {"loadline.run": "3fa90c", "loadline.slot": "1"}})
        );
        assert_eq!(found.objects[1]["spec"]["selector"]["matchLabels"], json!({"app": "orders"}));
        let expected = [("app", "orders"), ("loadline.run", "3fa90c"), ("loadline.slot", "1")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let workload = found.workload;
        assert_eq!(workload.labels, expected);
        assert_eq!(
            (workload.replicas, workload.port, workload.host_port, workload.host_network),
            (2, Some(7000), Some(7001), false)
        );
    }

    #[test]
    fn a_pod_is_its_own_template_and_lists_are_taken_apart() {
        let list = "{apiVersion: v1, kind: List, items: [{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {a: b}}, spec: {hostNetwork: true, containers: []}}]}";
        let workload = read_as(list, "pod/p").unwrap().workload;
        assert!(
            workload.host_network
                && workload.labels.contains_key("a")
                && workload.labels.contains_key("loadline.run")
        );
        assert_eq!((workload.replicas, workload.port), (1, None));
    }

    #[test]
    fn a_missing_workload_is_reported_with_those_that_exist() {
        let why = read_as(FILE, "deployment/order").unwrap_err();
        assert_eq!(why, "it contains no deployment/order, but configmap/settings, deployment/orders");
        assert!(read_as(FILE, "orders").unwrap_err().contains("write deployment/NAME"));
        assert!(read_as("", "pod/p").unwrap_err().contains("but nothing"));
    }

    #[test]
    fn invalid_objects_are_rejected() {
        assert!(read_as("a: b", "pod/p").unwrap_err().contains("has no apiVersion"));
        assert!(
            read_as("{apiVersion: v1, kind: Pod}", "pod/p")
                .unwrap_err()
                .contains("a Pod has no metadata.name")
        );
        assert!(read_as("{apiVersion: v1, kind: Pod, metadata: [}", "pod/p").is_err());
    }
}
