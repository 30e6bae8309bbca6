//! One container of a run, from its creation to its removal.

use std::{net::SocketAddr, time::Instant};

use bollard::{
    models::{ContainerCreateBody, ContainerInspectResponse},
    query_parameters::{CreateContainerOptionsBuilder, LogsOptionsBuilder, StopContainerOptionsBuilder},
};
use futures_util::TryStreamExt;

use loadline_machine::{Cgroup, Cleanup, Container, Environment, NetworkScope, Resources, TAIL_BYTES};
use loadline_model::platform::{Docker, Limits};
use loadline_platform::{Deployment, Phase, PlatformError, Service, Startup, Subject, Vantage};

use crate::{
    cleaner::{CLEANERS, DockerSection},
    client::Client,
    error::DockerError,
    image,
    monitor::{self, ContainerMonitor},
    network,
    request::{self, TERM_TIMEOUT_S},
};

/// How many lines of output to request from Docker.
const TAIL_LINES: &str = "4000";

/// A container that was started. Dropping it stops and removes it.
struct DockerDeployment {
    resources: Cleanup<DockerResources>,
    monitor: ContainerMonitor,
    address: SocketAddr,
    /// Where others on its network connect, if that is elsewhere.
    inside: Option<SocketAddr>,
    limits: Limits,
    cgroup: Option<Cgroup>,
    left_out: Vec<String>,
    startup: Startup,
    ended: Option<String>,
}

/// What must end before the deployment is removed.
struct DockerResources {
    client: Client,
    /// The container's id.
    container: Option<String>,
}

pub(crate) fn deploy(
    docker: &Docker,
    endpoint: Option<&str>,
    environment: &Environment,
    service: &Service,
    progress: &mut dyn FnMut(&str),
) -> Result<Box<dyn Deployment>, DockerError> {
    let begun = Instant::now();
    let phase_reached = |name| Phase { name, after: begun.elapsed() };
    network::check(docker)?;
    let image = service.image.as_ref().ok_or(DockerError::NoImage)?;
    let client = Client::connect(endpoint, environment.node())?;
    let endpoint = client.endpoint().to_owned();
    environment.folder().update(|section: &mut DockerSection| section.endpoint = Some(endpoint))?;
    let slot = environment.next_slot()?;
    let (owner, subnet) = (slot.owner, slot.subnet());
    let place = (&owner, &subnet);
    let scope = NetworkScope::OnNode(environment.node().clone());
    let resources = DockerResources { client, container: None };
    let mut resources = Cleanup::new(slot, environment.folder(), scope, CLEANERS, resources);

    let ready = image::ensure(&resources.client, environment.folder(), &image.source, progress)?;
    let has_image = phase_reached("image");
    let attachment = network::prepare(docker, environment, service, &resources.client, place)?;
    let body = request::container(docker, service, image, &ready.reference, &owner, &attachment)?;
    let (id, warnings) = resources.create(&owner.label(), body)?;
    let created = phase_reached("created");
    resources
        .client
        .call(&format!("start a container of {}", ready.reference), |api| api.start_container(&id, None))?;
    let started = phase_reached("started");
    let inspected = resources.inspect_started(&id, &service.limits)?;
    let monitor = ContainerMonitor::over(&id, inspected.state.as_ref());
    let address = network::connect(docker, environment, place, &attachment, &inspected, &monitor)?;
    let cgroup = monitor.pid().and_then(|pid| Container::of_process(pid).ok()?);
    Ok(Box::new(DockerDeployment {
        resources,
        address: SocketAddr::V4(address),
        inside: network::peer_address(docker, &attachment, &inspected).map(SocketAddr::V4),
        limits: service.limits,
        cgroup: cgroup.map(|container| container.cgroup),
        monitor,
        left_out: warnings,
        startup: Startup { phases: vec![has_image, created, started], image_bytes: ready.bytes },
        ended: None,
    }))
}

impl DockerResources {
    /// Creates the container. Returns its id, and Docker's warnings.
    fn create(
        &mut self,
        name: &str,
        body: ContainerCreateBody,
    ) -> Result<(String, Vec<String>), DockerError> {
        let options = CreateContainerOptionsBuilder::default().name(name).build();
        let what = format!("create the container {name}");
        let created = self.client.call(&what, |api| api.create_container(Some(options), body))?;
        self.container = Some(created.id.clone());
        let warnings = created.warnings.iter().map(|warning| format!("Docker warns: {warning}"));
        Ok((created.id, warnings.collect()))
    }

    /// Docker's description of the container just started, unless it has already ended.
    fn inspect_started(&self, id: &str, limits: &Limits) -> Result<ContainerInspectResponse, DockerError> {
        let inspected = monitor::inspect(&self.client, id)?.unwrap_or_default();
        let state = inspected.state.clone().unwrap_or_default();
        if state.running == Some(true) {
            return Ok(inspected);
        }
        Err(DockerError::EndedAtOnce { why: monitor::sentence(&state, limits), output: self.output_tail() })
    }

    /// The end of the container's output, as Docker keeps it.
    fn output_tail(&self) -> String {
        let Some(id) = &self.container else { return String::new() };
        let options = LogsOptionsBuilder::default().stdout(true).stderr(true).tail(TAIL_LINES).build();
        let read = self.client.call("read the service's output", |api| {
            let pieces = api.logs(id, Some(options)).map_ok(|piece| piece.into_bytes());
            pieces.try_fold(Vec::new(), async |mut tail: Vec<u8>, piece| {
                tail.extend(piece);
                tail.drain(..tail.len().saturating_sub(TAIL_BYTES));
                Ok(tail)
            })
        });
        // Some log drivers cannot be read, and a container that is gone has no output any more.
        String::from_utf8_lossy(&read.unwrap_or_default()).into_owned()
    }
}

impl Resources for DockerResources {
    type Error = DockerError;

    fn end(&mut self) -> Result<(), DockerError> {
        let Some(id) = &self.container else { return Ok(()) };
        let options = StopContainerOptionsBuilder::default().t(TERM_TIMEOUT_S).build();
        // Whether or not this works, the container is removed next, which reports a failure.
        if let Err(error) = self.client.find("stop the service", |api| api.stop_container(id, Some(options)))
        {
            tracing::debug!("{error}");
        }
        Ok(())
    }
}

impl Deployment for DockerDeployment {
    fn address(&self) -> SocketAddr {
        self.address
    }

    fn peer_address(&self) -> SocketAddr {
        self.inside.unwrap_or(self.address)
    }

    fn vantage(&self) -> Vantage {
        Vantage::Client
    }

    fn subject(&self) -> Subject {
        Subject::Here { root_pids: self.monitor.pid().into_iter().collect(), cgroup: self.cgroup.clone() }
    }

    fn left_out(&self) -> &[String] {
        &self.left_out
    }

    fn ended(&mut self) -> Option<String> {
        if self.ended.is_none() {
            self.ended = self.monitor.ended(&self.resources.client, &self.limits);
        }
        self.ended.clone()
    }

    fn output_tail(&self) -> String {
        self.resources.output_tail()
    }

    fn startup(&mut self) -> Startup {
        self.startup.clone()
    }

    fn stop(mut self: Box<Self>) -> Result<(), PlatformError> {
        Ok(self.resources.remove()?)
    }
}
