//! Proxies of every kind carry requests between client and service, keep connections alive, belong to their deployment, and end with it.

use std::{
    collections::BTreeSet,
    fs,
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use loadline_local::{Local, LocalError, missing};
use loadline_machine::{Environment, Netns};
use loadline_model::platform::{Layer, Proxy, Sidecar, Sides};
use loadline_platform::{Deployment, Platform, PlatformError, Service};
use loadline_test_support::{
    Node, allowed_cpus, exchange, helper, pid_of, processes_of, proxy_pids, wait_until, who_called,
};

fn http_service() -> Service {
    let argv = [helper(), "serve-http", "{host}", "{port}"].map(str::to_owned).to_vec();
    Service { argv, cpus: vec![0], ..Service::default() }
}

fn deploy(
    environment: &Environment,
    service: &Service,
    layers: &[Layer],
) -> Result<Box<dyn Deployment>, PlatformError> {
    Local { layers: layers.to_vec(), own_node: true }.deploy(environment, service, &mut |_| {})
}

fn sidecar(proxy: Proxy, sides: Sides) -> Layer {
    Layer::Sidecar(Sidecar { proxy, sides })
}

/// Processes of the run by the name of their program.
fn named(run: &str, program: &str) -> Vec<i32> {
    let is =
        |pid: &i32| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == program);
    processes_of(run).into_iter().filter(is).collect()
}

/// Sends requests by one connection from the client and returns the answers' bodies.
fn ask(client: &Netns, address: SocketAddr, count: usize) -> Vec<String> {
    // The service may not be up yet, and then a proxy says so in its own way.
    let request = "GET / HTTP/1.1\r\nHost: service\r\n\r\n";
    let closing = "GET / HTTP/1.1\r\nHost: service\r\nConnection: close\r\n\r\n";
    wait_until("an answer of the service", || {
        exchange(client, address, closing.as_bytes()).contains(" connection ")
    });
    client
        .run(|| {
            let mut stream = TcpStream::connect(address).expect("a connection");
            let mut bodies = Vec::new();
            for _ in 0..count {
                stream.write_all(request.as_bytes()).expect("a request");
                bodies.push(body(&mut stream));
            }
            Ok(bodies)
        })
        .unwrap()
}

fn body(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).expect("the head of an answer");
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
    });
    let mut body = vec![0; length.unwrap_or_else(|| panic!("no length in {head}"))];
    stream.read_exact(&mut body).expect("the body of an answer");
    String::from_utf8(body).unwrap()
}

fn carries(proxy: Proxy, program: &str, sides: Sides) {
    let node = Node::enter_new();
    let environment = node.environment();
    let run = environment.run().to_string();
    let layers = [Layer::Cgroup, Layer::Veth, Layer::Bridge, sidecar(proxy, sides)];
    let mut deployment = deploy(&environment, &http_service(), &layers).unwrap();
    let answers = ask(environment.client(), deployment.address(), 3);

    // The service is called from inside the pod, and by one connection however many requests there are.
    let connection = |answer: &String| answer.split(" request ").next().unwrap().to_owned();
    assert!(answers.iter().all(|answer| connection(answer) == connection(&answers[0])), "{answers:?}");
    let caller = answers[0].split(' ').next().unwrap();
    assert_ne!(caller, environment.client_address().to_string());
    let beside_the_client = deployment.address().ip() == Ipv4Addr::LOCALHOST;
    assert_eq!(beside_the_client, sides != Sides::Service);

    let proxies = named(&run, program);
    assert_eq!(proxies.len(), if sides == Sides::Service { 1 } else { 2 });
    let known: BTreeSet<i32> = proxy_pids(&*deployment).into_iter().map(|pid| pid as i32).collect();
    assert_eq!(known, proxies.iter().copied().collect());
    for proxy in &proxies {
        assert_eq!(allowed_cpus(*proxy as u32), allowed_cpus(pid_of(&*deployment)));
        let groups = |pid: i32| fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap();
        assert_eq!(groups(*proxy), groups(pid_of(&*deployment) as i32));
    }
    assert_eq!(deployment.ended(), None);
    deployment.stop().unwrap();
    assert!(processes_of(&run).is_empty());
    assert_eq!(folders(&node), Vec::<PathBuf>::new());
}

/// The addresses in the service's namespace, as ip shows them.
fn inside(deployment: &dyn Deployment) -> String {
    let netns = format!("--net=/proc/{}/ns/net", pid_of(deployment));
    let output = Command::new("nsenter").args([&netns, "ip", "-o", "-4", "addr"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Folders in those of the registry's runs.
fn folders(node: &Node) -> Vec<PathBuf> {
    let list = |dir: PathBuf| fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let runs = list(node.registry_path().into()).filter(|path| path.is_dir());
    runs.flat_map(list).filter(|path| path.is_dir()).collect()
}

#[test]
fn haproxy_carries_requests_on_every_side() {
    for sides in [Sides::Service, Sides::Both, Sides::BothMtls] {
        carries(Proxy::Haproxy, "haproxy", sides);
    }
}

#[test]
fn nginx_carries_requests_on_every_side() {
    for sides in [Sides::Service, Sides::Both, Sides::BothMtls] {
        carries(Proxy::Nginx, "nginx", sides);
    }
}

#[test]
fn envoy_carries_requests_on_every_side() {
    for sides in [Sides::Service, Sides::Both, Sides::BothMtls] {
        carries(Proxy::Envoy, "envoy", sides);
    }
}

/// What the proxy before the service answers to a client that shows `identity`, or no certificate; all that openssl says.
fn over_tls(
    environment: &Environment,
    address: SocketAddr,
    authority: &Path,
    identity: Option<&Path>,
) -> String {
    let mut openssl = Command::new("openssl");
    openssl.args(["s_client", "-quiet", "-verify_return_error", "-tls1_3", "-servername", "service"]);
    openssl.args(["-connect", &address.to_string(), "-CAfile"]).arg(authority);
    if let Some(identity) = identity {
        openssl.arg("-cert").arg(identity).arg("-key").arg(identity);
    }
    openssl.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    environment
        .client()
        .run(|| {
            let mut child = openssl.spawn().expect("openssl");
            let request = b"GET / HTTP/1.1\r\nHost: service\r\nConnection: close\r\n\r\n";
            // Who is refused may be gone before it has read this.
            let _ = child.stdin.as_mut().unwrap().write_all(request);
            let output = child.wait_with_output().unwrap();
            Ok(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
        })
        .unwrap()
}

/// Where the proxy in this folder, beside the client, leads.
fn before_the_service(folder: &Path) -> SocketAddr {
    let file = |name: &str| fs::read_to_string(folder.join(name)).ok();
    if let Some(envoy) = file("envoy.json") {
        let bootstrap: serde_json::Value = serde_json::from_str(&envoy).expect("JSON");
        let endpoint = "/static_resources/clusters/0/load_assignment/endpoints/0/lb_endpoints/0/endpoint/address/socket_address";
        let address = bootstrap.pointer(endpoint).expect("where it leads");
        let ip = address["address"].as_str().expect("an address").parse().expect("an address");
        return SocketAddr::new(ip, address["port_value"].as_u64().expect("a port") as u16);
    }
    let config = file("haproxy.cfg").or_else(|| file("nginx.conf")).expect("a configuration");
    let next = config.split([' ', ';']).find(|word| word.ends_with(":15006")).expect("where it leads");
    next.parse().expect("an address")
}

fn refuses_strangers(proxy: Proxy) {
    let node = Node::enter_new();
    let environment = node.environment();
    let layers = [Layer::Veth, sidecar(proxy, Sides::BothMtls)];
    let deployment = deploy(&environment, &http_service(), &layers).unwrap();
    ask(environment.client(), deployment.address(), 1);

    let [folder] = folders(&node).try_into().expect("one folder");
    let metadata = fs::metadata(&folder).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777, 0o700);
    let [authority, client] = ["authority.pem", "identity.pem"].map(|name| folder.join("1").join(name));
    let inbound = before_the_service(&folder.join("1"));

    let known = over_tls(&environment, inbound, &authority, Some(&client));
    assert!(known.contains(" connection "), "{known}");
    let unknown = over_tls(&environment, inbound, &authority, None);
    assert!(!unknown.contains(" connection "), "{unknown}");
}

#[test]
fn haproxy_before_the_service_refuses_a_client_without_a_certificate() {
    refuses_strangers(Proxy::Haproxy);
}

#[test]
fn nginx_before_the_service_refuses_a_client_without_a_certificate() {
    refuses_strangers(Proxy::Nginx);
}

#[test]
fn envoy_before_the_service_refuses_a_client_without_a_certificate() {
    refuses_strangers(Proxy::Envoy);
}

/// As on a machine without Envoy.
fn hide_envoy() {
    // SAFETY: nextest runs each test in a process of its own, and no thread of this one reads the environment yet.
    unsafe { std::env::set_var("PATH", "/usr/bin:/bin") };
}

#[test]
fn missing_proxies_are_reported_without_a_deployment() {
    hide_envoy();
    let _node = Node::enter_new();
    let layers = |last: Layer| [Layer::Veth, last];
    assert!(missing(&layers(Layer::UserlandProxy)).is_none());
    assert!(missing(&layers(sidecar(Proxy::Nginx, Sides::BothMtls))).is_none());
    let error = missing(&layers(sidecar(Proxy::Envoy, Sides::Service))).expect("no envoy here");
    assert!(matches!(error, LocalError::LayerMissing { layer: Layer::Sidecar(_), .. }), "{error}");
}

#[test]
fn a_sidecar_that_is_not_installed_is_named_and_leaves_nothing() {
    hide_envoy();
    let node = Node::enter_new();
    let environment = node.environment();
    let layers = [Layer::Veth, sidecar(Proxy::Envoy, Sides::Both)];
    let Err(error) = deploy(&environment, &http_service(), &layers) else { panic!("envoy was found") };
    let message = error.to_string();
    assert!(message.contains("`sidecar`") && message.contains("`envoy` is not installed"), "{message}");
    assert!(processes_of(&environment.run().to_string()).is_empty());
    assert_eq!(folders(&node), Vec::<PathBuf>::new());
}

#[test]
fn a_sidecar_stands_behind_a_node_port_too() {
    let node = Node::enter_new();
    let environment = node.environment();
    let nodeport: Layer = serde_json::from_str(r#"{"nodeport": {"backend": "nftables"}}"#).unwrap();
    for sides in [Sides::Service, Sides::Both] {
        let layers = [Layer::Veth, nodeport.clone(), sidecar(Proxy::Haproxy, sides)];
        let deployment = deploy(&environment, &http_service(), &layers).unwrap();
        let answers = ask(environment.client(), deployment.address(), 1);
        assert!(answers[0].contains(" connection "), "{answers:?}");
    }
}

#[test]
fn a_proxy_that_exits_on_its_own_is_reported() {
    let node = Node::enter_new();
    let environment = node.environment();
    let layers = [Layer::Veth, sidecar(Proxy::Haproxy, Sides::Service)];
    let mut deployment = deploy(&environment, &http_service(), &layers).unwrap();
    let [proxy] = named(&environment.run().to_string(), "haproxy").try_into().expect("one process");
    assert!(Command::new("kill").args(["-KILL", &proxy.to_string()]).status().unwrap().success());
    let deployment = std::cell::RefCell::new(&mut deployment);
    wait_until("the end is reported", || deployment.borrow_mut().ended().is_some());
    let ended = deployment.borrow_mut().ended().unwrap();
    assert!(ended.contains("sidecar") && ended.contains("signal: 9"), "{ended}");
}

#[test]
fn dockers_proxy_copies_what_passes_and_belongs_to_its_deployment() {
    let node = Node::enter_new();
    let environment = node.environment();
    let run = environment.run().to_string();
    let layers = [Layer::Cgroup, Layer::Veth, Layer::Bridge, Layer::UserlandProxy];
    let deployment = deploy(&environment, &http_service(), &layers).unwrap();
    assert_ne!(deployment.address().port(), 8080);
    let caller = ask(environment.client(), deployment.address(), 2).remove(1);
    // The node's address on the pod's side: the proxy opens its own connection, and the connection ends where the client's does.
    let (address, rest) = caller.split_once(' ').unwrap();
    let address: Ipv4Addr = address.parse().unwrap();
    let pod = Ipv4Addr::from_bits(address.to_bits() + 1);
    assert!(inside(&*deployment).contains(&pod.to_string()), "{caller}");
    assert!(rest.ends_with("request 2"), "{caller}");

    let [proxy] = named(&run, "docker-proxy").try_into().expect("one process");
    assert_eq!(proxy_pids(&*deployment), [proxy as u32]);
    assert_eq!(allowed_cpus(proxy as u32), "0");
    let groups = |pid: i32| fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap();
    assert_eq!(groups(proxy), groups(pid_of(&*deployment) as i32));
    deployment.stop().unwrap();
    assert!(processes_of(&run).is_empty());
}

#[test]
fn dockers_proxy_carries_a_service_that_speaks_first() {
    let node = Node::enter_new();
    let environment = node.environment();
    let deployment = deploy(&environment, &who_called(), &[Layer::Veth, Layer::UserlandProxy]).unwrap();
    loadline_test_support::caller_seen(&environment, deployment.address());
}
