//! What a service needs beside it: started first, reached by its address, counted apart, gone with it.

use std::fs;
use std::path::Path;

use loadline_analysis::result::RunResult;
use loadline_machine::{Cgroup, Container};
use rustix::process::Signal;

use crate::docker::Harbour;
use crate::support::cluster::cluster;
use crate::support::place::{Ended, Place, ended};
use crate::support::{PROGRAM, go, leftovers};

/// Two of the same: a platform is compared with itself.
const HOSTS: &str = "host, {name: again, host: }";

/// A service that asks all that it needs for each request, on these platforms. A need is its name and what else is written of it.
fn experiment(place: &Place, needs: &[(&str, &str)], platforms: &str) -> String {
    let front = go::build(place, "front", "needs");
    let url = |(name, _): &(&str, &str)| format!("http://{{{name}.host}}:{{{name}.port}}/hello/42");
    let need = |(name, need): &(&str, &str)| format!("{{name: {name}, {need}}}");
    let asks = needs.iter().map(url).collect::<Vec<_>>().join(" ");
    let needs = needs.iter().map(need).collect::<Vec<_>>().join(", ");
    format!(
        "
name: needs
service:
  name: front
  command: '{front} {{host}}:{{port}}'
  env: {{ASKS: '{asks}'}}
  requests: [GET /]
  needs: [{needs}]
platforms: [{platforms}]
loads: [{{rate: 40/s}}]
plan: {{slice: 500ms, blocks: 1, deployments: 2, warmup: 1s, repeats: 0, twin: false}}
"
    )
}

const DOCKERS: &str = "docker, {name: again, docker: }";

/// Every way into a container that has a route to another.
const WAYS: &str = "host, docker, {docker: {publish: userland-proxy}}, {docker: {publish: none}}, \
    {docker: {network: host}}, {docker: {network: none-with-wire}}";

/// Runs it with this in its environment.
fn run_on(place: &Place, platforms: &str, needs: &[(&str, &str)], environment: &[(&str, &str)]) -> Ended {
    place.write("needs.yaml", &experiment(place, needs, platforms));
    let mut command = place.command(["run", "needs.yaml", "--json", "-"]);
    let ended = ended(command.envs(environment.iter().copied()).output().expect("the program starts"));
    leftovers::assert_none(&place.store().label());
    ended
}

fn run(place: &Place, need: &str) -> Ended {
    run_on(place, HOSTS, &[("back", need)], &[])
}

fn hello() -> String {
    format!("command: '{PROGRAM} serve hello --listen {{host}}:{{port}}'")
}

fn assert_answered(result: &RunResult) {
    for cell in &result.cells {
        assert!(cell.answered > 0 && cell.errors.is_empty(), "{}: {:?}", cell.label, cell.errors);
    }
}

fn assert_counted_apart(result: &RunResult, metric: &str) {
    for cell in &result.cells {
        let of_needs = cell.figures.iter().find(|figure| figure.metric == metric);
        assert!(of_needs.is_some_and(|figure| figure.value > 0.0), "{}: {metric} is no CPU time", cell.label);
    }
}

#[test]
fn each_service_has_its_own_of_what_it_needs() {
    let place = Place::shared();
    let ended = run(&place, &hello());
    ended.assert_measured();
    assert_answered(&ended.result());
    assert_counted_apart(&ended.result(), "cpu.needs");
}

/// Runs a service that asks one of its own, and one that there is for all as a process of this machine.
fn assert_reaches_own_and_shared(place: &Place, platforms: &str, environment: &[(&str, &str)]) {
    let (own, shared) = (hello(), format!("{}, shared: true", hello()));
    let ended = run_on(place, platforms, &[("back", &own), ("all", &shared)], environment);
    ended.assert_measured();
    assert_answered(&ended.result());
    assert_counted_apart(&ended.result(), "cpu.needs");
    assert_counted_apart(&ended.result(), "cpu.needs.shared");
}

/// Runs a service that knows nothing of what is asked for: only its proxy asks for something else.
fn assert_asked_by_its_proxy(place: &Place, platforms: &str, environment: &[(&str, &str)]) {
    let front = go::build(place, "front", "needs");
    let experiment = format!(
        "
name: proxy
service:
  builtin: hello
  requests: [GET /]
  ready: {{http: /}}
  needs:
    - name: proxy
      command: '{front} {{host}}:{{port}}'
      env: {{ASKS: 'http://{{service.host}}:{{service.port}}/hello/42'}}
      proxy: true
platforms: [{platforms}]
loads: [{{rate: 40/s}}]
plan: {{slice: 500ms, blocks: 1, deployments: 2, warmup: 1s, repeats: 0, twin: false}}
"
    );
    place.write("proxy.yaml", &experiment);
    let mut command = place.command(["run", "proxy.yaml", "--json", "-"]);
    let ended = ended(command.envs(environment.iter().copied()).output().expect("the program starts"));
    leftovers::assert_none(&place.store().label());
    ended.assert_measured();
    assert_answered(&ended.result());
    assert_counted_apart(&ended.result(), "cpu.needs");
}

#[test]
fn a_container_reaches_a_container_and_a_process_of_this_machine() {
    let harbour = Harbour::new();
    let before = harbour.engine.inventory();
    let endpoint = harbour.engine.endpoint();
    let environment = [("DOCKER_HOST", endpoint.as_str())];
    assert_reaches_own_and_shared(&harbour.place, WAYS, &environment);
    assert_asked_by_its_proxy(&harbour.place, WAYS, &environment);
    assert_eq!(harbour.engine.inventory(), before);
}

#[test]
fn a_network_of_a_killed_run_is_removed_by_cleaning_up() {
    let harbour = Harbour::cleaning();
    let before = harbour.engine.inventory();
    harbour.place.write("needs.yaml", &experiment(&harbour.place, &[("back", &hello())], DOCKERS));
    let run = harbour.place.start_command(harbour.command(["run", "needs.yaml"]));
    harbour.place.wait_for_rows("slice", 1);
    let network = format!("loadline-{}", harbour.place.store().label());
    let members = ["network", "inspect", "--format", "{{range .Containers}}{{.Name}} {{end}}", &network];
    let members = harbour.engine.cli(&members);
    assert_eq!(members.split_whitespace().count(), 2 * 2, "two services, and what each needs: {members}");
    run.send(Signal::KILL);
    assert_eq!(run.wait().code, None, "it ended before it was killed");

    let cleaned = harbour.run(["clean"]);
    assert_eq!(cleaned.code, Some(0), "{}", cleaned.stderr);
    assert!(cleaned.stdout.contains(&format!("removed network {network}")), "{}", cleaned.stdout);
    leftovers::assert_none(&harbour.place.store().label());
    assert_eq!(harbour.engine.inventory(), before);
}

#[test]
fn a_pod_in_a_cluster_reaches_a_pod_and_a_process_of_this_machine() {
    let (cluster, place) = (&cluster(), Place::shared());
    go::build(&place, "front", "needs");
    let (program, archive) = (place.path("front"), place.path("front.tar").display().to_string());
    let made = place.run(["image", "-o", &archive, &program.display().to_string()]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    cluster.script("load", &[&archive]);
    let pods = "host, kubernetes, {kubernetes: {expose: podIP, placement: other-node}}";
    let environment = [("KUBECONFIG", cluster.kubeconfig.as_str())];
    assert_reaches_own_and_shared(&place, pods, &environment);
    assert_asked_by_its_proxy(&place, pods, &environment);
}

#[test]
fn what_is_shared_is_started_once_and_ends_with_the_run() {
    let place = Place::shared();
    place.write(
        "once.sh",
        &format!("#!/bin/sh\necho started >> starts\nexec {PROGRAM} serve hello --listen $HOST:$PORT\n"),
    );
    let ended = run(&place, "command: sh once.sh, shared: true");
    ended.assert_measured();
    assert_answered(&ended.result());
    let starts = std::fs::read_to_string(place.path("starts")).expect("it was started");
    assert_eq!(starts.lines().count(), 1, "two platforms and two deployments share one");
}

#[test]
fn what_ends_or_never_listens_is_named() {
    let place = Place::shared();
    let ended = run(&place, "command: sh -c 'echo no such topic; exit 3'");
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("back") && ended.stderr.contains("no such topic"), "{}", ended.stderr);
    let ended = run(&place, "command: sleep 1000, ready: {within: 500ms}");
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("back, which it needs: not ready within 500ms"), "{}", ended.stderr);
}

#[test]
fn what_answers_a_request_with_success_is_ready_and_what_does_not_is_named() {
    let place = Place::shared();
    let ready = |path: &str| format!("{}, ready: {{http: {path}, within: 1s}}", hello());
    run(&place, &ready("/hello/1")).assert_measured();
    let ended = run(&place, &ready("/nowhere"));
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let told = "back, which it needs: not ready within 1s: GET /nowhere failed (status 404)";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
}

/// Runs what needs a program that ends at once, and then one that listens where nobody else is.
fn assert_what_ends_or_never_listens_is_named(place: &Place, platforms: &str, environment: &[(&str, &str)]) {
    for (address, told) in [
        ("192.0.2.1:80", ["exited on its own", "cannot serve on 192.0.2.1:80"]),
        ("127.0.0.1:4999", ["which it needs: not ready within 2s", "127.0.0.1:4999"]),
    ] {
        let need = format!("command: '{PROGRAM} serve hello --listen {address}', ready: {{within: 2s}}");
        let ended = run_on(place, platforms, &[("back", &need)], environment);
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        for told in ["back", told[0], told[1]] {
            assert!(ended.stderr.contains(told), "{told}: {}", ended.stderr);
        }
    }
}

#[test]
fn what_ends_or_never_listens_in_a_container_is_named() {
    let harbour = Harbour::new();
    let before = harbour.engine.inventory();
    let endpoint = harbour.engine.endpoint();
    assert_what_ends_or_never_listens_is_named(&harbour.place, DOCKERS, &[("DOCKER_HOST", &endpoint)]);
    assert_eq!(harbour.engine.inventory(), before);
}

#[test]
fn what_ends_or_never_listens_in_a_cluster_is_named() {
    let (cluster, place) = (&cluster(), Place::shared());
    let environment = [("KUBECONFIG", cluster.kubeconfig.as_str())];
    assert_what_ends_or_never_listens_is_named(
        &place,
        "kubernetes, {name: again, kubernetes: }",
        &environment,
    );
    assert!(!cluster.has_namespace_of(&place.store().label()));
}

/// The quota and the memory that the kernel allows the process of a run whose command line has this word.
fn limits_of(run: &str, word: &str) -> [String; 2] {
    let is_it = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes())
    };
    let pid = leftovers::processes(run).into_iter().find(is_it).expect("it runs");
    let container = Container::of_process(pid).expect("cgroups").expect("a cgroup");
    let read =
        |dir: &Path, name: &str| fs::read_to_string(dir.join(name)).expect("a limit").trim().to_owned();
    match container.cgroup {
        Cgroup::V1 { cpu, memory, .. } => {
            [read(&cpu, "cpu.cfs_quota_us"), read(&memory.expect("a folder"), "memory.limit_in_bytes")]
        }
        Cgroup::V2 { dir } => [read(&dir, "cpu.max").replace(" 100000", ""), read(&dir, "memory.max")],
    }
}

/// Runs a service without limits that needs two programs with limits, one of its own and one for all.
fn assert_limited(place: &Place, platforms: &str, environment: &[(&str, &str)]) {
    let limited = |service: &str| {
        format!(
            "command: '{PROGRAM} serve {service} --listen {{host}}:{{port}}', limits: {{cpu: 0.5, memory: 64Mi}}"
        )
    };
    let (own, shared) = (limited("hello"), format!("{}, shared: true", limited("orders")));
    place.write("needs.yaml", &experiment(place, &[("back", &own), ("all", &shared)], platforms));
    let mut command = place.command(["run", "needs.yaml"]);
    command.envs(environment.iter().copied());
    let run = place.start_command(command);
    place.wait_for_rows("slice", 1);
    let label = place.store().label();
    for service in ["hello", "orders"] {
        assert_eq!(limits_of(&label, service), ["50000".to_owned(), (64 << 20).to_string()], "{service}");
    }
    run.wait().assert_measured();
    leftovers::assert_none(&label);
}

#[test]
fn what_is_needed_is_held_to_its_limits() {
    assert_limited(&Place::shared(), HOSTS, &[]);
}

#[test]
fn what_is_needed_is_held_to_its_limits_in_a_container() {
    let harbour = Harbour::new();
    let endpoint = harbour.engine.endpoint();
    assert_limited(&harbour.place, DOCKERS, &[("DOCKER_HOST", &endpoint)]);
}

#[test]
fn what_ends_in_the_middle_is_named() {
    let place = Place::shared();
    place.write(
        "brief.sh",
        &format!(
            "#!/bin/sh\n{PROGRAM} serve hello --listen $HOST:$PORT &\nsleep 2\nkill $!\necho disk full\nexit 4\n"
        ),
    );
    for shared in ["", ", shared: true"] {
        let ended = run(&place, &format!("command: sh brief.sh{shared}"));
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        assert!(
            ended.stderr.contains("back, which it needs: ") && ended.stderr.contains("disk full"),
            "{shared}: {}",
            ended.stderr
        );
    }
}

#[test]
fn an_address_of_what_is_not_needed_is_refused() {
    let place = Place::new();
    let written = experiment(&place, &[("back", "command: sleep 1")], HOSTS);
    place.write("needs.yaml", &written.replace("{back.port}", "{bakc.port}"));
    let ended = place.run(["plan", "needs.yaml"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
    assert!(
        ended.stderr.contains("the service does not need `bakc`")
            && ended.stderr.contains("did you mean `back`?"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_proxy_that_does_not_start_or_ends_is_named() {
    let place = Place::shared();
    let proxied = |command: &str| format!("command: {command}, proxy: true, ready: {{within: 2s}}");
    let experiment = |need: &str| {
        format!(
            "
name: proxy
service: {{builtin: hello, needs: [{{name: proxy, {need}}}]}}
platforms: [{HOSTS}]
loads: [{{rate: 40/s}}]
plan: {{slice: 500ms, blocks: 1, deployments: 2, warmup: 1s, repeats: 0, twin: false}}
"
        )
    };
    for (command, what) in [
        ("sh -c 'echo no such upstream; exit 3'", "no such upstream"),
        ("sleep 1000", "proxy, which it needs: not ready within 2s"),
    ] {
        place.write("proxy.yaml", &experiment(&proxied(command)));
        let ended = place.run(["run", "proxy.yaml"]);
        leftovers::assert_none(&place.store().label());
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        assert!(ended.stderr.contains(what), "{}", ended.stderr);
    }
}
