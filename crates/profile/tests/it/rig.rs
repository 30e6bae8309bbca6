//! A service and a client with the network of a platform between them, in namespaces that go with the rig.

use std::{
    fs,
    net::Ipv4Addr,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use loadline_profile::{Options, Profile, Profiler, Symbols, ThreadRoles};

const PORT: u16 = 8080;
const SERVICE_CPU: &str = "0";
const LOAD_CPU: &str = "1";

/// How long a profile is taken. Long enough for thousands of samples of the path, idle as the CPUs may be.
const SLICE: Duration = Duration::from_secs(2);

/// What is between client and service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// A wire from the client's namespace to the node's, where the service is.
    Host,
    /// Behind that a pod: a veth pair at a bridge, and a NodePort in rules of nftables.
    NodePort,
    /// As Docker publishes a port: rules of legacy iptables, seen by bridged packets too.
    Published,
    /// The NodePort in rules that iptables writes as rules of nftables.
    NodePortByIptablesNft,
    /// The pod on another node, through VXLAN, connections tracked.
    Vxlan,
    /// The pod by macvlan on the wire.
    Macvlan,
}

/// The CPUs of the machine, which one test at a time has to itself: what another does in soft interrupts would be seen too.
static MACHINE: Mutex<()> = Mutex::new(());

/// Waits until no other test is watching or loading the CPUs.
pub fn machine() -> MutexGuard<'static, ()> {
    // A test that failed leaves nothing of its rig.
    MACHINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The network of a path with the service in it.
pub struct Rig {
    _machine: MutexGuard<'static, ()>,
    prefix: String,
    namespaces: Vec<String>,
    folder: PathBuf,
    service: Option<Child>,
    target: Ipv4Addr,
}

impl Rig {
    pub fn new(path: Path) -> Rig {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let prefix = format!("llprof{}x{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(&prefix);
        fs::create_dir_all(&folder).unwrap();
        let mut rig = Rig {
            _machine: machine(),
            prefix,
            namespaces: Vec::new(),
            folder,
            service: None,
            target: Ipv4Addr::LOCALHOST,
        };
        rig.lay(path);
        rig
    }

    fn lay(&mut self, path: Path) {
        let (client, node) = (self.namespace("client"), self.namespace("node"));
        wire(&client, "eth0", "10.91.0.1/24", &node, "wire0", "10.91.0.2/24");
        self.target = Ipv4Addr::new(10, 91, 0, 2);
        let mut home = node.clone();
        match path {
            Path::Host => {}
            Path::NodePort | Path::Published | Path::NodePortByIptablesNft => {
                home = self.pod(&node, "pod");
                match path {
                    Path::NodePort => nodeport_by_nft(&node),
                    Path::Published => {
                        run(&format!("ip netns exec {node} sysctl -qw net.bridge.bridge-nf-call-iptables=1"));
                        nodeport_by_iptables(&node, "iptables-legacy");
                    }
                    _ => nodeport_by_iptables(&node, "iptables-nft"),
                }
            }
            Path::Vxlan => {
                let other = self.namespace("other");
                wire(&node, "under0", "10.92.0.1/24", &other, "under0", "10.92.0.2/24");
                for (ns, own, peer) in [(&node, 1, 2), (&other, 2, 1)] {
                    run(&format!(
                        "ip -n {ns} link add vx0 type vxlan id 9 dstport 8472 local 10.92.0.{own} remote 10.92.0.{peer}"
                    ));
                    run(&format!("ip -n {ns} addr add 10.93.0.{own}/24 dev vx0"));
                    run(&format!("ip -n {ns} link set vx0 up"));
                }
                home = self.pod(&other, "pod");
                run(&format!("ip -n {node} route add 10.94.0.0/24 via 10.93.0.2"));
                run(&format!("ip -n {other} route add 10.91.0.0/24 via 10.93.0.1"));
                nft(
                    &node,
                    "table ip t { chain c { type filter hook forward priority 0; ct state invalid drop; }; }",
                );
                run(&format!("ip -n {client} route add 10.94.0.0/24 via 10.91.0.2"));
                self.target = Ipv4Addr::new(10, 94, 0, 2);
            }
            Path::Macvlan => {
                home = self.namespace("pod");
                run(&format!("ip -n {node} link add mac0 link wire0 type macvlan mode bridge"));
                run(&format!("ip -n {node} link set mac0 netns {home} name eth0"));
                run(&format!("ip -n {home} addr add 10.91.0.9/24 dev eth0"));
                run(&format!("ip -n {home} link set eth0 up"));
                self.target = Ipv4Addr::new(10, 91, 0, 9);
            }
        }
        self.serve(&home);
    }

    /// Makes a pod at a bridge of a node: 10.94.0.2 behind 10.94.0.1.
    fn pod(&mut self, node: &str, name: &str) -> String {
        let pod = self.namespace(name);
        run(&format!("ip -n {node} link add br0 type bridge"));
        run(&format!("ip -n {node} addr add 10.94.0.1/24 dev br0"));
        run(&format!("ip -n {node} link set br0 up"));
        run(&format!("ip -n {node} link add pod0 type veth peer name eth0 netns {pod}"));
        run(&format!("ip -n {node} link set pod0 master br0 up"));
        run(&format!("ip -n {pod} addr add 10.94.0.2/24 dev eth0"));
        run(&format!("ip -n {pod} link set eth0 up"));
        run(&format!("ip -n {pod} route add default via 10.94.0.1"));
        pod
    }

    fn namespace(&mut self, name: &str) -> String {
        let name = format!("{}-{name}", self.prefix);
        run(&format!("ip netns add {name}"));
        self.namespaces.push(name.clone());
        run(&format!("ip -n {name} link set lo up"));
        run(&format!("ip netns exec {name} sysctl -qw net.ipv4.ip_forward=1"));
        name
    }

    fn serve(&mut self, namespace: &str) {
        let (folder, config) = (self.folder.display(), self.folder.join("nginx.conf"));
        let text = format!(
            "daemon off; master_process off; pid {folder}/pid; error_log {folder}/errors;\n\
             events {{ }}\n\
             http {{ access_log off; keepalive_requests 100000000; client_body_temp_path {folder}; proxy_temp_path {folder};\n\
             fastcgi_temp_path {folder}; uwsgi_temp_path {folder}; scgi_temp_path {folder};\n\
             server {{ listen {PORT}; location / {{ return 200 'hello'; }} }} }}\n"
        );
        fs::write(&config, text).unwrap();
        let service = Command::new("ip")
            .args(["netns", "exec", namespace, "taskset", "-c", SERVICE_CPU, "nginx", "-c"])
            .arg(&config)
            .spawn()
            .unwrap();
        let tcp = format!("/proc/{}/net/tcp", service.id());
        self.service = Some(service);
        let deadline = Instant::now() + Duration::from_secs(20);
        // A listening socket (state 0A) on the port.
        while !fs::read_to_string(&tcp).unwrap_or_default().contains(&format!(":{PORT:04X} 00000000:0000 0A"))
        {
            assert!(Instant::now() < deadline, "nginx does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Starts a client with one connection, or one for each request.
    pub fn load(&self, keep_alive: bool) -> Load {
        let mut command = Command::new("ip");
        let client = format!("{}-client", self.prefix);
        command.args(["netns", "exec", &client, "taskset", "-c", LOAD_CPU, "wrk", "-t1", "-c1", "-d30s"]);
        if !keep_alive {
            command.args(["-H", "Connection: close"]);
        }
        let wrk =
            command.arg(format!("http://{}:{PORT}/", self.target)).stdout(Stdio::piped()).spawn().unwrap();
        let load = Load { wrk };
        // `ip` and `taskset` have become wrk, and its thread is there.
        let deadline = Instant::now() + Duration::from_secs(20);
        while load.threads().len() < 2 {
            assert!(Instant::now() < deadline, "wrk has no thread");
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(300));
        load
    }

    pub fn who(&self, load: &Load) -> ThreadRoles {
        let service = self.service.iter().map(Child::id).collect();
        ThreadRoles { service, load: load.threads().into_iter().collect() }
    }

    /// Profiles a slice of load.
    pub fn profile(&self, keep_alive: bool) -> Profile {
        let load = self.load(keep_alive);
        let profiler = Profiler::start(&Options::new([0, 1])).unwrap();
        std::thread::sleep(SLICE);
        let samples = profiler.stop().unwrap();
        samples.resolve(&self.who(&load), &Symbols::new()).unwrap()
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        if let Some(service) = &mut self.service {
            let _ = service.kill();
            let _ = service.wait();
        }
        for namespace in &self.namespaces {
            let _ = Command::new("ip").args(["netns", "del", namespace]).status();
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A client at work until it is dropped.
pub struct Load {
    wrk: Child,
}

impl Load {
    fn threads(&self) -> Vec<u32> {
        let Ok(tasks) = fs::read_dir(format!("/proc/{}/task", self.wrk.id())) else { return Vec::new() };
        tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok()).collect()
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        let _ = self.wrk.kill();
        let _ = self.wrk.wait();
    }
}

/// A veth pair between two namespaces.
fn wire(a: &str, a_link: &str, a_address: &str, b: &str, b_link: &str, b_address: &str) {
    run(&format!("ip -n {a} link add {a_link} type veth peer name {b_link} netns {b}"));
    for (ns, link, address) in [(a, a_link, a_address), (b, b_link, b_address)] {
        run(&format!("ip -n {ns} addr add {address} dev {link}"));
        run(&format!("ip -n {ns} link set {link} up"));
    }
}

fn nodeport_by_nft(node: &str) {
    nft(
        node,
        "table ip t { \
         chain in_nat { type nat hook prerouting priority dstnat; tcp dport 8080 dnat to 10.94.0.2:8080; }; \
         chain out_nat { type nat hook postrouting priority srcnat; ip daddr 10.94.0.2 masquerade; }; \
         chain passing { type filter hook forward priority 0; ct state invalid drop; ct state established,related accept; }; }",
    );
}

fn nodeport_by_iptables(node: &str, iptables: &str) {
    for rule in [
        "-t nat -A PREROUTING -p tcp --dport 8080 -m comment --comment published -j DNAT --to-destination 10.94.0.2:8080",
        "-t nat -A POSTROUTING -d 10.94.0.2 -j MASQUERADE",
        "-A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT",
        "-A FORWARD -d 10.94.0.2 -p tcp --dport 8080 -j ACCEPT",
    ] {
        run(&format!("ip netns exec {node} {iptables} -w {rule}"));
    }
}

fn nft(namespace: &str, rules: &str) {
    run_words(&["ip", "netns", "exec", namespace, "nft", rules]);
}

fn run(command: &str) {
    run_words(&command.split(' ').collect::<Vec<_>>());
}

fn run_words(words: &[&str]) {
    let output = Command::new(words[0]).args(&words[1..]).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}
