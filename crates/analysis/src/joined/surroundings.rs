//! What services ran on in two runs: daemons and clusters, and language runtimes.
//!
//! Of a daemon or cluster the texts among its facts are compared, whichever platform they are of: names, versions, drivers, modes. Numbers are
//! counts, as of Services or rules, which differ from hour to hour. Of a language runtime the versions are.

use std::collections::BTreeMap;

use loadline_model::notes::{Change, Circumstance};
use loadline_model::rows::{RunData, RunRow};
use loadline_model::{CellId, SiteId};
use serde_json::Value;

/// How the name of a fact ends that is a version.
const VERSION: &str = ".version";

/// Facts by their names.
type Facts = BTreeMap<String, String>;

/// Those of the language runtime of each site.
pub type Runtimes = BTreeMap<SiteId, Facts>;

/// The versions that were seen in a run, in the first deployment of each site.
pub fn runtimes(data: &RunData) -> Runtimes {
    let mut runtimes = Runtimes::new();
    for deployment in &data.deployments {
        let facts = deployment.runtime.facts.iter().filter(|(name, _)| name.ends_with(VERSION));
        runtimes
            .entry(deployment.site)
            .or_insert_with(|| facts.map(|(name, value)| (name.clone(), value.clone())).collect());
    }
    runtimes
}

/// How the daemons and clusters of pairs of cells differ, each once.
pub fn changed_daemons(before: &RunRow, after: &RunRow, pairs: &[(CellId, CellId)]) -> Vec<Change> {
    let platform =
        |run: &RunRow, cell: CellId| run.experiment.platform(run.plan.site_of(cell).platform).name.clone();
    let of_pair = |(earlier, later): &(CellId, CellId)| {
        let name = platform(after, *later);
        let both = before.surroundings.get(&platform(before, *earlier)).zip(after.surroundings.get(&name));
        let changes = both.map(|(before, after)| {
            changed(Circumstance::Daemon, &texts(&before.facts), &texts(&after.facts), &format!("{name}: "))
        });
        changes.unwrap_or_default()
    };
    once(pairs.iter().flat_map(of_pair))
}

/// How the language runtimes of pairs of cells differ, each once.
pub fn changed_runtimes(
    (before, seen_before): (&RunRow, &Runtimes),
    (after, seen_after): (&RunRow, &Runtimes),
    pairs: &[(CellId, CellId)],
) -> Vec<Change> {
    let of_pair = |(earlier, later): &(CellId, CellId)| {
        let before = seen_before.get(&before.plan.cell(*earlier).site);
        let both = before.zip(seen_after.get(&after.plan.cell(*later).site));
        both.map(|(before, after)| changed(Circumstance::Runtime, before, after, "")).unwrap_or_default()
    };
    once(pairs.iter().flat_map(of_pair))
}

/// The facts that both know and that differ.
fn changed(what: Circumstance, before: &Facts, after: &Facts, whose: &str) -> Vec<Change> {
    let both = before.iter().filter_map(|(name, before)| Some((name, before, after.get(name)?)));
    let different = both.filter(|(_, before, after)| before != after);
    different
        .map(|(name, before, after)| Change {
            what,
            before: format!("{whose}{name} {before}"),
            after: after.clone(),
        })
        .collect()
}

fn once(changes: impl Iterator<Item = Change>) -> Vec<Change> {
    let mut each: Vec<Change> = Vec::new();
    for change in changes {
        if !each.contains(&change) {
            each.push(change);
        }
    }
    each
}

/// The texts in facts, by where they are: `nodes.0.runtime`.
fn texts(facts: &Value) -> Facts {
    match facts {
        Value::String(text) => [(String::new(), text.clone())].into(),
        Value::Object(entries) => entries.iter().flat_map(|(key, value)| below(key, value)).collect(),
        Value::Array(values) => {
            values.iter().enumerate().flat_map(|(at, value)| below(&at.to_string(), value)).collect()
        }
        _ => Facts::new(),
    }
}

fn below(key: &str, value: &Value) -> Vec<(String, String)> {
    let name = |below: String| if below.is_empty() { key.to_owned() } else { format!("{key}.{below}") };
    texts(value).into_iter().map(|(below, text)| (name(below), text)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_are_compared_and_counts_are_not() {
        let facts = |version: &str, runtime: &str, rules: u64| {
            texts(&json!({
                "version": version,
                "nodes": [{ "name": "node-1", "runtime": runtime, "here": true }],
                "rules_here": rules,
                "cni": null,
            }))
        };
        let changed = |before: &Facts, after: &Facts| {
            let changes = changed(Circumstance::Daemon, before, after, "pod: ");
            changes.into_iter().map(|change| (change.before, change.after)).collect::<Vec<_>>()
        };
        let before = facts("v1.33", "containerd://1.7", 12);
        assert!(changed(&before, &facts("v1.33", "containerd://1.7", 700)).is_empty());
        let version = ("pod: version v1.33".to_owned(), "v1.34".to_owned());
        let runtime = ("pod: nodes.0.runtime containerd://1.7".to_owned(), "containerd://2.0".to_owned());
        assert_eq!(changed(&before, &facts("v1.34", "containerd://2.0", 12)), [runtime, version]);
        assert!(changed(&before, &Facts::new()).is_empty(), "an older run did not say");
    }
}
