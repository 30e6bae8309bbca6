//! Docker as a user has it: every way into a container is measured beside the host, and whatever goes wrong with the daemon or a
//! container is said within seconds, while what was measured is kept and nothing of ours is left.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use crate::support::place::{Ended, Place, ended};
use crate::support::{BRIEF, hunger, leftovers, wait_for};
use loadline_machine::Netns;
use loadline_test_support::engine::Engine;

/// A place in a network namespace of its own, with a Docker daemon in it: neither bridge nor rules of the machine are touched.
pub struct Harbour {
    pub engine: Engine,
    pub place: Place,
}

impl Harbour {
    /// For a test whose runs are removed by nobody but itself.
    pub fn new() -> Harbour {
        Harbour::at(Place::shared())
    }

    /// For a test that cleans up after a killed run, which the cleaning of another would do for it.
    pub fn cleaning() -> Harbour {
        Harbour::at(Place::cleaning())
    }

    fn at(place: Place) -> Harbour {
        Netns::new().and_then(|namespace| namespace.enter()).expect("a namespace");
        // A bridge gives itself an IPv6 address once it has a first container: nothing of ours.
        for whose in ["all", "default"] {
            fs::write(format!("/proc/sys/net/ipv6/conf/{whose}/disable_ipv6"), "1").expect("a setting");
        }
        Harbour { engine: Engine::docker(&[]), place }
    }

    pub fn command<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = self.place.command(arguments);
        command.env("DOCKER_HOST", self.engine.endpoint());
        command
    }

    pub fn run<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Ended {
        ended(self.command(arguments).output().expect("the program starts"))
    }

    /// The container of the newest run, once there is one.
    fn container(&self) -> String {
        wait_for("a container", || {
            let names = self.engine.cli(&["ps", "--filter", "label=loadline.run", "--format", "{{.Names}}"]);
            names.lines().next().map(str::to_owned)
        })
    }
}

#[test]
fn every_way_into_a_container_is_measured_observed_and_removed() {
    let harbour = Harbour::new();
    let before = harbour.engine.inventory();
    let ways = [
        "docker",
        "docker:userland-proxy",
        "docker:none",
        "docker:host",
        "docker:macvlan",
        "docker:none-with-wire",
    ];
    let on = ["host"].into_iter().chain(ways).flat_map(|way| ["--on", way]);
    let arguments =
        ["compare", "--service", "orders", "--rate", "500/s", "--limit-cpu", "1", "--limit-memory", "256Mi"];
    let ended = harbour.run(arguments.into_iter().chain(on).chain(BRIEF).chain(["--json", "-"]));
    ended.assert_measured();

    let result = ended.result();
    assert_eq!(result.cells.len(), 2 + ways.len());
    for cell in &result.cells {
        assert!(cell.answered > 0 && cell.errors.is_empty(), "{}: {:?}", cell.label, cell.errors);
        let cpu = cell.figures.iter().find(|figure| figure.metric == "cpu.service");
        assert!(cpu.is_some_and(|cpu| cpu.value > 0.0), "the CPU time of {} was not seen", cell.label);
    }
    for start in result.starts.iter().filter(|start| start.label != "host") {
        let names: Vec<&str> = start.phases.iter().map(|phase| phase.name.as_str()).collect();
        assert_eq!(names, ["image", "created", "started", "answered"], "{}", start.label);
        assert!(start.image_bytes.is_some_and(|bytes| bytes > 1_000_000), "{}", start.label);
        assert!(start.idle_memory_bytes.is_some_and(|bytes| bytes > 100_000), "{}", start.label);
    }
    assert!(result.surroundings["docker"].summary.contains("Docker"), "{:?}", result.surroundings);
    leftovers::assert_none(&harbour.place.store().label());
    assert_eq!(harbour.engine.inventory(), before);
}

/// What a run does while a test pulls its plugs: one site on the host, which goes on, and one in a container.
const LONG: [&str; 15] = [
    "compare",
    "--on",
    "host",
    "--on",
    "docker",
    "--no-twin",
    "--limit-memory",
    "128Mi",
    "--rate",
    "300/s",
    "--slice",
    "200ms",
    "--on-failure",
    "continue",
    "--repeats",
];

/// Starts a long run, and waits until slices of it are measured.
fn start_long(harbour: &Harbour) -> Child {
    let mut command = harbour.command(LONG.into_iter().chain([
        "0",
        "--blocks",
        "20",
        "--deployments",
        "1",
        "--warmup",
        "1s",
    ]));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    harbour.place.wait_for_rows("slice", 4);
    child
}

/// Does something to the container of a long run once slices are measured, and returns how the run ended.
fn meanwhile(harbour: &Harbour, act: impl FnOnce(&str)) -> Ended {
    let child = start_long(harbour);
    act(&harbour.container());
    ended(child.wait_with_output().expect("a child"))
}

/// The run went on without the container, and kept what it had measured.
fn assert_went_on(harbour: &Harbour, ended: &Ended, reason: &str) {
    ended.assert_went_on();
    assert!(ended.stderr.contains(reason), "{}", ended.stderr);
    let slices = harbour.place.store().count("slice").expect("a table");
    assert!(slices >= 22, "only {slices} slices: 20 of the host, and those before");
    leftovers::assert_none(&harbour.place.store().label());
}

#[test]
fn a_container_that_is_killed_is_named_and_the_others_go_on() {
    let harbour = Harbour::new();
    let before = harbour.engine.inventory();
    let ended = meanwhile(&harbour, |container| drop(harbour.engine.cli(&["kill", container])));
    assert_went_on(&harbour, &ended, "orders on docker");
    assert!(ended.stderr.contains("137") || ended.stderr.contains("SIGKILL"), "{}", ended.stderr);
    assert_eq!(harbour.engine.inventory(), before);
}

#[test]
fn a_container_that_somebody_removes_is_named_and_the_others_go_on() {
    let harbour = Harbour::new();
    let before = harbour.engine.inventory();
    let ended = meanwhile(&harbour, |container| drop(harbour.engine.cli(&["rm", "--force", container])));
    assert_went_on(&harbour, &ended, "removed");
    assert_eq!(harbour.engine.inventory(), before);
}

#[test]
fn a_container_that_runs_out_of_memory_is_named_with_its_limit_and_the_others_go_on() {
    let harbour = Harbour::new();
    let before = harbour.engine.inventory();
    let ended = meanwhile(&harbour, |container| {
        hunger::starve(&harbour.engine.cli(&["inspect", "--format", "{{.Id}}", container]));
    });
    let told = "orders on docker: the service was killed because it exceeded its memory limit of 128 MiB";
    assert_went_on(&harbour, &ended, told);
    assert_eq!(harbour.engine.inventory(), before);
}

/// Makes what could be taken for things of the run with this container, and is somebody else's. Returns all of it.
fn add_strangers(harbour: &Harbour, container: &str) -> BTreeSet<String> {
    let (engine, run) = (&harbour.engine, harbour.place.store().label());
    let not_theirs = engine.inventory();
    let image = engine.cli(&["inspect", "--format", "{{.Config.Image}}", container]);
    engine.cli(&["tag", &image, &format!("{image}0")]);
    for (name, label) in [
        (format!("{container}0"), "app=loadline".to_owned()),
        (format!("loadline-{run}-9"), "loadline.slot=9".to_owned()),
        (format!("stranger-{run}"), format!("loadline.run={run}0")),
    ] {
        engine.cli(&["create", "--name", &name, "--label", &label, &format!("{image}0")]);
        engine.cli(&["network", "create", "--label", &label, &name]);
    }
    engine.inventory().into_iter().filter(|thing| !not_theirs.contains(thing)).collect()
}

#[test]
fn what_looks_like_a_runs_and_is_not_outlives_its_end_and_the_cleaning_after_another() {
    let harbour = Harbour::cleaning();
    let before: BTreeSet<String> = harbour.engine.inventory().into_iter().collect();
    let mut theirs = BTreeSet::new();
    let ended = meanwhile(&harbour, |container| {
        theirs.extend(add_strangers(&harbour, container));
        harbour.engine.cli(&["kill", container]);
    });
    assert_went_on(&harbour, &ended, "orders on docker");
    let left: BTreeSet<String> = harbour.engine.inventory().into_iter().collect();
    assert_eq!(left, &before | &theirs);

    let mut killed = start_long(&harbour);
    let container = harbour.container();
    theirs.extend(add_strangers(&harbour, &container));
    killed.kill().and_then(|()| killed.wait()).expect("a child");
    let cleaned = harbour.run(["clean"]);
    assert_eq!(cleaned.code, Some(0), "{}", cleaned.stderr);
    assert!(cleaned.stdout.contains(&format!("removed container {container}")), "{}", cleaned.stdout);
    leftovers::assert_none(&harbour.place.store().label());
    let left: BTreeSet<String> = harbour.engine.inventory().into_iter().collect();
    assert_eq!(left, &before | &theirs);
}

#[test]
fn a_daemon_that_stops_in_the_middle_is_said_and_cleaned_up_after_once_it_is_back() {
    let mut harbour = Harbour::cleaning();
    let before = harbour.engine.inventory();
    let child = start_long(&harbour);
    harbour.engine.stop();
    let ended = ended(child.wait_with_output().expect("a child"));
    assert!(ended.stderr.contains("daemon"), "{}", ended.stderr);
    assert!(ended.stderr.contains("loadline clean"), "{}", ended.stderr);
    assert!(
        harbour.place.store().count("slice").is_some_and(|slices| slices >= 4),
        "what was measured is kept"
    );

    harbour.engine.restart();
    let cleaned = harbour.run(["clean"]);
    assert_eq!(cleaned.code, Some(0), "{}", cleaned.stderr);
    leftovers::assert_none(&harbour.place.store().label());
    assert_eq!(harbour.engine.inventory(), before);
}

#[test]
fn without_a_daemon_the_way_to_one_is_told() {
    let place = Place::shared();
    let mut command = place.command(["compare", "--on", "host", "--on", "docker"].into_iter().chain(BRIEF));
    let ended =
        ended(command.env("DOCKER_HOST", "unix:///no/such/socket").output().expect("the program starts"));
    assert_eq!(ended.code, Some(1), "{}", ended.stdout);
    assert!(ended.stderr.contains("/no/such/socket"), "{}", ended.stderr);
    leftovers::assert_none(&place.store().label());
}

#[test]
fn an_image_that_does_not_exist_is_named_with_the_ways_to_get_it() {
    let harbour = Harbour::new();
    let arguments = [
        "compare",
        "--image",
        "no.such.registry.example/shop/orders:1.2",
        "--on",
        "docker",
        "--request",
        "/",
    ];
    let ended = harbour.run(arguments.into_iter().chain(BRIEF));
    assert_eq!(ended.code, Some(1), "{}", ended.stdout);
    assert!(ended.stderr.contains("no.such.registry.example/shop/orders:1.2"), "{}", ended.stderr);
    leftovers::assert_none(&harbour.place.store().label());
}

#[test]
fn a_port_that_somebody_takes_between_two_deployments_is_named_and_the_others_go_on() {
    let harbour = Harbour::new();
    let before = harbour.engine.inventory();
    harbour.place.write(
        "taken.yaml",
        "service: {builtin: orders, port: 18123}\nplatforms: [pod, docker: {network: host}]\nloads: [{rate: 300/s}]\n\
         plan: {slice: 200ms, blocks: 2, deployments: 2, warmup: 1s, repeats: 0, on_failure: continue}\n",
    );
    let mut command = harbour.command(["run", "taken.yaml"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    harbour.place.wait_for_rows("slice", 1);
    let _taken = wait_for("the port", || TcpListener::bind(("0.0.0.0", 18_123)).ok());
    let ended = ended(child.wait_with_output().expect("a child"));
    ended.assert_went_on();
    assert!(ended.stderr.contains("port 18123 is in use on this machine"), "{}", ended.stderr);
    // Two blocks of all three, and two of the first platform and its twin.
    assert_eq!(harbour.place.store().count("slice"), Some(10), "{}", ended.stderr);
    leftovers::assert_none(&harbour.place.store().label());
    assert_eq!(harbour.engine.inventory(), before);
}
