//! Client, node and pod: three network namespaces in a row, connected by the wire and the pod's veth pair.

use std::{
    fs::File,
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream},
    os::fd::AsRawFd,
    process::Command,
    thread,
    time::Duration,
};

use nix::sched::{CloneFlags, setns, unshare};

pub const NODE: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 2);
pub const POD: Ipv4Addr = Ipv4Addr::new(10, 9, 1, 2);
pub const POD_MAC: [u8; 6] = [2, 0, 0, 0, 0, 9];
/// The node's links.
pub const WIRE: &str = "wire";
pub const POD_LINK: &str = "pod0";

/// A network namespace, gone with this value.
pub struct Namespace(File);

pub struct Topology {
    pub client: Namespace,
    pub node: Namespace,
    pub pod: Namespace,
}

impl Namespace {
    pub fn new() -> Namespace {
        let made = thread::spawn(|| {
            unshare(CloneFlags::CLONE_NEWNET).expect("making a network namespace needs root");
            Namespace(File::open("/proc/thread-self/ns/net").unwrap())
        })
        .join()
        .unwrap();
        made.ip("link set lo up");
        made
    }

    /// Runs `work` in the namespace.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        thread::scope(|scope| {
            let inside = scope.spawn(|| {
                setns(&self.0, CloneFlags::CLONE_NEWNET).unwrap();
                work()
            });
            inside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Runs a command in the namespace and returns what it prints.
    pub fn command(&self, command: &str) -> String {
        let mut words = command.split(' ');
        let output = self.run(|| Command::new(words.next().unwrap()).args(words).output().unwrap());
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    pub fn ip(&self, arguments: &str) {
        self.command(&format!("ip {arguments}"));
    }

    /// A path by which other processes can open it.
    fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }

    /// A server that echoes what it receives on one connection.
    pub fn echo(&self) -> u16 {
        let listener = self.run(|| TcpListener::bind("0.0.0.0:0").unwrap());
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            for connection in listener.incoming() {
                let mut connection = connection.unwrap();
                let mut bytes = [0; 4];
                while connection.read_exact(&mut bytes).is_ok() && connection.write_all(&bytes).is_ok() {}
            }
        });
        port
    }

    /// Whether an echo server at `to` can be talked to from here, `exchanges` times on one connection.
    pub fn can_talk_to(&self, to: Ipv4Addr, port: u16, exchanges: u32) -> bool {
        self.run(|| {
            let to = SocketAddr::from(SocketAddrV4::new(to, port));
            let Ok(mut connection) = TcpStream::connect_timeout(&to, Duration::from_secs(2)) else {
                return false;
            };
            connection.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            for _ in 0..exchanges {
                connection.write_all(b"ping").unwrap();
                let mut answer = [0; 4];
                connection.read_exact(&mut answer).unwrap();
                assert_eq!(&answer, b"ping");
            }
            true
        })
    }
}

impl Topology {
    pub fn new(forwarding: bool) -> Topology {
        let [client, node, pod] = [(); 3].map(|()| Namespace::new());
        node.ip(&format!("link add {WIRE} type veth peer name eth0 netns {}", client.path()));
        node.ip(&format!("link add {POD_LINK} type veth peer name eth0 netns {}", pod.path()));
        let mac = POD_MAC.map(|byte| format!("{byte:02x}")).join(":");
        pod.ip(&format!("link set eth0 address {mac}"));
        for (namespace, link, address) in [
            (&client, "eth0", "10.9.0.1/24".to_owned()),
            (&node, WIRE, format!("{NODE}/24")),
            (&node, POD_LINK, "10.9.1.1/24".to_owned()),
            (&pod, "eth0", format!("{POD}/24")),
        ] {
            namespace.ip(&format!("address add {address} dev {link}"));
            namespace.ip(&format!("link set {link} up"));
        }
        client.ip(&format!("route add 10.9.1.0/24 via {NODE}"));
        pod.ip("route add default via 10.9.1.1");
        let topology = Topology { client, node, pod };
        topology.set_forwarding(forwarding);
        topology
    }

    /// Whether the node's stack passes on what isn't for itself.
    pub fn set_forwarding(&self, on: bool) {
        let value = if on { "1" } else { "0" };
        self.node.run(|| std::fs::write("/proc/sys/net/ipv4/ip_forward", value).unwrap());
    }
}
