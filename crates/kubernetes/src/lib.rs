//! The service as a pod of a Kubernetes cluster, behind a Service of the chosen kind.
//! Everything that a run creates in a cluster is in its own namespace, `loadline-RUN`, and carries the run's label; a deployment's objects
//! are removed by label at its end, the namespace at the run's end and by [`loadline_machine::clean()`].

mod addressing;
mod agents;
mod api_failure;
mod apply;
mod cleaner;
mod connection;
mod context;
mod deploy;
mod error;
mod exposure;
mod facts;
mod image;
mod info;
mod kubeconfig;
mod kubelet;
mod labels;
mod logs;
mod manifests;
mod namespace;
mod nodes;
mod permissions;
mod pin;
mod platform;
mod pod_deployment;
mod pod_spec;
mod readiness;
mod removal;
mod request;
mod run_cluster;
mod startup_failure;
mod startup_timeline;
mod static_pod;
mod termination;

pub use cleaner::CLEANERS;
pub use error::ClusterError;
pub use facts::{ClusterFacts, Cni, NodeFacts};
pub use platform::KubernetesPlatform;
