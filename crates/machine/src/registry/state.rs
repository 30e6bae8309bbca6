//! What is kept of a run in its folder.

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
    error::{Doing, Error},
    processes::ProcessMark,
    run_name::RunName,
};

/// What clean-up needs to know of a run beyond its name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct State {
    pub run: RunName,
    /// The loadline process.
    pub pid: u32,
    pub block: Block,
    /// The service processes started, each the leader of its session.
    pub processes: Vec<ProcessMark>,
    /// The run's own cgroups, at the top of each hierarchy used.
    pub cgroups: Vec<PathBuf>,
    /// The tables of `iptables-nft` that were there before any run; others go once they are empty.
    pub iptables_tables_found: Vec<String>,
    /// What cleaners have to know, by their names.
    #[serde(default)]
    pub sections: BTreeMap<String, Value>,
    /// What the first version wrote in place of sections.
    #[serde(flatten)]
    pub first_version: Map<String, Value>,
}

impl State {
    /// What the cleaner has to know of the run, if there is anything.
    pub fn section_of(&self, cleaner: &dyn Cleaner) -> Option<Value> {
        let written = self.sections.get(cleaner.name()).cloned();
        written.or_else(|| cleaner.section_of_first_version(&self.first_version))
    }

    /// A cleaner's section; an empty one if there is nothing.
    pub fn section<S: Section>(&self) -> S {
        let section = self.section_of(S::CLEANER);
        section.and_then(|section| serde_json::from_value(section).ok()).unwrap_or_default()
    }

    /// Reads that of the run in the folder.
    pub fn read(dir: &Path) -> Result<State, Error> {
        let path = dir.join("state.json");
        let read = fs::read(&path).and_then(|bytes| Ok(serde_json::from_slice(&bytes)?));
        read.doing(|| format!("read {}", path.display()))
    }

    /// Written whole or not at all: a run may be killed at any moment.
    pub fn write(&self, dir: &Path) -> Result<(), Error> {
        let (path, draft) = (dir.join("state.json"), dir.join("state.json.new"));
        let write = || -> io::Result<()> {
            let mut options = OpenOptions::new();
            options.create(true).truncate(true).write(true).mode(0o600);
            serde_json::to_writer(options.open(&draft)?, self)?;
            fs::rename(&draft, &path)
        };
        write().doing(|| format!("write {}", path.display()))
    }
}
