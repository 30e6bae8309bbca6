//! CPU sets: numbers and ranges that exist, and that service and load do not share.

use loadline_model::experiment::ServiceCpus;
use serde_json::json;

use super::WHERE;
use crate::Placement;
use crate::cpus::{add_cpus, show_ranges};
use crate::error::{Complaint, Place, Problems};
use crate::kinds::OneOrMore;
use crate::machine::Machine;
use crate::node::Text;
use crate::options::{Table, Written};

/// What the service's CPUs are if it is not pinned.
const ALL: &str = "all";

/// What is written of the CPUs: numbers and ranges.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CpuKeys {
    service: Option<Vec<Text>>,
    load: Option<Vec<Text>>,
}

pub(super) fn table() -> Table<CpuKeys> {
    Table::<CpuKeys>::new("Cpus", "cpus", "CPUs of the service and of the load")
        .key(
            "service",
            set_kind(&[ALL]),
            "CPUs that services are pinned to: 0,2-3; or all, which leaves them unpinned: they see every CPU, as an ordinary pod does",
            |cpus| &mut cpus.service,
        )
        .flag("--service-cpus", WHERE)
        .key("load", set_kind(&[]), "CPUs that load threads are pinned to", |cpus| &mut cpus.load)
        .flag("--load-cpus", WHERE)
}

fn set_kind(words: &[&str]) -> OneOrMore {
    let number = json!({ "type": "integer", "minimum": 0 });
    let range = json!({ "type": "string", "pattern": "^[0-9]+(-[0-9]+)?$" });
    let words = words.iter().map(|word| json!({ "const": word }));
    OneOrMore {
        alone: words.chain([number.clone(), range.clone()]).collect(),
        element: json!({ "anyOf": [number, range] }),
        separator: ',',
        placeholder: "CPUS",
    }
}

/// The CPUs of a single service, or of services on a platform.
pub(super) fn service_kind() -> OneOrMore {
    set_kind(&[ALL])
}

/// What is written of them.
pub(super) fn words_of(cpus: &ServiceCpus) -> Vec<Text> {
    let words = match cpus {
        ServiceCpus::All => vec![ALL.to_owned()],
        ServiceCpus::Pinned(cpus) => show_ranges(cpus),
    };
    words.into_iter().map(|value| Text { value, place: Place::File }).collect()
}

/// The CPUs that they are.
pub(super) fn service_cpus(
    words: &[Text],
    place: &Place,
    machine: &Machine,
    problems: &mut Problems,
) -> Option<ServiceCpus> {
    if means_all(words) {
        return Some(ServiceCpus::All);
    }
    set(words, place, machine, problems).map(ServiceCpus::Pinned)
}

impl CpuKeys {
    /// What is written of the placement of an experiment.
    pub fn of(placement: &Placement) -> CpuKeys {
        let text = |value: String| Text { value, place: Place::File };
        let words = |cpus: &Option<Vec<usize>>| {
            cpus.as_ref().map(|cpus| show_ranges(cpus).into_iter().map(text).collect())
        };
        let service = if placement.service_sees_all {
            Some(vec![text(ALL.to_owned())])
        } else {
            words(&placement.service_cpus)
        };
        CpuKeys { service, load: words(&placement.load_cpus) }
    }
}

/// The CPUs of the service and of the load.
pub(super) fn placement(
    written: &Written<CpuKeys>,
    machine: &Machine,
    problems: &mut Problems,
) -> Option<Placement> {
    let keys = &written.value;
    let before = problems.count();
    let service_sees_all = keys.service.as_ref().is_some_and(|words| means_all(words));
    let mut read = |words: &Option<Vec<Text>>, key| {
        words.as_ref().and_then(|words| set(words, written.place_of(key), machine, problems))
    };
    let service_cpus = if service_sees_all { None } else { read(&keys.service, "service") };
    let placement = Placement { service_cpus, service_sees_all, load_cpus: read(&keys.load, "load") };
    match (&placement.service_cpus, &placement.load_cpus) {
        (Some(service), Some(load)) => {
            if let Some(shared) = service.iter().find(|cpu| load.contains(cpu)) {
                let message = format!("CPU {shared} is assigned to both the service and the load");
                let help = "give each its own CPUs, or the load slows the service down";
                problems.add(written.place_of("load"), Complaint::new(message).help(help));
            }
        }
        (Some(only), None) | (None, Some(only)) if only.len() >= machine.cpus.len() && !service_sees_all => {
            let key = if placement.service_cpus.is_some() { "service" } else { "load" };
            let complaint = Complaint::new("this leaves no CPU for the other side");
            problems
                .add(written.place_of(key), complaint.help("service and load need at least one CPU each"));
        }
        _ => {}
    }
    (problems.count() == before).then_some(placement)
}

/// `all`: the service is not pinned.
fn means_all(words: &[Text]) -> bool {
    matches!(words, [only] if only.value == ALL)
}

/// The CPUs that the words name, ascending.
fn set(words: &[Text], place: &Place, machine: &Machine, problems: &mut Problems) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for word in words {
        word.read(problems, |text| add_cpus(text, &machine.cpus, &mut cpus))?;
    }
    if cpus.is_empty() {
        problems.add(place, Complaint::new("no CPU is named").help("write 0 or 0,2-3"));
        return None;
    }
    cpus.sort_unstable();
    Some(cpus)
}
