//! Releasing what plugins allocated for deployments that are gone.

use loadline_machine::{Cleaner, Error, Netns, Owner, Removed, Section, may_change_network};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Attachment;
use crate::error::LocalError;

/// Attachments that were added and not yet deleted.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Attachments {
    pub attachments: Vec<Attachment>,
}

impl Section for Attachments {
    const CLEANER: &'static dyn Cleaner = &CniCleaner;
}

/// Has CNI plugins release what they allocated: above all, addresses.
pub struct CniCleaner;

impl Cleaner for CniCleaner {
    fn name(&self) -> &'static str {
        "cni"
    }

    fn remove(
        &self,
        owner: &Owner,
        section: &Value,
        _: &Netns,
        removed: &mut Vec<Removed>,
    ) -> Result<(), Error> {
        let Attachments { attachments } = Attachments::deserialize(section).unwrap_or_default();
        if attachments.is_empty() {
            return Ok(());
        }
        // The plugins' node is gone with its processes: they run in an empty one, where they cannot mistake another network's objects for
        // their own. An ordinary user cannot create one, nor change anything in the machine's.
        let empty = if may_change_network() { Netns::new()? } else { Netns::current()? };
        let names = release(owner, &attachments, &empty)?;
        removed.extend(names.into_iter().map(|name| Removed {
            run: owner.run,
            kind: "cni attachment",
            name,
        }));
        Ok(())
    }

    fn section_of_first_version(&self, state: &Map<String, Value>) -> Option<Value> {
        Some(json!({"attachments": state.get("cni")?}))
    }
}

/// Releases what the plugins allocated for the owner's deployments, whose namespaces are gone. Returns the deployments' labels.
/// `node` is a namespace in which the plugins may look for what they created: one that contains nothing of other networks.
fn release(owner: &Owner, attachments: &[Attachment], node: &Netns) -> Result<Vec<String>, LocalError> {
    let ours = attachments.iter().filter(|attachment| owner.owns_label(&attachment.container_id));
    // All are tried before the first failure is returned.
    let outcomes: Vec<Result<String, LocalError>> = ours
        .map(|attachment| attachment.delete(node, None).map(|()| attachment.container_id.clone()))
        .collect();
    outcomes.into_iter().collect()
}
