//! A service that compiles itself while it is measured is said not to be warm.

use loadline_analysis::analyse;
use loadline_model::metrics::JIT;
use loadline_model::notes::Note;

use crate::made_up::MadeUp;

/// The sites that are said to have been compiling, with the compiler's share, where the pod's took this much of its CPU time.
fn compiling(share: f64) -> Vec<(String, f64)> {
    let mut data = MadeUp::default().data();
    let pod = data.run.plan.cell_ids().last().expect("a cell");
    for slice in data.slices.iter_mut().filter(|slice| slice.cell == pod) {
        let used = slice.observations.service_cpu_ns().expect("CPU time");
        slice.observations.insert(JIT, used as f64 * share);
    }
    let notes = analyse(&data).notes.into_iter().filter_map(|note| note.what);
    notes
        .filter_map(|note| match note {
            Note::StillCompiling { site, share } => Some((site, share)),
            _ => None,
        })
        .collect()
}

#[test]
fn a_compiler_that_takes_a_part_of_the_cpu_time_is_told_of() {
    let [(site, share)] = &compiling(0.1)[..] else { panic!("one site") };
    assert_eq!(site, "pod");
    assert!((share - 0.1).abs() < 1e-3, "{share}");
}

#[test]
fn a_compiler_that_works_now_and_then_is_not() {
    assert_eq!(compiling(0.01), []);
    assert_eq!(compiling(0.0), []);
}
