//! From a service and options to pods that are ready and an address that leads to them, step by step.

use std::{path::Path, sync::Arc};

use k8s_openapi::api::{
    apps::v1::{Deployment as Controller, ReplicaSet},
    core::v1::{Pod, Service as ClusterService},
    networking::v1::Ingress,
};
use kube::api::ApiResource;

use loadline_machine::Environment;
use loadline_model::platform::{Expose, Kubernetes, LoadFrom};
use loadline_platform::{Agent, Service, Starting, Vantage};

use crate::{
    apply::{apply, apply_all},
    context::Context,
    entrance::{self, ServiceKind},
    error::ClusterError,
    image::PodImage,
    labels,
    manifests::Read,
    moments::Moments,
    nodes::Nodes,
    pod_deployment::PodDeployment,
    pod_spec::{NodeRule, PodPlan, pod_spec},
    reach::{self, Found, Origin, Target},
    readiness::{self, Awaited},
    removal::{self, Made},
    request::{self, PodPorts},
    run_cluster::Clusters,
    static_pod,
};

/// Something on its way to being deployed.
struct Deploying<'g> {
    context: Context<'g>,
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
    program: Option<&Path>,
    environment: &'g Environment,
    service: &Service,
    progress: &mut dyn FnMut(&str),
) -> Result<Starting<'g>, ClusterError> {
    request::check(options)?;
    let cluster = environment.shared::<Clusters>().get(environment, options)?;
    cluster.enter(environment, &request::rights(options))?;
    let nodes = Nodes::ask(&cluster.cluster, environment)?;
    let (options, program, service) = (options.clone(), program.map(Path::to_owned), service.clone());
    let context = Context { options, program, environment, service, cluster, nodes };
    let mut deploying = Deploying { context, load: None };
    let (made, asked) = deploying.ask(progress)?;
    Ok(Starting::new(move |progress| Ok(Box::new(deploying.wait(made, asked, progress)?))))
}

impl Deploying<'_> {
    fn ask(&mut self, progress: &mut dyn FnMut(&str)) -> Result<(Made, Asked), ClusterError> {
        if let Expose::Ingress(_) = self.context.options.expose {
            reach::check_ingress(&self.context.cluster.cluster)?;
        }
        // Where the pod goes may depend on where the load is, so that has to be known first.
        let placed = self.context.options.placement.is_some() && self.context.nodes.here().is_none();
        if self.context.options.load_from == LoadFrom::Cluster
            || placed && self.context.options.load_from == LoadFrom::Auto
        {
            self.load = Some(self.context.load(progress)?);
        }
        let slot = self.context.environment.next_slot()?;
        let owner = slot.owner;
        // From here on a failure drops this, and with it goes whatever was made by then.
        let mut made = removal::guard(Arc::clone(&self.context.cluster), slot, self.context.environment);
        let asked = match &self.context.options.manifests {
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
    ) -> Result<PodDeployment, ClusterError> {
        let ready = readiness::until_ready(&self.context.cluster.cluster, &asked.awaited, progress)?;
        let (target, vantage) = self.find(&made, &asked, &ready[0], progress)?;
        PodDeployment::new(&self.context, made, &ready, asked.moments, target, vantage, progress)
    }

    /// A Deployment or static pod of the service.
    fn make_own(&self, made: &mut Made) -> Result<Asked, ClusterError> {
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
        let service = self.make_services(made, &labels::of(&owner), ports.port)?;
        let (namespace, selector, name) =
            (self.context.cluster.namespace(), labels::selector(&owner), owner.label());
        let moments = Moments::watch(cluster, &namespace, &selector, &name);
        if self.context.options.static_pod {
            let node = self.context.nodes.here().ok_or_else(|| {
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
            let deployment = entrance::deployment(&owner, self.context.options.replicas, spec);
            apply(cluster, owner.run, &deployment)?;
        }
        let replicas = self.context.options.replicas as usize;
        let awaited =
            Awaited { namespace, selector, node: None, workload: name, replicas, image: Some(image) };
        Ok(Asked { awaited, ports, moments, service })
    }

    /// The user's manifests, with an entrance of ours.
    fn make_users(&self, made: &mut Made, read: &Read) -> Result<Asked, ClusterError> {
        let (cluster, namespace) = (&self.context.cluster.cluster, self.context.cluster.namespace());
        let workload = &read.workload;
        let unfit = |why: String| ClusterError::Unfit(why);
        let port = self.context.service.port.or(workload.port).ok_or_else(|| {
            unfit(format!("{} declares no containerPort: give the service its port", workload.name))
        })?;
        let missing = match self.context.options.expose {
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
    ) -> Result<Option<ClusterService>, ClusterError> {
        let (cluster, owner) = (&self.context.cluster.cluster, *made.owner());
        let kind = request::service_kind(&self.context.options.expose);
        made.will_hold(ApiResource::erase::<ClusterService>(&()));
        // kube-proxy writes rules for Services with pods only, so these have the same.
        let others = entrance::stand_in_names(&owner, self.context.options.services - 1);
        let kind_of_others = match kind {
            Some(ServiceKind::NodePort) => ServiceKind::NodePort,
            _ => ServiceKind::ClusterIP,
        };
        let others = others.map(|name| entrance::service(&owner, name, kind_of_others, pods, port)).collect();
        apply_all(cluster, owner.run, others)?;
        let Some(kind) = kind else { return Ok(None) };
        if let Expose::Ingress(url) = &self.context.options.expose {
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
    ) -> Result<(Target, Vantage), ClusterError> {
        let node = self.context.node_of(pod)?.clone();
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
        let (from, vantage, netns) = match self.context.nodes.here() {
            Some(here) => (Origin::Node(here), Vantage::Client, self.context.environment.client()),
            None => (Origin::Outside, Vantage::Node, self.context.environment.node()),
        };
        let target = self.target(made, &found, from)?;
        if let Origin::Node(_) = from {
            let strangers = reach::strangers(&self.context.options.expose, &found, target.address.ip());
            reach::masquerade(self.context.environment, made.owner(), &strangers)?;
        }
        if self.context.options.load_from == LoadFrom::Here || reach::can_reach(netns, target.address)? {
            return Ok((target, vantage));
        }
        progress("this machine can't reach the pod: the load will run in the cluster");
        let (agent, node) = self.context.load(progress)?;
        self.load = Some((agent.clone(), node));
        Ok((self.target(made, &found, Origin::Cluster)?, Vantage::Agent(agent)))
    }

    fn target(&self, made: &Made, found: &Found, from: Origin) -> Result<Target, ClusterError> {
        let node = self.context.environment.node();
        match &self.context.options.expose {
            Expose::LoadBalancer => {
                let (cluster, namespace) = (&self.context.cluster.cluster, self.context.cluster.namespace());
                reach::load_balancer(cluster, &namespace, &made.owner().label(), found.port, node)
            }
            Expose::Ingress(url) => reach::url(&parse_url(url)?, node),
            expose => reach::target(expose, found, from).ok_or_else(|| {
                let why = format!(
                    "the cluster gave {} no address of the kind that `expose` asks for",
                    *made.owner()
                );
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
        ClusterError::Unfit(format!("`expose: {{ingress: {url}}}` can't be: write http://HOST/PATH"))
    })
}
