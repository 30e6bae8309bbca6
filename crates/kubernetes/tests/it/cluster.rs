//! The real cluster of two nodes, with the test helper's image on its nodes.

use std::{
    fs::{self, File},
    ops::Deref,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
    thread::sleep,
    time::{Duration, Instant},
};

use loadline_image::{Image, Program};
use loadline_kubernetes::{CLEANERS, KubernetesPlatform};
use loadline_machine::{Environment, Netns, Registry, RunName};
use loadline_model::platform::{Expose, ImageSource, Kubernetes, Limits};
use loadline_platform::{Deployment, Platform, Service, Vantage};
use loadline_test_support::{exchange, helper, two_nodes::TwoNodes};

/// The memory limit of the service.
pub const MEMORY_BYTES: u64 = 64 << 20;

pub struct Cluster {
    nodes: TwoNodes,
    /// A copy of the helper, whose image is on the nodes.
    pub helper: PathBuf,
}

/// The cluster, with the image of this build's helper on its nodes.
pub fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(Cluster::up)
}

/// A lock held by a test that takes parts of the cluster away: no other test uses it meanwhile.
pub fn disturb() -> File {
    let file = lock_file("cluster.lock");
    file.lock().unwrap();
    file
}

/// A lock held by a test that removes what killed runs left, so that no other test removes it.
pub fn cleaning() -> File {
    let file = lock_file("runs.lock");
    file.lock().unwrap();
    file
}

/// A file to be locked; the kernel releases the lock when the test ends, however it ends.
fn lock_file(name: &str) -> File {
    File::create(in_target(name)).unwrap()
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
        {
            let _cleaning = cleaning();
            // What a killed test left behind.
            registry().clean(CLEANERS).unwrap();
        }
        Cluster { helper: load_helper(&nodes), nodes }
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
            image: Some(loadline_model::platform::Image { source, entrypoint: None }),
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

    /// Whether the run's namespace exists.
    pub fn has_namespace(&self, run: RunName) -> bool {
        let name = format!("namespace/loadline-{run}");
        self.kubectl(&["get", "namespaces", "-o", "name"]).lines().any(|line| line == name)
    }
}

/// Loads the helper's image on the nodes, unless an earlier test has. Returns a copy of the helper: another build may replace the file.
fn load_helper(nodes: &TwoNodes) -> PathBuf {
    let one_at_a_time = lock_file("helper.lock");
    one_at_a_time.lock().unwrap();
    let built = fs::metadata(helper()).unwrap();
    let version = format!("{}-{}.{:09}", built.len(), built.mtime(), built.mtime_nsec());
    let folder = in_target(&format!("helper-{version}"));
    let copy = folder.join("service");
    if !copy.exists() {
        fs::create_dir_all(&folder).unwrap();
        fs::copy(helper(), folder.join("draft")).unwrap();
        fs::rename(folder.join("draft"), &copy).unwrap();
    }
    // It is removed with the cluster.
    let loaded = nodes.folder().join(format!("helper-{version}"));
    if !loaded.exists() {
        let archive = folder.join("service.tar");
        let image = Image::new(Program::open(&copy).unwrap(), "service").unwrap();
        image.archive().unwrap().write(File::create(&archive).unwrap()).unwrap();
        nodes.script("load", &[&archive.display().to_string()]);
        fs::remove_file(archive).unwrap();
        File::create(loaded).unwrap();
    }
    copy
}

/// One registry for all tests: they share the machine's network, and the registry gives each run its own addresses.
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
    pub environment: Environment,
    helper: PathBuf,
    /// A run during which no other test takes parts of the cluster away.
    _lock: File,
}

/// Why a deployment ended, once that is noticed.
pub fn end_of(deployment: &mut dyn Deployment) -> String {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        match deployment.ended() {
            Some(why) => return why,
            None => assert!(Instant::now() < deadline, "its end was never noticed"),
        }
        sleep(Duration::from_millis(50));
    }
}

impl Run {
    pub fn begin() -> Run {
        let lock = lock_file("cluster.lock");
        lock.lock_shared().unwrap();
        Run::with_lock(lock)
    }

    /// A run of a test that takes parts of the cluster away: no other test uses it meanwhile.
    pub fn disturbing() -> Run {
        let lock = lock_file("cluster.lock");
        lock.lock().unwrap();
        Run::with_lock(lock)
    }

    fn with_lock(lock: File) -> Run {
        assert!(rustix::process::geteuid().is_root(), "this test makes links and rules: run it as root");
        let cluster = cluster();
        let registry = registry();
        let environment = Environment::prepare_in(&registry, RunName::random()).unwrap();
        Run { registry, environment, helper: cluster.helper.clone(), _lock: lock }
    }

    pub fn deploy(&self, platform: &Kubernetes, service: &Service) -> Box<dyn Deployment> {
        self.with(platform).deploy(&self.environment, service, &mut |_| {}).unwrap()
    }

    /// The platform with these options, whose agents are the helper.
    pub fn with(&self, options: &Kubernetes) -> KubernetesPlatform {
        KubernetesPlatform { options: options.clone(), program: Some(self.helper.clone()) }
    }

    /// The message of a `deploy` that must fail; a service that ends at once may have been ready for a moment.
    pub fn refusal(&self, platform: &Kubernetes, service: &Service) -> String {
        match self.with(platform).deploy(&self.environment, service, &mut |_| {}) {
            Ok(mut deployment) => format!("{}\n{}", end_of(&mut *deployment), deployment.output_tail()),
            Err(error) => error.to_string(),
        }
    }

    /// The service's answer to a client at the deployment's location for it.
    pub fn ask(&self, deployment: &dyn Deployment) -> String {
        let here = Netns::current().unwrap();
        let netns = match deployment.vantage() {
            Vantage::Client => self.environment.client(),
            Vantage::Node => &here,
            Vantage::Agent(_) => panic!("the client can only be in the cluster"),
        };
        exchange(netns, deployment.address(), b"")
    }

    /// Ends the run and checks that nothing of it is left.
    pub fn end(self) {
        let run = self.environment.run();
        self.environment.remove().unwrap();
        assert!(!cluster().has_namespace(run), "the namespace is still there");
        assert!(!registry_path().join(run.to_string()).exists(), "the run is still registered");
    }
}
