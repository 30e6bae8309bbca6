//! Removing what carries an owner's name. There is this one way only: a deployment's end, a run's end and
//! `loadline clean` after a killed run all come here.

use std::{fmt, path::PathBuf};

use crate::{
    Error, Netns, Registry, RunName, cgroup, docker, iptables, kubernetes, layers,
    netlink::{self, Netlink},
    nftables,
    owner::Owner,
    processes,
    registry::State,
};

/// The tables of `iptables-nft` that our rules can bring into being.
const IPTABLES_TABLES: [&str; 2] = ["nat", "filter"];

/// One thing that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The run it belonged to.
    pub run: RunName,
    /// What it was.
    pub kind: Kind,
    /// Its name: a process's number and command, a link's name, a cgroup's path …
    pub name: String,
}

/// Kinds of things that a run makes on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it all")]
pub enum Kind {
    Process,
    Container,
    Network,
    Image,
    IptablesRules,
    NftTable,
    Link,
    Cgroup,
    /// What CNI plugins keep of a deployment elsewhere than in its namespaces: an address, above all.
    CniAttachment,
    /// A manifest in the folder of this machine's kubelet.
    StaticPod,
    /// A cluster's namespace, with all that is in it.
    Namespace,
    /// The run's folder in the registry.
    Folder,
}

impl fmt::Display for Removed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Process => "process",
            Kind::Container => "container",
            Kind::Network => "network",
            Kind::Image => "image",
            Kind::IptablesRules => "iptables",
            Kind::NftTable => "nft table",
            Kind::Link => "link",
            Kind::Cgroup => "cgroup",
            Kind::CniAttachment => "cni attachment",
            Kind::StaticPod => "static pod",
            Kind::Namespace => "namespace",
            Kind::Folder => "run",
        };
        write!(f, "{kind} {}", self.name)
    }
}

/// Removes what this user's killed runs left, in the network namespace of the calling thread, and adds it to `removed`. Live runs,
/// and whatever doesn't carry a dead run's name, are left alone.
///
/// # Errors
/// The first failure, after everything else that could be removed was; the run stays registered, to be tried again.
pub fn clean(removed: &mut Vec<Removed>) -> Result<(), Error> {
    Registry::of_this_user()?.clean_into(removed)
}

impl Registry {
    /// As [`clean`], for the runs of this registry. Returns what was removed.
    pub fn clean(&self) -> Result<Vec<Removed>, Error> {
        let mut removed = Vec::new();
        self.clean_into(&mut removed).map(|()| removed)
    }

    fn clean_into(&self, removed: &mut Vec<Removed>) -> Result<(), Error> {
        let node = Netns::current()?;
        let mut outcome = Ok(());
        for folder in self.dead_runs()? {
            let state = folder.state();
            match remove_run(&state, &node, removed).and_then(|()| folder.remove()) {
                Ok(()) => {
                    removed.push(Removed { run: state.run, kind: Kind::Folder, name: state.run.to_string() })
                }
                Err(error) if outcome.is_ok() => outcome = Err(error),
                Err(error) => tracing::warn!("{error}"),
            }
        }
        outcome
    }
}

/// Removes all that is left of a run but its registration.
pub(crate) fn remove_run(state: &State, node: &Netns, removed: &mut Vec<Removed>) -> Result<(), Error> {
    let owner = Owner::run(state.run);
    let all = remove_owned(&owner, state, &Traces::OnNode(node), removed);
    let clusters = kubernetes::remove_run(state.run, &state.clusters, node).map(|names| {
        let of_run = |name| Removed { run: state.run, kind: Kind::Namespace, name };
        removed.extend(names.into_iter().map(of_run));
    });
    let emptied = if may_have_rules() { remove_empty_tables(state, node) } else { Ok(()) };
    all.and(clusters).and(emptied)
}

/// Whether this user can have made links and rules here. An ordinary user has them in a user namespace, as root and until the run
/// ends; here such a user may not even list rules.
fn may_have_rules() -> bool {
    rustix::process::geteuid().is_root()
}

/// Removes the tables that our rules brought into being and left empty.
fn remove_empty_tables(state: &State, node: &Netns) -> Result<(), Error> {
    let made =
        IPTABLES_TABLES.into_iter().filter(|t| !state.iptables_tables_found.iter().any(|found| found == t));
    node.run(|| {
        let there = nftables::ipv4_tables()?;
        made.filter(|table| there.iter().any(|t| t == table)).try_for_each(nftables::remove_if_empty)
    })
}

/// Where an owner's links and rules are.
pub(crate) enum Traces<'a> {
    /// On a node that it shares with others.
    OnNode(&'a Netns),
    /// On a node of its own, with which they vanish, but for its end of the wire in the client's namespace.
    InClient(&'a Netns),
}

/// Removes what carries the owner's name: processes first, so that nothing is in use, then containers, rules, links and cgroups.
/// Every step is tried; the first failure is returned.
pub(crate) fn remove_owned(
    owner: &Owner,
    state: &State,
    traces: &Traces,
    removed: &mut Vec<Removed>,
) -> Result<(), Error> {
    let mut outcome = Ok(());
    let mut note = |kind, names: Result<Vec<String>, Error>| match names {
        Ok(names) => removed.extend(names.into_iter().map(|name| Removed { run: owner.run, kind, name })),
        Err(error) if outcome.is_ok() => outcome = Err(error),
        Err(error) => tracing::warn!("{error}"),
    };
    // Deployments know their own leader; a run's end covers all of them.
    let leaders = if owner.slot.is_none() { state.processes.as_slice() } else { &[] };
    note(Kind::StaticPod, kubernetes::remove_static_pods(owner, state));
    note(Kind::Process, processes::kill_owned(owner, leaders));
    if let Some(endpoint) = &state.docker {
        match docker::remove(owner, endpoint, &state.docker_images) {
            Ok(things) => things.into_iter().for_each(|(kind, name)| note(kind, Ok(vec![name]))),
            Err(error) => note(Kind::Container, Err(error)),
        }
    }
    note(Kind::CniAttachment, give_back_networks(owner, state));
    match traces {
        Traces::OnNode(node) if may_have_rules() => {
            note(Kind::IptablesRules, node.run(|| iptables::remove(owner)));
            note(Kind::NftTable, node.run(|| nftables::remove(owner)));
            note(Kind::Link, remove_links(owner, node));
        }
        Traces::OnNode(_) => {}
        Traces::InClient(client) => note(Kind::Link, remove_links(owner, client)),
    }
    for top in state.cgroups.iter().filter(|top| top.ends_with(Owner::run(state.run).cgroup())) {
        let dir = owner.slot.map_or(top.clone(), |slot| top.join(slot.to_string()));
        note(Kind::Cgroup, remove_cgroup(dir));
    }
    outcome
}

/// The plugins' node is gone with its processes: they are run in an empty one, where they can't take another network's things for
/// theirs. An ordinary user can make none, nor change anything in the machine's.
fn give_back_networks(owner: &Owner, state: &State) -> Result<Vec<String>, Error> {
    if state.cni.is_empty() {
        return Ok(Vec::new());
    }
    let empty = if may_have_rules() { Netns::new()? } else { Netns::current()? };
    layers::cni::remove(owner, &state.cni, &empty)
}

fn remove_cgroup(dir: PathBuf) -> Result<Vec<String>, Error> {
    let was_there = cgroup::remove(&dir)?;
    Ok(was_there.then(|| dir.display().to_string()).into_iter().collect())
}

fn remove_links(owner: &Owner, node: &Netns) -> Result<Vec<String>, Error> {
    netlink::talk(node, async |net: &Netlink| {
        let mut removed = Vec::new();
        for (index, name) in net.links().await?.into_iter().filter(|(_, name)| owner.owns_link(name)) {
            // One end of a pair takes the other with it, so it may be gone by now.
            match net.delete(index, &name).await {
                Err(_) if net.index_of(&name).await.is_err() => {}
                deleted => deleted?,
            }
            removed.push(name);
        }
        Ok(removed)
    })
}
