//! From a service and options to pods that are ready and an address that leads to them, step by step.

use std::sync::Arc;

use k8s_openapi::api::{
    apps::v1::{Deployment as Controller, ReplicaSet},
    core::v1::{Pod, Service as ClusterService},
    networking::v1::Ingress,
};
use kube::api::ApiResource;

use super::{
    ClusterError, Expose, Kubernetes, LoadFrom, agents,
    apply::{apply, apply_all},
    entrance::{self, ServiceKind},
    image::PodImage,
    labels,
    manifests::Read,
    moments::Moments,
    nodes::{ClusterNode, Nodes},
    pod_deployment::PodDeployment,
    pod_spec::{NodeRule, PodPlan, pod_spec},
    reach::{self, Found, Origin, Target},
    removal::Made,
    request::{self, PodPorts},
    run_cluster::RunCluster,
    static_pod, wait,
    wait::Awaited,
};
use crate::{Agent, Error, Environment, Service, Starting, Vantage};

/// Something on its way to being deployed.
pub(crate) struct Deploying<'g> {
    pub options: Kubernetes,
    pub environment: &'g Environment,
    pub service: Service,
    pub cluster: Arc<RunCluster>,
    pub nodes: Nodes,
    /// The load's place in the cluster, once it is decided that it runs there: its agent and its node.
    load: Option<(Agent, String)>,
}

/// Pods that were asked for.
struct Asked {
    awaited: Awaited,
    ports: PodPorts,
    moments: Moments,
    service: Option<ClusterService>,
}

/// Asks the cluster for everything; what is left is to wait for the pods and to find the way to them.
pub(crate) fn start<'g>(
    options: &Kubernetes,
    environment: &'g Environment,
    service: &Service,
    progress: &mut dyn FnMut(&str),
) -> Result<Starting<'g>, Error> {
    request::check(options)?;
    let cluster = environment.clusters().get(environment, options)?;
    cluster.enter(environment, &request::rights(options))?;
    let nodes = Nodes::ask(&cluster.cluster, environment)?;
    let (options, service) = (options.clone(), service.clone());
    let mut deploying = Deploying { options, environment, service, cluster, nodes, load: None };
    let (made, asked) = deploying.ask(progress)?;
    Ok(Starting::new(move |progress| Ok(Box::new(deploying.wait(made, asked, progress)?))))
}

impl Deploying<'_> {
    fn ask(&mut self, progress: &mut dyn FnMut(&str)) -> Result<(Made, Asked), Error> {
        if let Expose::Ingress(_) = self.options.expose {
            reach::check_ingress(&self.cluster.cluster)?;
        }
        // Where the pod goes may depend on where the load is, so that has to be known first.
        let placed = self.options.placement.is_some() && self.nodes.here().is_none();
        if self.options.load_from == LoadFrom::Cluster || placed && self.options.load_from == LoadFrom::Auto {
            self.load = Some(agents::load(&self.cluster, self.environment, &self.options, progress)?);
        }
        let slot = self.environment.next_slot()?;
        let owner = slot.owner;
        // From here on a failure drops this, and with it goes whatever was made by then.
        let mut made = Made::nothing(Arc::clone(&self.cluster), slot, self.environment);
        let asked = match &self.options.manifests {
            Some(manifests) => self.make_users(&mut made, &Read::from_file(manifests, &owner)?)?,
            None => self.make_own(&mut made)?,
        };
        Ok((made, asked))
    }

    fn wait(
        &mut self,
        made: Made,
        asked: Asked,
        progress: &mut dyn FnMut(&str),
    ) -> Result<PodDeployment, Error> {
        let ready = wait::until_ready(&self.cluster.cluster, &asked.awaited, progress)?;
        let (target, vantage) = self.find(&made, &asked, &ready[0], progress)?;
        PodDeployment::new(self, made, &ready, asked.moments, target, vantage, progress)
    }

    /// A Deployment or static pod of the service.
    fn make_own(&self, made: &mut Made) -> Result<Asked, Error> {
        let (cluster, owner) = (&self.cluster.cluster, made.owner);
        let image = PodImage::of_service(&self.service)?;
        let load = self.load_node();
        let (rule, here) = if self.options.static_pod {
            (NodeRule::Anywhere, true)
        } else {
            let rule = request::node_rule(self.options.placement, &self.nodes, load.as_deref())?;
            let here = self.nodes.here().is_some_and(|node| rule == NodeRule::On(node.host_name.clone()));
            (rule, here)
        };
        let ports = request::pod_ports(self.environment, &owner, &self.options.expose, &self.service, here)?;
        let plan = PodPlan {
            image: image.clone(),
            port: ports.port,
            host_network: self.options.expose == Expose::HostNetwork,
            host_port: ports.host_port,
            node: rule,
            probes: self.options.probes,
            requests: self.options.requests,
            user: self.options.user,
        };
        let spec = pod_spec(&self.service, &plan);
        let service = self.make_services(made, &labels::of(&owner), ports.port)?;
        let (namespace, selector, name) = (self.cluster.namespace(), labels::selector(&owner), owner.label());
        let moments = Moments::watch(cluster, &namespace, &selector, &name);
        if self.options.static_pod {
            let node = self.nodes.here().ok_or_else(|| {
                let why =
                    "`static: true` can't be: this machine is no node of the cluster; run loadline on one";
                ClusterError::Unfit(why.to_owned())
            })?;
            let dir = static_pod::folder(cluster, node)?;
            made.will_hold_static_pod();
            static_pod::write(&owner, &dir, &static_pod::pod(&owner, spec), made.folder())?;
        } else {
            made.will_hold(ApiResource::erase::<Controller>(&()));
            made.will_hold(ApiResource::erase::<ReplicaSet>(&()));
            let deployment = entrance::deployment(&owner, self.options.replicas, spec);
            apply(cluster, owner.run, &deployment)?;
        }
        let replicas = self.options.replicas as usize;
        let awaited =
            Awaited { namespace, selector, node: None, workload: name, replicas, image: Some(image) };
        Ok(Asked { awaited, ports, moments, service })
    }

    /// The user's manifests, with an entrance of ours.
    fn make_users(&self, made: &mut Made, read: &Read) -> Result<Asked, Error> {
        let (cluster, namespace) = (&self.cluster.cluster, self.cluster.namespace());
        let workload = &read.workload;
        let unfit = |why: String| Error::from(ClusterError::Unfit(why));
        let port = self.service.port.or(workload.port).ok_or_else(|| {
            unfit(format!("{} declares no containerPort: give the service its port", workload.name))
        })?;
        let missing = match self.options.expose {
            Expose::HostNetwork if !workload.host_network => Some("hostNetwork: true"),
            Expose::HostPort if workload.host_port.is_none() => Some("a hostPort"),
            _ => None,
        };
        if let Some(missing) = missing {
            return Err(unfit(format!(
                "the manifest of {} doesn't have {missing}, which `expose` asks for: put it there",
                workload.name
            )));
        }
        let selector = labels::selector_of(&workload.labels);
        let service = self.make_services(made, &workload.labels, port)?;
        let moments = Moments::watch(cluster, &namespace, &selector, &workload.name);
        read.apply(cluster, &namespace, made)?;
        made.will_hold(ApiResource::erase::<ReplicaSet>(&()));
        let ports = PodPorts { port, host_port: workload.host_port };
        let (workload, replicas) = (workload.name.clone(), workload.replicas);
        let awaited = Awaited { namespace, selector, node: None, workload, replicas, image: None };
        Ok(Asked { awaited, ports, moments, service })
    }

    /// The Service that leads to the pods, if one is needed, and those that it stands among.
    fn make_services(
        &self,
        made: &mut Made,
        pods: &std::collections::BTreeMap<String, String>,
        port: u16,
    ) -> Result<Option<ClusterService>, Error> {
        let (cluster, owner) = (&self.cluster.cluster, made.owner);
        let kind = request::service_kind(&self.options.expose);
        made.will_hold(ApiResource::erase::<ClusterService>(&()));
        // kube-proxy writes rules for Services with pods only, so these have the same.
        let others = entrance::stand_in_names(&owner, self.options.services - 1);
        let kind_of_others = match kind {
            Some(ServiceKind::NodePort) => ServiceKind::NodePort,
            _ => ServiceKind::ClusterIP,
        };
        let others = others.map(|name| entrance::service(&owner, name, kind_of_others, pods, port)).collect();
        apply_all(cluster, owner.run, others)?;
        let Some(kind) = kind else { return Ok(None) };
        if let Expose::Ingress(url) = &self.options.expose {
            let url = parse_url(url)?;
            made.will_hold(ApiResource::erase::<Ingress>(&()));
            // An address can't be a rule's host.
            let host = url.host().filter(|host| host.parse::<std::net::IpAddr>().is_err());
            apply(cluster, owner.run, &entrance::ingress(&owner, host, url.path(), port))?;
        }
        let service = entrance::service(&owner, owner.label(), kind, pods, port);
        apply(cluster, owner.run, &service).map(Some)
    }

    /// The address of the pods, and from where it is used.
    fn find(
        &mut self,
        made: &Made,
        asked: &Asked,
        pod: &Pod,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(Target, Vantage), Error> {
        let node = self.node_of(pod)?.clone();
        let found = Found {
            service: asked.service.as_ref(),
            pod_ip: pod.status.as_ref().and_then(|status| status.pod_ip.as_ref()?.parse().ok()),
            pod_node: &node,
            port: asked.ports.port,
            host_port: asked.ports.host_port,
        };
        if let Some((agent, _)) = &self.load {
            return Ok((self.target(made, &found, Origin::Cluster)?, Vantage::Agent(agent.clone())));
        }
        let (from, vantage, netns) = match self.nodes.here() {
            Some(here) => (Origin::Node(here), Vantage::Client, self.environment.client()),
            None => (Origin::Outside, Vantage::Node, self.environment.node()),
        };
        let target = self.target(made, &found, from)?;
        if let Origin::Node(_) = from {
            let strangers = reach::strangers(&self.options.expose, &found, target.address.ip());
            reach::masquerade(self.environment, &made.owner, &strangers)?;
        }
        if self.options.load_from == LoadFrom::Here || reach::can_reach(netns, target.address)? {
            return Ok((target, vantage));
        }
        progress("this machine can't reach the pod: the load will run in the cluster");
        let (agent, node) = agents::load(&self.cluster, self.environment, &self.options, progress)?;
        self.load = Some((agent.clone(), node));
        Ok((self.target(made, &found, Origin::Cluster)?, Vantage::Agent(agent)))
    }

    fn target(&self, made: &Made, found: &Found, from: Origin) -> Result<Target, Error> {
        let node = self.environment.node();
        match &self.options.expose {
            Expose::LoadBalancer => {
                let (cluster, namespace) = (&self.cluster.cluster, self.cluster.namespace());
                reach::load_balancer(cluster, &namespace, &made.owner.label(), found.port, node)
            }
            Expose::Ingress(url) => reach::url(&parse_url(url)?, node),
            expose => reach::target(expose, found, from).ok_or_else(|| {
                let why =
                    format!("the cluster gave {} no address of the kind that `expose` asks for", made.owner);
                ClusterError::Unfit(why).into()
            }),
        }
    }

    /// The load's node: this machine, unless the load runs in the cluster.
    fn load_node(&self) -> Option<String> {
        match &self.load {
            Some((_, node)) => Some(node.clone()),
            None => self.nodes.here().map(|node| node.name.clone()),
        }
    }

    pub fn node_of(&self, pod: &Pod) -> Result<&ClusterNode, Error> {
        let name = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).unwrap_or_default();
        self.nodes.named(name).ok_or_else(|| {
            ClusterError::Unfit(format!("the pod runs on the node {name}, which has just joined: try again"))
                .into()
        })
    }
}

/// `http://HOST[:PORT][/PATH]`.
fn parse_url(url: &str) -> Result<http::Uri, Error> {
    let parsed: Option<http::Uri> = url.parse().ok();
    parsed.filter(|url| url.scheme_str() == Some("http") && url.host().is_some()).ok_or_else(|| {
        ClusterError::Unfit(format!("`expose: {{ingress: {url}}}` can't be: write http://HOST/PATH")).into()
    })
}
