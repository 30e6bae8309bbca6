//! Which CPUs serve and which load: disjoint where the machine has two, the same on every platform.

use std::fs;

use loadline_model::experiment::Placement;
use loadline_model::notes::Note;

/// The CPUs of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Cpus {
    /// Services run on these.
    pub service: Vec<usize>,
    /// Whether services are pinned. A service that is not sees all CPUs of its machine.
    pub service_pinned: bool,
    /// Load threads are pinned to these, one each.
    pub load: Vec<usize>,
    /// Whether the load shares its CPUs with services and may use a real-time priority.
    pub load_runs_first: bool,
    /// Notes about the choice.
    pub note: Option<Note>,
}

impl Cpus {
    /// The CPUs to pin a service to; empty to leave it unpinned.
    pub fn pins(&self) -> &[usize] {
        if self.service_pinned { &self.service } else { &[] }
    }
}

/// Chooses what the experiment leaves open. `allowed`: the CPUs that this process may use, in order; `may_run_first`: whether it may give
/// its load threads a real-time priority.
pub fn place(wanted: &Placement, allowed: &[usize], may_run_first: &dyn Fn() -> bool) -> Cpus {
    if wanted.service_sees_all {
        return share_with_unpinned(wanted, allowed, may_run_first());
    }
    let siblings = |cpu| smt_siblings(cpu);
    choose(wanted, allowed, &siblings)
}

/// A service that sees all CPUs may also run on those of the load: there the load has priority, or it would measure its own waiting.
fn share_with_unpinned(wanted: &Placement, allowed: &[usize], may_run_first: bool) -> Cpus {
    let load = wanted.load_cpus.clone().unwrap_or_else(|| allowed.last().copied().into_iter().collect());
    Cpus {
        service: allowed.to_vec(),
        service_pinned: false,
        load,
        load_runs_first: may_run_first,
        note: Some(Note::ServiceSeesAll { load_runs_first: may_run_first }),
    }
}

fn choose(wanted: &Placement, allowed: &[usize], siblings: &dyn Fn(usize) -> Vec<usize>) -> Cpus {
    let without = |taken: &[usize]| -> Vec<usize> {
        allowed.iter().copied().filter(|cpu| !taken.contains(cpu)).collect()
    };
    let load = match (&wanted.load_cpus, &wanted.service_cpus) {
        (Some(load), _) => load.clone(),
        // The last CPU: the first ones serve most interrupts.
        (None, Some(service)) => without(service).last().or(allowed.last()).copied().into_iter().collect(),
        (None, None) => allowed.last().copied().into_iter().collect(),
    };
    let service = wanted.service_cpus.clone().unwrap_or_else(|| {
        // A sibling shares the core's execution units, so that load and service would slow each other down.
        let near: Vec<usize> =
            load.iter().flat_map(|cpu| siblings(*cpu)).chain(load.iter().copied()).collect();
        [without(&near), without(&load), allowed.to_vec()]
            .into_iter()
            .find(|cpus| !cpus.is_empty())
            .unwrap_or_default()
    });
    let shared = service.iter().any(|cpu| load.contains(cpu));
    let note = shared.then_some(Note::SharedCpu);
    Cpus { service, service_pinned: true, load, load_runs_first: false, note }
}

/// The other hardware threads of a CPU's core; none if the kernel does not report them.
fn smt_siblings(cpu: usize) -> Vec<usize> {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    let list = fs::read_to_string(path).unwrap_or_default();
    list.trim().split([',', '-']).filter_map(|part| part.parse().ok()).filter(|other| *other != cpu).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(
        load: Option<&[usize]>,
        service: Option<&[usize]>,
        allowed: &[usize],
        pairs: bool,
    ) -> (Vec<usize>, Vec<usize>) {
        let wanted = Placement {
            load_cpus: load.map(<[usize]>::to_vec),
            service_cpus: service.map(<[usize]>::to_vec),
            service_sees_all: false,
        };
        let siblings = move |cpu: usize| if pairs { vec![cpu ^ 1] } else { Vec::new() };
        let cpus = choose(&wanted, allowed, &siblings);
        (cpus.service, cpus.load)
    }

    #[test]
    fn load_takes_the_last_cpu_and_the_service_the_others() {
        assert_eq!(chosen(None, None, &[0, 1], false), (vec![0], vec![1]));
        assert_eq!(chosen(None, None, &[0, 1, 2, 3], false), (vec![0, 1, 2], vec![3]));
    }

    #[test]
    fn a_hardware_thread_beside_the_load_is_left_idle() {
        assert_eq!(chosen(None, None, &[0, 1, 2, 3], true), (vec![0, 1], vec![3]));
        assert_eq!(chosen(None, None, &[0, 1], true), (vec![0], vec![1]), "unless nothing else is left");
    }

    #[test]
    fn explicit_cpus_are_used() {
        assert_eq!(chosen(Some(&[0]), None, &[0, 1], false), (vec![1], vec![0]));
        assert_eq!(chosen(None, Some(&[1]), &[0, 1], false), (vec![1], vec![0]));
        assert_eq!(chosen(Some(&[2]), Some(&[1]), &[0, 1, 2], false), (vec![1], vec![2]));
    }

    #[test]
    fn a_service_that_sees_all_cpus_is_not_pinned_and_the_load_has_priority_if_permitted() {
        let wanted = Placement { service_sees_all: true, ..Placement::default() };
        for may in [true, false] {
            let cpus = place(&wanted, &[0, 1], &|| may);
            assert_eq!((cpus.pins(), cpus.load.as_slice(), cpus.load_runs_first), (&[][..], &[1][..], may));
            assert_eq!(cpus.note, Some(Note::ServiceSeesAll { load_runs_first: may }));
        }
    }

    #[test]
    fn a_single_cpu_is_shared_with_a_note() {
        let cpus = choose(&Placement::default(), &[4], &|_| Vec::new());
        assert_eq!((cpus.service, cpus.load), (vec![4], vec![4]));
        assert!(cpus.note.is_some());
    }
}
