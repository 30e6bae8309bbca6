//! CPU sets: numbers and ranges that exist, and that service and load don't share.

use crate::Placement;
use crate::cpus::add_cpus;
use crate::draft::{CpuWords, CpusDraft};
use crate::error::{Complaint, Problems};
use crate::machine::Machine;

/// The CPUs of the service and of the load.
pub(super) fn placement(
    draft: Option<&CpusDraft>,
    machine: &Machine,
    problems: &mut Problems,
) -> Option<Placement> {
    let Some(draft) = draft else { return Some(Placement::default()) };
    let before = problems.count();
    let service_sees_all = draft.service.as_ref().is_some_and(means_all);
    let mut read = |words: &Option<CpuWords>| words.as_ref().and_then(|words| set(words, machine, problems));
    let service_cpus = if service_sees_all { None } else { read(&draft.service) };
    let placement = Placement { service_cpus, service_sees_all, load_cpus: read(&draft.load) };
    match (&placement.service_cpus, &placement.load_cpus) {
        (Some(service), Some(load)) => {
            if let (Some(shared), Some(words)) = (service.iter().find(|cpu| load.contains(cpu)), &draft.load)
            {
                let complaint =
                    Complaint::new(format!("CPU {shared} is given to the service and to the load"));
                problems.add(&words.place, complaint.help("give each its own, or they measure each other"));
            }
        }
        (Some(only), None) | (None, Some(only)) if only.len() >= machine.cpus.len() && !service_sees_all => {
            if let Some(words) = draft.service.as_ref().or(draft.load.as_ref()) {
                let complaint = Complaint::new("no CPU is left for the other side");
                problems.add(&words.place, complaint.help("service and load need at least one CPU each"));
            }
        }
        _ => {}
    }
    (problems.count() == before).then_some(placement)
}

/// `all`: the service is not pinned.
fn means_all(words: &CpuWords) -> bool {
    matches!(words.value.as_slice(), [only] if only.value == "all")
}

/// The CPUs that the words name, ascending.
fn set(words: &CpuWords, machine: &Machine, problems: &mut Problems) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for word in &words.value {
        word.read(problems, |text| add_cpus(text, &machine.cpus, &mut cpus))?;
    }
    if cpus.is_empty() {
        problems.add(&words.place, Complaint::new("no CPU is named").help("write 0 or 0,2-3"));
        return None;
    }
    cpus.sort_unstable();
    Some(cpus)
}
