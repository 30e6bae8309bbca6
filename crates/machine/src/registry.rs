//! The registry: a folder per run that records what a killed run leaves behind.
//! A lock, which the kernel releases when the process ends, distinguishes live runs from dead ones.

mod measuring;
mod state;

use std::{
    collections::BTreeMap,
    fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use rustix::process::{Pid, test_kill_process};
use serde_json::Map;
use tempfile::TempDir;

use crate::{
    addresses::Block,
    cleaner::{Cleaner, Section},
    error::{Error, ErrorContext},
    owner::Owner,
    run_name::RunName,
    user_namespace, wait,
};

pub use measuring::{MeasuringTurn, Turn};
pub(crate) use state::State;

/// From fork(2) to execve(2) on a machine whose CPUs others have.
const FORK_TIMEOUT: Duration = Duration::from_secs(2);

/// The folder in which runs of one user are registered.
#[derive(Clone, Debug)]
pub struct Registry {
    dir: PathBuf,
}

/// A registered run, alive or dead, whose lock this process holds.
pub struct RunFolder {
    dir: PathBuf,
    state: Mutex<State>,
    /// The cleaners with a section that this process wrote.
    cleaners: Mutex<Vec<&'static dyn Cleaner>>,
    /// Held while the value lives; the kernel frees it when the process is killed.
    _lock: File,
}

/// The network state that a run finds on the machine when it registers.
pub(crate) struct HostNetworkState {
    pub occupied: Vec<(std::net::Ipv4Addr, u8)>,
    pub iptables_tables: Vec<String>,
}

impl Registry {
    /// The user's registry: `/run/loadline` for root, else `$XDG_RUNTIME_DIR/loadline` or `/tmp/loadline-UID`.
    /// It is the same inside a user namespace as outside.
    pub fn of_this_user() -> Result<Registry, Error> {
        let uid = user_namespace::host_uid()?;
        let runtime_dir = std::env::var_os("XDG_RUNTIME_DIR").filter(|dir| Path::new(dir).is_absolute());
        match (uid, runtime_dir) {
            (0, _) => Registry::at("/run/loadline"),
            (_, Some(dir)) => Registry::at(PathBuf::from(dir).join("loadline")),
            (uid, None) => Registry::at(format!("/tmp/loadline-{uid}")),
        }
    }

    /// The registry in `dir`, which is created if necessary and must belong to this user alone.
    pub fn at(dir: impl Into<PathBuf>) -> Result<Registry, Error> {
        let dir = dir.into();
        match DirBuilder::new().mode(0o700).create(&dir) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(error).with_context(|| format!("create the folder {}", dir.display()));
            }
            _ => {}
        }
        let found = fs::symlink_metadata(&dir).with_context(|| format!("inspect {}", dir.display()))?;
        let own =
            found.is_dir() && found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o77 == 0;
        if own { Ok(Registry { dir }) } else { Err(Error::UnsafeRegistry { path: dir }) }
    }

    /// Registers a run and gives it addresses that no other run has.
    pub(crate) fn register(&self, run: RunName, host: &HostNetworkState) -> Result<RunFolder, Error> {
        let _registry = self.lock()?;
        let others: Vec<State> = self.runs()?.iter().filter_map(|dir| State::read(dir).ok()).collect();
        let claimed: Vec<Block> = others.iter().map(|other| other.block).collect();
        let block = Block::first_free(&host.occupied, &claimed).ok_or(Error::NoAddressLeft)?;
        // A table that an earlier run did not find was created by a run, and is removed with the last run.
        let mut tables = host.iptables_tables.clone();
        tables.retain(|table| others.iter().all(|other| other.iptables_tables_found.contains(table)));

        let dir = self.dir.join(run.to_string());
        match DirBuilder::new().mode(0o700).create(&dir) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(Error::RunTaken { run });
            }
            made => made.with_context(|| format!("create the folder {}", dir.display()))?,
        }
        let lock = open_lock(&dir.join("lock"))?;
        lock.try_lock().map_err(io::Error::from).with_context(|| format!("lock {}", dir.display()))?;
        let state = State {
            run,
            pid: std::process::id(),
            block,
            processes: Vec::new(),
            cgroups: Vec::new(),
            iptables_tables_found: tables,
            sections: BTreeMap::new(),
            first_version: Map::new(),
        };
        state.write(&dir)?;
        Ok(RunFolder::new(dir, state, lock))
    }

    /// The runs whose process has ended. While the values live, no other process cleans them.
    pub(crate) fn dead_runs(&self) -> Result<Vec<RunFolder>, Error> {
        let _registry = self.lock()?;
        let mut dead = Vec::new();
        for dir in self.runs()? {
            let lock = open_lock(&dir.join("lock"))?;
            match lock.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) if is_released_soon(&lock, &dir) => {}
                Err(TryLockError::WouldBlock) => continue,
                Err(TryLockError::Error(error)) => {
                    return Err(error).with_context(|| format!("lock {}", dir.display()));
                }
            }
            match State::read(&dir) {
                Ok(state) => dead.push(RunFolder::new(dir, state, lock)),
                // Killed before it wrote its state, hence before it created anything.
                Err(_) => fs::remove_dir_all(&dir).with_context(|| format!("remove {}", dir.display()))?,
            }
        }
        Ok(dead)
    }

    /// The runs whose process lives.
    ///
    /// # Errors
    /// When the registry cannot be read.
    pub fn live_runs(&self) -> Result<Vec<RunName>, Error> {
        let _registry = self.lock()?;
        let mut live = Vec::new();
        for dir in self.runs()? {
            // Not made anew: a run that ends meanwhile removes its folder.
            let lock = match File::open(dir.join("lock")) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened.with_context(|| format!("open the lock in {}", dir.display()))?,
            };
            match lock.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    live.extend(dir.file_name().and_then(|name| name.to_str()?.parse::<RunName>().ok()));
                }
                Err(TryLockError::Error(error)) => {
                    return Err(error).with_context(|| format!("lock {}", dir.display()));
                }
            }
        }
        Ok(live)
    }

    /// The folders of all runs.
    fn runs(&self) -> Result<Vec<PathBuf>, Error> {
        let entries = fs::read_dir(&self.dir).with_context(|| format!("list {}", self.dir.display()))?;
        let named =
            |path: &PathBuf| path.file_name().is_some_and(|n| n.to_string_lossy().parse::<RunName>().is_ok());
        Ok(entries.filter_map(|entry| Some(entry.ok()?.path())).filter(named).collect())
    }

    fn lock(&self) -> Result<File, Error> {
        let path = self.dir.join("lock");
        let file = open_lock(&path)?;
        file.lock().with_context(|| format!("lock {}", path.display()))?;
        Ok(file)
    }
}

impl RunFolder {
    fn new(dir: PathBuf, state: State, lock: File) -> RunFolder {
        RunFolder { dir, state: Mutex::new(state), cleaners: Mutex::default(), _lock: lock }
    }

    /// A copy of the state.
    pub(crate) fn state(&self) -> State {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes the state, on disk before this returns: what is about to be created is registered first.
    pub(crate) fn update_state<T>(&self, change: impl FnOnce(&mut State) -> T) -> Result<T, Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = change(&mut state);
        state.write(&self.dir)?;
        Ok(outcome)
    }

    /// Changes a cleaner's section, on disk before this returns: what is about to be created is registered first.
    ///
    /// # Errors
    /// When the registry cannot be written.
    pub fn update<S: Section>(&self, change: impl FnOnce(&mut S)) -> Result<(), Error> {
        let mut cleaners = self.cleaners.lock().unwrap_or_else(PoisonError::into_inner);
        if !cleaners.iter().any(|known| known.name() == S::CLEANER.name()) {
            cleaners.push(S::CLEANER);
        }
        drop(cleaners);
        self.update_state(|state| {
            let mut section = state.section::<S>();
            change(&mut section);
            let written = serde_json::to_value(section).map_err(io::Error::from);
            written.map(|written| drop(state.sections.insert(S::CLEANER.name().to_owned(), written)))
        })?
        .with_context(|| format!("record what belongs to {}", S::CLEANER.name()))
    }

    /// A cleaner's section as it is now.
    pub fn section<S: Section>(&self) -> S {
        self.state().section()
    }

    /// The same section of the other runs of the registry, alive or dead.
    ///
    /// # Errors
    /// When the registry cannot be read.
    pub fn sections_of_others<S: Section>(&self) -> Result<Vec<S>, Error> {
        let Some(dir) = self.dir.parent() else { return Ok(Vec::new()) };
        let runs = Registry { dir: dir.to_owned() }.runs()?;
        let others = runs.iter().filter(|run| **run != self.dir);
        Ok(others.filter_map(|run| State::read(run).ok()).map(|state| state.section()).collect())
    }

    /// The cleaners with a section that this process wrote.
    pub(crate) fn cleaners(&self) -> Vec<&'static dyn Cleaner> {
        self.cleaners.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A new folder for files that a deployment's processes need, accessible to this user alone. It is removed with the value,
    /// and with the run at the latest.
    pub fn scratch(&self, owner: &Owner) -> Result<TempDir, Error> {
        let permissions = Permissions::from_mode(0o700);
        let made =
            tempfile::Builder::new().prefix(&owner.label()).permissions(permissions).tempdir_in(&self.dir);
        made.with_context(|| format!("create a folder in {}", self.dir.display()))
    }

    /// Unregisters the run.
    pub(crate) fn remove(&self) -> Result<(), Error> {
        match fs::remove_dir_all(&self.dir) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(error).with_context(|| format!("remove {}", self.dir.display()))
            }
            _ => Ok(()),
        }
    }
}

/// Whether the lock of a run whose process has ended is released: a child that it had just forked holds it until it executes its program.
fn is_released_soon(lock: &File, dir: &Path) -> bool {
    let has_ended = |state: State| {
        let pid = i32::try_from(state.pid).ok().and_then(Pid::from_raw);
        pid.is_some_and(|pid| test_kill_process(pid) == Err(rustix::io::Errno::SRCH))
    };
    State::read(dir).is_ok_and(has_ended)
        && wait::until(FORK_TIMEOUT, wait::SHORT_INTERVAL, || lock.try_lock().ok()).is_some()
}

fn open_lock(path: &Path) -> Result<File, Error> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true).mode(0o600);
    options.open(path).with_context(|| format!("open {}", path.display()))
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};
    use serde_json::Value;

    use super::*;

    fn registry() -> (tempfile::TempDir, Registry) {
        let dir = tempfile::tempdir().unwrap();
        let registry = Registry::at(dir.path().join("runs")).unwrap();
        (dir, registry)
    }

    fn empty_host() -> HostNetworkState {
        HostNetworkState { occupied: Vec::new(), iptables_tables: Vec::new() }
    }

    #[test]
    fn concurrent_runs_get_different_addresses() {
        let (_dir, registry) = registry();
        let one = registry.register("000001".parse().unwrap(), &empty_host()).unwrap();
        let two = registry.register("000002".parse().unwrap(), &empty_host()).unwrap();
        assert_ne!(one.state().block, two.state().block);
    }

    #[test]
    fn a_run_is_dead_once_its_lock_is_released_and_not_before() {
        let (_dir, registry) = registry();
        let run = registry.register("000001".parse().unwrap(), &empty_host()).unwrap();
        assert!(registry.dead_runs().unwrap().is_empty());
        assert_eq!(registry.live_runs().unwrap(), ["000001".parse().unwrap()]);
        drop(run);
        assert_eq!(registry.dead_runs().unwrap().len(), 1);
        assert_eq!(registry.live_runs().unwrap(), []);
    }

    #[test]
    fn a_child_of_a_killed_run_that_still_holds_its_lock_is_waited_for() {
        let (_dir, registry) = registry();
        let run = registry.register("000001".parse().unwrap(), &empty_host()).unwrap();
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        run.update_state(|state| state.pid = ended.id()).unwrap();
        let holder = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            drop(run);
        });
        assert_eq!(registry.dead_runs().unwrap().len(), 1);
        holder.join().unwrap();
    }

    #[test]
    fn a_name_is_taken_until_its_run_is_removed() {
        let (_dir, registry) = registry();
        let name = "000001".parse().unwrap();
        let run = registry.register(name, &empty_host()).unwrap();
        assert!(matches!(registry.register(name, &empty_host()), Err(Error::RunTaken { .. })));
        run.remove().unwrap();
        registry.register(name, &empty_host()).unwrap();
    }

    #[test]
    fn a_table_that_a_run_created_is_not_recorded_as_found_by_the_next() {
        let (_dir, registry) = registry();
        let _first = registry.register("000001".parse().unwrap(), &empty_host()).unwrap();
        let later = HostNetworkState { occupied: Vec::new(), iptables_tables: vec!["nat".to_owned()] };
        let second = registry.register("000002".parse().unwrap(), &later).unwrap();
        assert!(second.state().iptables_tables_found.is_empty());
    }

    #[test]
    fn a_run_killed_while_it_registered_is_unregistered() {
        let (dir, registry) = registry();
        fs::create_dir(dir.path().join("runs/00000a")).unwrap();
        assert!(registry.dead_runs().unwrap().is_empty());
        assert!(!dir.path().join("runs/00000a").exists());
    }

    #[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
    struct Boxes(Vec<String>);

    impl Section for Boxes {
        const CLEANER: &'static dyn Cleaner = &BoxCleaner;
    }

    struct BoxCleaner;

    impl Cleaner for BoxCleaner {
        fn name(&self) -> &'static str {
            "boxes"
        }

        fn remove(
            &self,
            _: &Owner,
            _: &Value,
            _: &crate::netns::Netns,
            _: &mut Vec<crate::cleaner::Removed>,
        ) -> Result<(), Error> {
            Ok(())
        }

        fn section_of_first_version(&self, state: &Map<String, Value>) -> Option<Value> {
            state.get("old_boxes").cloned()
        }
    }

    #[test]
    fn other_runs_can_read_a_section() {
        let (_dir, registry) = registry();
        let run = registry.register("000001".parse().unwrap(), &empty_host()).unwrap();
        assert_eq!(run.section::<Boxes>(), Boxes::default());
        run.update(|boxes: &mut Boxes| boxes.0.push("red".to_owned())).unwrap();
        run.update(|boxes: &mut Boxes| boxes.0.push("blue".to_owned())).unwrap();
        let both = Boxes(vec!["red".to_owned(), "blue".to_owned()]);
        assert_eq!(run.section::<Boxes>(), both);
        let other = registry.register("000002".parse().unwrap(), &empty_host()).unwrap();
        assert_eq!(other.sections_of_others::<Boxes>().unwrap(), [both]);
        assert_eq!(run.cleaners().len(), 1);
    }

    #[test]
    fn a_state_of_the_first_version_has_sections() {
        let old = r#"{"run": "0a1b2c", "pid": 1, "block": "198.18.0.0", "processes": [], "cgroups": [], "old_boxes": ["red"],
            "iptables_tables_found": ["nat"]}"#;
        let state: State = serde_json::from_str(old).unwrap();
        assert_eq!(state.section::<Boxes>(), Boxes(vec!["red".to_owned()]));
    }

    #[test]
    fn a_folder_accessible_to_others_is_rejected() {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(matches!(Registry::at(dir.path()), Err(Error::UnsafeRegistry { .. })));
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("/root", &link).unwrap();
        assert!(matches!(Registry::at(link), Err(Error::UnsafeRegistry { .. })));
    }
}
