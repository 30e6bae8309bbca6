//! Runs of no fixed length: `--until` ends one when it knows enough, `--within` when its time is over.

mod support;

use loadline_analysis::result::RunState;
use support::leftovers;
use support::place::Place;

#[test]
fn a_run_ends_at_the_first_look_that_knows_enough() {
    let place = Place::alone();
    // A tenth of the time is a fair doubt about a median that is twice as long: the first look must settle it.
    let services = ["compare", "--service", "orders", "--service", "orders --delay 1ms", "--on", "host"];
    let plan = ["--slice", "200ms", "--blocks", "2", "--deployments", "4", "--warmup", "1s", "--repeats", "0"];
    let ended =
        place.run(services.into_iter().chain(plan).chain(["--rate", "500/s", "--until", "400%", "--json", "-"]));

    ended.assert_measured();
    let result = ended.result();
    assert_eq!(result.run.state, RunState::Complete);
    assert_eq!((result.plan.deployments, result.plan.until), (4, Some(4.0)));
    assert!(result.plan.confidence > 0.95, "a look is one of several: {}", result.plan.confidence);
    leftovers::assert_none(&place.store().label());
}

#[test]
fn a_run_whose_time_is_over_ends_and_says_so() {
    let place = Place::alone();
    let plan = ["--slice", "100ms", "--blocks", "1", "--deployments", "50", "--warmup", "1s", "--repeats", "0"];
    let ended = place.run(["compare"].into_iter().chain(plan).chain(["--within", "1s", "--json", "-"]));

    ended.assert_measured();
    let result = ended.result();
    assert_eq!((result.run.state, result.plan.deployments), (RunState::Complete, 1));
    assert!(result.notes.iter().any(|note| note.contains("--within")), "{:?}", result.notes);
    leftovers::assert_none(&place.store().label());
}
