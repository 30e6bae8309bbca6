//! What is written is read back as the same experiment.

use crate::support;

use loadline_model::platform::{Image, ImageSource, Layer, Limits};
use loadline_model::{PlatformId, ServiceId};
use loadline_spec::{
    Experiment, Flags, LadderFlags, Part, Ready, Service, from_flags, from_flags_for, from_yaml,
    from_yaml_file, ladder, to_yaml, to_yaml_with_defaults,
};
use proptest::prelude::*;

/// Writes the experiment in both ways, and reads what was written.
fn assert_read_back(experiment: &Experiment) {
    let programs = support::programs();
    let machine = support::machine(&programs);
    for yaml in [to_yaml(experiment), to_yaml_with_defaults(experiment)] {
        let read = from_yaml("written.yaml", yaml.as_bytes(), &machine);
        let read = read.unwrap_or_else(|error| panic!("{}\n{yaml}", error.render(false)));
        assert_eq!(&read, experiment, "{yaml}");
    }
}

fn yaml(text: &str) -> Experiment {
    let programs = support::programs();
    from_yaml("test.yaml", text.as_bytes(), &support::machine(&programs)).unwrap()
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// A service with these keys beside its command, as a run knows it.
fn known(keys: &str) -> Service {
    let text = format!(
        "service: {{name: mine, command: 'server {{port}}', {keys}}}\nplatforms: [host]\nloads: [{{rate: 100/s}}]\n"
    );
    yaml(&text).services.remove(0)
}

fn elsewhere() -> Flags {
    Flags { on: strings(&["host", "pod"]), rates: strings(&["300/s"]), ..Flags::default() }
}

#[test]
fn a_known_service_is_measured_where_flags_say_as_it_is_known() {
    let programs = support::programs();
    let mine = known("env: {A: b}, limits: {cpu: 2}, cpus: 1, requests: [/a], ready: {http: /up}");
    let made = from_flags_for(&mine, &elsewhere(), &support::machine(&programs)).unwrap();
    assert_eq!((&made.services, made.name.as_str()), (&vec![mine], "mine · host against pod"));
    assert_read_back(&made);
}

#[test]
fn flags_win_over_what_is_known_of_a_service_key_by_key() {
    let programs = support::programs();
    let machine = support::machine(&programs);
    let mine = known(
        "limits: {cpu: 2, memory: 64Mi}, cpus: 1, ready: {http: /up, within: 5s}, https: true, tls: {ca: Cargo.toml}, \
         image: {archive: Cargo.toml, entrypoint: node}, expect: [status=2xx], \
         requests: [{path: /a, headers: {X-One: '1', X-Two: '2'}}, {method: POST, path: /b, body: old}]",
    );
    let flags = Flags { headers: strings(&["x-one: 9"]), body: Some("new".to_owned()), ..elsewhere() }
        .with("--limit-cpu", "1")
        .with("--service-cpus", "2")
        .with("--ready", "/other")
        .with("--insecure", "")
        .with("--image", "mine:2");
    let made = from_flags_for(&mine, &flags, &machine).unwrap();
    let (service, platform) = (ServiceId(0), PlatformId(1));
    let limits = Limits { cpus: Some(1.0), memory_bytes: Some(64 << 20) };
    assert_eq!(made.limits_of(service, platform), limits);
    assert_eq!(made.placement_of(service, platform).service_cpus, Some(vec![2]));
    let [made_service] = &made.services[..] else { panic!("{:?}", made.services) };
    let headers = |of: usize| -> Vec<String> {
        made_service.requests[of].headers.iter().map(|(name, value)| format!("{name}: {value}")).collect()
    };
    assert_eq!((headers(0), headers(1)), (strings(&["x-one: 9", "X-Two: 2"]), strings(&["x-one: 9"])));
    let bodies: Vec<_> = made_service.requests.iter().map(|request| request.body.as_deref()).collect();
    assert_eq!(bodies, [None, Some("new")]);
    let within = mine.ready.within;
    assert_eq!(made_service.ready, Ready { path: Some("/other".to_owned()), within });
    let tls = made_service.tls.as_ref().unwrap();
    assert_eq!((tls.insecure, &tls.ca), (true, &mine.tls.as_ref().unwrap().ca));
    let entrypoint = Some(strings(&["node"]));
    assert_eq!(
        made_service.image,
        Some(Image { source: ImageSource::Name("mine:2".to_owned()), entrypoint: entrypoint.clone() })
    );
    assert_eq!(made_service.expect, mine.expect);
    assert_read_back(&made);

    let flags = Flags { requests: strings(&["/c"]), ..elsewhere() }.with("--entrypoint", "node");
    let made = from_flags_for(&known("image: 'mine:1', requests: [/a, /b]"), &flags, &machine).unwrap();
    assert_eq!(made.services[0].requests, known("requests: [/c]").requests);
    let image = Image { source: ImageSource::Name("mine:1".to_owned()), entrypoint };
    assert_eq!(made.services[0].image, Some(image));
}

#[test]
fn flags_for_a_known_service_name_no_other() {
    let programs = support::programs();
    for (flag, flags) in [
        ("--service orders", Flags { services: strings(&["orders"]), ..elsewhere() }),
        ("--command server", Flags { commands: strings(&["server"]), ..elsewhere() }),
        ("--vary threads=1,4", Flags { vary: strings(&["threads=1,4"]), ..elsewhere() }),
    ] {
        let refused = from_flags_for(&known("requests: [/a]"), &flags, &support::machine(&programs));
        let said = refused.expect_err(flag).render(false);
        assert!(said.contains(flag) && said.contains("`mine` is what is measured"), "{said}");
    }
}

/// An experiment with every key.
const FULL: &str = "
name: all
question: 'why: not?'
services:
  - name: mine
    command: server --root '/a b' {port}
    env: {RUST_LOG: info, THREADS: 2, EMPTY: '', LINES: \"a\\nb\"}
    requests:
      - GET /a
      - 3 /b
      - {method: POST, path: '/b?x=1', headers: {X-One: '1', X-Two: \"it's: # quoted\"}, body: '{\"a\": \"ü\\n\"}', weight: 3}
    ready: {http: /up, within: 5s}
    image: {name: 'registry.example/shop/orders:1.2', entrypoint: [/bin/orders, '']}
    feed: Cargo.toml
    expect: [status=2xx, 'body~a, b']
  - {builtin: orders, args: --delay 200us, image: {archive: Cargo.toml}}
limits: {cpu: 1.5, memory: 512Mi}
platforms:
  - {name: bare, host: }
  - local: [cgroup, veth, bridge, {nodeport: {backend: nftables, services: 100}}]
  - {name: rules, local: [cgroup, veth, rules: 20000, spin: 9]}
  - {name: mesh, local: [cgroup, veth, sidecar: {proxy: envoy, sides: both-mtls}]}
  - local: [cni: /etc/cni/net.d/10-x.conflist]
  - pod
  - {name: again, pod: {}}
  - container
  - external: http://localhost:8080
  - docker
  - {docker: {network: none-with-wire, user: 1000:1000, mounts: ['/:/data:ro']}}
  - {docker: {publish: userland-proxy}}
  - kubernetes
  - {kubernetes: {kubeconfig: Cargo.toml, context: kind-a, expose: ingress http://shop.example/, placement: other-node, services: 50, network_policy: true, probes: default,
      replicas: 3, requests: {cpu: 0.25, memory: 64Mi}, user: 1000, load_from: cluster, observers: daemonset,
      agent_image: 'registry.example/loadline:1'}}
  - {name: own, kubernetes: {manifests: Cargo.toml, workload: deployment/x}}
loads:
  - {rate: 100/min, arrivals: uniform, connections: 4}
  - {rate: 2.5/s, new_connections: true}
  - {closed: true, connections: 8}
  - {rate: '10/s..20/s@1s,20/s', timestamps: kernel, timeout: 2s}
  - {rate: 50/s, requests_per_connection: 9}
  - {closed: true, think: '10ms:fixed'}
plan: {slice: 2.5s, blocks: 12, deployments: 2, seed: 18446744073709551615, until: '2%,p99:5%', twin: false, isolation: exclusive,
  interleave: slices, warmup: 1min, repeats: 0, margin: 0.55%, on_failure: continue, nodes: own, profile: 300ms}
cpus: {service: [0, 2-3], load: 1}
claims:
  - {text: 'a: b', where: {platform: mesh, service: mine, rate: [2.5/s, 100/min], closed: true}, metric: response.mean, difference: 4.5ms, baseline: 12ms..17ms, unit: ms, must: true}
  - {text: b, metric: cpu.path, difference: negligible 2%}
  - {text: c, where: {rate: 100/min}, metric: response.p99, closes: 60% of pod}
  - {text: d, metric: softirqs, difference: 110%..150%, baseline: 2.5}
  - {text: e, metric: rate.achieved, difference: -29%, baseline: 716/s}
fail_if: [p99 slower by > 5%, 'rate.achieved  fewer by >100/s', cpu.service costlier]
";

#[test]
fn an_experiment_with_every_key_is_read_back() {
    let experiment = yaml(FULL);
    assert_read_back(&experiment);
    insta::assert_snapshot!("every_key", to_yaml(&experiment));
}

const NEEDS: &str = "
service:
  command: server --database {db.host}:{db.port} {port}
  ready: {http: /up}
  needs:
    - {name: db, command: 'server --port {port}', env: {SIZE: 64M}, limits: {cpu: 0.5}, shared: true, ready: {within: 1min}}
    - {name: front, command: 'server {host}:{port}', env: {TO: '{service.host}:{service.port}', AND: '{db.host}'}, image: 'front:1', proxy: true, ready: {http: /up}}
platforms: [host, docker]
loads: [{rate: 50/s}]
";

#[test]
fn needs_and_a_proxy_are_read_back() {
    let experiment = yaml(NEEDS);
    assert_eq!(experiment.services[0].proxy().map(|need| need.name.as_str()), Some("front"));
    assert_read_back(&experiment);
    insta::assert_snapshot!("needs", to_yaml(&experiment));
}

/// What a proxy on the path could not pass on.
const HTTPS_AND_HTTP2: &str = "
service:
  command: server {port}
  https: true
  tls: {ca: Cargo.toml, cert: Cargo.toml, key: Cargo.toml, server_name: shop.test, insecure: true, resumption: false}
platforms: [host, pod, {external: 'https://localhost'}]
loads:
  - {rate: 50/s, http2: true}
  - {rate: 50/s, streams: 4}
  - {rate: 50/s, timestamps: kernel}
cells: {exclude: [{platform: pod, load: '50/s Poisson, HTTP/2 with 4 streams, 16 connections'}]}
";

#[test]
fn https_and_http2_are_read_back() {
    let experiment = yaml(HTTPS_AND_HTTP2);
    assert_eq!(experiment.cells.len(), 3 * 3 - 1, "loads that differ in their streams alone are told apart");
    assert_read_back(&experiment);
    insta::assert_snapshot!("https_and_http2", to_yaml(&experiment));
}

#[test]
fn what_has_its_default_is_left_out_or_written_with_all_values() {
    let experiment = yaml("service: {builtin: orders}\nplatforms: [host, pod]\nloads: [{rate: 2000/s}]");
    assert_eq!(
        to_yaml(&experiment),
        "service: {builtin: orders}\nplatforms:\n  - host\n  - pod\nloads: [{rate: 2000/s}]\nplan: {seed: 7}\n"
    );
    insta::assert_snapshot!("with_defaults", to_yaml_with_defaults(&experiment));
}

#[test]
fn slices_are_written_unless_they_would_be_chosen_as_they_are() {
    let written = |loads: &str, plan: &str| {
        let experiment = yaml(&format!(
            "service: {{builtin: orders}}\nplatforms: [host, pod]\nloads: [{loads}]\nplan: {{{plan}}}"
        ));
        assert_read_back(&experiment);
        to_yaml(&experiment).lines().last().unwrap().to_owned()
    };
    let two = "{rate: 2000/s}, {rate: 100/s}";
    for (loads, plan, expected) in [
        (two, "seed: 1", "plan: {seed: 1}"),
        (two, "blocks: 5, seed: 1", "plan: {blocks: 5, seed: 1}"),
        (two, "slice: 1s, seed: 1", "plan: {slice: 1s, blocks: 2, seed: 1}"),
        ("{rate: 2000/s}", "slice: 50ms, blocks: 30, seed: 1", "plan: {seed: 1}"),
    ] {
        assert_eq!(written(loads, plan), expected);
    }
}

#[test]
fn every_example_is_read_back() {
    let programs = support::programs();
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    for entry in std::fs::read_dir(examples).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            assert_read_back(&from_yaml_file(&path, &support::machine(&programs)).unwrap());
        }
    }
}

#[test]
fn every_ladder_is_read_back() {
    let programs = support::programs();
    let all = vec![Part::SameNode, Part::OtherNode, Part::Instead, Part::Services, Part::Proxies];
    let rungs =
        strings(&["cgroup+veth+rules=20000", "cgroup+quota+veth+sidecar=envoy", "cni=/etc/a.conflist"]);
    let lacks_bridge = |layers: &[Layer]| {
        (layers.contains(&Layer::Bridge) || layers.contains(&Layer::BrNetfilter))
            .then(|| "no bridge".to_owned())
    };
    let flags = Flags { rates: strings(&["500/s"]), ..Flags::default() };
    for (asked, missing) in [
        (LadderFlags::default(), &|_: &[Layer]| None as Option<String> as _),
        (LadderFlags { flags, parts: all, rungs, profile: true }, &|_: &[Layer]| None),
        (LadderFlags::default(), &lacks_bridge as &dyn Fn(&[Layer]) -> Option<String>),
    ] as [(LadderFlags, &dyn Fn(&[Layer]) -> Option<String>); 3]
    {
        assert_read_back(&ladder(&asked, &support::machine(&programs), missing).unwrap().experiment);
    }
}

/// A text of any signs that a flag may have.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        r"[-:\[\]{}&*!|>'%@`#, \n\ta0~<=?\\]{0,12}",
        "(?s)[^\0]{0,8}",
        "[a-z]{1,8}",
        "-?[0-9.e_x]{1,5}"
    ]
}

/// A name that no other is likely to have.
fn any_name() -> impl Strategy<Value = String> {
    (r"[^\p{C}\s]{1,12}", 0u32..1_000_000).prop_map(|(text, number)| format!("{text} {number}"))
}

fn any_platform() -> impl Strategy<Value = String> {
    let layers =
        prop::sample::subsequence(vec!["cgroup", "quota", "veth", "bridge", "conntrack", "rules: 7"], 1..6);
    prop_oneof![
        Just("host: {}".to_owned()),
        Just("pod: {}".to_owned()),
        Just("container:".to_owned()),
        layers.prop_map(|layers| format!("local: [cgroup, {}]", layers.join(", "))),
        ("bridge|host|macvlan|none-with-wire", 0u32..9).prop_map(|(network, user)| format!("docker: {{network: {network}, user: {user}}}")),
        ("port|userland-proxy|none").prop_map(|publish| format!("docker: {{publish: {publish}}}")),
        ("nodePort|clusterIP|podIP|hostNetwork|hostPort|loadBalancer", 1u32..10_000, 1u32..1_000, "here|auto|cluster")
            .prop_map(|(expose, services, replicas, from)| format!("kubernetes: {{expose: {expose}, services: {services}, replicas: {replicas}, load_from: {from}}}")),
        (1u16..65_535).prop_map(|port| format!("external: 'http://127.0.0.1:{port}'")),
    ]
}

fn any_load() -> impl Strategy<Value = String> {
    let connections = 1u16..65_535;
    prop_oneof![
        (0.001f64..1e7, "s|min", "poisson|uniform", connections.clone(), any::<bool>()).prop_map(|(rate, unit, arrivals, connections, new)| {
            format!("{{rate: {rate}/{unit}, arrivals: {arrivals}, connections: {connections}, new_connections: {new}}}")
        }),
        (connections.clone(), 1u64..1_000_000, "|:fixed").prop_map(|(connections, think, kind)| {
            format!("{{closed: true, connections: {connections}, think: '{think}us{kind}'}}")
        }),
        (connections.clone(), 1u64..1_000_000, 1u16..10_000, "user|kernel", 1u64..3_600_000).prop_map(|(connections, requests, streams, timestamps, timeout)| {
            format!("{{rate: 9/s, connections: {connections}, requests_per_connection: {requests}, streams: {streams}, timestamps: {timestamps}, timeout: {timeout}ms}}")
        }),
        (1u32..1_000, 1u32..1_000, 1u64..20).prop_map(|(from, to, ms)| format!("{{rate: '{from}/s..{to}/s@{ms}ms,{to}/s', http2: true}}")),
        connections.prop_map(|connections| format!("{{closed: true, connections: {connections}, http2: true}}")),
    ]
}

fn any_plan() -> impl Strategy<Value = String> {
    let times = (20_000_000u64..600_000_000_000, 1_000_000_000u64..3_600_000_000_000);
    (times, 1u32..10_000, 1u32..1_000, any::<u64>(), 0.001f64..99.0, "shared|exclusive", "end|continue", "shared|own").prop_map(
        |((slice, warmup), blocks, deployments, seed, share, isolation, on_failure, nodes)| {
            let margin = if seed % 2 == 0 { format!("{share}%") } else { format!("{}ns", slice / 100) };
            format!(
                "{{slice: {slice}ns, warmup: {warmup}ns, blocks: {blocks}, deployments: {deployments}, seed: {seed}, until: {share}%, \
                 margin: {margin}, isolation: {isolation}, on_failure: {on_failure}, nodes: {nodes}}}"
            )
        },
    )
}

proptest! {
    #[test]
    fn any_experiment_file_is_read_back(
        names in prop::collection::vec(any_name(), 4),
        platforms in prop::collection::vec(any_platform(), 1..4),
        loads in prop::collection::vec(any_load(), 1..3),
        plan in any_plan(),
        texts in prop::collection::vec(any_text(), 5),
        difference in "[1-9][0-9]{0,3}(\\.[0-9]{1,3})?(%|us|ms|ns)",
    ) {
        let quoted = |text: &str| serde_json::to_string(text).unwrap();
        let platforms: Vec<String> =
            platforms.iter().zip(&names[1..]).map(|(kind, name)| format!("  - {{name: {}, {kind}}}", quoted(name))).collect();
        let file = format!(
            "name: {}\nquestion: {}\nservice:\n  command: [server, {}, {}]\n  env: {{A: {}}}\n  requests: [{{path: /, body: {}}}]\n\
             platforms:\n{}\nloads: [{}]\nplan: {plan}\nclaims: [{{text: {}, metric: response.mean, difference: {difference}}}]\n",
            quoted(&names[0]), quoted(&texts[0]), quoted(&texts[1]), quoted(&texts[2]), quoted(&texts[3]), quoted(&texts[4]),
            platforms.join("\n"), loads.join(", "), quoted(&texts[0]),
        );
        let programs = support::programs();
        // What does not go together is refused; it is not this test's.
        if let Ok(experiment) = from_yaml("any.yaml", file.as_bytes(), &support::machine(&programs)) {
            assert_read_back(&experiment);
        }
    }

    #[test]
    fn any_flags_are_read_back(
        texts in prop::collection::vec(any_text(), 3),
        on in prop::sample::subsequence(
            vec!["host", "pod", "x=container", "local:cgroup+veth", "docker", "docker:host", "y=docker", "kubernetes", "kubernetes:podIP+other-node",
                "http://localhost:1", "old=http://127.0.0.1:2", "local:cgroup+veth+nodeport=nftables"], 1..8),
        rates in prop::sample::subsequence(vec!["2000/s", "100/min", "0.5/s"], 0..3),
        blocks in 1u32..20,
        closed: bool, twin: bool,
    ) {
        let mut flags = Flags {
            services: strings(&["orders", "orders --delay 200us"]),
            commands: vec![format!("server {}", texts[0])],
            requests: vec!["/a".to_owned(), format!("3 POST /{}", texts[1])],
            on: strings(&on),
            rates: strings(&rates),
            closed,
            expect: vec!["status=2xx".to_owned()],
            ..Flags::default()
        }
        .with("--blocks", &blocks.to_string())
        .with("--limit-cpu", "0.5")
        .with("--think", "20ms")
        .with("--streams", "3")
        .with("--new-connections", "")
        .with("--insecure", "");
        if !twin {
            flags = flags.with("--no-twin", "");
        }
        let programs = support::programs();
        if let Ok(experiment) = from_flags(&flags, &support::machine(&programs)) {
            assert_read_back(&experiment);
        }
    }
}
