//! Containers of a real Docker daemon, and of Podman: they carry traffic on every kind of network, their limits hold, their ends
//! are noticed and reported, nothing is left behind, and nothing that is not loadline's is touched.

mod ends;
mod images;
mod leftovers;
mod networks;
mod podman;
mod refusals;
mod start;

use std::{
    collections::BTreeSet,
    fs::{self, File},
    net::{IpAddr, Ipv4Addr, TcpListener},
    ops::Deref,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use loadline_docker::{CLEANERS, DockerPlatform};
use loadline_machine::{Cgroup, Environment, Netns};
use loadline_model::platform::{Docker, DockerNetwork, Image, ImageSource, Limits, Mount, Publish};
use loadline_platform::{Deployment, Platform, Service, Vantage};
use loadline_test_support::{
    Node, allowed_cpus, assert_same, caller_seen, cgroup_of, engine::Engine, exchange, held_run,
    image_registry, inventory, pid_of, root_pid, wait_until,
};

/// A node with a Docker daemon, and a run on it.
struct Stand {
    engine: Engine,
    node: Node,
}

impl Stand {
    fn docker() -> Stand {
        Stand::with(|| Engine::docker(&[]))
    }

    fn with(engine: impl FnOnce() -> Engine) -> Stand {
        let node = Node::enter_new();
        // A bridge gets an IPv6 address once it has a first container, which is not loadline's doing.
        for whose in ["all", "default"] {
            fs::write(format!("/proc/sys/net/ipv6/conf/{whose}/disable_ipv6"), "1").unwrap();
        }
        Stand { engine: engine(), node }
    }

    fn environment(&self) -> Run {
        Run { environment: self.node.environment(), endpoint: self.engine.endpoint() }
    }
}

/// A run with its containers in the daemon at the endpoint.
struct Run {
    environment: Environment,
    endpoint: String,
}

impl Run {
    fn platform(&self, options: &Docker) -> DockerPlatform {
        DockerPlatform { options: options.clone(), endpoint: Some(self.endpoint.clone()) }
    }

    fn remove(self) -> Result<(), loadline_machine::Error> {
        self.environment.remove()
    }
}

impl Deref for Run {
    type Target = Environment;

    fn deref(&self) -> &Environment {
        &self.environment
    }
}

/// The helper of tests as an image, with these arguments.
fn helper(arguments: &[&str]) -> Service {
    let argv = std::iter::once(&"helper").chain(arguments).map(|word| (*word).to_owned()).collect();
    let image =
        Image { source: ImageSource::Program(loadline_test_support::helper().into()), entrypoint: None };
    Service { argv, image: Some(image), ..Service::default() }
}

fn who_called() -> Service {
    helper(&["serve", "{host}", "{port}"])
}

fn on(network: DockerNetwork, publish: Publish) -> Docker {
    Docker { network, publish, ..Docker::default() }
}

fn deploy(docker: &Docker, run: &Run, service: &Service) -> Box<dyn Deployment> {
    let deployed = run.platform(docker).deploy(run, service, &mut |_| {});
    deployed.unwrap_or_else(|error| panic!("{docker:?}: {error}"))
}

fn refusal(docker: &Docker, run: &Run, service: &Service) -> String {
    match run.platform(docker).deploy(run, service, &mut |_| {}) {
        Ok(_) => panic!("{docker:?} was deployed"),
        Err(error) => error.to_string(),
    }
}

/// Compares what is on the node with what was there before.
fn assert_node_is(run: &str, before: &BTreeSet<String>) {
    let begun = Instant::now();
    // A bridge takes a moment to notice that its last link is gone, and so do links between namespaces.
    while inventory(run) != *before && begun.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_same(&inventory(run), before);
}

/// Waits for the end of a deployment, and returns the reported reason.
fn end_of(deployment: &mut dyn Deployment) -> String {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(why) = deployment.ended() {
            return why;
        }
        assert!(Instant::now() < deadline, "it never ended");
        std::thread::sleep(Duration::from_millis(10));
    }
}
