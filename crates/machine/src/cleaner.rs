//! How platforms register what only they can remove: each keeps a section of the run's state in the registry, and
//! names the cleaner that understands it.

use std::fmt;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{error::Error, netns::Netns, owner::Owner, run_name::RunName};

/// Removes what one platform created outside namespaces, cgroups and rules: containers, a cluster's objects.
pub trait Cleaner: Send + Sync {
    /// The name of its section in the registry.
    fn name(&self) -> &'static str;

    /// Prevents anything else from restarting the owner's processes; called before they are killed.
    ///
    /// # Errors
    /// When something cannot be removed, after everything else was tried.
    fn prevent_restarts(
        &self,
        owner: &Owner,
        section: &Value,
        removed: &mut Vec<Removed>,
    ) -> Result<(), Error> {
        let _ = (owner, section, removed);
        Ok(())
    }

    /// Removes what belongs to the owner according to the section, and adds it to `removed`; called after the owner's
    /// processes were killed, and before its rules, links and cgroups are removed. `node` is the run's node.
    ///
    /// # Errors
    /// When something cannot be removed, after everything else was tried.
    fn remove(
        &self,
        owner: &Owner,
        section: &Value,
        node: &Netns,
        removed: &mut Vec<Removed>,
    ) -> Result<(), Error>;

    /// The section derived from a state without sections, as the first version wrote it.
    fn section_of_first_version(&self, state: &Map<String, Value>) -> Option<Value> {
        let _ = state;
        None
    }
}

/// What a cleaner needs to know about a run; kept in the registry from before anything is created until it is removed.
pub trait Section: Serialize + DeserializeOwned + Default {
    /// The cleaner that understands it.
    const CLEANER: &'static dyn Cleaner;
}

/// One object that was removed.
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
