//! Cells that are left out, contrasts of one's own, and what services and platforms have of their own.

use loadline_model::experiment::{CellSpec, ContrastSpec, ServiceCpus};
use loadline_model::platform::Limits;
use loadline_model::{LoadId, PlatformId, ServiceId};
use loadline_spec::{Experiment, SpecError, from_yaml, to_yaml};

use crate::support;

/// Two services on three platforms under three loads; `further` are the keys that a test is about.
fn file(further: &str) -> String {
    format!(
        "
services: [{{builtin: orders}}, {{name: second, builtin: hello}}]
platforms: [host, docker, kubernetes]
loads: [{{name: slow, rate: 100/min}}, {{rate: 2000/s}}, {{closed: true}}]
{further}
"
    )
}

fn read(yaml: &str) -> Result<Experiment, SpecError> {
    let programs = support::programs();
    from_yaml("mine.yaml", yaml.as_bytes(), &support::machine(&programs))
}

fn good(further: &str) -> Experiment {
    let experiment = read(&file(further)).unwrap_or_else(|error| panic!("{error}"));
    let written = to_yaml(&experiment);
    assert_eq!(read(&written).as_ref(), Ok(&experiment), "{written}");
    experiment
}

/// What is wrong, and what to do about it.
fn refused(yaml: &str) -> String {
    let error = read(yaml).expect_err(yaml);
    assert!(error.problems().iter().all(|problem| problem.help.is_some()), "{error}");
    error.render(false)
}

fn cell(service: usize, platform: usize, load: usize) -> CellSpec {
    CellSpec { service: ServiceId(service), platform: PlatformId(platform), load: LoadId(load) }
}

#[test]
fn without_either_key_everything_is_measured_and_compared_with_the_first() {
    let experiment = good("");
    assert_eq!(experiment.cells, experiment.every_cell());
    assert_eq!(experiment.contrasts, experiment.default_contrasts());
    assert!(!to_yaml(&experiment).contains("cells"));
}

#[test]
fn what_is_excluded_is_not_measured() {
    let experiment = good(
        "cells: {exclude: [{platform: kubernetes, load: slow}, {service: second, platform: [docker, kubernetes]}]}",
    );
    assert_eq!(experiment.cells.len(), 18 - 2 - 5);
    assert!(!experiment.cells.contains(&cell(0, 2, 0)) && experiment.cells.contains(&cell(0, 2, 1)));
    assert!(!experiment.cells.contains(&cell(1, 1, 2)) && experiment.cells.contains(&cell(1, 0, 2)));
    assert_eq!(experiment.contrasts, experiment.default_contrasts());
}

#[test]
fn cells_that_are_listed_are_the_only_ones() {
    let experiment = good("cells: [{service: orders, load: [2000/s, closed]}, {platform: host, load: slow}]");
    assert_eq!(experiment.cells.len(), 6 + 2);
    assert!(experiment.cells.contains(&cell(1, 0, 0)) && !experiment.cells.contains(&cell(1, 0, 1)));
}

#[test]
fn what_is_left_out_of_a_contrast_is_the_same_on_both_sides() {
    let experiment = good(
        "contrasts:
  - {of: {platform: kubernetes}, against: {platform: docker}, load: 2000/s}
  - {of: {service: second, platform: docker}, against: {service: orders}, load: [slow, closed]}",
    );
    let contrast = |candidate, baseline| ContrastSpec { candidate, baseline };
    let expected = [
        contrast(cell(0, 2, 1), cell(0, 1, 1)),
        contrast(cell(1, 2, 1), cell(1, 1, 1)),
        contrast(cell(1, 1, 0), cell(0, 1, 0)),
        contrast(cell(1, 1, 2), cell(0, 1, 2)),
    ];
    assert_eq!(experiment.contrasts, expected);
}

#[test]
fn only_what_is_measured_on_both_sides_is_compared() {
    let experiment = good(
        "cells: {exclude: [{platform: docker, load: slow}, {platform: host}]}
contrasts: [{of: {platform: kubernetes}, against: {platform: docker}}]",
    );
    assert_eq!(experiment.contrasts.len(), 2 * 2);
    assert!(experiment.contrasts.iter().all(|contrast| contrast.candidate.load != LoadId(0)));
}

#[test]
fn services_and_platforms_have_limits_cpus_and_variables_of_their_own() {
    let experiment = read(
        "
services:
  - {builtin: orders, limits: {cpu: 2}, cpus: 1-2, env: {A: service}}
  - {builtin: hello}
platforms: [host, {docker: {}, limits: {memory: 64Mi}, cpus: all, env: {A: platform}}]
loads: [{rate: 2000/s}]
limits: {cpu: 1, memory: 32Mi}
env: {A: common, B: common}
",
    )
    .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(read(&to_yaml(&experiment)).as_ref(), Ok(&experiment), "{}", to_yaml(&experiment));
    let limits = |service, platform| experiment.limits_of(ServiceId(service), PlatformId(platform));
    assert_eq!(limits(0, 0), Limits { cpus: Some(2.0), memory_bytes: Some(32 << 20) });
    assert_eq!(limits(0, 1), Limits { cpus: Some(2.0), memory_bytes: Some(64 << 20) });
    assert_eq!(limits(1, 1), Limits { cpus: Some(1.0), memory_bytes: Some(64 << 20) });
    assert_eq!(experiment.services[0].cpus, Some(ServiceCpus::Pinned(vec![1, 2])));
    assert_eq!(experiment.platforms[1].cpus, Some(ServiceCpus::All));
    let env = experiment.env_of(ServiceId(0), PlatformId(1));
    assert_eq!(
        env,
        [("A", "platform"), ("B", "common")].map(|(name, value)| (name.to_owned(), value.to_owned()))
    );
}

#[test]
fn a_claim_names_the_comparison_that_it_is_about() {
    let contrasts = "contrasts:
  - {of: {platform: kubernetes}, against: {platform: docker}}
  - {of: {platform: kubernetes}, against: {platform: host}}";
    let claim = |cells: &str| {
        format!(
            "{contrasts}\nclaims: [{{text: slower, metric: response.mean, difference: 1ms, where: {{{cells}}}}}]"
        )
    };
    let experiment = good(&claim("platform: kubernetes, against: docker"));
    assert_eq!(experiment.claims[0].against.as_deref(), Some("docker"));
    let message = refused(&file(&claim("platform: docker")));
    assert!(message.contains("`docker` is not compared with anything"), "{message}");
}

#[test]
fn a_port_is_only_needed_where_its_service_is_measured() {
    let yaml = |cells: &str| {
        format!(
            "
services: [{{builtin: orders}}, {{builtin: hello, port: 9000}}]
platforms: [host, {{name: other, local: [cgroup]}}]
loads: [{{rate: 2000/s}}]
{cells}
"
        )
    };
    assert!(refused(&yaml("")).contains("2 deployments need port 9000 at the same time"));
    read(&yaml("cells: {exclude: [{service: hello, platform: other}]}"))
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn what_a_platform_needs_is_only_asked_of_what_is_measured_there() {
    let yaml = |cells: &str| {
        format!(
            "
services: [{{builtin: orders}}, {{name: nginx, image: 'nginx:1.27', limits: {{cpu: 0.5}}}}, {{name: own, builtin: hello, https: true}}]
platforms:
  - docker
  - {{name: proxied, local: [veth, sidecar]}}
  - {{name: pod, kubernetes: {{requests: {{cpu: 1}}}}}}
loads: [{{rate: 2000/s}}, {{rate: 1000/s, http2: true}}]
plan: {{nodes: own}}
limits: {{cpu: 1}}
{cells}
"
        )
    };
    let all = refused(&yaml(""));
    assert!(all.contains("an image runs in docker and kubernetes only"), "{all}");
    let started = "cells: {exclude: [{service: nginx, platform: proxied}";
    let proxied = refused(&yaml(&format!("{started}]}}")));
    assert!(proxied.contains("`proxied` has a proxy on its path that cannot pass https on"), "{proxied}");
    assert!(proxied.contains("a pod cannot request more than its limit"), "{proxied}");
    let clear = format!("{started}, {{service: own, platform: proxied}}, {{service: nginx, platform: pod}}");
    let streams = refused(&yaml(&format!("{clear}]}}")));
    assert!(streams.contains("`proxied` has a proxy on its path that cannot pass HTTP/2 on"), "{streams}");
    assert!(!streams.contains("a pod cannot request"), "{streams}");
    read(&yaml(&format!("{clear}, {{platform: proxied, load: 1000/s}}]}}")))
        .unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn what_cannot_be_measured_or_compared_is_refused_with_the_way_out() {
    for (name, further) in [
        ("unknown_names", "cells: {exclude: [{platform: kubernets}, {service: third}, {load: 3000/s}]}"),
        ("nothing_left", "cells: {exclude: [{platform: [host, docker, kubernetes]}]}"),
        ("neither_list_nor_map", "cells: host"),
        ("excludes_nothing", "cells: {}"),
        ("baseline_excluded", "cells: {exclude: [{platform: host, load: slow}]}"),
        (
            "contrast_not_measured",
            "cells: {exclude: [{platform: docker}]}\ncontrasts: [{of: {platform: kubernetes}, against: {platform: docker}}]",
        ),
        ("contrast_with_itself", "contrasts: [{of: {platform: docker}, against: {platform: docker}}]"),
        ("contrast_without_a_side", "contrasts: [{of: {platform: docker}}]"),
        ("no_contrasts", "contrasts: []"),
        (
            "contrasts_in_a_circle",
            "contrasts: [{of: {platform: docker}, against: {platform: host}}, {of: {platform: host}, against: {platform: docker}}]",
        ),
    ] {
        insta::assert_snapshot!(name, refused(&file(further)));
    }
}

#[test]
fn what_a_platform_cannot_have_of_its_own_is_refused() {
    for (name, yaml) in [
        (
            "own_things_of_what_runs_already",
            "
platforms: [{external: 'http://localhost:8080', limits: {cpu: 1}, cpus: 0, env: {A: b}}]
loads: [{rate: 2000/s}]
",
        ),
        (
            "own_limits_of_manifests",
            "
service: {builtin: orders}
platforms: [host, {kubernetes: {manifests: Cargo.toml, workload: deployment/x}, limits: {cpu: 1}, cpus: 0, env: {A: b}}]
loads: [{rate: 2000/s}]
plan: {isolation: exclusive}
",
        ),
        (
            "a_platforms_cpu_is_the_loads",
            "
service: {builtin: orders}
platforms: [host, {docker: {}, cpus: 2-3}]
loads: [{rate: 2000/s}]
cpus: {load: 3}
",
        ),
        (
            "a_pod_requests_more_than_its_own_limit",
            "
service: {builtin: orders}
platforms: [host, {kubernetes: {requests: {cpu: 1}}, limits: {cpu: 0.5}}]
loads: [{rate: 2000/s}]
limits: {cpu: 2}
",
        ),
        (
            "contrasts_on_a_ladder",
            "
service: {builtin: orders}
platforms: [host, {name: rung, local: [cgroup], above: host}]
loads: [{rate: 2000/s}]
contrasts: [{of: {platform: rung}, against: {platform: host}}]
",
        ),
        (
            "two_loads_of_one_name",
            "
service: {builtin: orders}
platforms: [host, pod]
loads: [{name: usual, rate: 2000/s}, {name: usual, rate: 1000/s}]
",
        ),
    ] {
        insta::assert_snapshot!(name, refused(yaml));
    }
}

#[test]
fn a_search_for_each_request_has_a_service_for_each_and_compares_same_requests() {
    let yaml = "
services:
  - {name: old, builtin: hello, requests: [GET /a, 3 GET /b]}
  - {name: new, builtin: hello, requests: [GET /a, GET /c]}
platforms: [host, docker]
loads: [{rate: 100/s}]
capacity: {each_request: true}
";
    let experiment = read(yaml).unwrap_or_else(|error| panic!("{error}"));
    let names: Vec<&str> = experiment.services.iter().map(|service| service.name.as_str()).collect();
    assert_eq!(names, ["old GET /a", "old GET /b", "new GET /a", "new GET /c"]);
    assert!(experiment.services.iter().all(|service| service.requests.len() == 1));
    let across: Vec<(usize, usize)> = (experiment.contrasts.iter())
        .filter(|contrast| contrast.candidate.service != contrast.baseline.service)
        .map(|contrast| (contrast.candidate.service.0, contrast.baseline.service.0))
        .collect();
    assert_eq!(across, [(2, 0)]);
    // And each service on Docker with itself on the host.
    assert_eq!(experiment.contrasts.len(), 1 + 4);
    let written = to_yaml(&experiment);
    assert_eq!(read(&written).as_ref(), Ok(&experiment), "{written}");
}
