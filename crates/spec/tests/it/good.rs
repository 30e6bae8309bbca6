//! What files and flags mean: the examples, the defaults, and that both ways lead to the same experiment.

use crate::support;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use loadline_model::LoadId;
use loadline_model::experiment::{Margin, Precision};
use loadline_model::load::{Arrivals, Load, Rate, Reuse, Think, ThinkDistribution, Timestamps};
use loadline_model::platform::{Backend, Layer, Limits};
use loadline_spec::{
    Experiment, Flags, Interleave, Isolation, Nodes, OnFailure, PlanSpec, PlatformKind, Says, Start,
    experiment_schema, from_flags, from_yaml, from_yaml_file,
};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn example(name: &str) -> Experiment {
    let programs = support::programs();
    from_yaml_file(&root().join("examples").join(name), &support::machine(&programs)).unwrap()
}

fn yaml(text: &str) -> Experiment {
    let programs = support::programs();
    from_yaml("test.yaml", text.as_bytes(), &support::machine(&programs)).unwrap()
}

fn flags(flags: &Flags) -> Experiment {
    let programs = support::programs();
    from_flags(flags, &support::machine(&programs)).unwrap()
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn every_example_is_valid_and_names_its_schema() {
    let mut count = 0;
    for entry in std::fs::read_dir(root().join("examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            let text = std::fs::read_to_string(&path).unwrap();
            let first = text.lines().next().unwrap();
            assert_eq!(
                first,
                "# yaml-language-server: $schema=../docs/experiment.schema.json",
                "{}",
                path.display()
            );
            example(path.file_name().unwrap().to_str().unwrap());
            count += 1;
        }
    }
    assert!(count >= 4, "only {count} examples found");
}

#[test]
fn the_default_example_equals_the_default_flags() {
    let job = Flags {
        services: strings(&["orders"]),
        on: strings(&["host", "pod"]),
        rates: strings(&["2000/s"]),
        ..Flags::default()
    };
    let from_file = example("host-vs-pod.yaml");
    let from_flags =
        Experiment { name: from_file.name.clone(), question: from_file.question.clone(), ..flags(&job) };
    assert_eq!(from_file, from_flags);
}

#[test]
fn what_is_not_said_has_its_default() {
    let experiment = yaml("service: {builtin: orders}\nplatforms: [host, pod]\nloads: [{rate: 2000/s}]");
    let plan = PlanSpec {
        slice: Duration::from_millis(50),
        blocks: 30,
        slices: Vec::new(),
        deployments: 8,
        seed: 7,
        until: None,
        within: None,
        twin: true,
        isolation: Isolation::Shared,
        interleave: Interleave::Auto,
        warmup: Duration::from_secs(30),
        repeats: 2,
        margin: None,
        on_failure: OnFailure::End,
        nodes: Nodes::Shared,
        profile: None,
        tails: None,
    };
    assert_eq!(experiment.plan, plan);
    assert_eq!(experiment.name, "orders · host against pod");
    assert_eq!(experiment.limits, Limits::default());
    assert_eq!(experiment.services[0].requests[0].path, "/api/orders");
    assert_eq!(experiment.services[0].ready.path.as_deref(), Some("/healthz"));
    assert_eq!(experiment.services[0].ready.within, Duration::from_secs(30));
    assert_eq!(experiment.loads[0].connections, 16);
    let rate = Rate::per_second(2000.0).unwrap();
    assert_eq!(experiment.loads[0].load, Load::Open { rate, arrivals: Arrivals::Poisson });
}

#[test]
fn slices_are_chosen_from_each_load_and_the_seed_is_the_machines() {
    let experiment = yaml(
        "service: {builtin: orders}\nplatforms: [host, pod]\nloads: [{rate: 400/s}, {rate: 2000/s}, {rate: '1/s..2/s@7s'}]",
    );
    let slices: Vec<(u128, u32)> = (0..3)
        .map(|load| experiment.plan.slices_of(LoadId(load)))
        .map(|slices| (slices.length.as_millis(), slices.count))
        .collect();
    assert_eq!(slices, [(250, 6), (50, 30), (7000, 1)]);
    assert_eq!((experiment.plan.slice, experiment.plan.blocks), (Duration::from_millis(50), 30));
    assert_eq!(experiment.plan.seed, 7);
}

#[test]
fn everything_that_can_be_said_is_heard() {
    let experiment = yaml(
        "
name: all
question: why?
services:
  - name: mine
    command: server --root '/a b' {port}
    env: {RUST_LOG: info, THREADS: 2}
    requests:
      - GET /a
      - {method: POST, path: '/b?x=1', headers: {X-One: '1'}, body: '{}', weight: 3}
    ready: {http: /up, within: 5s}
  - {builtin: hello}
limits: {cpu: 1.5, memory: 512Mi}
platforms:
  - name: bare
    host: {}
  - local: [cgroup, veth, bridge, {nodeport: {backend: nftables, services: 100}}]
  - external: http://localhost:8080
loads:
  - {rate: 100/min, arrivals: uniform, connections: 4}
  - {closed: true, connections: 8}
plan: {slice: 2s, blocks: 12, deployments: 2, seed: 1, until: 2%, twin: false, isolation: exclusive,
  interleave: slices, warmup: 1min, repeats: 0, margin: 0.5%, on_failure: continue}
cpus: {service: [0, 2-3], load: 1}
",
    );
    let mine = &experiment.services[0];
    assert_eq!(mine.start, Some(Start::Command(strings(&["server", "--root", "/a b", "{port}"]))));
    assert_eq!(
        mine.env,
        [("RUST_LOG".to_owned(), "info".to_owned()), ("THREADS".to_owned(), "2".to_owned())]
    );
    assert_eq!(mine.requests[1].headers, [("X-One".to_owned(), "1".to_owned())]);
    assert_eq!((mine.requests[1].weight, mine.requests[1].body.as_deref()), (3, Some("{}")));
    assert_eq!(mine.ready.within, Duration::from_secs(5));
    assert_eq!(experiment.limits, Limits { cpus: Some(1.5), memory_bytes: Some(512 << 20) });
    let names: Vec<_> = experiment.platforms.iter().map(|platform| platform.name.as_str()).collect();
    assert_eq!(names, ["bare", "cgroup+veth+bridge+nodeport", "http://localhost:8080"]);
    let node_port = Layer::NodePort { backend: Backend::Nftables, services: 100 };
    let layers = vec![Layer::Cgroup, Layer::Veth, Layer::Bridge, node_port];
    assert_eq!(experiment.platforms[1].kind, PlatformKind::Local(layers));
    let PlatformKind::External { address, authority, .. } = &experiment.platforms[2].kind else { panic!() };
    assert_eq!(*address, SocketAddr::from(([127, 0, 0, 1], 8080)));
    assert_eq!(authority, "localhost:8080");
    assert_eq!(experiment.loads[1].load, Load::Closed { think: None });
    let median = Precision { metric: "response.p50".to_owned(), within: 0.02 };
    assert_eq!(experiment.plan.until, Some(vec![median]));
    assert_eq!(experiment.plan.margin, Some(Margin::Share(0.005)));
    assert_eq!(experiment.plan.within, Some(Duration::from_secs(900)));
    assert_eq!(experiment.placement.service_cpus, Some(vec![0, 2, 3]));
    assert_eq!(experiment.placement.load_cpus, Some(vec![1]));
    let stored = serde_json::to_string(&experiment).unwrap();
    assert_eq!(serde_json::from_str::<Experiment>(&stored).unwrap(), experiment);
}

#[test]
fn flags_say_the_same_as_a_file() {
    let job = Flags {
        services: strings(&["orders", "orders --delay 200us"]),
        requests: strings(&["/api/orders"]),
        on: strings(&["bare=host", "local:cgroup+veth"]),
        rates: strings(&["100/min"]),
        closed: true,
        ..Flags::default()
    }
    .with("--connections", "8")
    .with("--arrivals", "uniform")
    .with("--limit-cpu", "1")
    .with("--limit-memory", "1Gi")
    .with("--until", "1%")
    .with("--no-twin", "")
    .with("--service-cpus", "0,2-3")
    .with("--load-cpus", "1")
    .with("--ready", "/healthz");
    let file = yaml(
        "
services:
  - {builtin: orders, requests: [GET /api/orders], ready: {http: /healthz}}
  - {builtin: orders, args: --delay 200us, requests: [/api/orders], ready: {http: /healthz}}
platforms: [{name: bare, host: }, {local: [cgroup, veth]}]
loads: [{rate: 100/min, arrivals: uniform, connections: 8}, {closed: true, connections: 8}]
limits: {cpu: 1, memory: 1Gi}
plan: {until: 1%, twin: false}
cpus: {service: [0, 2, 3], load: [1]}
",
    );
    assert_eq!(flags(&job), file);
    assert_eq!(file.services[1].name, "orders --delay 200us");
}

#[test]
fn options_of_several_values_are_platforms_and_loads_of_their_own() {
    let job = Flags {
        services: strings(&["orders"]),
        on: strings(&["host", "far=pod"]),
        rates: strings(&["100/s"]),
        ..Flags::default()
    };
    let job = job.with("--limit-cpu", "0.3,1").with("--limit-memory", "64Mi").with("--connections", "1, 32");
    let from_flags = flags(&job);
    let from_file = yaml(
        "service: {builtin: orders}
limits: {memory: 64Mi}
platforms:
  - {name: host 0.3 CPU, host: {}, limits: {cpu: 0.3, memory: 64Mi}}
  - {name: host 1 CPU, host: {}, limits: {cpu: 1, memory: 64Mi}}
  - {name: far 0.3 CPU, pod: {}, limits: {cpu: 0.3, memory: 64Mi}}
  - {name: far 1 CPU, pod: {}, limits: {cpu: 1, memory: 64Mi}}
loads: [{rate: 100/s, connections: 1}, {rate: 100/s, connections: 32}]",
    );
    assert_eq!(from_flags.platforms, from_file.platforms);
    assert_eq!(from_flags.loads, from_file.loads);
    assert_eq!(from_flags.limits, from_file.limits);
}

#[test]
fn what_all_requests_have_in_common_is_each_ones() {
    let common = Flags {
        services: strings(&["orders"]),
        on: strings(&["host"]),
        rates: strings(&["100/s"]),
        headers: strings(&["Host: shop.test", "Accept: a: b"]),
        body: Some("{}".to_owned()),
        ..Flags::default()
    };
    let requests = flags(&common).services[0].requests.clone();
    let posted = yaml(
        "service: {builtin: orders, requests: [{method: POST, path: /api/orders, headers: {Host: shop.test, Accept: 'a: b'}, body: '{}'}]}
platforms: [host]
loads: [{rate: 100/s}]",
    );
    assert_eq!(requests, posted.services[0].requests, "a body alone is posted, as for curl");

    let mixed = flags(&Flags { requests: strings(&["3 /a", "PUT /b"]), ..common });
    let mix = yaml(
        "service: {builtin: orders, headers: {Host: shop.test, Accept: 'a: b'}, body: '{}', requests: [3 /a, PUT /b]}
platforms: [host]
loads: [{rate: 100/s}]",
    );
    assert_eq!(mixed.services[0].requests, mix.services[0].requests);
    let bodies: Vec<Option<&str>> =
        mix.services[0].requests.iter().map(|request| request.body.as_deref()).collect();
    assert_eq!(bodies, [None, Some("{}")]);
    assert!(mix.services[0].requests.iter().all(|request| request.headers.len() == 2));

    let own = yaml(
        "service: {builtin: orders, headers: {accept: a}, requests: [{path: /, headers: {Accept: b}}]}
platforms: [host]
loads: [{rate: 100/s}]",
    );
    assert_eq!(own.services[0].requests[0].headers, [("Accept".to_owned(), "b".to_owned())]);
}

#[test]
fn each_flag_is_declared_once_and_says_what_it_does() {
    let flags = loadline_spec::flags();
    let names: std::collections::BTreeSet<&str> = flags.iter().map(|flag| flag.name).collect();
    assert_eq!(names.len(), flags.len(), "{flags:?}");
    for flag in &flags {
        assert!(flag.name.starts_with("--") && !flag.help.is_empty(), "{flag:?}");
    }
    let slice = flags.iter().find(|flag| flag.name == "--slice").unwrap();
    assert_eq!(
        slice.help,
        "Length of a slice [default: chosen from each load: 50ms, longer below 2000/s, 1.2s at most]"
    );
    assert_eq!(slice.placeholder.as_deref(), Some("TIME"));
}

#[test]
fn urls_alone_need_no_service() {
    let job = Flags {
        on: strings(&["old=http://localhost:1", "new=http://127.0.0.1:2"]),
        rates: strings(&["10/s"]),
        ..Flags::default()
    };
    let experiment = flags(&job);
    assert_eq!(experiment.services[0].start, None);
    assert_eq!(experiment.services[0].requests[0].path, "/");
    assert_eq!(experiment.platforms[1].name, "new");
}

#[test]
fn commands_of_the_same_program_are_told_apart_by_their_arguments() {
    let job = Flags {
        commands: strings(&["server -x {port}", "server -y {port}"]),
        on: strings(&["host"]),
        rates: strings(&["10/s"]),
        ..Flags::default()
    };
    let experiment = flags(&job);
    let names: Vec<_> = experiment.services.iter().map(|service| service.name.as_str()).collect();
    assert_eq!(names, ["server -x '{port}'", "server -y '{port}'"]);
}

#[test]
fn a_value_may_be_written_once_and_meant_twice() {
    let experiment = yaml(
        "service: {builtin: orders}\nplatforms: [host]\n\
         loads: [{rate: 1/s, connections: &n 4}, {rate: 2/s, connections: *n}]",
    );
    assert_eq!(experiment.loads[1].connections, 4);
}

/// `UPDATE_SCHEMA=1 cargo test` writes the file anew.
#[test]
fn the_published_schema_is_the_generated_one() {
    let path = root().join("docs/experiment.schema.json");
    let generated = serde_json::to_string_pretty(&experiment_schema()).unwrap() + "\n";
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &generated).unwrap();
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(published == generated, "{} is out of date: run with UPDATE_SCHEMA=1", path.display());
}

#[test]
fn a_container_and_a_pod_are_named_by_what_sets_them_apart() {
    let file = yaml(
        "service: {builtin: orders}
platforms: [docker, {docker: {network: none-with-wire}}, {docker: {publish: userland-proxy}}, kubernetes,
  {kubernetes: {expose: podIP, placement: other-node}}, {kubernetes: {static: true, services: 50, network_policy: true}},
  {name: guaranteed, kubernetes: {requests: {cpu: 1, memory: 64Mi}, agent_image: registry.example/loadline:1}}]
loads: [{rate: 2000/s}]",
    );
    let names: Vec<&str> = file.platforms.iter().map(|platform| platform.name.as_str()).collect();
    let expected = [
        "docker",
        "docker none-with-wire",
        "docker userland-proxy",
        "kubernetes",
        "kubernetes podIP other-node",
        "kubernetes nodePort static among 50 with a policy",
        "guaranteed",
    ];
    assert_eq!(names, expected);
}

#[test]
fn slices_are_longer_where_a_limit_below_one_cpu_applies() {
    let slice = |platforms: &str| {
        let text = format!(
            "service: {{builtin: orders}}\nlimits: {{cpu: 0.5}}\nplatforms: [{platforms}]\nloads: [{{rate: 2000/s}}]"
        );
        yaml(&text).plan.slice.as_millis()
    };
    assert_eq!(slice("host, pod"), 1000);
    assert_eq!(slice("{host: , limits: {cpu: 1}}, pod"), 1000);
    assert_eq!(slice("{host: , limits: {cpu: 1}}, {pod: , limits: {cpu: 2}}"), 50);
}

#[test]
fn platforms_of_flags_are_those_of_the_file() {
    let from_file = yaml(
        "service: {builtin: orders}
platforms: [host, {docker: {network: host}}, {kubernetes: {expose: podIP, placement: other-node}},
  {kubernetes: {expose: nodePort, static: true}}]
loads: [{rate: 2000/s}]",
    );
    let on = strings(&["host", "docker:host", "kubernetes:podIP+other-node", "kubernetes:static+nodePort"]);
    let from_flags =
        flags(&Flags { services: strings(&["orders"]), on, rates: strings(&["2000/s"]), ..Flags::default() });
    assert_eq!(from_flags.platforms, from_file.platforms);
}

#[test]
fn an_image_alone_is_enough_for_containers() {
    let file = yaml(
        "service: {image: 'registry.example/shop/orders:1.2'}
platforms: [docker, kubernetes]
loads: [{rate: 10/s}]",
    );
    assert_eq!(file.services[0].name, "orders:1.2");
    assert_eq!(file.services[0].start, None);
}

#[test]
fn claims_of_the_published_benchmark_are_read_as_they_are_meant() {
    let experiment = example("monolith-vs-kubernetes.yaml");
    assert_eq!(experiment.claims.len(), 6);
    assert_eq!(experiment.claims[0].says, Says::Difference { from_ns: 3.6e6, to_ns: 5.4e6 });
    assert_eq!(experiment.claims[0].loads, [0, 1, 2].map(loadline_model::LoadId));
    let closes = Says::Closes { of: "nodePort".to_owned(), from: 0.48, to: 0.72 };
    assert_eq!(experiment.claims[4].says, closes);
    assert_eq!(experiment.claims[5].says, Says::Share { from: -0.05, to: 0.05 });
}

#[test]
fn everything_of_a_load_is_heard_and_its_files_are_beside_the_experiment() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in
        [("times.txt", "0\n0.5\n"), ("users.csv", "id\n1\n"), ("ca.pem", ""), ("c.pem", ""), ("c.key", "")]
    {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let file = folder.path().join("mine.yaml");
    let text = "
service:
  feed: users.csv
  expect: [status=2xx, 'header:content-type~json']
  tls: {ca: ca.pem, cert: c.pem, key: c.key, server_name: shop.test, insecure: true, resumption: false}
platforms: [{external: 'https://localhost'}]
loads:
  - {rate: '0/s..200/s@1s,200/s'}
  - {replay: times.txt}
  - {closed: true, think: '10ms:fixed', requests_per_connection: 3}
  - {rate: 50/s, http2: true, timestamps: kernel, timeout: 2s}
  - {rate: 50/s, streams: 4, requests_per_connection: 1}
";
    std::fs::write(&file, text).unwrap();
    let programs = support::programs();
    let experiment = from_yaml_file(&file, &support::machine(&programs)).unwrap();

    let service = &experiment.services[0];
    let beside = |name: &str| Some(folder.path().join(name));
    assert_eq!(service.feed, beside("users.csv"));
    let checks: Vec<String> = service.expect.iter().map(ToString::to_string).collect();
    assert_eq!(checks, ["status=200..299", "header:content-type~json"]);
    assert!(!service.https);
    let tls = service.tls.as_ref().unwrap();
    assert_eq!((&tls.ca, tls.server_name.as_deref()), (&beside("ca.pem"), Some("shop.test")));
    assert_eq!(tls.identity.as_ref().map(|identity| identity.key.clone()), beside("c.key"));
    assert!(tls.insecure && tls.no_resumption);
    let external = &experiment.platforms[0].kind;
    assert!(external.speaks_tls(false));
    assert!(matches!(external, PlatformKind::External { address, .. } if address.port() == 443));

    let [ramp, replay, closed, http2, streams] = &experiment.loads[..] else { panic!() };
    assert!(
        matches!(&ramp.load, Load::Profile { profile, .. } if profile.to_string() == "0/s..200/s@1s,200/s")
    );
    assert!(matches!(&replay.load, Load::Replay(replay) if *replay.times() == [0, 500_000_000]));
    let think = Think { mean: Duration::from_millis(10), distribution: ThinkDistribution::Constant };
    assert_eq!((&closed.load, closed.reuse), (&Load::Closed { think: Some(think) }, Reuse::Times(3)));
    assert_eq!(http2.protocol.streams().map(std::num::NonZeroUsize::get), Some(1));
    assert_eq!((http2.timestamps, http2.timeout), (Timestamps::Kernel, Duration::from_secs(2)));
    assert_eq!(streams.protocol.streams().map(std::num::NonZeroUsize::get), Some(4));
    assert_eq!(streams.reuse, Reuse::Never);
}
