//! The service as a pod of a Kubernetes cluster, behind a Service of the asked-for kind.
//!
//! All that a run makes in a cluster is in a namespace of its own, `loadline-RUN`, and carries the run's label; a deployment's objects
//! are removed by label at its end, the namespace at the run's end and by [`loadline_machine::clean()`].

mod agents;
mod apply;
mod cleaner;
mod connection;
mod context;
mod deploy;
mod ended;
mod entrance;
mod error;
mod facts;
mod failure;
mod image;
mod kubeconfig;
mod kubelet;
mod labels;
mod logs;
mod manifests;
mod moments;
mod namespace;
mod nodes;
mod obstacle;
mod pin;
mod platform;
mod pod_deployment;
mod pod_spec;
mod reach;
mod readiness;
mod removal;
mod request;
mod rights;
mod run_cluster;
mod static_pod;
mod surroundings;

pub use cleaner::CLEANERS;
pub use error::ClusterError;
pub use facts::{ClusterFacts, Cni, NodeFacts};
pub use platform::KubernetesPlatform;
