//! A service that compiles itself while it is measured is said not to be warm.

use loadline_analysis::analyse;
use loadline_model::experiment::{Experiment, LoadSpec};
use loadline_model::load::Load;
use loadline_model::metrics::{JIT, SERVICE_CPU};
use loadline_model::notes::Note;
use loadline_model::rows::RunData;

use crate::made_up::MadeUp;

/// The sites that are said to have been compiling, with the compiler's share.
fn told(data: &RunData) -> Vec<(String, f64)> {
    let notes = analyse(data).notes.into_iter().filter_map(|note| note.what);
    let sites = notes.filter_map(|note| match note {
        Note::StillCompiling { sites } => Some(sites),
        _ => None,
    });
    sites.flatten().collect()
}

/// The same where the pod's took this much of its CPU time.
fn compiling(share: f64) -> Vec<(String, f64)> {
    let mut data = MadeUp::default().data();
    let pod = data.run.plan.cell_ids().last().expect("a cell");
    for slice in data.slices.iter_mut().filter(|slice| slice.cell == pod) {
        let used = slice.observations.service_cpu_ns().expect("CPU time");
        slice.observations.insert(JIT, used as f64 * share);
    }
    told(&data)
}

#[test]
fn a_compiler_that_takes_a_part_of_the_cpu_time_is_told_of() {
    let [(site, share)] = &compiling(0.1)[..] else { panic!("one site") };
    assert_eq!(site, "pod");
    assert!((share - 0.1).abs() < 1e-3, "{share}");
}

#[test]
fn a_load_that_takes_much_cpu_time_does_not_hide_what_another_finds() {
    let more = |experiment: &mut Experiment| {
        experiment.loads.push(LoadSpec::new(Load::Closed { think: None }, 16));
        let all = Experiment { cells: Vec::new(), contrasts: Vec::new(), ..experiment.clone() };
        *experiment = all.with_every_cell();
    };
    let mut data = MadeUp { change: more, ..MadeUp::default() }.data();
    for slice in &mut data.slices {
        let used = slice.observations.service_cpu_ns().expect("CPU time") as f64;
        // A tenth of little CPU time, and nearly nothing of much.
        let (cpu, share) =
            if data.run.plan.load_of(slice.cell).0 == 0 { (used, 0.1) } else { (50.0 * used, 0.001) };
        slice.observations.insert(SERVICE_CPU, cpu);
        slice.observations.insert(JIT, cpu * share);
    }
    let shares: Vec<f64> = told(&data).into_iter().map(|(_, share)| share).collect();
    assert_eq!(shares.len(), data.run.plan.sites.len());
    assert!(shares.iter().all(|share| (share - 0.1).abs() < 1e-3), "{shares:?}");
}

#[test]
fn a_compiler_that_works_now_and_then_is_not() {
    assert_eq!(compiling(0.01), []);
    assert_eq!(compiling(0.0), []);
}
