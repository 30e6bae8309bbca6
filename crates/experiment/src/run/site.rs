//! A site that is deployed: its service, and an engine connected to it for each load.

use std::path::Path;
use std::time::Instant;

use loadline_agent::Driver;
use loadline_engine::Request;
use loadline_machine::Environment;
use loadline_model::experiment::{Nodes, PlatformKind, RequestSpec, Service, Start};
use loadline_model::notes::Note;
use loadline_model::platform::{Image, ImageSource, Starts};
use loadline_model::rows::{DeploymentRow, PhaseRow, StartupRow};
use loadline_model::{CellId, SiteId};
use loadline_platform::{Deployment, Platform, Starting, Vantage};
use loadline_platforms::External;

use super::generator::{Generator, Place};
use super::watch::{Reading, Watch};
use super::{Event, Execution, RunError};

/// A deployed service and the engines of its cells.
pub struct LiveSite {
    /// Which.
    pub index: SiteId,
    /// Service and platform, in words.
    pub label: String,
    /// Whether somebody else runs its service.
    pub is_external: bool,
    /// CPU time of service and load together per request, s; known after the warm-up.
    pub cpu_s_per_request: f64,
    deployment: Box<dyn Deployment>,
    watch: Watch,
    engines: Vec<(CellId, Box<dyn Driver>)>,
}

impl LiveSite {
    /// Its cells.
    pub fn cells(&self) -> impl Iterator<Item = CellId> {
        self.engines.iter().map(|(cell, _)| *cell)
    }

    /// The engine of one of its cells.
    pub fn engine(&mut self, cell: CellId) -> Option<&mut Box<dyn Driver>> {
        self.engines.iter_mut().find(|(other, _)| *other == cell).map(|(_, engine)| engine)
    }

    /// The counters of its service and of the machine.
    pub fn read(&mut self) -> Reading {
        self.watch.read()
    }

    /// The CPU time of its service, while another site is measured.
    pub fn read_cpu(&mut self) -> Reading {
        self.watch.read_cpu()
    }

    /// Whether its service uses the CPUs of this machine, or may do so.
    pub fn is_here(&self) -> bool {
        self.watch.is_here()
    }

    /// The processes of its service, if they are on this machine.
    pub fn pids(&self) -> Vec<u32> {
        self.watch.pids()
    }

    /// Why the service is no more, if it isn't.
    pub fn death(&mut self) -> Option<RunError> {
        let why = self.deployment.ended()?;
        Some(RunError::service(&self.label, why, &self.output()))
    }

    /// How its start went, and what the idle service weighs.
    fn startup(&mut self) -> StartupRow {
        let reading = self.read();
        let idle = reading.until(&reading);
        let startup = self.deployment.startup();
        StartupRow {
            phases: startup
                .phases
                .into_iter()
                .map(|phase| PhaseRow {
                    name: phase.name.to_owned(),
                    after_ms: phase.after.as_secs_f64() * 1e3,
                })
                .collect(),
            image_bytes: startup.image_bytes,
            idle_memory_bytes: idle.memory_bytes.or(idle.cgroup_memory_bytes),
        }
    }

    /// The last that its service printed.
    pub fn output(&self) -> String {
        self.deployment.output_tail()
    }

    /// Ends the load, then the service.
    pub fn stop(mut self) -> Result<(), RunError> {
        self.engines.clear();
        let site = self.label;
        self.deployment.stop().map_err(|source| RunError::Site { site, source })
    }
}

/// A site whose service was asked for.
pub struct StartedSite<'g> {
    index: SiteId,
    round: u32,
    label: String,
    starting: Starting<'g>,
    begun: Instant,
}

impl StartedSite<'_> {
    /// Which.
    pub fn site(&self) -> SiteId {
        self.index
    }
}

impl Execution<'_> {
    /// Asks for a site's service.
    pub(super) fn start_site<'g>(
        &mut self,
        environment: Option<&'g Environment>,
        round: u32,
        index: SiteId,
    ) -> Result<StartedSite<'g>, RunError> {
        self.check_interrupted()?;
        let site = *self.plan.site(index);
        let service = self.experiment.service(site.service);
        let kind = &self.experiment.platform(site.platform).kind;
        let label = self.site_label(index);
        (self.events)(Event::Deploying { round, site: label.clone() });
        let begun = Instant::now();
        let starting = match (kind, environment) {
            (PlatformKind::External { address, authority, .. }, _) => {
                Starting::started(Box::new(External { address: *address, authority: authority.clone() }))
            }
            // `deploy_and_measure` prepares an environment whenever a platform is not external.
            (_, environment) => {
                let environment = environment.expect("there is an environment for whatever is deployed");
                let service = self.service(service);
                let started = self.platform_of(kind).start(environment, &service, &mut self.progress(&label));
                started.map_err(|source| RunError::Site { site: label.clone(), source })?
            }
        };
        Ok(StartedSite { index, round, label, starting, begun })
    }

    /// Waits until a site is ready, keeps how its start went, and connects its engines.
    pub(super) fn make_ready(
        &mut self,
        environment: Option<&Environment>,
        started: StartedSite,
    ) -> Result<LiveSite, RunError> {
        let StartedSite { index, round, label, starting, begun } = started;
        let plan = self.plan.site(index);
        let service = self.experiment.service(plan.service);
        let kind = &self.experiment.platform(plan.platform).kind;
        let deployment = starting
            .wait(&mut self.progress(&label))
            .map_err(|source| RunError::Site { site: label.clone(), source })?;
        let address = deployment.address();
        let authority = deployment.authority().map_or_else(|| address.to_string(), str::to_owned);
        let generator = Generator {
            site: label.clone(),
            address,
            authority,
            requests: service.requests.iter().map(request).collect(),
            cpus: self.cpus.load.clone(),
            place: match deployment.vantage() {
                Vantage::Client => Place::Here(environment.map(|environment| environment.client().clone())),
                Vantage::Node => Place::Here(None),
                Vantage::Agent(agent) => Place::Cluster(agent),
            },
            stop: self.options.stop.clone(),
        };
        let mut site = LiveSite {
            index,
            is_external: kind.capabilities(false).starts == Starts::Nothing,
            cpu_s_per_request: 0.0,
            watch: Watch::of(&label, deployment.as_ref())?,
            label,
            deployment,
            engines: Vec::new(),
        };
        let ready = self.wait_until_ready(&mut site, service, &generator, begun)?;
        (self.events)(Event::Ready { site: site.label.clone(), after: ready });
        let left_out = site.deployment.left_out().to_vec();
        for text in left_out.iter().cloned() {
            self.note(Note::LeftOut { text })?;
        }
        self.store.add_deployment(
            self.run,
            &DeploymentRow {
                site: index,
                round,
                at_s: (begun - self.begun).as_secs_f64(),
                ready_ms: ready.as_secs_f64() * 1e3,
                left_out,
                startup: site.startup(),
            },
        )?;
        for cell in self.plan.cell_ids().filter(|cell| self.plan.cell(*cell).site == index) {
            let engine = generator.engine(self.experiment.load(self.plan.load_of(cell)))?;
            site.engines.push((cell, engine));
        }
        Ok(site)
    }

    /// Tells of what takes long at a site.
    fn progress<'e>(&'e mut self, label: &'e str) -> impl FnMut(&str) + 'e {
        |text| (self.events)(Event::Progress { site: label.to_owned(), text: text.to_owned() })
    }

    /// The platform of the kind.
    pub(super) fn platform_of(&self, kind: &PlatformKind) -> Box<dyn Platform> {
        loadline_platforms::platform(kind, self.experiment.plan.nodes == Nodes::Own)
    }

    fn site_label(&self, index: SiteId) -> String {
        let site = self.plan.site(index);
        let service = &self.experiment.service(site.service).name;
        let platform = &self.experiment.platform(site.platform).name;
        format!("{service} on {platform}{}", if site.twin { "′" } else { "" })
    }

    fn service(&self, service: &Service) -> loadline_platform::Service {
        loadline_platform::Service {
            argv: match &service.start {
                Some(start) => argv(start, &self.options.program),
                None => Vec::new(),
            },
            image: service.image.clone().or_else(|| image_of(service.start.as_ref()?, &self.options.program)),
            env: service.env.clone(),
            cpus: self.cpus.service.clone(),
            limits: self.experiment.limits,
            working_dir: None,
            port: service.port,
            ready_path: service.ready.path.clone(),
        }
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

/// The image that a service without one of its own gets: its program and nothing else.
fn image_of(start: &Start, program: &Path) -> Option<Image> {
    let program = match start {
        Start::Builtin { .. } => program.to_owned(),
        Start::Command(argv) => argv.first()?.into(),
    };
    Some(Image { source: ImageSource::Program(program), entrypoint: None })
}

fn request(spec: &RequestSpec) -> Request {
    Request {
        method: spec.method.clone(),
        path: spec.path.clone(),
        headers: spec.headers.clone(),
        body: spec.body.clone().unwrap_or_default().into_bytes(),
        weight: spec.weight,
    }
}
