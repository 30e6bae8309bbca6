//! Sentences that a reader of the figures must know, kept with the run.

use loadline_model::platform::{Capabilities, Starts};

use super::{Event, Execution, RunError};
use crate::spec::Nodes;

impl Execution<'_> {
    /// Keeps a sentence that a reader must know, once.
    pub(super) fn note(&mut self, note: &str) -> Result<(), RunError> {
        if !self.noted.iter().any(|noted| noted == note) {
            self.store.add_note(self.run, note)?;
            self.noted.push(note.to_owned());
            (self.events)(Event::Note(note.to_owned()));
        }
        Ok(())
    }

    /// Keeps what is known before anything is measured.
    pub(super) fn note_what_to_know(&mut self) -> Result<(), RunError> {
        for note in &self.options.notes {
            self.note(note)?;
        }
        if let Some(note) = self.cpus.note.clone() {
            self.note(&note)?;
        }
        if self.machine.interrupt_time_apart == Some(true) {
            self.note(
                "this kernel charges the time of interrupts to no process (CONFIG_IRQ_TIME_ACCOUNTING): CPU per request leaves out what \
                 packets cost in soft interrupts; --profile sees it",
            )?;
        }
        if self.any_platform(|can| can.uses_kernel_threads) {
            self.note(
                "WireGuard encrypts in threads of the kernel, which belong to no process: CPU per request leaves that out; --profile sees \
                 it on the CPUs of service and load",
            )?;
        }
        if self.translates_addresses() {
            self.note(
                "a node port or published port makes the node track connections, those of its plain processes too: host pays for \
                 that here as it does on a node of a cluster",
            )?;
        }
        if self.any_platform(|can| can.starts == Starts::Nothing) {
            self.note(
                "an external service is not started anew: its deployments are rounds of measuring, its twin is itself once more, \
                 and its client is this machine, not one behind a wire",
            )?;
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
