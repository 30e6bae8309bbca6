//! Notes for the reader of the figures, stored with the run.

use loadline_model::experiment::{Experiment, Nodes};
use loadline_model::notes::{Note, Resources};
use loadline_model::plan::{Plan, Site};
use loadline_model::platform::{Capabilities, Starts};
use loadline_model::{Event, PlatformId};

use crate::error::RunError;
use crate::execution::Execution;
use crate::placement::Cpus;

impl Execution<'_> {
    /// Stores a note, once.
    pub(crate) fn note(&mut self, note: Note) -> Result<(), RunError> {
        if !self.noted.contains(&note) {
            self.journal.note(&note).map_err(RunError::Journal)?;
            self.noted.push(note.clone());
            (self.events)(Event::Note(note));
        }
        Ok(())
    }

    /// Stores the notes that are known before anything is measured.
    pub(crate) fn add_initial_notes(&mut self) -> Result<(), RunError> {
        let known = [
            (self.machine.interrupt_time_apart == Some(true)).then_some(Note::InterruptTimeApart),
            self.any_platform(|can| can.uses_kernel_threads).then_some(Note::WireguardThreads),
            self.translates_addresses().then_some(Note::ConnectionsTracked),
            self.any_platform(|can| can.starts == Starts::Nothing).then_some(Note::ExternalService),
        ];
        let chosen = self.cpus.notes.clone().into_iter();
        let unequal = unequal_resources(self.experiment, self.plan, self.cpus);
        chosen.chain(known.into_iter().flatten()).chain(unequal).try_for_each(|note| self.note(note))
    }

    /// Whether plain processes on the node pay for the rules of other platforms.
    fn translates_addresses(&self) -> bool {
        self.experiment.plan.nodes == Nodes::Shared
            && self.any_platform(|can| can.is_plain_process)
            && self.any_platform(|can| can.translates_addresses)
    }

    fn any_platform(&self, can: impl Fn(&Capabilities) -> bool) -> bool {
        let own_node = self.experiment.plan.nodes == Nodes::Own;
        let used = PlatformId::of(self.experiment.platforms.len()).filter(|id| self.plan.uses(*id));
        used.map(|id| self.experiment.platform(id)).any(|platform| can(&platform.kind.capabilities(own_node)))
    }
}

/// A note for each comparison whose two sides may not use the same; what a platform can't give its services is not held against it.
pub fn unequal_resources(experiment: &Experiment, plan: &Plan, cpus: &Cpus) -> Vec<Note> {
    let own_node = experiment.plan.nodes == Nodes::Own;
    let can = |site: &Site| experiment.platform(site.platform).kind.capabilities(own_node);
    let resources = |site: &Site| Resources {
        limits: experiment.limits_of(site.service, site.platform),
        cpus: Some(cpus.pins(site.service, site.platform).to_vec()).filter(|pins| !pins.is_empty()),
    };
    let unequal = plan.planned_contrasts().filter_map(|contrast| {
        let (candidate, baseline) = (plan.site_of(contrast.candidate), plan.site_of(contrast.baseline));
        let (candidate_has, baseline_has) = (resources(candidate), resources(baseline));
        let (one, other) = (can(candidate), can(baseline));
        let limits = one.limits && other.limits && candidate_has.limits != baseline_has.limits;
        let pins = one.pins && other.pins && candidate_has.cpus != baseline_has.cpus;
        (limits || pins).then(|| Note::UnequalResources {
            candidate: candidate.label(experiment),
            candidate_has,
            baseline: baseline.label(experiment),
            baseline_has,
        })
    });
    unequal.collect()
}
