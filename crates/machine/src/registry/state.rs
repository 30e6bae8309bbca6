//! The state of a run in its folder of the registry.

use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    addresses::Block,
    cleaner::{Cleaner, Section},
    error::{Error, ErrorContext},
    processes::ProcessRecord,
    run_name::RunName,
};

/// What the cleanup needs to know about a run besides its name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    pub run: RunName,
    /// The loadline process.
    pub pid: u32,
    pub block: Block,
    /// The service processes started, each the leader of its session.
    pub processes: Vec<ProcessRecord>,
    /// The run's own cgroups, at the top of each hierarchy used.
    pub cgroups: Vec<PathBuf>,
    /// The tables of `iptables-nft` that were there before any run; others go once they are empty.
    pub iptables_tables_found: Vec<String>,
    /// The sections of the cleaners, by name.
    #[serde(default)]
    pub sections: BTreeMap<String, Value>,
    /// What the first version wrote instead of sections.
    #[serde(flatten)]
    pub first_version: Map<String, Value>,
}

impl State {
    /// The cleaner's section, if there is one.
    pub fn section_of(&self, cleaner: &dyn Cleaner) -> Option<Value> {
        let written = self.sections.get(cleaner.name()).cloned();
        written.or_else(|| cleaner.section_of_first_version(&self.first_version))
    }

    /// A cleaner's section; an empty one if there is none.
    pub fn section<S: Section>(&self) -> S {
        let section = self.section_of(S::CLEANER);
        section.and_then(|section| serde_json::from_value(section).ok()).unwrap_or_default()
    }

    /// Reads the state from a run's folder.
    pub fn read(dir: &Path) -> Result<State, Error> {
        let path = dir.join("state.json");
        let read = fs::read(&path).and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
        read.with_context(|| format!("read {}", path.display()))
    }

    /// Written atomically: a run may be killed at any moment.
    pub fn write(&self, dir: &Path) -> Result<(), Error> {
        let (path, draft) = (dir.join("state.json"), dir.join("state.json.new"));
        let write = || -> io::Result<()> {
            let mut options = OpenOptions::new();
            options.create(true).truncate(true).write(true).mode(0o600);
            serde_json::to_writer(options.open(&draft)?, self)?;
            fs::rename(&draft, &path)
        };
        write().with_context(|| format!("write {}", path.display()))
    }
}
