//! What a reader of the figures must know, kept with the run.

use loadline_model::experiment::{Nodes, PlatformKind};
use loadline_model::notes::Note;
use loadline_model::platform::{Layer, Overlay};

use crate::error::RunError;
use crate::events::Event;
use crate::execution::Execution;

impl Execution<'_> {
    /// Keeps what a reader must know, once.
    pub(crate) fn note(&mut self, note: Note) -> Result<(), RunError> {
        if !self.noted.contains(&note) {
            self.journal.note(&note).map_err(RunError::Journal)?;
            self.noted.push(note.clone());
            (self.events)(Event::Note(note));
        }
        Ok(())
    }

    /// Keeps what is known before anything is measured.
    pub(crate) fn note_what_to_know(&mut self) -> Result<(), RunError> {
        let known = [
            self.cpus.note.clone(),
            (self.machine.interrupt_time_apart == Some(true)).then_some(Note::InterruptTimeApart),
            self.has_layer(|layer| *layer == Layer::OtherNode(Overlay::Wireguard)).then_some(Note::WireguardThreads),
            self.translates_addresses().then_some(Note::ConnectionsTracked),
            self.has_platform(|kind| matches!(kind, PlatformKind::External { .. })).then_some(Note::ExternalService),
        ];
        known.into_iter().flatten().try_for_each(|note| self.note(note))
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
