//! How platforms have removed what only they know how to remove: each keeps a section of the run's state in the registry, and names
//! the cleaner that understands it.

use std::fmt;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{error::Error, netns::Netns, owner::Owner, run_name::RunName};

/// Removes what one platform made elsewhere than in namespaces, cgroups and rules: containers, a cluster's objects.
pub trait Cleaner: Send + Sync {
    /// The name of its section in the registry.
    fn name(&self) -> &'static str;

    /// Keeps others from starting the owner's processes again; called before these are killed.
    ///
    /// # Errors
    /// When something withstands, after everything else was tried.
    fn prevent_restarts(
        &self,
        owner: &Owner,
        section: &Value,
        removed: &mut Vec<Removed>,
    ) -> Result<(), Error> {
        let _ = (owner, section, removed);
        Ok(())
    }

    /// Removes what the owner has according to the section, and adds it to `removed`; called when the owner's processes are killed, and
    /// before its rules, links and cgroups go. `node` is the run's node.
    ///
    /// # Errors
    /// When something withstands, after everything else was tried.
    fn remove(
        &self,
        owner: &Owner,
        section: &Value,
        node: &Netns,
        removed: &mut Vec<Removed>,
    ) -> Result<(), Error>;

    /// The section as it follows from a state without sections, which the first version wrote.
    fn section_of_first_version(&self, state: &Map<String, Value>) -> Option<Value> {
        let _ = state;
        None
    }
}

/// What a cleaner has to know of a run; kept in the registry from before it is made until it is removed.
pub trait Section: Serialize + DeserializeOwned + Default {
    /// Who understands it.
    const CLEANER: &'static dyn Cleaner;
}

/// One thing that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The run it belonged to.
    pub run: RunName,
    /// What it was, in a word or two: `process`, `link`, `container` …
    pub kind: &'static str,
    /// Its name: a process's number and command, a link's name, a cgroup's path …
    pub name: String,
}

impl fmt::Display for Removed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.name)
    }
}
