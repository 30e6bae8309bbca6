//! Where a site's load comes from: engines of this process, or of an agent that reaches what this machine can't.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use loadline_agent::{DriveError, Driver, EngineSetup, RemoteEngine};
use loadline_engine::{Endpoint, Engine, Mix, Options, Request};
use loadline_machine::Netns;
use loadline_model::experiment::{LoadSpec, RequestSpec};
use loadline_model::load::{Load, Reuse};
use loadline_platform::{Agent, Deployment, Vantage};

use crate::error::RunError;
use crate::placement::Cpus;

/// Longest wait for a response, and of a due request for a connection.
const TIMEOUT: Duration = Duration::from_secs(10);

/// What the engines of a site have in common.
pub struct Generator {
    /// Service and platform, for errors.
    site: String,
    address: SocketAddr,
    /// Value of the `Host` header.
    authority: String,
    requests: Vec<Request>,
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

impl Generator {
    /// What loads a deployment from where it can be reached; `client` is the namespace behind the wire, if there is one.
    pub fn of(
        site: String,
        deployment: &dyn Deployment,
        client: Option<Netns>,
        requests: &[RequestSpec],
        cpus: &Cpus,
        stop: Arc<AtomicBool>,
    ) -> Generator {
        let address = deployment.address();
        Generator {
            site,
            address,
            authority: deployment.authority().map_or_else(|| address.to_string(), str::to_owned),
            requests: requests.iter().map(request).collect(),
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
        self.start(&self.requests, load, threads, TIMEOUT, self.stop.clone())
    }

    /// An engine that asks whether the service is ready, one request at a time. Ctrl-C is for who uses it to notice.
    pub fn probe(&self, path: &str, patience: Duration) -> Result<Box<dyn Driver>, RunError> {
        let load =
            LoadSpec { name: None, load: Load::Closed { think: None }, connections: 1, reuse: Reuse::Always };
        self.start(&[Request::get(path)], &load, 1, patience, Arc::new(AtomicBool::new(false)))
    }

    fn start(
        &self,
        requests: &[Request],
        load: &LoadSpec,
        threads: usize,
        timeout: Duration,
        stop: Arc<AtomicBool>,
    ) -> Result<Box<dyn Driver>, RunError> {
        let failed = |source: DriveError| RunError::Engine { site: self.site.clone(), source };
        match &self.place {
            Place::Here(namespace) => {
                let namespace = namespace.clone();
                let endpoint = Endpoint { authority: self.authority.clone(), ..Endpoint::from(self.address) };
                let mix = Mix::new(requests, &endpoint)?;
                let options = Options {
                    threads,
                    connections: load.connections,
                    reuse: load.reuse,
                    cpus: self.cpus.clone(),
                    real_time: self.real_time,
                    timeout,
                    stop,
                    on_thread_start: Arc::new(move || match &namespace {
                        Some(namespace) => namespace.enter().map_err(std::io::Error::other),
                        None => Ok(()),
                    }),
                    ..Options::new(endpoint, mix)
                };
                Engine::start(&options)
                    .map(|engine| Box::new(engine) as Box<dyn Driver>)
                    .map_err(|e| failed(e.into()))
            }
            Place::Cluster(agent) => {
                let at_least_one = |count| NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN);
                let setup = EngineSetup {
                    address: self.address,
                    authority: self.authority.clone(),
                    requests: requests.to_vec(),
                    connections: at_least_one(load.connections),
                    reuse: load.reuse,
                    threads: at_least_one(threads),
                    // This machine's CPUs say nothing of the agent's.
                    cpus: None,
                    timeout,
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
