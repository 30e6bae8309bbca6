//! nftables through the `nft` program: applying a script as one transaction, removing an owner's tables.
//! All functions act on the network namespace of the calling thread.

use std::{path::PathBuf, process::Command};

use crate::{error::Error, owner::Owner, tool};

/// Applies `script` as one transaction.
pub fn install(script: &str) -> Result<(), Error> {
    let nft = find().ok_or(Error::ToolMissing { tool: "nft", package: "nftables" })?;
    nft_with(&nft, script).map(drop)
}

/// Deletes the tables that carry the owner's name, and returns their names.
pub fn remove(owner: &Owner) -> Result<Vec<String>, Error> {
    let Some(nft) = find() else { return Ok(Vec::new()) };
    let tables = tables(&nft)?;
    let ours: Vec<_> = tables.into_iter().filter(|(_, name)| owner.owns_label(name)).collect();
    for (family, name) in &ours {
        nft_with(&nft, &format!("delete table {family} {name}\n"))?;
    }
    Ok(ours.into_iter().map(|(_, name)| name).collect())
}

/// Names of the IPv4 tables, those of `iptables-nft` among others.
pub(crate) fn ipv4_tables() -> Result<Vec<String>, Error> {
    let Some(nft) = find() else { return Ok(Vec::new()) };
    Ok(tables(&nft)?.into_iter().filter(|(family, _)| family == "ip").map(|(_, name)| name).collect())
}

/// Deletes the table of `iptables-nft` called `name` if all its chains are built in, empty and accept by default.
pub(crate) fn remove_if_empty(name: &str) -> Result<(), Error> {
    let Some(nft) = find() else { return Ok(()) };
    let listing = tool::run(Command::new(&nft).args(["list", "table", "ip", name]), "")?;
    if let Some(script) = removal_of_empty_table(name, &listing)
        && let Err(error) = nft_with(&nft, &script)
    {
        // A chain that was filled in the meantime makes the whole transaction fail, as it should.
        tracing::debug!("cannot remove the table {name}: {error}");
    }
    Ok(())
}

/// The script that deletes the listed table, or `None` if anything is in it.
fn removal_of_empty_table(name: &str, listing: &str) -> Option<String> {
    let mut script = String::new();
    for line in listing.lines().map(str::trim) {
        if let Some(chain) = line.strip_prefix("chain ").and_then(|rest| rest.strip_suffix(" {")) {
            script += &format!("delete chain ip {name} {chain}\n");
        } else if !(line.is_empty()
            || line == "}"
            || line.starts_with('#')
            || line.starts_with("table ")
            || line.starts_with("type ") && line.ends_with("policy accept;"))
        {
            return None;
        }
    }
    Some(script + &format!("delete table ip {name}\n"))
}

fn find() -> Option<PathBuf> {
    tool::find("nft")
}

fn nft_with(nft: &PathBuf, script: &str) -> Result<String, Error> {
    tool::run(Command::new(nft).args(["-f", "-"]), script)
}

/// Family and name of each table.
fn tables(nft: &PathBuf) -> Result<Vec<(String, String)>, Error> {
    let listing = tool::run(Command::new(nft).args(["list", "tables"]), "")?;
    let table = |line: &str| {
        let (family, name) = line.strip_prefix("table ")?.split_once(' ')?;
        Some((family.to_owned(), name.trim().to_owned()))
    };
    Ok(listing.lines().filter_map(table).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str = "# Warning: table ip nat is managed by iptables-nft, do not touch!\ntable ip nat {\n\
        \tchain POSTROUTING {\n\t\ttype nat hook postrouting priority srcnat; policy accept;\n\t}\n}\n";

    #[test]
    fn an_empty_table_is_deleted_chain_by_chain() {
        let script = removal_of_empty_table("nat", EMPTY).unwrap();
        assert_eq!(script, "delete chain ip nat POSTROUTING\ndelete table ip nat\n");
    }

    #[test]
    fn a_table_with_a_rule_or_a_policy_is_kept() {
        let with_rule = EMPTY.replace("policy accept;\n", "policy accept;\n\t\tcounter packets 0 bytes 0\n");
        assert_eq!(removal_of_empty_table("nat", &with_rule), None);
        assert_eq!(removal_of_empty_table("nat", &EMPTY.replace("policy accept", "policy drop")), None);
    }
}
