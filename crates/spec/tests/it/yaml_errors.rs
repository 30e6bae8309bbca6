//! Every kind of bad file, and what its author is told.

use crate::support;

use loadline_spec::{Experiment, SpecError, from_yaml, from_yaml_file};

/// A good experiment, key by key.
const GOOD: [(&str, &str); 3] = [
    ("service", "service: {builtin: orders}"),
    ("platforms", "platforms: [host, pod]"),
    ("loads", "loads: [{rate: 2000/s}]"),
];

/// The good experiment with some of its keys written otherwise, others added, and those that are bare names left out.
fn file(changes: &[&str]) -> String {
    let key_of = |text: &str| text.split(':').next().unwrap_or_default().to_owned();
    let mut lines = Vec::new();
    for (key, good) in GOOD {
        match changes.iter().find(|change| key_of(change) == key) {
            Some(change) if *change == key => {}
            Some(change) => lines.push((*change).to_owned()),
            None => lines.push(good.to_owned()),
        }
    }
    let added = changes.iter().filter(|change| GOOD.iter().all(|(key, _)| *key != key_of(change)));
    lines.extend(added.map(|change| (*change).to_owned()));
    lines.join("\n") + "\n"
}

fn read(bytes: &[u8]) -> Result<Experiment, SpecError> {
    let programs = support::programs();
    from_yaml("mine.yaml", bytes, &support::machine(&programs))
}

/// Reads a file that is wrong, and compares what is said with the snapshot called `name`.
fn refused(name: &str, bytes: &[u8]) {
    let programs = support::programs();
    let error = from_yaml("mine.yaml", bytes, &support::machine(&programs)).expect_err(name);
    let lost = error.problems().iter().find(|problem| problem.help.is_none());
    assert_eq!(lost, None, "{name} names no way out");
    let folder = programs.path().display().to_string();
    insta::assert_snapshot!(name, error.render(false).replace(&folder, "FOLDER"));
}

#[test]
fn the_good_file_is_good() {
    assert_eq!(read(file(&[]).as_bytes()).map(|experiment| experiment.platforms.len()), Ok(2));
}

#[test]
fn objectives_may_be_of_what_a_probe_declares_or_a_service_shows() {
    let texts = [
        "jvm.heap.used <= 64Mi",
        "jvm.gc.g1_young_collection_pauses.pause <= 1us",
        "app.misses_total <= 0.5",
        "errors <= 0.01",
    ];
    let capacity = format!("capacity: {{objectives: [{}]}}", texts.join(", "));
    let experiment = read(file(&["service: {builtin: orders, metrics: /metrics}", &capacity]).as_bytes());
    let objectives = experiment.unwrap().capacity.expect("a search").objectives;
    assert_eq!(objectives.iter().map(|objective| objective.text.as_str()).collect::<Vec<_>>(), texts);
}

#[test]
fn every_bad_file_is_refused_with_its_place_and_a_way_out() {
    let cases: &[(&str, &[&str])] = &[
        // Shape.
        ("unknown_key", &["platfroms: [host]"]),
        ("unknown_key_in_a_service", &["service: {builtin: orders, comand: x}"]),
        ("unknown_key_in_the_plan", &["plan: {block: 3}"]),
        ("unknown_key_far_from_all", &["plan: {zzz: 3}"]),
        ("ssh_of_a_later_version", &["platforms: [host, {ssh: elsewhere}]"]),
        // Containers.
        ("unknown_docker_network", &["platforms: [host, {docker: {network: overlay}}]"]),
        ("publishing_without_a_bridge", &["platforms: [host, {docker: {network: macvlan, publish: port}}]"]),
        ("user_with_a_name", &["platforms: [host, {docker: {user: nobody}}]"]),
        ("mount_without_its_target", &["platforms: [host, {docker: {mounts: [/etc]}}]"]),
        ("mount_of_nothing", &["platforms: [host, {docker: {mounts: ['/no/such/folder:/data']}}]"]),
        ("image_of_nothing", &["service: {builtin: orders, image: {}}"]),
        ("image_archive_that_is_not_there", &["service: {builtin: orders, image: {archive: orders.tar}}"]),
        ("image_without_a_command_on_host", &["service: {image: 'nginx:1.27'}"]),
        // Pods.
        ("unknown_expose", &["platforms: [host, {kubernetes: {expose: nodeport}}]"]),
        ("ingress_without_its_url", &["platforms: [host, {kubernetes: {expose: ingress}}]"]),
        ("kubeconfig_that_is_not_there", &["platforms: [host, {kubernetes: {kubeconfig: ~/.kube/config}}]"]),
        ("static_pod_elsewhere", &["platforms: [host, {kubernetes: {static: true, placement: other-node}}]"]),
        ("static_pods", &["platforms: [host, {kubernetes: {static: true, replicas: 3}}]"]),
        (
            "network_policy_of_a_node",
            &["platforms: [host, {kubernetes: {expose: hostNetwork, network_policy: true}}]"],
        ),
        (
            "manifests_twice_at_the_same_time",
            &["platforms: [{kubernetes: {manifests: Cargo.toml, workload: deployment/x}}, host]"],
        ),
        (
            "requests_above_the_limit",
            &[
                "platforms: [host, {kubernetes: {requests: {cpu: 2, memory: 1Gi}}}]",
                "limits: {cpu: 1, memory: 512Mi}",
            ],
        ),
        ("too_many_services", &["platforms: [host, {kubernetes: {services: 1000000}}]"]),
        ("manifests_without_a_workload", &["platforms: [host, {kubernetes: {manifests: Cargo.toml}}]"]),
        ("workload_without_manifests", &["platforms: [host, {kubernetes: {workload: deployment/x}}]"]),
        (
            "workload_of_no_kind",
            &["platforms: [host, {kubernetes: {manifests: Cargo.toml, workload: job/x}}]"],
        ),
        // Needs.
        (
            "need_called_service",
            &["service: {builtin: orders, needs: [{name: service, command: 'server {port}'}]}"],
        ),
        (
            "need_that_is_not_there",
            &[
                "service: {builtin: orders, env: {DB: '{bd.host}'}, needs: [{name: db, command: 'server {port}'}]}",
            ],
        ),
        (
            "proxies",
            &[
                "service: {builtin: orders, needs: [{name: a, command: 'server {port}', proxy: true}, {name: b, command: 'server {port}', proxy: true}]}",
            ],
        ),
        (
            "proxy_for_all",
            &[
                "service: {builtin: orders, needs: [{name: a, command: 'server {port}', proxy: true, shared: true}]}",
            ],
        ),
        (
            "proxy_to_nowhere",
            &[
                "service: {builtin: orders, needs: [{name: a, command: 'server {port}', env: {TO: '{servise.host}'}, proxy: true}]}",
            ],
        ),
        (
            "need_of_an_external_service",
            &[
                "service: {builtin: orders, needs: [{name: a, command: 'server {port}'}]}",
                "platforms: [host, {external: 'http://localhost:8080'}]",
            ],
        ),
        (
            "need_beside_manifests",
            &[
                "service: {builtin: orders, needs: [{name: a, command: 'server {port}'}]}",
                "platforms: [host, {kubernetes: {manifests: Cargo.toml, workload: deployment/x}}]",
                "plan: {isolation: exclusive}",
            ],
        ),
        (
            "need_behind_an_ingress",
            &[
                "service: {builtin: orders, needs: [{name: a, command: 'server {port}'}]}",
                "platforms: [host, {kubernetes: {expose: ingress http://shop.example/}}]",
            ],
        ),
        (
            "need_of_a_node_of_its_own",
            &[
                "service: {builtin: orders, needs: [{name: a, command: 'server {port}'}]}",
                "plan: {nodes: own}",
            ],
        ),
        (
            "need_that_an_external_service_does_not_find",
            &[
                "service: {builtin: orders, needs: [{name: a, command: 'server {port}', shared: true}]}",
                "platforms: [host, {external: 'http://localhost:8080'}]",
            ],
        ),
        (
            "need_that_is_ready_without_a_slash",
            &["service: {builtin: orders, needs: [{name: a, command: 'server {port}', ready: {http: up}}]}"],
        ),
        (
            "need_that_is_ready_in_no_time",
            &[
                "service: {builtin: orders, needs: [{name: a, command: 'server {port}', ready: {within: 0s}}]}",
            ],
        ),
        (
            "need_with_a_readiness_of_its_own_kind",
            &["service: {builtin: orders, needs: [{name: a, command: 'server {port}', ready: {tcp: true}}]}"],
        ),
        (
            "needs_on_one_port",
            &[
                "service: {builtin: orders, needs: [{name: a, command: server, port: 81}, {name: b, command: server, port: 81}]}",
                "plan: {twin: false, isolation: exclusive}",
            ],
        ),
        (
            "need_on_the_port_of_its_service",
            &[
                "service: {builtin: orders, port: 81, needs: [{name: a, command: server, port: 81}]}",
                "plan: {twin: false}",
            ],
        ),
        (
            "need_for_all_on_the_port_of_a_service",
            &[
                "service: {builtin: orders, port: 81, needs: [{name: a, command: server, port: 81, shared: true}]}",
                "plan: {isolation: exclusive}",
            ],
        ),
        (
            "need_wanted_by_the_twin_too",
            &["service: {builtin: orders, needs: [{name: a, command: server, port: 81}]}"],
        ),
        (
            "need_on_a_port_in_use",
            &[
                "service: {builtin: orders, needs: [{name: a, command: server, port: 5432, shared: true}]}",
                "platforms: [pod, container]",
            ],
        ),
        (
            "proxy_of_what_is_never_ready",
            &[
                "service: {command: 'server {port}', needs: [{name: a, command: 'server {port}', proxy: true}]}",
            ],
        ),
        (
            "proxy_of_https",
            &[
                "service: {builtin: orders, https: true, needs: [{name: a, command: 'server {port}', proxy: true}]}",
            ],
        ),
        // Claims.
        ("claim_of_nothing", &["claims: [{}]"]),
        (
            "claim_of_an_unknown_platform",
            &["claims: [{text: x, where: {platform: pdo}, metric: response.mean, difference: 1ms}]"],
        ),
        (
            "claim_of_the_baseline",
            &["claims: [{text: x, where: {platform: host}, metric: response.mean, difference: 1ms}]"],
        ),
        ("claim_of_an_unknown_metric", &["claims: [{text: x, metric: response.median, difference: 1ms}]"]),
        (
            "claim_of_a_rate_that_is_not_measured",
            &["claims: [{text: x, where: {rate: 100/min}, metric: response.mean, difference: 1ms}]"],
        ),
        ("claim_without_a_unit", &["claims: [{text: x, metric: response.mean, difference: 4.5}]"]),
        (
            "claim_of_a_baseline_without_a_unit",
            &["claims: [{text: x, metric: response.mean, difference: 26%, baseline: 17}]"],
        ),
        (
            "claim_in_a_unit_that_is_none",
            &["claims: [{text: x, metric: response.mean, difference: 1ms, unit: minutes}]"],
        ),
        ("claim_that_closes_an_unknown_gap", &["claims: [{text: x, metric: response.mean, closes: 60%}]"]),
        (
            "claim_of_two_things",
            &["claims: [{text: x, metric: response.mean, difference: 1ms, closes: 60% of pod}]"],
        ),
        ("objective_of_an_unknown_metric", &["capacity: {objectives: [p99 <= 50ms, jvm.heap.usde <= 64Mi]}"]),
        ("objective_in_another_unit", &["capacity: {objectives: [jvm.heap.used <= 50ms]}"]),
        ("objective_of_what_no_service_shows", &["capacity: {objectives: [app.misses_total <= 0.5]}"]),
        ("search_with_a_plan_of_its_own", &["capacity: {}", "plan: {until: 1%, repeats: 2}"]),
        ("objective_of_a_deployment", &["capacity: {objectives: [start.answered <= 2s]}"]),
        ("condition_of_an_unknown_metric", &["fail_if: [p50 slower, p98 slower by > 5%]"]),
        ("condition_in_the_wrong_words", &["fail_if: [cpu.service slower by > 5%]"]),
        ("condition_without_a_unit", &["fail_if:\n  - p99 slower by > 5"]),
        ("condition_on_nothing", &["platforms: [host]", "fail_if: [p99 slower]"]),
        ("conditions_in_a_text", &["fail_if: p99 slower"]),
        ("list_where_a_map_is_due", &["service: [orders]"]),
        ("map_where_a_list_is_due", &["platforms: {host: {}}"]),
        ("text_where_a_map_is_due", &["plan: fast"]),
        ("list_where_a_text_is_due", &["name: [a, b]"]),
        ("key_without_a_value", &["name:"]),
        ("duplicate_key", &["loads: [{rate: 1/s, rate: 2/s}]"]),
        ("several_problems_at_once", &["loads: [{rate: 1000}]", "plan: {slice: 1ms, blocks: 0}"]),
        // Services.
        ("no_service", &["service"]),
        ("service_and_services", &["services: [{builtin: cpu}]"]),
        ("empty_services", &["service", "services: []"]),
        ("service_without_a_start", &["service: {name: x}"]),
        ("builtin_and_command", &["service: {builtin: orders, command: server}"]),
        ("unknown_builtin", &["service: {builtin: order}"]),
        ("bad_arguments_of_a_builtin", &["service: {builtin: orders, args: [--dealy, 1ms]}"]),
        ("args_beside_a_command", &["service: {command: server, args: [-x]}"]),
        ("program_not_on_the_path", &["service: {command: 'servr {port}'}"]),
        ("program_not_executable", &["service: {command: [notes.txt, '{port}']}"]),
        ("program_path_that_is_not_there", &["service: {command: /no/such/program}"]),
        ("program_that_is_a_folder", &["service: {command: /}"]),
        ("empty_command", &["service: {command: []}"]),
        ("command_with_an_open_quote", &["service: {command: 'server \"x'}"]),
        ("two_services_of_one_name", &["service", "services: [{builtin: orders}, {builtin: orders}]"]),
        ("name_over_two_lines", &["service: {builtin: orders, name: \"a\\nb\"}"]),
        ("empty_name", &["name: ''"]),
        (
            "endless_name",
            &[
                "name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            ],
        ),
        ("environment_name_with_an_equals_sign", &["service: {builtin: orders, env: {A=B: c}}"]),
        ("environment_port", &["service: {builtin: orders, env: {PORT: 80}}"]),
        ("port_zero", &["service: {builtin: orders, port: 0}"]),
        ("port_too_high", &["service: {builtin: orders, port: 65536}"]),
        ("port_in_use", &["service: {builtin: orders, port: 5432}", "plan: {twin: false}"]),
        ("port_wanted_by_the_twin_too", &["service: {builtin: orders, port: 8080}"]),
        (
            "port_wanted_by_two_services",
            &[
                "service",
                "services: [{builtin: orders, port: 81}, {builtin: cpu, port: 81}]",
                "plan: {twin: false}",
            ],
        ),
        ("ready_path_without_a_slash", &["service: {builtin: orders, ready: {http: healthz}}"]),
        ("ready_within_no_time", &["service: {builtin: orders, ready: {within: 0s}}"]),
        // Requests.
        ("empty_requests", &["service: {builtin: orders, requests: []}"]),
        ("request_without_a_slash", &["service: {builtin: orders, requests: [GET api]}"]),
        ("request_of_one_word", &["service: {builtin: orders, requests: [api]}"]),
        ("request_without_a_path", &["service: {builtin: orders, requests: [{method: GET}]}"]),
        ("method_in_small_letters", &["service: {builtin: orders, requests: [get /]}"]),
        ("method_that_is_no_token", &["service: {builtin: orders, requests: ['G(T /']}"]),
        ("method_connect", &["service: {builtin: orders, requests: [CONNECT /]}"]),
        ("path_with_a_space", &["service: {builtin: orders, requests: [GET /a b]}"]),
        ("path_with_a_fragment", &["service: {builtin: orders, requests: ['GET /a#b']}"]),
        (
            "header_with_a_newline",
            &["service: {builtin: orders, requests: [{path: /, headers: {X-A: \"b\\r\\nc\"}}]}"],
        ),
        (
            "header_name_with_a_space",
            &["service: {builtin: orders, requests: [{path: /, headers: {X A: b}}]}"],
        ),
        (
            "header_content_length",
            &["service: {builtin: orders, requests: [{path: /, headers: {content-length: 3}}]}"],
        ),
        ("weight_zero", &["service: {builtin: orders, requests: [{path: /, weight: 0}]}"]),
        // Limits.
        ("cpu_limit_zero", &["limits: {cpu: 0}"]),
        ("cpu_limit_not_a_number", &["limits: {cpu: .nan}"]),
        ("cpu_limit_enormous", &["limits: {cpu: 1e9}"]),
        ("memory_limit_without_a_unit", &["limits: {memory: 512}"]),
        ("memory_limit_too_small", &["limits: {memory: 1Mi}"]),
        ("memory_limit_of_an_unknown_unit", &["limits: {memory: 512MB}"]),
        ("memory_limit_negative", &["limits: {memory: -5Mi}"]),
        ("limits_on_what_already_runs", &["platforms: [{external: 'http://localhost'}]", "limits: {cpu: 1}"]),
        // Platforms.
        ("no_platform", &["platforms"]),
        ("empty_platforms", &["platforms: []"]),
        ("unknown_platform", &["platforms: [host, pot]"]),
        ("platform_without_a_kind", &["platforms: [host, {name: x}]"]),
        ("platform_of_two_kinds", &["platforms: [{host: {}, pod: {}}]"]),
        ("platform_with_options_that_it_has_not", &["platforms: [{host: {fast: true}}]"]),
        ("two_platforms_of_one_name", &["platforms: [host, host]"]),
        ("local_without_layers", &["platforms: [host, local]"]),
        ("empty_layers", &["platforms: [host, {local: []}]"]),
        ("unknown_layer", &["platforms: [host, {local: [vteh]}]"]),
        ("bridge_without_a_veth", &["platforms: [host, {local: [bridge]}]"]),
        ("nodeport_without_a_veth", &["platforms: [host, {local: [cgroup, nodeport]}]"]),
        ("layer_twice", &["platforms: [host, {local: [veth, veth]}]"]),
        ("layer_with_options_that_it_has_not", &["platforms: [host, {local: [{veth: {mtu: 9000}}]}]"]),
        ("two_layers_in_one_entry", &["platforms: [host, {local: [{veth: {}, bridge: {}}]}]"]),
        (
            "unknown_backend_of_a_nodeport",
            &["platforms: [host, {local: [veth, {nodeport: {backend: ipvs}}]}]"],
        ),
        ("nodeport_among_no_services", &["platforms: [host, {local: [veth, {nodeport: {services: 0}}]}]"]),
        ("url_without_its_key", &["platforms: [host, 'http://localhost']"]),
        ("url_of_another_scheme", &["platforms: [host, {external: 'ftp://localhost'}]"]),
        ("url_without_a_scheme", &["platforms: [host, {external: 'localhost:8080'}]"]),
        ("url_without_a_host", &["platforms: [host, {external: 'http://:80'}]"]),
        ("url_with_a_bad_port", &["platforms: [host, {external: 'http://localhost:99999'}]"]),
        ("url_with_a_path", &["platforms: [host, {external: 'http://localhost/api'}]"]),
        ("url_with_a_password", &["platforms: [host, {external: 'http://me:secret@localhost'}]"]),
        ("url_whose_name_has_no_address", &["platforms: [host, {external: 'http://nowhere.invalid'}]"]),
        // Loads.
        ("no_load", &["loads"]),
        ("empty_loads", &["loads: []"]),
        ("bare_rate", &["loads: [{rate: 1000}]"]),
        ("rate_of_an_unknown_unit", &["loads: [{rate: 1000/d}]"]),
        ("rate_that_is_no_number", &["loads: [{rate: many/s}]"]),
        ("rate_zero", &["loads: [{rate: 0/s}]"]),
        ("rate_negative", &["loads: [{rate: -5/s}]"]),
        ("rate_enormous", &["loads: [{rate: 1e300/s}]"]),
        ("rate_nan", &["loads: [{rate: NaN/s}]"]),
        ("load_without_a_rate", &["loads: [{connections: 4}]"]),
        ("rate_of_a_closed_loop", &["loads: [{rate: 5/s, closed: true}]"]),
        ("arrivals_of_a_closed_loop", &["loads: [{closed: true, arrivals: uniform}]"]),
        ("closed_neither_true_nor_false", &["loads: [{closed: maybe}]"]),
        ("unknown_arrivals", &["loads: [{rate: 5/s, arrivals: possion}]"]),
        ("profile_that_is_none", &["loads: [{rate: '1/s..2/s@3'}]"]),
        ("profile_longer_than_a_slice", &["loads: [{rate: '10/s..200/s@30s'}]", "plan: {slice: 1.2s}"]),
        (
            "profile_request_by_request",
            &["loads: [{rate: '10/s..200/s@1s'}]", "plan: {interleave: requests}"],
        ),
        ("rate_too_low_for_a_slice", &["loads: [{rate: '0/s@1.2s,1/s'}]"]),
        ("replay_that_is_not_there", &["loads: [{replay: times.txt}]"]),
        ("replay_of_a_closed_loop", &["loads: [{closed: true, replay: ../nowhere/times.txt}]"]),
        ("think_time_of_a_rate", &["loads: [{rate: 5/s, think: 100ms}]"]),
        ("think_time_of_an_unknown_kind", &["loads: [{closed: true, think: '100ms:normal'}]"]),
        (
            "connections_new_and_used_again",
            &["loads: [{rate: 5/s, new_connections: true, requests_per_connection: 3}]"],
        ),
        ("streams_zero", &["loads: [{rate: 5/s, streams: 0}]"]),
        ("unknown_timestamps", &["loads: [{rate: 5/s, timestamps: nic}]"]),
        ("timeout_of_nothing", &["loads: [{rate: 5/s, timeout: 0s}]"]),
        ("feed_that_is_not_there", &["service: {builtin: orders, feed: users.csv}"]),
        ("check_that_is_none", &["service: {builtin: orders, expect: [status=2xx, body]}"]),
        ("tls_that_nothing_speaks", &["service: {builtin: orders, tls: {insecure: true}}"]),
        ("certificate_without_its_key", &["service: {builtin: orders, https: true, tls: {cert: a.pem}}"]),
        (
            "https_through_a_sidecar",
            &[
                "service: {builtin: orders, https: true}",
                "platforms: [host, {local: [cgroup, veth, sidecar: {}]}]",
                "plan: {nodes: own}",
            ],
        ),
        (
            "http2_through_a_sidecar",
            &[
                "loads: [{rate: 50/s, http2: true}]",
                "platforms: [host, {local: [cgroup, veth, sidecar: {}]}]",
                "plan: {nodes: own}",
            ],
        ),
        ("connections_zero", &["loads: [{rate: 5/s, connections: 0}]"]),
        ("connections_enormous", &["loads: [{rate: 5/s, connections: 65536}]"]),
        ("two_loads_alike", &["loads: [{rate: 60/min}, {rate: 1/s}]"]),
        // Plan.
        ("slice_too_short", &["plan: {slice: 9ms}"]),
        ("slice_too_long", &["plan: {slice: 1h}"]),
        ("slice_without_a_unit", &["plan: {slice: 2}"]),
        ("slice_in_m", &["plan: {slice: 2m}"]),
        ("slice_negative", &["plan: {slice: -2s}"]),
        ("blocks_zero", &["plan: {blocks: 0}"]),
        ("blocks_with_a_fraction", &["plan: {blocks: 2.5}"]),
        ("deployments_enormous", &["plan: {deployments: 99999999999999999999999}"]),
        ("seed_negative", &["plan: {seed: -1}"]),
        ("until_zero", &["plan: {until: 0%}"]),
        ("until_everything", &["plan: {until: 100%}"]),
        ("until_without_a_sign", &["plan: {until: 0.01}"]),
        ("within_forever", &["plan: {within: 99999999h}"]),
        ("margin_negative", &["plan: {margin: -1%}"]),
        ("twin_neither_true_nor_false", &["plan: {twin: yes}"]),
        ("unknown_isolation", &["plan: {isolation: exclusiv}"]),
        ("unknown_interleave", &["plan: {interleave: slice}"]),
        ("unknown_on_failure", &["plan: {on_failure: stop}"]),
        ("repeats_enormous", &["plan: {repeats: 1000}"]),
        ("nothing_to_compare", &["platforms: [host]", "plan: {twin: false}"]),
        ("closed_loop_by_requests", &["loads: [{closed: true}]", "plan: {interleave: requests}"]),
        ("exclusive_by_requests", &["plan: {interleave: requests, isolation: exclusive}"]),
        ("cold_in_many_slices", &["plan: {warmup: 0s}"]),
        ("cold_and_waiting", &["plan: {warmup: 0s, blocks: 1, repeats: 0}"]),
        ("warm_up_too_short", &["plan: {warmup: 10ms}"]),
        // CPUs.
        ("cpu_that_does_not_exist", &["cpus: {service: [0], load: [64]}"]),
        ("cpu_sets_that_overlap", &["cpus: {service: [0, 1], load: [1]}"]),
        ("cpu_twice", &["cpus: {service: [0, 0-1]}"]),
        ("cpu_that_is_no_number", &["cpus: {service: [first]}"]),
        ("cpu_range_backwards", &["cpus: {service: [3-2]}"]),
        ("no_cpu", &["cpus: {load: []}"]),
        ("no_cpu_left", &["cpus: {service: [0-3]}"]),
    ];
    for (name, changes) in cases {
        refused(name, file(changes).as_bytes());
    }
}

#[test]
fn what_is_no_text_or_no_yaml_is_refused_with_a_sentence() {
    let utf16: Vec<u8> = "name: x".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked: Vec<u8> = [0xff, 0xfe].into_iter().chain(utf16.iter().copied()).collect();
    let bomb = (1..10).fold("l0: &a0 [x]\n".to_owned(), |file, level| {
        let aliases = vec![format!("*a{}", level - 1); 9].join(", ");
        format!("{file}l{level}: &a{level} [{aliases}]\n")
    });
    let nested = "[".repeat(5_000);
    let block = (0..200).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect::<String>();
    let cases: &[(&str, &[u8])] = &[
        ("utf_16_with_a_mark", &marked),
        ("utf_16_without_a_mark", &utf16),
        ("not_utf_8", b"name: x\nquestion: caf\xe9\n"),
        ("empty_file", b""),
        ("only_comments", b"# nothing here\n"),
        ("several_documents", b"name: a\n---\nname: b\n"),
        ("tab_in_the_indentation", b"service:\n\tbuiltin: orders\n"),
        ("alias_bomb", bomb.as_bytes()),
        ("deep_brackets", nested.as_bytes()),
        ("deep_indentation", block.as_bytes()),
        ("open_bracket", b"platforms: [host, pod\nloads: []\n"),
        ("open_quote", b"name: 'x\nplatforms: [host]\n"),
        ("bad_indentation", b"service:\n  builtin: orders\n args: [x]\n"),
        ("alias_without_an_anchor", b"name: *x\n"),
        ("unknown_tag", b"name: !shell rm\n"),
        ("anchor_in_itself", b"name: &x [*x]\n"),
        ("top_is_a_list", b"- host\n- pod\n"),
        ("top_is_a_text", b"hello\n"),
        ("key_that_is_a_list", b"[a, b]: c\n"),
    ];
    for (name, bytes) in cases {
        refused(name, bytes);
    }
}

#[test]
fn a_file_of_100_megabytes_is_refused_before_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("huge.yaml");
    std::fs::File::create(&path).unwrap().set_len(100_000_000).unwrap();
    let programs = support::programs();
    let error = from_yaml_file(&path, &support::machine(&programs)).unwrap_err();
    let rendered = error.render(false).replace(&folder.path().display().to_string(), "FOLDER");
    insta::assert_snapshot!("huge_file", rendered);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let programs = support::programs();
    let error = from_yaml_file("no-such.yaml".as_ref(), &support::machine(&programs)).unwrap_err();
    insta::assert_snapshot!("missing_file", error.render(false));
}

#[test]
fn a_byte_order_mark_is_no_error() {
    let mut bytes = b"\xef\xbb\xbf".to_vec();
    bytes.extend(file(&[]).as_bytes());
    assert!(read(&bytes).is_ok());
}
