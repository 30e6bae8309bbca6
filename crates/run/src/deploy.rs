//! Deploying for real: the platforms of an experiment, engines that load their services, and observers that read their counters.

mod gc_trace;
mod generator;
mod live;
mod needs;
mod network;
mod readiness;
mod traffic;
mod watch;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use loadline_machine::{Environment, RunName};
use loadline_model::Machine;
use loadline_model::experiment::{Experiment, Need, PROXIED, Start};
use loadline_model::load::Traffic;
use loadline_model::metrics::MetricDeclaration;
use loadline_model::notes::Note;
use loadline_model::plan::{Plan, Site};
use loadline_model::platform::{Image, ImageSource, Starts};
use loadline_model::rows::Surroundings;
use loadline_model::{PlatformId, SiteId};
use loadline_observe::probes;
use loadline_platform::{Deployment, PendingDeployment, Platform, PlatformError, Service};

use crate::deployer::{Deployer, LiveSite, MachineId, StartingSite};
use crate::error::BoxError;
use crate::hooks;
use crate::placement::Cpus;
use gc_trace::GcTrace;
use generator::{Generator, SiteTraffic};
use live::{DeployedSite, SiteContext};
use needs::{Needs, Started};

pub use needs::Shared as SharedNeeds;
pub use network::{NeedsRoot, Network};
pub use traffic::{ServiceTraffic, TrafficError};

/// The metrics that deployed services may have, but those that they show themselves.
pub fn metrics() -> Vec<MetricDeclaration> {
    probes::metrics().into_iter().chain(Needs::all_metrics()).chain(GcTrace::metrics()).collect()
}

/// Deploys the sites of an experiment on real platforms.
pub struct PlatformDeployer<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Its sites.
    pub plan: &'a Plan,
    /// The experiment's platforms, in its order.
    pub platforms: Vec<Box<dyn Platform>>,
    /// What is sent to the experiment's services.
    pub traffic: ServiceTraffic,
    /// Where services and load run.
    pub cpus: &'a Cpus,
    /// The name of everything created on the machine.
    pub run: RunName,
    /// The program that serves the built-in services.
    pub program: PathBuf,
    /// [`Network::choose`]n for the experiment, and entered if necessary.
    pub network: Network,
    /// The machine of the load.
    pub machine: &'a Machine,
    /// Set to interrupt the load.
    pub stop: Arc<AtomicBool>,
    /// Created by [`Deployer::prepare`].
    pub environment: Option<Environment>,
    /// Whether the author's own setup was begun.
    pub is_set_up: bool,
    /// Where plain processes run: what there is one of for all services is there.
    pub node: Box<dyn Platform>,
    /// What there is one of for all services.
    pub shared_needs: Arc<SharedNeeds>,
}

impl Deployer for PlatformDeployer<'_> {
    fn prepare(&mut self) -> Result<Vec<Note>, BoxError> {
        // From here on there may be something to clean up.
        self.is_set_up = true;
        hooks::run("setup", &self.experiment.hooks.setup)?;
        // An external service is reached from this machine, with or without a wire.
        let anything_starts =
            self.plan.sites.iter().any(|site| !is_external(self.platforms[site.platform.0].as_ref()));
        let wired = anything_starts && self.network != Network::WithoutWire;
        let environment =
            if wired { Environment::prepare(self.run) } else { Environment::prepare_without_wire(self.run) };
        self.environment = Some(environment?);
        Ok((anything_starts && !wired).then_some(Note::NoWire).into_iter().collect())
    }

    fn before_round(&self) -> Result<(), BoxError> {
        Ok(hooks::run("prepare", &self.experiment.hooks.prepare)?)
    }

    fn reach(&self, platform: PlatformId) -> Result<(), BoxError> {
        let environment = self.environment.as_ref().ok_or("the environment was not prepared")?;
        Ok(self.platforms[platform.0].reach(environment)?)
    }

    fn surroundings(&self, platform: PlatformId) -> Option<Surroundings> {
        // A platform that does not answer now reports why when it deploys.
        let found = self.platforms[platform.0].info(self.environment.as_ref()?).ok()??;
        Some(Surroundings { summary: found.summary, facts: found.facts })
    }

    fn start<'d>(
        &'d self,
        site: SiteId,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Box<dyn StartingSite + 'd>, BoxError> {
        let planned = *self.plan.site(site);
        let platform = &self.platforms[planned.platform.0];
        let environment = self.environment.as_ref().ok_or("the environment was not prepared")?;
        let (needs, addresses) = self.start_needs(&planned, environment, progress)?;
        let service = self.service(&planned, &addresses);
        let starting = platform.start(environment, &service, progress)?;
        let platform = platform.as_ref();
        Ok(Box::new(PlatformStart { deployer: self, site, platform, starting, needs, addresses }))
    }

    fn remove(&mut self) -> Result<(), BoxError> {
        let stopped = self.shared_needs.stop();
        let removed = self.environment.take().map_or(Ok(()), Environment::remove).map_err(BoxError::from);
        let cleaned = match std::mem::take(&mut self.is_set_up) {
            true => hooks::run("cleanup", &self.experiment.hooks.cleanup).map_err(BoxError::from),
            false => Ok(()),
        };
        // Each was tried, whatever became of the others.
        let failures: Vec<String> = [stopped, removed, cleaned]
            .into_iter()
            .filter_map(|result| Some(result.err()?.to_string()))
            .collect();
        if failures.is_empty() { Ok(()) } else { Err(failures.join("\n").into()) }
    }
}

impl PlatformDeployer<'_> {
    /// Starts what a site's service needs, each beside it or one for all.
    fn start_needs(
        &self,
        site: &Site,
        environment: &Environment,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(Needs, needs::Addresses), BoxError> {
        let (mut needs, mut addresses) = (Needs::new(self.shared_needs.clone()), Vec::new());
        for need in self.experiment.service(site.service).needs.iter().filter(|need| !need.proxy) {
            let mut start = || self.start_need(need, site, &[], environment, progress);
            let address = if need.shared {
                needs.share(&need.name, start)?
            } else {
                let started = start()?;
                let address = started.address();
                needs.add(started);
                address
            };
            addresses.push((need.name.clone(), address));
        }
        Ok((needs, addresses))
    }

    /// Starts the proxy in front of a site's service, if it has one. It reaches the service and what that needs at these addresses.
    fn start_proxy(
        &self,
        site: &Site,
        addresses: &[(String, SocketAddr)],
        environment: &Environment,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Option<Started>, BoxError> {
        let Some(proxy) = self.experiment.service(site.service).proxy() else { return Ok(None) };
        self.start_need(proxy, site, addresses, environment, progress).map(Some)
    }

    fn start_need(
        &self,
        need: &Need,
        site: &Site,
        addresses: &[(String, SocketAddr)],
        environment: &Environment,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Started, BoxError> {
        let platform = if need.shared { &self.node } else { &self.platforms[site.platform.0] };
        let service = Service {
            argv: self.argv(need.start.as_ref(), addresses),
            image: need.image.clone().or_else(|| image_of(need.start.as_ref()?, &self.program)),
            env: filled(need.env.clone(), addresses),
            port: need.port,
            cpus: self.cpus.pins(site.service, site.platform).to_vec(),
            limits: need.limits,
            working_dir: need.directory.clone(),
            ready_path: need.ready.path.clone(),
            https: false,
            has_peers: true,
        };
        progress(&format!("starting {}", need.name));
        let failed = |error: PlatformError| -> BoxError { format!("{}: {error}", need.name).into() };
        let deployment = platform.deploy(environment, &service, progress).map_err(failed)?;
        let mut started = Started::new(&need.name, deployment, MachineId::of(self.machine))?;
        let nothing =
            SiteTraffic { label: need.name.clone(), traffic: Traffic::of(Vec::new()), loads: Vec::new() };
        let generator = self.generator(nothing, started.deployment(), environment);
        started.wait(&generator, &need.ready)?;
        Ok(started)
    }

    /// What asks a deployment from where the load comes from.
    fn generator(
        &self,
        site: SiteTraffic<'_>,
        deployment: &dyn Deployment,
        environment: &Environment,
    ) -> Generator {
        let client = Some(environment.client().clone());
        Generator::of(site, deployment, client, self.cpus, self.stop.clone())
    }

    fn service(&self, site: &Site, addresses: &[(String, SocketAddr)]) -> Service {
        let service = self.experiment.service(site.service);
        Service {
            argv: self.argv(service.start.as_ref(), addresses),
            image: service.image.clone().or_else(|| image_of(service.start.as_ref()?, &self.program)),
            env: filled(self.experiment.env_of(site.service, site.platform), addresses),
            cpus: self.cpus.pins(site.service, site.platform).to_vec(),
            limits: self.experiment.limits_of(site.service, site.platform),
            working_dir: service.directory.clone(),
            port: service.port,
            ready_path: service.ready.path.clone(),
            https: service.https,
            has_peers: self.experiment.has_needs_beside(),
        }
    }

    /// What a process is started with, with the addresses filled in; nothing where only a container platform can start it.
    fn argv(&self, start: Option<&Start>, addresses: &[(String, SocketAddr)]) -> Vec<String> {
        let words = start.map_or_else(Vec::new, |start| argv(start, &self.program));
        words.iter().map(|word| needs::fill(word, addresses)).collect()
    }
}

/// Environment variables with the addresses filled in.
fn filled(env: Vec<(String, String)>, addresses: &[(String, SocketAddr)]) -> Vec<(String, String)> {
    env.into_iter().map(|(name, value)| (name, needs::fill(&value, addresses))).collect()
}

/// Whether the platform's services run independently of loadline.
fn is_external(platform: &dyn Platform) -> bool {
    platform.capabilities().starts == Starts::Nothing
}

/// A service that a platform is starting.
struct PlatformStart<'d> {
    deployer: &'d PlatformDeployer<'d>,
    site: SiteId,
    platform: &'d dyn Platform,
    starting: PendingDeployment<'d>,
    needs: Needs,
    addresses: needs::Addresses,
}

impl StartingSite for PlatformStart<'_> {
    fn is_slow_to_start(&self) -> bool {
        self.platform.capabilities().holds_back
    }

    fn wait(self: Box<Self>, progress: &mut dyn FnMut(&str)) -> Result<Box<dyn LiveSite>, BoxError> {
        let PlatformStart { deployer, site, platform, starting, mut needs, mut addresses } = *self;
        let deployment = starting.wait(progress)?;
        let (experiment, planned) = (deployer.experiment, deployer.plan.site(site));
        let environment = deployer.environment.as_ref().ok_or("the environment was not prepared")?;
        addresses.push((PROXIED.to_owned(), deployment.peer_address()));
        let proxy = deployer.start_proxy(planned, &addresses, environment, progress)?;
        let loads = deployer.plan.cells_of(site).map(|(_, load)| experiment.load(load)).collect();
        let site = SiteTraffic {
            label: planned.label(experiment),
            traffic: deployer.traffic.of(experiment, planned.service, planned.platform),
            loads,
        };
        let loaded = proxy.as_ref().map_or(deployment.as_ref(), Started::deployment);
        let generator = deployer.generator(site, loaded, environment);
        proxy.into_iter().for_each(|proxy| needs.add(proxy));
        let context = SiteContext {
            here: MachineId::of(deployer.machine),
            cpus: deployer.cpus.watched(),
            is_external: is_external(platform),
            ready: experiment.service(planned.service).ready.clone(),
            metrics: experiment.service(planned.service).metrics.clone(),
            gc_trace: gc_trace::is_asked_for(&experiment.env_of(planned.service, planned.platform)),
        };
        Ok(Box::new(DeployedSite::new(deployment, generator, context, needs)?))
    }
}

fn argv(start: &Start, program: &Path) -> Vec<String> {
    match start {
        Start::Command(argv) => argv.clone(),
        Start::Builtin { name, args } => {
            let fixed =
                [&program.to_string_lossy(), "serve", name, "--listen", "{host}:{port}"].map(str::to_owned);
            fixed.into_iter().chain(args.iter().cloned()).collect()
        }
    }
}

/// The image of a service that has none of its own: its program and nothing else.
fn image_of(start: &Start, program: &Path) -> Option<Image> {
    let program = match start {
        Start::Builtin { .. } => program.to_owned(),
        Start::Command(argv) => argv.first()?.into(),
    };
    Some(Image { source: ImageSource::Program(program), entrypoint: None })
}
