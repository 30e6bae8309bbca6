//! Trials of a search that the machine disturbed say nothing of the service.

use loadline_analysis::result::CapacityFinding;
use loadline_analysis::{Objectives, RunData, analyse};
use loadline_model::CellId;
use loadline_model::experiment::{Bound, Capacity, Objective};
use loadline_model::gates::{Gate, GateFailure};
use loadline_model::rows::{Purpose, TrialOutcome, TrialRow};
use loadline_search::Patience;

use crate::made_up::MadeUp;

fn search() -> Capacity {
    let p99 =
        Objective { text: "p99 <= 50ms".into(), metric: "response.p99".into(), bound: Bound::AtMost(50e6) };
    Capacity { objectives: vec![p99], precision: 0.02, most: None }
}

fn paused() -> GateFailure {
    GateFailure::Paused { ms_per_second: 40.0, most: 10.0 }
}

/// A search whose first trials at each cell were disturbed.
fn data(disturbed: usize) -> RunData {
    let mut data =
        MadeUp { change: |experiment| experiment.capacity = Some(search()), ..MadeUp::default() }.data();
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
    let objectives = Objectives::of(&search(), &data.run);
    let judged = |failures: &[GateFailure]| {
        let mut slice = data.slices[0].clone();
        slice.gate_failures.extend_from_slice(failures);
        objectives.judge(&slice, &mut Patience::default())
    };
    assert_eq!(judged(&[]), TrialOutcome::Passed);
    assert_eq!(judged(&[paused()]), TrialOutcome::Disturbed);
    let taken = GateFailure::Taken { ms_per_second: 40.0, most: 10.0 };
    assert_eq!(judged(&[taken]), TrialOutcome::Passed, "how much is usual depends on the rate");
    let late = GateFailure::Text { gate: Gate::SendLag, text: "late".into() };
    assert_eq!(judged(&[late, paused()]), TrialOutcome::NotSent);
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
