//! iptables through `iptables-restore`, as kube-proxy uses it: whole tables in one go, without flushing the rest.
//! A machine may have two variants of it, over nftables and the legacy one; rules go to the default and are removed from both.

use std::{collections::BTreeSet, path::PathBuf, process::Command};

use crate::{error::Error, owner::Owner, tool};

/// One of the iptables implementations installed.
struct Variant {
    save: PathBuf,
    restore: PathBuf,
}

/// Applies `rules`, in the format of `iptables-save`, with the machine's default iptables.
pub fn install(rules: &str) -> Result<(), Error> {
    let missing = Error::ToolMissing { tool: "iptables-restore", package: "iptables" };
    let restore = tool::find("iptables-restore").ok_or(missing)?;
    apply(&restore, rules)
}

/// Deletes the rules that carry the owner's comment and its chains, from every variant. Returns what it deleted.
pub(crate) fn remove(owner: &Owner) -> Result<Vec<String>, Error> {
    let mut removed = BTreeSet::new();
    for variant in variants() {
        let (script, chains) = removal_script(&variant.rules()?, owner);
        if !script.is_empty() {
            apply(&variant.restore, &script)?;
            removed.extend(chains);
        }
    }
    Ok(removed.into_iter().collect())
}

/// Accepts the run's own traffic where the machine's policy is to drop, as Docker and ufw set it up.
pub(crate) fn accept_own_links(owner: &Owner) -> Result<(), Error> {
    for variant in variants() {
        let script = accept_rules(&variant.rules()?, owner);
        if !script.is_empty() {
            apply(&variant.restore, &script)?;
        }
    }
    Ok(())
}

impl Variant {
    fn rules(&self) -> Result<String, Error> {
        tool::run(&mut Command::new(&self.save), "")
    }
}

fn variants() -> Vec<Variant> {
    let variant = |name: &str| {
        let (save, restore) = (tool::find(&format!("{name}-save"))?, tool::find(&format!("{name}-restore"))?);
        Some(Variant { save, restore })
    };
    let both = [variant("iptables-nft"), variant("iptables-legacy").filter(|_| legacy_has_tables())];
    let both: Vec<_> = both.into_iter().flatten().collect();
    if both.is_empty() { variant("iptables").into_iter().collect() } else { both }
}

/// Whether this namespace has legacy tables that can be listed. Without its kernel module there are none; and in a
/// user namespace the list belongs to the machine's root (and the tables vanish with the namespace anyway).
fn legacy_has_tables() -> bool {
    std::fs::read_to_string("/proc/thread-self/net/ip_tables_names").is_ok_and(|names| !names.is_empty())
}

fn apply(restore: &PathBuf, rules: &str) -> Result<(), Error> {
    let mut command = Command::new(restore);
    // Another program may hold the lock while it changes rules.
    command.args(["--noflush", "--wait", "5"]);
    let lock = "/run/xtables.lock";
    let may_lock = rustix::fs::access(lock, rustix::fs::Access::WRITE_OK) != Err(rustix::io::Errno::ACCESS)
        && rustix::fs::access("/run", rustix::fs::Access::WRITE_OK).is_ok();
    if !may_lock {
        // Nothing else changes rules in our own network namespace, so the lock is a formality.
        command.env("XTABLES_LOCKFILE", std::env::temp_dir().join("loadline-xtables.lock"));
    }
    tool::run(&mut command, rules).map(drop)
}

/// The input of `iptables-restore` that removes everything of the owner's in `saved`, and what that is.
fn removal_script(saved: &str, owner: &Owner) -> (String, Vec<String>) {
    let (mut script, mut removed) = (String::new(), Vec::new());
    for (table, lines) in tables(saved) {
        let chain_of = |line: &str| line.split_whitespace().nth(1).unwrap_or_default().to_owned();
        let chains: Vec<String> = lines
            .iter()
            .filter_map(|line| line.strip_prefix(':')?.split(' ').next())
            .filter(|chain| owner.owns_chain(chain))
            .map(str::to_owned)
            .collect();
        let rules: Vec<&str> = lines
            .iter()
            .copied()
            .filter(|line| {
                line.starts_with("-A ") && !owner.owns_chain(&chain_of(line)) && has_comment_of(line, owner)
            })
            .collect();
        if chains.is_empty() && rules.is_empty() {
            continue;
        }
        script += &format!("*{table}\n");
        // Declaring a chain flushes it; it can be deleted only then, and only without jumps to it.
        chains.iter().for_each(|chain| script += &format!(":{chain} - [0:0]\n"));
        rules.iter().for_each(|rule| script += &format!("-D {}\n", &rule[3..]));
        chains.iter().for_each(|chain| script += &format!("-X {chain}\n"));
        script += "COMMIT\n";
        removed.extend(chains.into_iter().map(|chain| format!("{table} chain {chain}")));
        removed.extend(rules.into_iter().map(|rule| format!("{table} rule {rule}")));
    }
    (script, removed)
}

fn has_comment_of(rule: &str, owner: &Owner) -> bool {
    let mut words = rule.split_whitespace();
    words.any(|word| word == "--comment")
        && words.next().is_some_and(|c| owner.owns_label(c.trim_matches('"')))
}

/// Rules that accept the run's links in the chains of `saved` whose policy is to drop.
fn accept_rules(saved: &str, owner: &Owner) -> String {
    let (links, label) = (owner.links_pattern(), owner.label());
    let mut script = String::new();
    for (_, lines) in tables(saved).into_iter().filter(|(table, _)| *table == "filter") {
        let drops = |chain: &str| lines.iter().any(|line| line.starts_with(&format!(":{chain} DROP")));
        let accept = |place: &str, links: &str| {
            format!("{place} {links} -m comment --comment \"{label}\" -j ACCEPT\n")
        };
        let (from, to) = (format!("-i {links}"), format!("-o {links}"));
        if drops("INPUT") {
            script += &accept("-I INPUT 1", &from);
        }
        if drops("FORWARD") {
            script += &accept("-I FORWARD 1", &format!("{from} {to}"));
            // Traffic from and to other links passes the machine's own rules first: they are part of a container's path.
            script += &(accept("-A FORWARD", &from) + &accept("-A FORWARD", &to));
        }
        if drops("OUTPUT") {
            script += &accept("-I OUTPUT 1", &to);
        }
    }
    if script.is_empty() { script } else { format!("*filter\n{script}COMMIT\n") }
}

/// The lines of each table in the output of `iptables-save`.
fn tables(saved: &str) -> Vec<(&str, Vec<&str>)> {
    let mut tables: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in saved.lines() {
        if let Some(name) = line.strip_prefix('*') {
            tables.push((name, Vec::new()));
        } else if let Some((_, lines)) = tables.last_mut() {
            lines.push(line);
        }
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAVED: &str = r#"# Generated by iptables-save
*filter
:INPUT ACCEPT [0:0]
:FORWARD DROP [0:0]
:OUTPUT ACCEPT [0:0]
:DOCKER - [0:0]
-A FORWARD -i ll0a1b2c+ -m comment --comment loadline-0a1b2c -j ACCEPT
-A FORWARD -o docker0 -j DOCKER
COMMIT
*nat
:PREROUTING ACCEPT [0:0]
:KUBE-SERVICES - [0:0]
:LL0a1b2c-1-SERVICES - [0:0]
:LL0a1b2c-12-SERVICES - [0:0]
-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A PREROUTING -p tcp -m comment --comment "loadline-0a1b2c-1" -j LL0a1b2c-1-SERVICES
-A PREROUTING -p tcp -m comment --comment loadline-0a1b2c-12 -j LL0a1b2c-12-SERVICES
-A LL0a1b2c-1-SERVICES -m comment --comment "loadline-0a1b2c-1" -j RETURN
COMMIT
"#;

    fn owner(slot: Option<u16>) -> Owner {
        Owner { run: "0a1b2c".parse().unwrap(), slot }
    }

    #[test]
    fn only_a_deployments_own_rules_and_chains_are_removed() {
        let (script, removed) = removal_script(SAVED, &owner(Some(1)));
        let expected = "*nat\n:LL0a1b2c-1-SERVICES - [0:0]\n\
            -D PREROUTING -p tcp -m comment --comment \"loadline-0a1b2c-1\" -j LL0a1b2c-1-SERVICES\n\
            -X LL0a1b2c-1-SERVICES\nCOMMIT\n";
        assert_eq!(script, expected);
        assert_eq!(removed.len(), 2);
    }

    #[test]
    fn removing_a_run_covers_all_tables_and_deployments() {
        let (script, removed) = removal_script(SAVED, &owner(None));
        assert_eq!(removed.len(), 5);
        assert!(script.contains("*filter\n-D FORWARD -i ll0a1b2c+"));
        assert!(!script.contains("KUBE") && !script.contains("DOCKER"));
    }

    #[test]
    fn there_is_no_script_when_there_is_nothing_to_remove() {
        let stranger = Owner::run("ffffff".parse().unwrap());
        assert_eq!(removal_script(SAVED, &stranger), (String::new(), Vec::new()));
    }

    #[test]
    fn only_chains_that_drop_by_default_get_rules() {
        let script = accept_rules(SAVED, &owner(None));
        assert!(script.contains("-I FORWARD 1 -i ll0a1b2c+ -o ll0a1b2c+ -m comment"));
        assert!(
            script.contains("-A FORWARD -i ll0a1b2c+ -m comment")
                && script.contains("-A FORWARD -o ll0a1b2c+ -m comment")
        );
        assert!(!script.contains("INPUT") && !script.contains("OUTPUT"));
        assert_eq!(accept_rules(&SAVED.replace("DROP", "ACCEPT"), &owner(None)), "");
    }
}
