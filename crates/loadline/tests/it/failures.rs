//! Services that never get ready, die at start or die while they are measured: their last output is shown, what was measured is
//! kept, and the run ends or goes on as it was told.

use crate::support::place::{Ended, Place, Started, ended};
use crate::support::{BRIEF, STAGED, leftovers, programs};

/// Compares the built-in service with one that dies as soon as there is a file named `die`.
fn start_with_mortal(place: &Place, more: &[&str]) -> Started {
    place.write("mortal.py", programs::MORTAL);
    let arguments = ["compare", "--service", "orders", "--command", "python3 mortal.py {host} {port}"];
    let load = ["--on", "host", "--no-twin", "--rate", "500/s", "--request", "/api/orders"];
    place.start(arguments.into_iter().chain(load).chain(STAGED).chain(more.iter().copied()))
}

#[test]
fn a_service_that_never_gets_ready_is_given_up_after_its_time() {
    let place = Place::shared();
    place.write("deaf.yaml", NEVER_READY);
    let ended = place.run(["run", "deaf.yaml"]);

    assert_eq!(ended.code, Some(1), "{}", ended.stdout);
    assert!(ended.stderr.contains("not ready within 1s"), "{}", ended.stderr);
    assert!(ended.stderr.contains("waiting for a database"), "{}", ended.stderr);
    assert_eq!(ended.stdout, "", "nothing was measured");
    assert_eq!(ended.stderr.matches("not ready within 1s").count(), 1, "{}", ended.stderr);
    let store = place.store();
    assert_eq!((store.state().as_str(), store.count("slice")), ("failed", Some(0)));
    leftovers::assert_none(&store.label());
}

const NEVER_READY: &str = r#"
service:
  name: deaf
  command: [python3, -c, "import time; print('waiting for a database', flush=True); time.sleep(60)", "{port}"]
  requests: [GET /]
  ready: {http: /, within: 1s}
platforms: [host, pod]
loads: [{rate: 100/s}]
"#;

#[test]
fn a_service_that_listens_elsewhere_is_told_of_with_its_port() {
    let place = Place::shared();
    place.write("elsewhere.yaml", LISTENS_ELSEWHERE);
    let ended = place.run(["run", "elsewhere.yaml"]);

    assert_eq!(ended.code, Some(1), "{}", ended.stdout);
    let said = &ended.stderr;
    assert!(said.contains("not ready within 3s"), "{said}");
    assert!(said.contains("it listens on port 18099 instead: pass it {port}"), "{said}");
}

const LISTENS_ELSEWHERE: &str = r#"
service:
  command: [python3, -m, http.server, "18099", --bind, 127.0.0.1]
  requests: [GET /]
  ready: {within: 3s}
platforms: [host]
loads: [{rate: 100/s}]
"#;

#[test]
fn whoever_answers_before_the_service_does_is_not_asked_for_ever() {
    let place = Place::shared();
    place.write("first.py", &programs::somebody_else_at_first());
    let what = ["compare", "--service", "orders", "--command", "python3 first.py {host} {port}"];
    let how =
        ["--ready", "/healthz", "--request", "/api/orders", "--on", "host", "--no-twin", "--rate", "100/s"];
    place.run(what.into_iter().chain(how).chain(BRIEF)).assert_measured();
    leftovers::assert_none(&place.store().label());
}

#[test]
fn a_service_with_a_single_connection_has_it_for_its_load() {
    let place = Place::shared();
    place.write("single.py", &programs::one_connection_at_a_time());
    let what = ["compare", "--command", "python3 single.py {host} {port}", "--ready", "/", "--request", "/"];
    let how = ["--on", "host", "--rate", "100/s", "--connections", "1", "--json", "-"];
    let ended = place.run(what.into_iter().chain(how).chain(BRIEF));
    ended.assert_measured();
    for slice in ended.result().slices {
        assert!(slice.answered > 0 && slice.errors.is_empty(), "{:?}", slice.errors);
    }
}

#[test]
fn a_service_that_dies_at_start_is_shown_with_its_last_output() {
    let place = Place::shared();
    place.write("mortal.py", programs::MORTAL);
    place.write("die", "");
    let arguments =
        ["compare", "--command", "python3 mortal.py {host} {port}", "--on", "host", "--on", "pod"];
    let ended = place.run(arguments.into_iter().chain(BRIEF));

    assert_eq!(ended.code, Some(1), "{}", ended.stdout);
    assert!(ended.stderr.contains("the service exited on its own (exit status: 3)"), "{}", ended.stderr);
    assert!(ended.stderr.contains("no memory left, giving up"), "{}", ended.stderr);
    leftovers::assert_none(&place.store().label());
}

#[test]
fn a_service_that_dies_in_a_slice_ends_the_run_and_what_was_measured_is_kept() {
    let place = Place::shared();
    let run = start_with_mortal(&place, &[]);
    place.wait_for_rows("slice", 5);
    place.write("die", "");
    let ended = run.wait();

    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("no memory left, giving up"), "{}", ended.stderr);
    let store = place.store();
    assert_eq!(store.state(), "failed");
    assert!(store.count("slice") >= Some(5));
    assert!(store.count("slice") < Some(12), "it ended before its plan did");
    leftovers::assert_none(&store.label());
    let again = place.run(["report", "--json", "-"]);
    assert_eq!(again.code, Some(1));
    assert!(again.result().run.failures.iter().any(|failure| failure.contains("giving up")));
}

#[test]
fn a_run_may_go_on_without_a_service_that_dies_in_a_slice() {
    let place = Place::shared();
    let run = start_with_mortal(&place, &["--on-failure", "continue", "--json", "-"]);
    place.wait_for_rows("slice", 5);
    place.write("die", "");
    let ended = run.wait();

    ended.assert_went_on();
    assert!(ended.stderr.contains("no memory left, giving up"), "{}", ended.stderr);
    let result = ended.result();
    assert!(
        result.run.failures.iter().any(|failure| failure.contains("giving up")),
        "{:?}",
        result.run.failures
    );
    let slices_of = |cell: usize| result.slices.iter().filter(|slice| slice.cell.0 == cell).count();
    assert_eq!(slices_of(0), 6, "the other service was measured to the end");
    assert!((1..6).contains(&slices_of(1)), "{}", slices_of(1));
    leftovers::assert_none(&place.store().label());
}

/// Compares the host with a daemon and a cluster that are not there.
fn run_without_platforms(place: &Place, more: &[&str]) -> Ended {
    let on = ["compare", "--on", "host", "--on", "docker", "--on", "kubernetes", "--on-failure", "continue"];
    let mut command = place.command(on.into_iter().chain(BRIEF).chain(more.iter().copied()));
    command.env("DOCKER_HOST", "unix:///nowhere/docker.sock").env("KUBECONFIG", "/nowhere/config");
    ended(command.output().expect("the program starts"))
}

#[test]
fn platforms_that_are_not_there_are_all_named_before_anything_starts() {
    let place = Place::shared();
    let ended = run_without_platforms(&place, &[]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""), "{}", ended.stderr);
    for said in [
        "error: 2 platforms cannot be reached\n",
        "\n  docker: ",
        "/nowhere/docker.sock",
        "\n  kubernetes: ",
        "/nowhere/config",
        "\n  no service was started; --allow-missing measures the others\n",
    ] {
        assert!(ended.stderr.contains(said), "no `{said}` in: {}", ended.stderr);
    }
    assert_eq!(place.store().count("deployment"), Some(0), "nothing was started");
    leftovers::assert_none(&place.store().label());
}

#[test]
fn a_run_that_may_miss_some_measures_the_platforms_that_are_there() {
    let place = Place::shared();
    let ended = run_without_platforms(&place, &["--allow-missing"]);
    ended.assert_measured();
    assert!(ended.stdout.starts_with("2 of 3 were not measured: docker, kubernetes.\n"), "{}", ended.stdout);
    assert_eq!(place.store().count("slice"), Some(8), "the host and its twin: {}", ended.stderr);
    leftovers::assert_none(&place.store().label());
}
