//! The real cluster of two nodes, with the test helper's image on its nodes.

use std::{
    fs,
    ops::Deref,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

use loadline_image::{Image, Program};
use loadline_platform::{
    Deployment, Expose, Ground, ImageSource, Kubernetes, Limits, Netns, Platform, Registry, RunName, Service,
    Vantage,
};

use super::{HELPER, exchange, two_nodes::TwoNodes};

/// The memory limit of the service.
pub const MEMORY_BYTES: u64 = 64 << 20;

pub struct Cluster {
    nodes: TwoNodes,
    /// A copy of the helper, whose image is on the nodes.
    pub helper: PathBuf,
}

/// The cluster, the same for all tests of a program.
pub fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(Cluster::up)
}

impl Deref for Cluster {
    type Target = TwoNodes;

    fn deref(&self) -> &TwoNodes {
        &self.nodes
    }
}

impl Cluster {
    fn up() -> Cluster {
        let nodes = TwoNodes::up();
        // What a killed test left.
        registry().clean().unwrap();
        let (helper, archive) = (in_target("service"), in_target("service.tar"));
        // Another build may replace the helper, and its image would be another.
        fs::copy(HELPER, &helper).unwrap();
        let image = Image::new(Program::open(&helper).unwrap(), "service").unwrap();
        image.archive().unwrap().write(fs::File::create(&archive).unwrap()).unwrap();
        nodes.script("load", &[&archive.display().to_string()]);
        Cluster { nodes, helper }
    }

    /// `kubectl apply` of objects.
    pub fn apply(&self, objects: &str) {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(&file, objects).unwrap();
        self.kubectl(&["apply", "-f", &file.path().display().to_string()]);
    }

    /// The platform, with everything but `expose` as it is by default.
    pub fn platform(&self, expose: Expose) -> Kubernetes {
        Kubernetes { kubeconfig: Some(self.kubeconfig.clone().into()), expose, ..Kubernetes::default() }
    }

    /// A service of the helper's image, started with `arguments`.
    pub fn service(&self, arguments: &[&str]) -> Service {
        let source = ImageSource::Program(self.helper.clone());
        let argv = std::iter::once("helper").chain(arguments.iter().copied());
        Service {
            argv: argv.map(str::to_owned).collect(),
            image: Some(loadline_platform::Image { source, entrypoint: None }),
            limits: Limits { cpus: Some(0.5), memory_bytes: Some(MEMORY_BYTES) },
            ..Service::default()
        }
    }

    /// A service that answers with its caller's address.
    pub fn who_called(&self) -> Service {
        self.service(&["serve", "{host}", "{port}"])
    }

    /// Names of what is in the run's namespace, by kind.
    pub fn objects(&self, run: RunName, kinds: &str) -> Vec<String> {
        let namespace = format!("loadline-{run}");
        let listing = self.kubectl(&[
            "get",
            kinds,
            "-n",
            &namespace,
            "-o",
            "name",
            "-l",
            &format!("loadline.run={run}"),
        ]);
        listing.lines().map(str::to_owned).collect()
    }

    /// A run in a process of its own, of the helper's program.
    pub fn start_helper(&self, arguments: &[&str]) -> std::process::Child {
        Command::new(&self.helper)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Whether the run's namespace is there.
    pub fn has_namespace(&self, run: RunName) -> bool {
        let name = format!("namespace/loadline-{run}");
        self.kubectl(&["get", "namespaces", "-o", "name"]).lines().any(|line| line == name)
    }
}

/// One for all tests: they share the machine's network, and a registry keeps runs from each other's addresses.
pub fn registry() -> Registry {
    Registry::at(registry_path()).unwrap()
}

pub fn registry_path() -> PathBuf {
    in_target("runs")
}

/// A file that outlives the test and is overwritten by the next.
fn in_target(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A run on the machine itself, which is the cluster's first node.
pub struct Run {
    pub registry: Registry,
    pub ground: Ground,
}

impl Run {
    pub fn begin() -> Run {
        assert!(rustix::process::geteuid().is_root(), "this test makes links and rules: run it as root");
        let cluster = cluster();
        let registry = registry();
        let mut ground = Ground::prepare_in(&registry, RunName::random()).unwrap();
        ground.set_program(&cluster.helper);
        Run { registry, ground }
    }

    pub fn deploy(&self, platform: &Kubernetes, service: &Service) -> Box<dyn Deployment> {
        platform.deploy(&self.ground, service, &mut |_| {}).unwrap()
    }

    /// What `deploy` says that must fail.
    pub fn refusal(&self, platform: &Kubernetes, service: &Service) -> String {
        match platform.deploy(&self.ground, service, &mut |_| {}) {
            Ok(_) => panic!("{platform:?} was deployed"),
            Err(error) => error.to_string(),
        }
    }

    /// What the service answers to a client where the deployment wants it.
    pub fn ask(&self, deployment: &dyn Deployment) -> String {
        let here = Netns::current().unwrap();
        let netns = match deployment.vantage() {
            Vantage::Client => self.ground.client(),
            Vantage::Node => &here,
            Vantage::Agent(_) => panic!("the client can only be in the cluster"),
        };
        exchange(netns, deployment.address(), b"")
    }

    /// Ends the run, after which nothing of it may be left.
    pub fn end(self) {
        let run = self.ground.run();
        self.ground.remove().unwrap();
        assert!(!cluster().has_namespace(run), "the namespace is still there");
        assert!(!registry_path().join(run.to_string()).exists(), "the run is still registered");
    }
}
