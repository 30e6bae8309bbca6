//! From a service and options to pods that are ready and an address that leads to them, step by step.

use std::{net::SocketAddr, path::Path, sync::Arc};

use k8s_openapi::api::{
    apps::v1::{Deployment as Controller, ReplicaSet},
    core::v1::{Pod, Service as ClusterService},
    networking::v1::{Ingress, NetworkPolicy},
};
use kube::api::ApiResource;

use loadline_machine::Environment;
use loadline_model::platform::{Expose, Kubernetes, LoadFrom};
use loadline_platform::{Agent, PendingDeployment, Service, Vantage};

use crate::{
    addressing::{self, ClientOrigin, DeployedService, Target},
    apply::{apply, apply_all},
    context::Context,
    error::ClusterError,
    exposure::{self, ServiceKind},
    image::PodImage,
    labels,
    manifests::Read,
    nodes::Nodes,
    pod_deployment::PodDeployment,
    pod_spec::{NodeRule, PodPlan, pod_spec},
    readiness::{self, WaitTarget},
    removal::{self, ClusterCleanup},
    request::{self, PodPorts},
    run_cluster::Clusters,
    startup_timeline::StartupTimeline,
    static_pod,
};

/// A deployment in progress.
struct Deployer<'g> {
    context: Context<'g>,
    /// The load's agent and node in the cluster, once it is decided that it runs there.
    load: Option<(Agent, String)>,
}

/// Pods that were requested.
struct RequestedPods {
    target: WaitTarget,
    ports: PodPorts,
    moments: StartupTimeline,
    service: Option<ClusterService>,
}

/// Creates everything in the cluster; what remains is to wait for the pods and to find their address.
pub(crate) fn start<'g>(
    options: &Kubernetes,
    program: Option<&Path>,
    environment: &'g Environment,
    service: &Service,
    progress: &mut dyn FnMut(&str),
) -> Result<PendingDeployment<'g>, ClusterError> {
    request::check(options)?;
    let cluster = environment.shared::<Clusters>().get(environment, options)?;
    cluster.enter(environment, &request::permissions(options))?;
    let nodes = Nodes::ask(&cluster.cluster, environment)?;
    if options.quiesce {
        cluster.may_quiesce(environment, &nodes)?;
    }
    let (options, program, service) = (options.clone(), program.map(Path::to_owned), service.clone());
    let context = Context { options, program, environment, service, cluster, nodes };
    let mut deployer = Deployer { context, load: None };
    let (made, asked) = deployer.ask(progress)?;
    Ok(PendingDeployment::new(move |progress| Ok(Box::new(deployer.wait(made, asked, progress)?))))
}

impl Deployer<'_> {
    fn ask(
        &mut self,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(ClusterCleanup, RequestedPods), ClusterError> {
        if let Expose::Ingress(_) = self.context.options.expose {
            addressing::check_ingress(&self.context.cluster.cluster)?;
        }
        // The pod's node may depend on the load's, which must therefore be known first.
        let placed = self.context.options.placement.is_some() && self.context.nodes.here().is_none();
        if self.context.options.load_from == LoadFrom::Cluster
            || placed && self.context.options.load_from == LoadFrom::Auto
        {
            self.load = Some(self.context.load(progress)?);
        }
        let slot = self.context.environment.next_slot()?;
        let owner = slot.owner;
        // From here on a failure drops this guard, which removes what was created by then.
        let mut made = removal::guard(
            Arc::clone(&self.context.cluster),
            slot,
            self.context.environment,
            self.context.nodes.network(self.context.environment),
        );
        let asked = match &self.context.options.manifests {
            Some(manifests) => self.create_from_manifests(&mut made, &Read::from_file(manifests, &owner)?)?,
            None => self.create_own(&mut made)?,
        };
        Ok((made, asked))
    }

    fn wait(
        &mut self,
        made: ClusterCleanup,
        asked: RequestedPods,
        progress: &mut dyn FnMut(&str),
    ) -> Result<PodDeployment, ClusterError> {
        let ready = readiness::wait_until_ready(&self.context.cluster.cluster, &asked.target, progress)?;
        let (target, vantage) = self.find(&made, &asked, &ready[0], progress)?;
        let inside = asked.service.as_ref().and_then(addressing::cluster_ip);
        let mut deployment =
            PodDeployment::new(&self.context, made, &ready, asked.moments, target, vantage, progress)?;
        deployment.inside = inside.map(|ip| SocketAddr::new(ip, asked.ports.port));
        Ok(deployment)
    }

    /// A Deployment or static pod of the service.
    fn create_own(&self, made: &mut ClusterCleanup) -> Result<RequestedPods, ClusterError> {
        let (cluster, owner) = (&self.context.cluster.cluster, *made.owner());
        let image = PodImage::of_service(&self.context.service)?;
        let load = self.load_node();
        let (rule, here) = if self.context.options.static_pod {
            (NodeRule::Anywhere, true)
        } else {
            let rule =
                request::node_rule(self.context.options.placement, &self.context.nodes, load.as_deref())?;
            let here =
                self.context.nodes.here().is_some_and(|node| rule == NodeRule::On(node.host_name.clone()));
            (rule, here)
        };
        let ports = request::pod_ports(
            self.context.environment,
            self.context.nodes.network(self.context.environment),
            &owner,
            &self.context.options.expose,
            &self.context.service,
            here,
        )?;
        let plan = PodPlan {
            image: image.clone(),
            port: ports.port,
            host_network: self.context.options.expose == Expose::HostNetwork,
            host_port: ports.host_port,
            node: rule,
            probes: self.context.options.probes,
            requests: self.context.options.requests,
            user: self.context.options.user,
        };
        let spec = pod_spec(&self.context.service, &plan);
        let service = self.create_services(made, &labels::of(&owner), ports.port)?;
        self.create_network_policy(made, &labels::of(&owner), ports.port)?;
        let (namespace, selector, name) =
            (self.context.cluster.namespace(), labels::selector(&owner), owner.label());
        let moments = StartupTimeline::watch(cluster, &namespace, &selector, &name);
        if self.context.options.static_pod {
            let node = self.context.nodes.here().ok_or_else(|| {
                let why =
                    "`static: true` needs loadline on a node of the cluster, and this machine is not one: run it on a node";
                ClusterError::Unfit(why.to_owned())
            })?;
            let dir = static_pod::folder(cluster, node)?;
            made.register_static_pod();
            static_pod::write(&owner, &dir, &static_pod::pod(&owner, spec), made.folder())?;
        } else {
            made.register(ApiResource::erase::<Controller>(&()));
            made.register(ApiResource::erase::<ReplicaSet>(&()));
            let deployment = exposure::deployment(&owner, self.context.options.replicas, spec);
            apply(cluster, owner.run, &deployment)?;
        }
        let replicas = self.context.options.replicas as usize;
        let target =
            WaitTarget { namespace, selector, node: None, workload: name, replicas, image: Some(image) };
        Ok(RequestedPods { target, ports, moments, service })
    }

    /// The user's manifests, exposed by a Service of loadline's.
    fn create_from_manifests(
        &self,
        made: &mut ClusterCleanup,
        read: &Read,
    ) -> Result<RequestedPods, ClusterError> {
        let (cluster, namespace) = (&self.context.cluster.cluster, self.context.cluster.namespace());
        let workload = &read.workload;
        let unfit = |why: String| ClusterError::Unfit(why);
        let port = self.context.service.port.or(workload.port).ok_or_else(|| {
            unfit(format!("{} declares no containerPort: set the service's `port`", workload.name))
        })?;
        let missing = match self.context.options.expose {
            Expose::HostNetwork if !workload.host_network => Some("hostNetwork: true"),
            Expose::HostPort if workload.host_port.is_none() => Some("a hostPort"),
            _ => None,
        };
        if let Some(missing) = missing {
            return Err(unfit(format!(
                "the manifest of {} lacks {missing}, which `expose` needs: add it",
                workload.name
            )));
        }
        let selector = labels::selector_of(&workload.labels);
        let service = self.create_services(made, &workload.labels, port)?;
        self.create_network_policy(made, &workload.labels, port)?;
        let moments = StartupTimeline::watch(cluster, &namespace, &selector, &workload.name);
        read.apply(cluster, &namespace, made)?;
        made.register(ApiResource::erase::<ReplicaSet>(&()));
        let ports = PodPorts { port, host_port: workload.host_port };
        let (workload, replicas) = (workload.name.clone(), workload.replicas);
        let target = WaitTarget { namespace, selector, node: None, workload, replicas, image: None };
        Ok(RequestedPods { target, ports, moments, service })
    }

    /// The Service that leads to the pods, if one is needed, and the dummy Services around it.
    fn create_services(
        &self,
        made: &mut ClusterCleanup,
        pods: &std::collections::BTreeMap<String, String>,
        port: u16,
    ) -> Result<Option<ClusterService>, ClusterError> {
        let (cluster, owner) = (&self.context.cluster.cluster, *made.owner());
        let kind = request::service_kind(&self.context.options.expose);
        made.register(ApiResource::erase::<ClusterService>(&()));
        // kube-proxy writes rules for Services with pods only, so these have the same.
        let others = exposure::dummy_service_names(&owner, self.context.options.services - 1);
        let kind_of_others = match kind {
            Some(ServiceKind::NodePort) => ServiceKind::NodePort,
            _ => ServiceKind::ClusterIP,
        };
        let others = others.map(|name| exposure::service(&owner, name, kind_of_others, pods, port)).collect();
        apply_all(cluster, owner.run, others)?;
        let Some(kind) = kind else { return Ok(None) };
        if let Expose::Ingress(url) = &self.context.options.expose {
            let url = parse_url(url)?;
            made.register(ApiResource::erase::<Ingress>(&()));
            // The host of an Ingress rule cannot be an address.
            let host = url.host().filter(|host| host.parse::<std::net::IpAddr>().is_err());
            apply(cluster, owner.run, &exposure::ingress(&owner, host, url.path(), port))?;
        }
        let service = exposure::service(&owner, owner.label(), kind, pods, port);
        apply(cluster, owner.run, &service).map(Some)
    }

    /// The network policy of the pods, if one is asked for.
    fn create_network_policy(
        &self,
        made: &mut ClusterCleanup,
        pods: &std::collections::BTreeMap<String, String>,
        port: u16,
    ) -> Result<(), ClusterError> {
        if !self.context.options.network_policy {
            return Ok(());
        }
        let owner = *made.owner();
        made.register(ApiResource::erase::<NetworkPolicy>(&()));
        apply(&self.context.cluster.cluster, owner.run, &exposure::network_policy(&owner, pods, port))
            .map(drop)
    }

    /// The address of the pods, and where the client is.
    fn find(
        &mut self,
        made: &ClusterCleanup,
        asked: &RequestedPods,
        pod: &Pod,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(Target, Vantage), ClusterError> {
        let node = self.context.node_of(pod)?.clone();
        let found = DeployedService {
            service: asked.service.as_ref(),
            pod_ip: pod.status.as_ref().and_then(|status| status.pod_ip.as_ref()?.parse().ok()),
            pod_node: &node,
            port: asked.ports.port,
            host_port: asked.ports.host_port,
        };
        if let Some((agent, _)) = &self.load {
            return Ok((self.target(made, &found, ClientOrigin::Cluster)?, Vantage::Agent(agent.clone())));
        }
        let (from, vantage, netns) = match self.context.nodes.here() {
            Some(here) => (ClientOrigin::Node(here), Vantage::Client, self.context.environment.client()),
            None => (ClientOrigin::Outside, Vantage::Node, self.context.environment.node()),
        };
        let target = self.target(made, &found, from)?;
        if let ClientOrigin::Node(_) = from {
            let (environment, nodes) = (self.context.environment, &self.context.nodes);
            let client = match &nodes.beside {
                Some((network, address)) => {
                    let beside = (network, *address);
                    self.context.cluster.lead_client(environment, beside, target.address.ip())?
                }
                None => environment.client_address(),
            };
            if environment.has_wire() {
                let hosts =
                    addressing::masqueraded_hosts(&self.context.options.expose, &found, target.address.ip());
                addressing::masquerade(nodes.network(environment), client, made.owner(), &hosts)?;
            }
        }
        let stays_here = self.context.options.load_from == LoadFrom::Here;
        if stays_here || addressing::can_reach(netns, target.address, from)? {
            return Ok((target, vantage));
        }
        progress("this machine cannot reach the pod: the load will run in the cluster");
        let (agent, node) = self.context.load(progress)?;
        self.load = Some((agent.clone(), node));
        Ok((self.target(made, &found, ClientOrigin::Cluster)?, Vantage::Agent(agent)))
    }

    fn target(
        &self,
        made: &ClusterCleanup,
        found: &DeployedService,
        from: ClientOrigin,
    ) -> Result<Target, ClusterError> {
        let node = self.context.environment.node();
        match &self.context.options.expose {
            Expose::LoadBalancer => {
                let (cluster, namespace) = (&self.context.cluster.cluster, self.context.cluster.namespace());
                addressing::load_balancer(cluster, &namespace, &made.owner().label(), found.port, node)
            }
            Expose::Ingress(url) => addressing::url(&parse_url(url)?, node),
            expose => addressing::target(expose, found, from).ok_or_else(|| {
                let why =
                    format!("the cluster gave {} no address of the kind that `expose` needs", *made.owner());
                ClusterError::Unfit(why)
            }),
        }
    }

    /// The load's node: this machine, unless the load runs in the cluster.
    fn load_node(&self) -> Option<String> {
        match &self.load {
            Some((_, node)) => Some(node.clone()),
            None => self.context.nodes.here().map(|node| node.name.clone()),
        }
    }
}

/// `http://HOST[:PORT][/PATH]`.
fn parse_url(url: &str) -> Result<http::Uri, ClusterError> {
    let parsed: Option<http::Uri> = url.parse().ok();
    parsed.filter(|url| url.scheme_str() == Some("http") && url.host().is_some()).ok_or_else(|| {
        ClusterError::Unfit(format!("`expose: {{ingress: {url}}}` is not valid: write http://HOST/PATH"))
    })
}
