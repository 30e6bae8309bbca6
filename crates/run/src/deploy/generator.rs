//! Where a site's load comes from: engines of this process, or of an agent that reaches what this machine cannot.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use loadline_agent::{DriveError, Driver, EngineSetup, RemoteEngine};
use loadline_engine::{DescriptionError, Endpoint, Engine, Options};
use loadline_machine::Netns;
use loadline_model::load::{Load, LoadDescription, LoadSpec, Protocol, Request, Traffic};
use loadline_platform::{Agent, Deployment, Vantage};

use super::watch;
use crate::error::RunError;
use crate::placement::Cpus;

/// What the engines of a site have in common.
pub struct Generator {
    /// Service and platform, for errors.
    site: String,
    address: SocketAddr,
    /// Value of the `Host` header.
    authority: String,
    traffic: Traffic,
    /// What the readiness probe speaks.
    probe_protocol: Protocol,
    /// CPUs of this machine, one a thread.
    cpus: Vec<usize>,
    /// Whether the threads run before all other programs on those.
    real_time: bool,
    place: Place,
    /// Ends whatever is driven.
    stop: Arc<AtomicBool>,
}

/// Where engines are.
enum Place {
    /// In this process, in the namespace if there is one.
    Here(Option<Netns>),
    /// Inside the cluster.
    Cluster(Agent),
}

/// What is sent to a site, under any load.
pub struct SiteTraffic<'a> {
    /// Service and platform, for errors.
    pub label: String,
    /// What is sent.
    pub traffic: Traffic,
    /// The loads that it is measured under.
    pub loads: Vec<&'a LoadSpec>,
}

impl Generator {
    /// What loads a deployment from where it can be reached; `client` is the namespace behind the wire, if there is one.
    pub fn of(
        site: SiteTraffic<'_>,
        deployment: &dyn Deployment,
        client: Option<Netns>,
        cpus: &Cpus,
        stop: Arc<AtomicBool>,
    ) -> Generator {
        let address = deployment.address();
        Generator {
            site: site.label,
            address,
            authority: deployment.authority().map_or_else(|| address.to_string(), str::to_owned),
            traffic: site.traffic,
            probe_protocol: probe_protocol(&site.loads),
            cpus: cpus.load.clone(),
            real_time: cpus.load_runs_first,
            place: match deployment.vantage() {
                Vantage::Client => Place::Here(client),
                Vantage::Node => Place::Here(None),
                Vantage::Agent(agent) => Place::Cluster(agent),
            },
            stop,
        }
    }

    /// An engine for the load; no connection is open yet.
    pub fn engine(&self, load: &LoadSpec) -> Result<Box<dyn Driver>, RunError> {
        let threads = self.cpus.len().min(load.connections);
        let description = LoadDescription { load: load.clone(), traffic: self.traffic.clone() };
        self.start(description, threads, self.stop.clone())
    }

    /// Where the service shows its metrics, for who asks from where the client is; or why nobody can.
    pub fn endpoint(&self, path: &str) -> Result<watch::Endpoint, &'static str> {
        let client = match &self.place {
            Place::Here(client) => client.clone(),
            Place::Cluster(_) => {
                return Err(
                    "the service's own metrics were not read: it can only be reached from inside the cluster",
                );
            }
        };
        if self.traffic.tls.is_some() {
            return Err("the service's own metrics were not read: they are read by plain HTTP only");
        }
        let (address, authority) = (self.address, self.authority.clone());
        Ok(watch::Endpoint { address, authority, path: path.to_owned(), client })
    }

    /// An engine that asks whether the service is ready, one request at a time, with the TLS of the load. Ctrl-C is for the caller to
    /// notice.
    pub fn probe(&self, path: &str, timeout: Duration) -> Result<Box<dyn Driver>, RunError> {
        let load = LoadSpec {
            protocol: self.probe_protocol,
            timeout,
            ..LoadSpec::new(Load::Closed { think: None }, 1)
        };
        // Readiness is a success status; what the load expects of its own responses is another matter.
        let traffic = Traffic { tls: self.traffic.tls.clone(), ..Traffic::of(vec![Request::get(path)]) };
        self.start(LoadDescription { load, traffic }, 1, Arc::new(AtomicBool::new(false)))
    }

    fn start(
        &self,
        load: LoadDescription,
        threads: usize,
        stop: Arc<AtomicBool>,
    ) -> Result<Box<dyn Driver>, RunError> {
        let failed = |source: DriveError| RunError::Engine { site: self.site.clone(), source };
        match &self.place {
            Place::Here(namespace) => {
                let namespace = namespace.clone();
                let endpoint = Endpoint { authority: self.authority.clone(), ..Endpoint::from(self.address) };
                let described =
                    Options::describing(&load, endpoint).map_err(|source| self.impossible(source))?;
                let options = Options {
                    threads,
                    cpus: self.cpus.clone(),
                    real_time: self.real_time,
                    stop,
                    on_thread_start: Arc::new(move || match &namespace {
                        Some(namespace) => namespace.enter().map_err(std::io::Error::other),
                        None => Ok(()),
                    }),
                    ..described
                };
                Engine::start(&options)
                    .map(|engine| Box::new(engine) as Box<dyn Driver>)
                    .map_err(|e| failed(e.into()))
            }
            Place::Cluster(agent) => {
                let setup = EngineSetup {
                    address: self.address,
                    authority: self.authority.clone(),
                    load,
                    threads: NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN),
                    // This machine's CPUs say nothing of the agent's.
                    cpus: None,
                };
                let connection = agent.connect();
                let connection = connection
                    .map_err(|source| RunError::Site { site: self.site.clone(), source: source.into() })?;
                RemoteEngine::start(connection, setup, stop)
                    .map(|engine| Box::new(engine) as Box<dyn Driver>)
                    .map_err(|error| failed(error.into()))
            }
        }
    }

    fn impossible(&self, source: DescriptionError) -> RunError {
        RunError::Site { site: self.site.clone(), source: source.into() }
    }
}

/// HTTP/1.1, unless all loads speak HTTP/2: such a service may speak nothing else. What is not loaded speaks HTTP/1.1.
fn probe_protocol(loads: &[&LoadSpec]) -> Protocol {
    if !loads.is_empty() && loads.iter().all(|load| load.protocol.streams().is_some()) {
        Protocol::Http2 { streams: NonZeroUsize::MIN }
    } else {
        Protocol::Http1
    }
}
