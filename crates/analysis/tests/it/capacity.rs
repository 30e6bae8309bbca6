//! What a search finds beside a number: of services that misbehave, of a generator that sends too little, and of trials that the machine disturbed.
//! The numbers: `capacities`.

use loadline_analysis::result::{
    Capacities, CapacityFinding, CellCapacity, ConditionJudgement, ConditionResult, Irregularity, RunResult,
    Unit, Verdict,
};
use loadline_analysis::{Objectives, RunData, analyse};
use loadline_model::CellId;
use loadline_model::experiment::{Amount, Bound, CAPACITY, Capacity, Condition, Direction, Objective};
use loadline_model::gates::{Gate, GateFailure};
use loadline_model::load::{Arrivals, Load};
use loadline_model::metrics::MetricDeclaration;
use loadline_model::rows::{Purpose, SliceRow, TrialOutcome, TrialRow};
use loadline_search::Patience;

use crate::made_up::MadeUp;
use crate::made_up::searched::{at_rate, objectives, times_of};

/// Behind the host and its twin.
pub const POD: CellId = CellId(2);

fn objective(metric: &str, most: f64) -> Objective {
    Objective { text: "p99 <= 50ms".into(), metric: metric.into(), bound: Bound::AtMost(most), unit: None }
}

fn search_for(objective: Objective) -> Capacity {
    Capacity { objectives: vec![objective], precision: 0.02, most: None }
}

fn paused() -> GateFailure {
    GateFailure::Paused { ms_per_second: 40.0, most: 10.0 }
}

/// A search whose first trials at each cell were disturbed.
fn data(disturbed: usize) -> RunData {
    let mut data =
        MadeUp { change: |experiment| experiment.capacity = Some(objectives()), ..MadeUp::default() }.data();
    for slice in &mut data.slices {
        slice.trial = Some(TrialRow { purpose: Purpose::Search, slices: 1.0 });
    }
    for cell in data.run.plan.cell_ids().collect::<Vec<CellId>>() {
        for slice in data.slices.iter_mut().filter(|slice| slice.cell == cell).take(disturbed) {
            slice.gate_failures.push(paused());
        }
    }
    data
}

#[test]
fn what_the_machine_disturbed_is_no_trial() {
    let data = data(0);
    let judge = Objectives::of(&objectives(), &data.run);
    let judged = |failures: &[GateFailure]| {
        let mut slice = data.slices[0].clone();
        slice.gate_failures.extend_from_slice(failures);
        judge.judge(&slice, &mut Patience::default())
    };
    assert_eq!(judged(&[]), TrialOutcome::Passed);
    assert_eq!(judged(&[paused()]), TrialOutcome::Disturbed);
    let taken = GateFailure::Taken { ms_per_second: 40.0, most: 10.0 };
    assert_eq!(judged(&[taken]), TrialOutcome::Passed, "how much is usual depends on the rate");
    let late = GateFailure::Text { gate: Gate::SendLag, text: "late".into() };
    assert_eq!(judged(&[late, paused()]), TrialOutcome::NotSent);
}

#[test]
fn a_slice_is_judged_by_any_metric_that_its_probes_declare() {
    let mut data = data(0);
    data.run.metrics.push(MetricDeclaration::counter("app.misses_total", Unit::Count));
    let mut slice = data.slices[0].clone();
    slice.observations.set("app.misses_total", 2 * slice.answered);
    let judged = |metric: &str, most: f64, slice: &SliceRow| {
        let capacity = search_for(objective(metric, most));
        Objectives::of(&capacity, &data.run).judge(slice, &mut Patience::default())
    };
    assert_eq!(judged("app.misses_total", 2.0, &slice), TrialOutcome::Passed);
    assert_eq!(judged("app.misses_total", 1.9, &slice), TrialOutcome::Failed(0));
    assert_eq!(judged("app.misses_total", 2.0, &data.slices[0]), TrialOutcome::Failed(0), "it was not seen");
    assert_eq!(judged("errors", 0.0, &slice), TrialOutcome::Passed);
    slice.errors.insert("timeout".to_owned(), slice.due / 2);
    assert_eq!(judged("errors", 0.1, &slice), TrialOutcome::Failed(0));
}

#[test]
fn trials_that_the_machine_disturbed_are_counted_and_do_not_cost_the_runs_trust() {
    let found = |disturbed| {
        let result = analyse(&data(disturbed));
        let pauses = result.trust.gates.iter().find(|gate| gate.gate == Gate::Pauses);
        assert!(pauses.is_none_or(|gate| gate.holds), "{pauses:?}");
        let capacities = result.capacities.expect("a search");
        capacities.cells[0].findings.iter().any(|finding| {
            matches!(finding.what, Some(CapacityFinding::Disturbed { trials, .. }) if trials == disturbed)
        })
    };
    assert!(found(12), "half of them");
    assert!(!found(2), "as many as always");
}

fn found_of(change: impl Fn(f64, Purpose, &mut SliceRow)) -> Vec<CapacityFinding> {
    findings(&searched(change))
}

fn findings(of: &CellCapacity) -> Vec<CapacityFinding> {
    of.findings.iter().filter_map(|finding| finding.what.clone()).collect()
}

fn searched(change: impl Fn(f64, Purpose, &mut SliceRow)) -> CellCapacity {
    capacities_of(change).cells.swap_remove(0)
}

fn capacities_of(change: impl Fn(f64, Purpose, &mut SliceRow)) -> Capacities {
    analyse(&search_of(change)).capacities.expect("a search")
}

/// A search of one deployment: twenty slices, of which those at 950/s pass and those at 1050/s fail, then four overloads at 1500/s. `change`
/// makes the service another one; it knows the rate and the purpose of each slice.
pub fn search_of(change: impl Fn(f64, Purpose, &mut SliceRow)) -> RunData {
    let made_up = MadeUp {
        rounds: 1,
        blocks: 24,
        change: |experiment| experiment.capacity = Some(objectives()),
        ..MadeUp::default()
    };
    let mut data = made_up.data();
    for cell in data.run.plan.cell_ids().collect::<Vec<CellId>>() {
        for (n, slice) in data.slices.iter_mut().filter(|slice| slice.cell == cell).enumerate() {
            let (rate, purpose) = match (n < 20, n % 2) {
                (false, _) => (1500.0, Purpose::Overload),
                (true, 0) => (950.0, Purpose::Search),
                (true, _) => (1050.0, Purpose::Search),
            };
            *slice = at_rate(slice.clone(), rate, purpose);
            slice.service = times_of(1, slice.due);
            slice.response = times_of(if rate < 1000.0 { 1 } else { 60 }, slice.due);
            change(rate, purpose, slice);
        }
    }
    data
}

fn open(rate: f64) -> Load {
    Load::Open { rate: format!("{rate}/s").parse().expect("a rate"), arrivals: Arrivals::Poisson }
}

/// Makes the slices of a cell those of a service that carries so many times as much.
pub fn carry(times: f64, slice: &mut SliceRow) {
    slice.load = open(times * slice.load.rate().expect("a rate").as_per_second());
}

/// Makes a slice one that is longer than those of the search.
fn make_long(rate: f64, passes: bool, slice: &mut SliceRow) {
    slice.load = open(rate);
    slice.trial = Some(TrialRow { purpose: Purpose::Confirm, slices: 5.0 });
    slice.response = times_of(if passes { 1 } else { 60 }, slice.due);
}

fn answers(share: f64, slice: &mut SliceRow) {
    slice.answered_in_time = (slice.due as f64 * share) as u64;
}

#[test]
fn a_service_that_carries_as_much_under_an_overload_has_no_finding_of_it() {
    let overloaded = |_, purpose, slice: &mut SliceRow| {
        if purpose == Purpose::Overload {
            answers(0.65, slice);
        }
    };
    assert_eq!(found_of(overloaded), [CapacityFinding::TimeOver], "no trial has confirmed it");
}

#[test]
fn a_service_that_answers_far_less_under_an_overload_has_collapsed() {
    let collapsing = |_, purpose, slice: &mut SliceRow| {
        if purpose == Purpose::Overload {
            answers(0.2, slice);
        }
    };
    let found = found_of(collapsing);
    assert!(found.contains(&CapacityFinding::Collapse { most: 950.0, overloaded: 300.0 }), "{found:?}");
}

#[test]
fn a_service_that_refuses_what_is_too_much_sheds_load() {
    let refusing = |status: &'static str, share: f64| {
        found_of(move |_, purpose, slice| {
            if purpose == Purpose::Overload {
                let refused = (slice.due as f64 * share) as u64;
                slice.errors.insert(format!("GET /: {status}"), refused);
            }
        })
    };
    let is_shedding = |found: &[CapacityFinding]| {
        found.iter().find_map(|finding| match finding {
            CapacityFinding::Sheds { share, kind } => Some((*share, kind.clone())),
            _ => None,
        })
    };
    assert_eq!(is_shedding(&refusing("503", 0.4)), Some((0.4, "GET /: 503".to_owned())));
    assert_eq!(is_shedding(&refusing("429", 0.4)), Some((0.4, "GET /: 429".to_owned())));
    assert_eq!(is_shedding(&refusing("500", 0.4)), None, "an error is no refusal");
    assert_eq!(is_shedding(&refusing("503", 0.04)), None, "a few");
    let others_time_out = found_of(|_, purpose, slice| {
        if purpose == Purpose::Overload {
            slice.errors.insert("GET /: 503".to_owned(), slice.due / 100);
            slice.errors.insert("GET /: timeout".to_owned(), slice.due / 2);
        }
    });
    assert_eq!(is_shedding(&others_time_out), None, "what timed out was not refused");
}

#[test]
fn requests_that_wait_for_connections_of_a_fast_service_are_named() {
    let waiting = |service_ms| {
        found_of(move |rate, _, slice| {
            if rate > 1000.0 {
                slice.waited = slice.due * 6 / 10;
                slice.service = times_of(service_ms, slice.due);
            }
        })
    };
    let limited = CapacityFinding::LimitedByConnections { connections: 16 };
    assert!(waiting(1).contains(&limited), "{:?}", waiting(1));
    assert!(!waiting(30).contains(&limited), "the service is slower: {:?}", waiting(30));
}

#[test]
fn what_was_not_sent_limits_the_generator_and_not_the_service() {
    let late = || GateFailure::Text { gate: Gate::SendLag, text: "late".into() };
    let nothing_was_sent = found_of(|_, _, slice| slice.gate_failures.push(late()));
    assert_eq!(nothing_was_sent, [CapacityFinding::LimitedByGenerator { rate: 950.0 }]);

    let higher_were_not = found_of(|rate, _, slice| {
        if rate > 1000.0 {
            slice.gate_failures.push(late());
        }
    });
    assert_eq!(higher_were_not, [CapacityFinding::LimitedByGenerator { rate: 950.0 }]);

    let all_passed = found_of(|_, _, slice| slice.response = times_of(1, slice.due));
    assert_eq!(all_passed, [CapacityFinding::CarriesAll { rate: 1500.0 }]);

    let all_failed = found_of(|_, _, slice| slice.response = times_of(60, slice.due));
    assert_eq!(all_failed, [CapacityFinding::CarriesNothing { rate: 950.0 }]);
}

#[test]
fn a_longer_slice_that_fails_revises_what_is_compared() {
    let found = capacities_of(|_, purpose, slice| match (slice.cell == POD, purpose, slice.block) {
        (true, Purpose::Overload, 20) => make_long(900.0, false, slice),
        (true, Purpose::Overload, _) => make_long(700.0, true, slice),
        _ => (),
    });
    let less = CapacityFinding::LessForLonger { failed: 900.0, carries: Some(700.0) };
    assert!(findings(&found.cells[2]).contains(&less), "{:?}", found.cells[2].findings);
    let [host, pod] = [&found.cells[0], &found.cells[2]];
    assert_eq!((host.rate_per_second, host.interval), (pod.rate_per_second, pod.interval), "in slices");
    assert_eq!(
        (host.carried_per_second, pod.carried_per_second),
        (host.interval.map(|[low, _]| low), Some(700.0))
    );
    let [difference] = &found.differences[..] else { panic!("{:?}", found.differences) };
    let for_longer = 700.0 / host.carried_per_second.expect("a capacity") - 1.0;
    assert!(
        (difference.interval[0] - for_longer).abs() < 1e-9 && difference.interval[1] > 0.0,
        "{difference:?}"
    );
    assert_eq!(difference.verdict, Verdict::Unresolved);
}

#[test]
fn what_carries_nothing_for_longer_that_is_known_has_no_difference() {
    let found = capacities_of(|_, purpose, slice| {
        if slice.cell == POD && purpose == Purpose::Overload {
            make_long(900.0, false, slice);
        }
    });
    let unknown = CapacityFinding::LessForLonger { failed: 900.0, carries: None };
    assert!(findings(&found.cells[2]).contains(&unknown), "{:?}", found.cells[2].findings);
    assert_eq!(found.cells[2].carried_per_second, None);
    assert!(found.differences.is_empty(), "{:?}", found.differences);
}

/// What a run says of a pod that must not carry less than its host by these shares.
fn judged(shares: &[f64], change: impl Fn(f64, Purpose, &mut SliceRow)) -> RunResult {
    let mut data = search_of(change);
    let condition = |share: &f64| Condition {
        text: "somebody's words".to_owned(),
        metric: CAPACITY.to_owned(),
        direction: Direction::Lower,
        by: Amount::Share(*share),
    };
    data.run.experiment.fail_if = shares.iter().map(condition).collect();
    analyse(&data)
}

fn judgements(result: &RunResult) -> Vec<ConditionJudgement> {
    result.conditions.iter().map(|condition| condition.judgement).collect()
}

#[test]
fn a_condition_about_the_capacity_is_judged_by_its_difference() {
    use ConditionJudgement::{Holds, Open, RuledOut};
    let half = judged(&[0.05, 0.9], |_, _, slice| {
        if slice.cell == POD {
            carry(0.5, slice);
        }
    });
    assert_eq!(judgements(&half), [Holds, RuledOut]);
    assert!(half.fails());
    let ConditionResult { label, unit, verdict, findings, .. } = &half.conditions[0];
    assert_eq!((label.as_str(), *unit, *verdict), ("capacity", Unit::PerSecond, Verdict::Fewer));
    let row = half.judged()[findings[0].contrast].rows.iter().find(|row| row.metric == CAPACITY);
    assert!(row.is_some_and(|row| (row.difference + 500.0).abs() < 20.0), "{row:?}");
    let alike = judged(&[0.01, 0.5], |_, _, _| ());
    assert_eq!(judgements(&alike), [Open, RuledOut]);
    assert!(!alike.fails());
}

#[test]
fn what_carries_nothing_does_not_pass_a_condition_about_its_capacity() {
    let nothing = judged(&[0.05], |_, _, slice| {
        if slice.cell == POD {
            slice.response = times_of(60, slice.due);
        }
    });
    assert_eq!(judgements(&nothing), [ConditionJudgement::NotMeasured]);
    assert_eq!(nothing.unmeasured_conditions().count(), 1);
}

#[test]
fn the_generators_limit_follows_from_the_cpu_time_that_it_works_on_a_request() {
    let limit = |spun_ns: Option<u64>| {
        searched(move |rate, _, slice| {
            // With more requests each costs less.
            let each_ns = if rate > 1000.0 { 20_000 } else { 30_000 };
            slice.load_cpu_ns = each_ns * slice.answered;
            slice.load_spun_ns = spun_ns.map(|spun_ns| spun_ns * slice.answered);
        })
        .generator_limit
    };
    assert_eq!(limit(Some(0)), Some(50_000.0), "20 µs each at the least");
    assert_eq!(limit(Some(10_000)), Some(100_000.0), "of which it waits half");
    assert_eq!(limit(None), None, "how long it waits is not known");
}

#[test]
fn a_service_that_passes_at_last_what_it_failed_at_first_gets_better_with_time() {
    let warming = |late: bool| {
        let slices = std::cell::Cell::new(0);
        found_of(move |rate, purpose, slice| {
            // 950/s, 1050/s, 950/s, and so on: of the first ten all fail, of the last ten all pass.
            let n = slices.replace(slices.get() + 1) % 24;
            if purpose == Purpose::Search {
                let passes = if late { n >= 10 } else { rate < 1000.0 };
                slice.response = times_of(if passes { 1 } else { 60 }, slice.due);
            }
        })
    };
    let better = CapacityFinding::Irregular(Irregularity::BetterWithTime);
    assert!(warming(true).contains(&better), "{:?}", warming(true));
    assert!(!warming(false).contains(&better), "{:?}", warming(false));
}
