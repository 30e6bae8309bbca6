//! Removing everything that carries an owner's name. The end of a deployment, the end of a run and `loadline clean`
//! after a killed run all use this one mechanism.

use std::path::PathBuf;

use crate::{
    cgroup,
    cleaner::{Cleaner, Removed},
    error::Error,
    iptables,
    netlink::Netlink,
    netns::Netns,
    nftables,
    owner::Owner,
    processes,
    registry::{Registry, RunFolder, State},
};

/// The tables of `iptables-nft` that our rules may create.
const IPTABLES_TABLES: [&str; 2] = ["nat", "filter"];

/// Kinds of objects that this crate removes, as [`Removed::kind`] names them.
const PROCESS: &str = "process";
const IPTABLES_RULES: &str = "iptables";
const NFT_TABLE: &str = "nft table";
const LINK: &str = "link";
const CGROUP: &str = "cgroup";
/// The run's folder in the registry.
const FOLDER: &str = "run";

/// Removes what this user's killed runs left behind, in the network namespace of the calling thread, and adds it to
/// `removed`. Live runs, and everything that does not carry a dead run's name, are left unchanged. `cleaners` are those
/// of all platforms.
///
/// # Errors
/// The first failure, after everything else was removed; the run stays registered, so that it can be tried again.
pub fn clean(cleaners: &[&dyn Cleaner], removed: &mut Vec<Removed>) -> Result<(), Error> {
    Registry::of_this_user()?.clean_into(cleaners, removed)
}

impl Registry {
    /// As [`clean`], for the runs of this registry. Returns what was removed.
    ///
    /// # Errors
    /// As those of [`clean`].
    pub fn clean(&self, cleaners: &[&dyn Cleaner]) -> Result<Vec<Removed>, Error> {
        let mut removed = Vec::new();
        self.clean_into(cleaners, &mut removed).map(|()| removed)
    }

    fn clean_into(&self, cleaners: &[&dyn Cleaner], removed: &mut Vec<Removed>) -> Result<(), Error> {
        let node = Netns::current()?;
        let mut outcome = Ok(());
        for folder in self.dead_runs()? {
            let run = folder.state().run;
            let cleaned = remove_run(&folder, &node, cleaners, removed);
            let known = check_sections(&folder.state(), cleaners);
            match cleaned.and(known).and_then(|()| folder.remove()) {
                Ok(()) => removed.push(Removed { run, kind: FOLDER, name: run.to_string() }),
                Err(error) => keep_first(&mut outcome, error),
            }
        }
        outcome
    }
}

/// Refuses to unregister a run with a section that none of the cleaners knows.
fn check_sections(state: &State, cleaners: &[&dyn Cleaner]) -> Result<(), Error> {
    let unknown = state.sections.keys().find(|name| cleaners.iter().all(|cleaner| cleaner.name() != *name));
    match unknown {
        Some(name) => Err(Error::NoCleaner { run: state.run, name: name.clone() }),
        None => Ok(()),
    }
}

/// Keeps the first failure for the caller and logs the others.
fn keep_first(outcome: &mut Result<(), Error>, error: Error) {
    match outcome {
        Ok(()) => *outcome = Err(error),
        Err(_) => tracing::warn!("{error}"),
    }
}

/// Removes everything that is left of a run except its registration.
pub(crate) fn remove_run(
    folder: &RunFolder,
    node: &Netns,
    cleaners: &[&dyn Cleaner],
    removed: &mut Vec<Removed>,
) -> Result<(), Error> {
    let state = folder.state();
    let all =
        remove_owned(&Owner::run(state.run), &state, &NetworkScope::OnNode(node.clone()), cleaners, removed);
    let emptied = if may_change_network() { remove_empty_tables(&state, node) } else { Ok(()) };
    all.and(emptied)
}

/// Whether this user may have created links and rules here. An ordinary user has them in a user namespace, as root and
/// until the run ends; outside it such a user may not even list rules.
pub fn may_change_network() -> bool {
    rustix::process::geteuid().is_root()
}

/// Removes the tables that our rules created and that are empty now.
fn remove_empty_tables(state: &State, node: &Netns) -> Result<(), Error> {
    let made =
        IPTABLES_TABLES.into_iter().filter(|t| !state.iptables_tables_found.iter().any(|found| found == t));
    node.run(|| {
        let there = nftables::ipv4_tables()?;
        made.filter(|table| there.iter().any(|t| t == table)).try_for_each(nftables::remove_if_empty)
    })
}

/// Where an owner's links and rules are.
#[derive(Clone, Debug)]
pub enum NetworkScope {
    /// On a node that it shares with others.
    OnNode(Netns),
    /// On a node of its own, with which they vanish, except for its end of the wire in the client's namespace.
    InClient(Netns),
}

/// Removes what carries the owner's name: processes first, so that nothing is in use, then what the cleaners remove,
/// rules, links and cgroups. Every step is tried; the first failure is returned.
pub(crate) fn remove_owned(
    owner: &Owner,
    state: &State,
    scope: &NetworkScope,
    cleaners: &[&dyn Cleaner],
    removed: &mut Vec<Removed>,
) -> Result<(), Error> {
    let mut outcome = Ok(());
    let sections: Vec<_> =
        cleaners.iter().filter_map(|cleaner| Some((cleaner, state.section_of(*cleaner)?))).collect();
    for (cleaner, section) in &sections {
        if let Err(error) = cleaner.prevent_restarts(owner, section, removed) {
            keep_first(&mut outcome, error);
        }
    }
    let mut note = |removed: &mut Vec<Removed>, kind, names: Result<Vec<String>, Error>| match names {
        Ok(names) => removed.extend(names.into_iter().map(|name| Removed { run: owner.run, kind, name })),
        Err(error) => keep_first(&mut outcome, error),
    };
    // A deployment knows its own session leader; a run covers the leaders of all deployments.
    let leaders = if owner.slot.is_none() { state.processes.as_slice() } else { &[] };
    note(removed, PROCESS, processes::kill_owned(owner, leaders));
    let (NetworkScope::OnNode(node) | NetworkScope::InClient(node)) = scope;
    for (cleaner, section) in &sections {
        let cleaned = cleaner.remove(owner, section, node, removed);
        note(removed, "", cleaned.map(|()| Vec::new()));
    }
    match scope {
        NetworkScope::OnNode(node) if may_change_network() => {
            note(removed, IPTABLES_RULES, node.run(|| iptables::remove(owner)));
            note(removed, NFT_TABLE, node.run(|| nftables::remove(owner)));
            note(removed, LINK, remove_links(owner, node));
        }
        NetworkScope::OnNode(_) => {}
        NetworkScope::InClient(client) => note(removed, LINK, remove_links(owner, client)),
    }
    for top in state.cgroups.iter().filter(|top| top.ends_with(Owner::run(state.run).cgroup())) {
        let dir = owner.slot.map_or(top.clone(), |slot| top.join(slot.to_string()));
        note(removed, CGROUP, remove_cgroup(dir));
    }
    outcome
}

fn remove_cgroup(dir: PathBuf) -> Result<Vec<String>, Error> {
    let was_there = cgroup::remove(&dir)?;
    Ok(was_there.then(|| dir.display().to_string()).into_iter().collect())
}

fn remove_links(owner: &Owner, node: &Netns) -> Result<Vec<String>, Error> {
    node.with_netlink(async |net: &Netlink| {
        let mut removed = Vec::new();
        for (index, name) in net.links().await?.into_iter().filter(|(_, name)| owner.owns_link(name)) {
            // Deleting one end of a pair deletes the other, so it may be gone by now.
            match net.delete(index, &name).await {
                Err(_) if net.index_of(&name).await.is_err() => {}
                deleted => deleted?,
            }
            removed.push(name);
        }
        Ok(removed)
    })
}
