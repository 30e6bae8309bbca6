//! An ordinary user who may use Docker's socket, or has a kubeconfig, measures containers and pods beside the host: without a wire, with
//! what took root said or refused, and with nothing left behind.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support;
use crate::support::cluster::{Cluster, cluster};
use crate::support::place::{Ended, Place, ended};
use crate::support::store::Reader;
use crate::support::user::{OrdinaryUser, UID};
use crate::support::{BRIEF, leftovers, wait_for};
use loadline_machine::Netns;
use loadline_model::notes::Note;
use loadline_model::result::{RunResult, Statement};
use loadline_test_support::engine::Engine;
use rustix::process::{Pid, Signal, kill_process};

/// An ordinary user beside a Docker daemon, both in a network namespace of their own.
struct Harbour {
    engine: Engine,
    user: OrdinaryUser,
    _place: Place,
}

impl Harbour {
    fn new() -> Harbour {
        let place = Place::shared();
        let user = OrdinaryUser::at(&place);
        Netns::new().and_then(|namespace| namespace.enter()).expect("a namespace");
        let engine = Engine::docker(&[]);
        // As for members of the group `docker`.
        let socket = PathBuf::from(engine.endpoint().trim_start_matches("unix://"));
        chown(&socket, None, Some(UID)).expect("a socket");
        fs::set_permissions(&socket, Permissions::from_mode(0o660)).expect("a socket");
        let dir = socket.parent().expect("a folder");
        fs::set_permissions(dir, Permissions::from_mode(0o711)).expect("a folder");
        Harbour { engine, user, _place: place }
    }

    fn command<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = self.user.command(arguments);
        command.env("DOCKER_HOST", self.engine.endpoint());
        command
    }

    fn run<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Ended {
        ended(self.command(arguments).output().expect("setpriv is there"))
    }
}

fn store(user: &OrdinaryUser) -> Option<Reader> {
    Reader::open(&user.home.join("loadline.db"))
}

/// Starts a run that has long to go, and kills it once it measures.
fn kill_at_work(mut compare: Command, user: &OrdinaryUser) {
    let output = tempfile::NamedTempFile::new().expect("a file");
    let file = || output.reopen().expect("the file");
    compare.args(["--blocks", "100", "--warmup", "1s"]);
    let mut child = compare.stdout(file()).stderr(file()).spawn().expect("setpriv is there");
    wait_for("slices", || {
        let ended = child.try_wait().expect("a child");
        assert_eq!(ended, None, "{}", fs::read_to_string(&output).expect("text"));
        store(user)?.count("slice").filter(|slices| *slices >= 2)
    });
    // setpriv has become the program.
    kill_process(Pid::from_child(&child), Signal::KILL).expect("it runs");
    child.wait().expect("a child");
}

fn assert_nothing_left(user: &OrdinaryUser) {
    let left = leftovers::of_run_in(&store(user).expect("a store").label(), &user.registry);
    assert!(left.is_empty(), "{left:#?}");
}

/// As [`support::assert_whole`], and that there is no wire was said.
fn assert_whole_without_wire(result: &RunResult, cells: usize) {
    support::assert_whole(result, cells);
    let wire: Vec<_> = result.notes.iter().filter(|note| note.text.contains("over loopback")).collect();
    assert!(wire.len() == 1 && wire[0].text.contains("Run as root for the wire"), "{:?}", result.notes);
}

#[test]
fn a_user_of_dockers_socket_compares_every_way_into_a_container_that_takes_no_link() {
    let harbour = Harbour::new();
    let before = harbour.engine.inventory();
    let ways = ["host", "docker", "docker:userland-proxy", "docker:none", "docker:host"];
    let on = ways.iter().flat_map(|way| ["--on", way]);
    let arguments = [
        "compare",
        "--service",
        "orders",
        "--rate",
        "500/s",
        "--limit-memory",
        "256Mi",
        "--allow-missing",
        "--json",
        "-",
    ];
    let ended = harbour.run(arguments.into_iter().chain(on).chain(BRIEF));

    ended.assert_measured();
    let result = ended.result();
    assert_whole_without_wire(&result, ways.len() + 1);
    assert!(result.surroundings["docker"].summary.contains("Docker"), "{:?}", result.surroundings);
    assert!(
        result
            .notes
            .iter()
            .any(|note| note.text == "measured without limits on host: this user cannot write to cgroups"),
        "{:?}",
        result.notes
    );
    let store = store(&harbour.user).expect("a store");
    let slices = (ways.len() + 1) * 2 * 2;
    assert_eq!((store.state().as_str(), store.count("slice")), ("complete", Some(slices)));
    assert_nothing_left(&harbour.user);
    assert_eq!(harbour.engine.inventory(), before);
}

#[test]
fn what_takes_root_is_refused_before_anything_is_made() {
    let harbour = Harbour::new();
    let before = harbour.engine.inventory();
    for (way, said) in [
        (
            "docker:macvlan",
            "cannot measure `docker: {network: macvlan}` without root: it needs a network link of its own",
        ),
        ("docker:none-with-wire", "cannot measure `docker: {network: none-with-wire}` without root"),
        ("pod", "cannot measure `pod` together with containers, clusters or URLs without root"),
        ("kubernetes:static", "cannot measure `kubernetes: {static: true}` without root"),
    ] {
        let ended = harbour.run(["compare", "--on", "docker", "--on", way].into_iter().chain(BRIEF));
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert!(ended.stderr.contains(said) && ended.stderr.contains("as root"), "{}", ended.stderr);
    }
    assert!(store(&harbour.user).is_none(), "a run was begun");
    assert_eq!(harbour.engine.inventory(), before);
}

#[test]
fn what_a_killed_run_left_in_docker_is_removed_by_clean() {
    let harbour = Harbour::new();
    let before = harbour.engine.inventory();
    kill_at_work(harbour.command(["compare", "--on", "host", "--on", "docker"]), &harbour.user);
    assert_ne!(harbour.engine.inventory(), before);
    let ports = harbour.engine.cli(&["ps", "--format", "{{.Ports}}"]);
    // The kernel translates what is published at Docker's bridge; on loopback that would be docker-proxy's work.
    assert!(ports.starts_with("172."), "{ports}");

    let cleaned = harbour.run(["clean"]);
    assert_eq!(cleaned.code, Some(0), "{}", cleaned.stderr);
    for kind in ["container", "image", "run"] {
        assert!(cleaned.stdout.contains(&format!("removed {kind} ")), "no {kind}: {}", cleaned.stdout);
    }
    assert_nothing_left(&harbour.user);
    assert_eq!(harbour.engine.inventory(), before);
}

#[test]
fn without_the_right_to_dockers_socket_the_way_to_it_is_told() {
    let harbour = Harbour::new();
    let socket = harbour.engine.endpoint();
    let socket = Path::new(socket.trim_start_matches("unix://"));
    fs::set_permissions(socket, Permissions::from_mode(0o600)).expect("a socket");
    let ended = harbour.run(["compare", "--on", "host", "--on", "docker"].into_iter().chain(BRIEF));
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("usermod -aG docker"), "{}", ended.stderr);
}

/// The user's copy of the kubeconfig.
fn kubeconfig(user: &OrdinaryUser, cluster: &Cluster) -> PathBuf {
    let own = user.home.join("kubeconfig");
    fs::copy(&cluster.kubeconfig, &own).expect("a copy");
    chown(&own, Some(UID), Some(UID)).expect("the user's file");
    own
}

#[test]
fn a_user_with_a_kubeconfig_compares_host_and_pods() {
    let (cluster, place) = (&cluster(), Place::shared());
    let user = OrdinaryUser::at(&place);
    let ways = ["host", "kubernetes", "kubernetes:podIP+same-node"];
    let on = ways.iter().flat_map(|way| ["--on", way]);
    let arguments =
        ["compare", "--service", "orders", "--rate", "500/s", "--deployments", "1", "--json", "-"];
    let plan = ["--slice", "200ms", "--blocks", "2", "--warmup", "1s", "--repeats", "0"];
    let mut command = user.command(arguments.into_iter().chain(on).chain(plan));
    command.env("KUBECONFIG", kubeconfig(&user, cluster));
    let ended = ended(command.output().expect("setpriv is there"));

    ended.assert_measured();
    let result = ended.result();
    assert_whole_without_wire(&result, ways.len() + 1);
    let unpinned = |note: &Statement<Note>| {
        note.text.contains("not pinned to CPUs") && note.text.contains("run loadline as root")
    };
    assert!(result.notes.iter().any(unpinned), "{:?}", result.notes);
    assert_nothing_left(&user);
    assert!(!cluster.has_namespace_of(&store(&user).expect("a store").label()));
}

#[test]
fn what_a_killed_run_left_in_a_cluster_is_removed_by_clean() {
    let (cluster, place) = (&cluster(), Place::shared());
    let user = OrdinaryUser::at(&place);
    let mut command = user.command(["compare", "--on", "host", "--on", "kubernetes"]);
    command.env("KUBECONFIG", kubeconfig(&user, cluster));
    kill_at_work(command, &user);
    let run = store(&user).expect("a store").label();
    assert!(cluster.has_namespace_of(&run));

    let cleaned = ended(user.command(["clean"]).output().expect("setpriv is there"));
    assert_eq!(cleaned.code, Some(0), "{}", cleaned.stderr);
    assert!(cleaned.stdout.contains(&format!("removed namespace loadline-{run}")), "{}", cleaned.stdout);
    assert!(!cluster.has_namespace_of(&run));
    assert_nothing_left(&user);
}
