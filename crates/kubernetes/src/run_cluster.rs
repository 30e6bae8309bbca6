//! A cluster as one run uses it: one connection for all deployments, the run's namespace, and the run's agents in it.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::{IpAddr, Ipv4Addr},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use loadline_machine::{ClientWire, Environment, Error, Freezer, Netns, RunName};
use loadline_model::platform::Kubernetes;

use crate::{
    cleaner::KubernetesSection,
    connection::Cluster,
    error::ClusterError,
    kubeconfig::ClusterRecord,
    labels, namespace,
    nodes::{Nodes, SYSTEM_ANNOTATION},
    permissions::{self, Permission},
    termination::DeployedPod,
};

/// The clusters that a run has connected to.
#[derive(Default)]
pub(crate) struct Clusters(Mutex<Vec<Arc<RunCluster>>>);

pub(crate) struct RunCluster {
    pub cluster: Cluster,
    pub run: RunName,
    /// The load's Job and the observers' DaemonSet, once they are created.
    pub agents: Agents,
    namespace_made: Mutex<bool>,
    /// The client's wire to a node beside this machine's own network, once it is needed.
    wire: Mutex<Option<Wire>>,
    system: Mutex<System>,
}

/// The cluster's own programs, which may be stopped.
#[derive(Default)]
struct System {
    freezers: Vec<Freezer>,
    /// Since when they are.
    stopped: Option<Instant>,
    /// For so long they were since they last had time for what was due.
    overdue: Duration,
}

/// How long the programs of a cluster need that were stopped for this long at a time, and for so long since they last had that time. A kubelet shows
/// every 5 s that it lives. Where that is not seen for 20 s its pods count as dead, and Services no longer lead to them; it takes two looks, 5 s
/// apart, until they do again.
fn rest(lasted: Duration, overdue: Duration) -> Duration {
    match (lasted, overdue) {
        (lasted, _) if lasted >= Duration::from_secs(15) => Duration::from_secs(12),
        (_, overdue) if overdue >= Duration::from_secs(5) => Duration::from_secs(1),
        _ => Duration::ZERO,
    }
}

/// The number of its addresses stays taken until the run ends.
struct Wire {
    wire: ClientWire,
    hosts: BTreeSet<Ipv4Addr>,
}

/// The agents of a run in one cluster, created when first needed and removed with the run's namespace.
#[derive(Default)]
pub(crate) struct Agents {
    pub load: Mutex<Option<DeployedPod>>,
    /// By the name of the node.
    pub observers: Mutex<BTreeMap<String, DeployedPod>>,
}

impl Clusters {
    /// The cluster of the options, connected if necessary.
    pub fn get(
        &self,
        environment: &Environment,
        options: &Kubernetes,
    ) -> Result<Arc<RunCluster>, ClusterError> {
        let mark = ClusterRecord::find(options)?;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.iter().find(|known| *known.cluster.mark() == mark) {
            return Ok(Arc::clone(found));
        }
        let made = Arc::new(RunCluster {
            cluster: Cluster::connect(mark, environment.node())?,
            run: environment.run(),
            agents: Agents::default(),
            namespace_made: Mutex::new(false),
            wire: Mutex::default(),
            system: Mutex::default(),
        });
        known.push(Arc::clone(&made));
        Ok(made)
    }
}

impl Drop for RunCluster {
    fn drop(&mut self) {
        if let Err(error) = self.quiesce(false) {
            tracing::warn!("a cluster's own programs are still stopped: {error}");
        }
    }
}

impl RunCluster {
    /// Checks that this user has the permissions, then creates the run's namespace unless it exists. It is registered first.
    pub fn enter(&self, environment: &Environment, permissions: &[Permission]) -> Result<(), ClusterError> {
        permissions::check(&self.cluster, &self.namespace(), permissions)?;
        let mut made = self.namespace_made.lock().unwrap_or_else(PoisonError::into_inner);
        if !*made {
            let mark = self.cluster.mark().clone();
            environment.folder().update(|section: &mut KubernetesSection| section.clusters.push(mark))?;
            namespace::ensure(&self.cluster, self.run)?;
            *made = true;
        }
        Ok(())
    }

    /// Joins the client to the network of the cluster's node with this address, which is beside this machine's own, and routes its packets
    /// for `host` there. Returns the client's address there.
    pub fn lead_client(
        &self,
        environment: &Environment,
        (network, address): (&Netns, IpAddr),
        host: IpAddr,
    ) -> Result<Ipv4Addr, Error> {
        let mut joined = self.wire.lock().unwrap_or_else(PoisonError::into_inner);
        let wire = match joined.take() {
            Some(wire) => joined.insert(wire),
            None => {
                environment
                    .folder()
                    .update(|section: &mut KubernetesSection| section.beside.push(address))?;
                let wire = environment.join_client(network, &environment.next_slot()?)?;
                joined.insert(Wire { wire, hosts: BTreeSet::new() })
            }
        };
        if let IpAddr::V4(host) = host
            && !wire.hosts.contains(&host)
        {
            wire.wire.lead_to(host)?;
            wire.hosts.insert(host);
        }
        Ok(wire.wire.client_address())
    }

    /// Finds the cgroups of the cluster's own programs, unless they are known.
    pub fn may_quiesce(&self, environment: &Environment, nodes: &Nodes) -> Result<(), ClusterError> {
        let mut system = self.system.lock().unwrap_or_else(PoisonError::into_inner);
        if !system.freezers.is_empty() {
            return Ok(());
        }
        let cgroups: BTreeSet<&String> = nodes.all.iter().filter_map(|node| node.system.as_ref()).collect();
        let freezers: Vec<Freezer> = cgroups.iter().filter_map(|cgroup| Freezer::of(cgroup)).collect();
        if freezers.is_empty() {
            return Err(ClusterError::Unfit(format!(
                "`quiesce: true` stops the programs of a cluster, which only one for tests allows: the nodes of this one do not name, by \
                 their annotation {SYSTEM_ANNOTATION}, a cgroup of this machine"
            )));
        }
        // After a kill they would stay stopped: none is stopped that is not recorded.
        environment.folder().update(|section: &mut KubernetesSection| {
            section.stopped.extend(cgroups.into_iter().cloned());
        })?;
        system.freezers = freezers;
        Ok(())
    }

    /// Stops the cluster's own programs, or lets them go on; returns how long they must before they may be stopped again. `None` if they may
    /// not be stopped at all.
    pub fn quiesce(&self, stopped: bool) -> Result<Option<Duration>, Error> {
        let mut system = self.system.lock().unwrap_or_else(PoisonError::into_inner);
        if system.freezers.is_empty() {
            return Ok(None);
        }
        if system.stopped.is_some() == stopped {
            return Ok(Some(Duration::ZERO));
        }
        let lasted = system.stopped.map_or(Duration::ZERO, |since| since.elapsed());
        system.stopped = stopped.then(Instant::now);
        let set = |freezer: &Freezer| if stopped { freezer.freeze() } else { freezer.thaw() };
        system.freezers.iter().map(set).fold(Ok(()), Result::and)?;
        system.overdue += lasted;
        let rest = rest(lasted, system.overdue);
        if !rest.is_zero() {
            system.overdue = Duration::ZERO;
        }
        Ok(Some(rest))
    }

    /// The run's namespace.
    pub fn namespace(&self) -> String {
        labels::namespace(self.run)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_were_stopped_have_time_for_what_is_due() {
        let rest = |lasted, overdue| rest(Duration::from_secs_f64(lasted), Duration::from_secs_f64(overdue));
        assert_eq!(rest(0.05, 4.9), Duration::ZERO);
        assert_eq!(rest(0.05, 5.0), Duration::from_secs(1));
        assert_eq!(rest(5.0, 5.0), Duration::from_secs(1), "its pods do not count as dead yet");
        assert!(rest(30.0, 30.0) > Duration::from_secs(10), "they do");
    }
}
