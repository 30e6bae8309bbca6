//! What a reader of the figures must know, kept with the run.

use loadline_model::experiment::Nodes;
use loadline_model::notes::Note;
use loadline_model::platform::{Capabilities, Starts};

use super::{Event, Execution, RunError};

impl Execution<'_> {
    /// Keeps what a reader must know, once.
    pub(super) fn note(&mut self, note: Note) -> Result<(), RunError> {
        if !self.noted.contains(&note) {
            self.store.add_note(self.run, &note)?;
            self.noted.push(note.clone());
            (self.events)(Event::Note(note));
        }
        Ok(())
    }

    /// Keeps what is known before anything is measured.
    pub(super) fn note_what_to_know(&mut self) -> Result<(), RunError> {
        for note in &self.options.notes {
            self.note(note.clone())?;
        }
        if self.cpus.shared {
            self.note(Note::SharedCpu)?;
        }
        if self.machine.interrupt_time_apart == Some(true) {
            self.note(Note::InterruptTimeApart)?;
        }
        if self.any_platform(|can| can.uses_kernel_threads) {
            self.note(Note::WireguardThreads)?;
        }
        if self.translates_addresses() {
            self.note(Note::ConnectionsTracked)?;
        }
        if self.any_platform(|can| can.starts == Starts::Nothing) {
            self.note(Note::ExternalService)?;
        }
        Ok(())
    }

    /// Whether plain processes of the node pay for what others' rules have it do.
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
