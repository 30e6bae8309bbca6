//! What every step of a deployment needs.

use std::{path::PathBuf, sync::Arc};

use k8s_openapi::api::core::v1::Pod;
use loadline_machine::Environment;
use loadline_model::platform::Kubernetes;
use loadline_platform::{Agent, Service};

use crate::{
    agents,
    error::ClusterError,
    nodes::{ClusterNode, Nodes},
    run_cluster::RunCluster,
};

/// What is to be deployed, and where.
pub(crate) struct Context<'g> {
    pub options: Kubernetes,
    /// What the cluster runs as `loadline agent`; `None` is the running program.
    pub program: Option<PathBuf>,
    pub environment: &'g Environment,
    pub service: Service,
    pub cluster: Arc<RunCluster>,
    pub nodes: Nodes,
}

impl Context<'_> {
    /// Where the load runs in the cluster: its agent, and the name of its node.
    pub fn load(&self, progress: &mut dyn FnMut(&str)) -> Result<(Agent, String), ClusterError> {
        agents::load(&self.cluster, &self.options, self.program.as_deref(), progress)
    }

    /// The agent that reads counters on the node.
    pub fn observer(&self, node: &str, progress: &mut dyn FnMut(&str)) -> Result<Agent, ClusterError> {
        agents::observer(&self.cluster, &self.options, self.program.as_deref(), node, progress)
    }

    /// The node of a pod.
    pub fn node_of(&self, pod: &Pod) -> Result<&ClusterNode, ClusterError> {
        let name = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).unwrap_or_default();
        self.nodes.named(name).ok_or_else(|| {
            ClusterError::Unfit(format!(
                "the pod runs on the node {name}, which joined the cluster just now: try again"
            ))
        })
    }
}
