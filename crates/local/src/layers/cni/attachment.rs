//! One pod's attachment to a CNI network: ADD in the list's order, DEL in reverse order (CNI specification, section 3).
//! It is kept with the run's state, so that another process than the one that called ADD can call DEL.

use std::{
    os::fd::{AsFd, AsRawFd},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use loadline_machine::{Netns, Owner};
use loadline_model::platform::Layer;

use super::{
    List,
    plugin::{self, Call},
    result::{self, Added},
};
use crate::{
    error::{CniError, LocalError},
    layers::unavailable::unavailable,
};

/// Everything that DEL needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Attachment {
    /// The deployment's label.
    pub container_id: String,
    /// Where the configuration was read, for error messages.
    file: PathBuf,
    list: List,
    /// The folders that are searched for plugins.
    folders: Vec<PathBuf>,
    /// The result of ADD, once all plugins have been called.
    result: Option<Value>,
}

impl Attachment {
    /// Rejects a list with a plugin that is not installed.
    pub fn new(owner: &Owner, file: &Path, list: List) -> Result<Attachment, LocalError> {
        let attachment = Attachment {
            container_id: owner.label(),
            file: file.to_owned(),
            list,
            folders: plugin::folders(),
            result: None,
        };
        attachment.list.plugins().try_for_each(|(name, _)| attachment.program(name).map(drop))?;
        Ok(attachment)
    }

    /// Has the plugins connect `pod` to `node`, each given the result of the one before it.
    pub fn add(&mut self, node: &Netns, pod: &Netns) -> Result<(), LocalError> {
        let netns = path_of(pod);
        let mut result = None;
        for (name, mut config) in self.list.plugins() {
            config.extend(result.map(|result| ("prevResult".to_owned(), result)));
            let answer = self.call("ADD", name, config, node, &netns)?;
            result = Some(answer.ok_or_else(|| self.failed("ADD", name, "it returned nothing".to_owned()))?);
        }
        self.result = result;
        Ok(())
    }

    /// Has the plugins release what they allocated. All are called, even if some fail; the first failure is returned.
    pub fn delete(&self, node: &Netns, pod: Option<&Netns>) -> Result<(), LocalError> {
        let netns = pod.map(path_of).unwrap_or_default();
        let told = self.result.as_ref().filter(|_| self.list.passes_result_to_del());
        let mut outcome = Ok(());
        for (name, mut config) in self.list.plugins().rev() {
            config.extend(told.map(|result| ("prevResult".to_owned(), result.clone())));
            let deleted = self.call("DEL", name, config, node, &netns).map(drop);
            outcome = outcome.and(deleted);
        }
        outcome
    }

    /// What the plugins created for the pod.
    pub fn added(&self) -> Result<Added, LocalError> {
        let added = self.result.as_ref().and_then(result::added);
        Ok(added.ok_or_else(|| CniError::NoAddress { file: self.file.clone() })?)
    }

    fn call(
        &self,
        command: &'static str,
        name: &str,
        config: Map<String, Value>,
        node: &Netns,
        netns: &str,
    ) -> Result<Option<Value>, LocalError> {
        let program = self.program(name)?;
        let call = Call {
            command,
            program: &program,
            folders: &self.folders,
            container_id: &self.container_id,
            netns,
            config,
        };
        plugin::run(&call, node)?.map_err(|why| self.failed(command, name, why))
    }

    fn failed(&self, command: &'static str, plugin: &str, why: String) -> LocalError {
        CniError::Plugin { plugin: plugin.to_owned(), command, file: self.file.clone(), why }.into()
    }

    fn program(&self, name: &str) -> Result<PathBuf, LocalError> {
        plugin::find(name, &self.folders).ok_or_else(|| {
            let folders: Vec<_> = self.folders.iter().map(|folder| folder.to_string_lossy()).collect();
            let why = format!(
                "the plugin `{name}` of {} is not in any of {} (package `containernetworking-plugins`; CNI_PATH adds folders)",
                self.file.display(),
                folders.join(", ")
            );
            unavailable(&Layer::Cni(self.file.clone()), why)
        })
    }
}

/// A path by which plugins can open the namespace while this process keeps it open.
fn path_of(netns: &Netns) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), netns.as_fd().as_raw_fd())
}
