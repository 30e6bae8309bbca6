//! What a reader of the figures must know, kept with the run.

use loadline_model::experiment::{Nodes, PlatformKind};
use loadline_model::notes::Note;
use loadline_model::platform::{Layer, Overlay};

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
        if self.has_layer(|layer| *layer == Layer::OtherNode(Overlay::Wireguard)) {
            self.note(Note::WireguardThreads)?;
        }
        if self.translates_addresses() {
            self.note(Note::ConnectionsTracked)?;
        }
        if self.has_platform(|kind| matches!(kind, PlatformKind::External { .. })) {
            self.note(Note::ExternalService)?;
        }
        Ok(())
    }

    fn translates_addresses(&self) -> bool {
        self.experiment.plan.nodes == Nodes::Shared
            && self.has_platform(|kind| *kind == PlatformKind::Host)
            && self.has_layer(|layer| matches!(layer, Layer::NodePort { .. } | Layer::PublishedPort))
    }

    fn has_layer(&self, is_it: impl Fn(&Layer) -> bool) -> bool {
        self.has_platform(|kind| matches!(kind, PlatformKind::Local(layers) if layers.iter().any(&is_it)))
    }

    fn has_platform(&self, is_it: impl Fn(&PlatformKind) -> bool) -> bool {
        self.experiment.platforms.iter().any(|platform| is_it(&platform.kind))
    }
}
