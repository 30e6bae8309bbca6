//! Notes for the reader of the figures, stored with the run.

use loadline_model::experiment::Nodes;
use loadline_model::notes::Note;
use loadline_model::platform::{Capabilities, Starts};

use crate::error::RunError;
use crate::events::Event;
use crate::execution::Execution;

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
            self.cpus.note.clone(),
            (self.machine.interrupt_time_apart == Some(true)).then_some(Note::InterruptTimeApart),
            self.any_platform(|can| can.uses_kernel_threads).then_some(Note::WireguardThreads),
            self.translates_addresses().then_some(Note::ConnectionsTracked),
            self.any_platform(|can| can.starts == Starts::Nothing).then_some(Note::ExternalService),
        ];
        known.into_iter().flatten().try_for_each(|note| self.note(note))
    }

    /// Whether plain processes on the node pay for the rules of other platforms.
    fn translates_addresses(&self) -> bool {
        self.experiment.plan.nodes == Nodes::Shared
            && self.any_platform(|can| can.is_plain_process)
            && self.any_platform(|can| can.translates_addresses)
    }

    fn any_platform(&self, can: impl Fn(&Capabilities) -> bool) -> bool {
        let own_node = self.experiment.plan.nodes == Nodes::Own;
        self.experiment.platforms.iter().any(|platform| can(&platform.kind.capabilities(own_node)))
    }
}
