//! Runs of no fixed length: `--until` ends one when it knows enough, `--within` when its time is over.

use crate::support::leftovers;
use crate::support::place::Place;
use loadline_analysis::result::RunState;
use loadline_model::experiment::Precision;

#[test]
fn a_run_ends_at_a_look_that_knows_enough() {
    let place = Place::alone();
    // Short slices: where others take the CPUs now and then, some of them are undisturbed.
    let plan = ["--slice", "50ms", "--blocks", "8", "--deployments", "4", "--warmup", "1s", "--repeats", "4"];
    let stop = ["--until", "50%", "--within", "10min", "--json", "-"];
    let ended = place.run(["compare"].into_iter().chain(plan).chain(stop));

    ended.assert_measured();
    let result = ended.result();
    let asked = Precision { metric: "response.p50".to_owned(), within: 0.5 };
    assert_eq!((result.run.state, result.plan.until), (RunState::Complete, Some(vec![asked])));
    assert!(result.plan.deployments >= 4, "no look comes before the planned deployments");
    assert!(result.plan.confidence > 0.95, "a look is one of several: {}", result.plan.confidence);
    for contrast in result.contrasts.iter().chain(&result.noise) {
        let row = contrast.rows.iter().find(|row| row.metric == "response.p50").expect("a median");
        let interval = row.interval.expect("32 blocks make a claim");
        assert!(interval[1] - interval[0] <= 2.0 * 0.5 * row.baseline, "it ended too early: {row:?}");
    }
    leftovers::assert_none(&place.store().label());
}

#[test]
fn a_run_whose_time_is_over_ends_and_says_so() {
    let place = Place::shared();
    let plan =
        ["--slice", "100ms", "--blocks", "1", "--deployments", "50", "--warmup", "1s", "--repeats", "0"];
    let ended = place.run(["compare"].into_iter().chain(plan).chain(["--within", "1s", "--json", "-"]));

    ended.assert_measured();
    let result = ended.result();
    assert_eq!((result.run.state, result.plan.deployments), (RunState::Complete, 1));
    assert!(
        result.notes.iter().any(|note| note.text.contains("time for measuring was over")),
        "{:?}",
        result.notes
    );
    leftovers::assert_none(&place.store().label());
}
