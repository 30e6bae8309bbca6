//! `loadline store`: what is done with stored runs.

use std::path::Path;

use anyhow::{Result, bail};
use loadline_store::{Copied, Store};

use super::measured;
use super::report::list;
use crate::arguments::{StoreArguments, StoreCommand};
use crate::exit::{Exit, UsageError};
use crate::streams::{print, tell};

pub fn store(arguments: &StoreArguments) -> Result<Exit> {
    let store = Store::open(&arguments.store)?;
    match &arguments.command {
        StoreCommand::List(of) => list(&store, &arguments.store, of.last, of.matching.as_deref())?,
        StoreCommand::Rename { run, name } => {
            store.rename(*run, name)?;
            print(format_args!("run {run} is called {name}"))?;
        }
        StoreCommand::Tag { run, tags } => {
            let all = [store.heading(*run)?.tags, tags.clone()].concat();
            tag(&store, *run, &all)?;
        }
        StoreCommand::Untag { run, tags } => {
            let mut all = store.heading(*run)?.tags;
            all.retain(|tag| !tags.contains(tag));
            tag(&store, *run, &all)?;
        }
        StoreCommand::Delete { runs } => {
            let alive = measured::alive();
            for run in runs {
                if store.heading(*run)?.is_measured(&alive) {
                    bail!("cannot delete run {run}: it is being measured: wait for its end, or interrupt it");
                }
            }
            delete(&store, runs)?;
        }
        StoreCommand::Prune { keep } => {
            let mut runs = store.runs()?;
            // Imported runs have the newest numbers.
            runs.sort_by(|one, other| one.started.cmp(&other.started));
            runs.truncate(runs.len().saturating_sub(*keep));
            let alive = measured::alive();
            runs.retain(|run| run.tags.is_empty() && !run.is_measured(&alive));
            let old: Vec<i64> = runs.iter().map(|run| run.id).collect();
            delete(&store, &old)?;
        }
        StoreCommand::Export { runs, file } => {
            other(&arguments.store, file)?;
            for (run, Copied { number, was_there }) in runs.iter().zip(store.copy(runs, file)?) {
                let already = if was_there { " already" } else { "" };
                print(format_args!("run {run} is{already} run {number} in {}", file.display()))?;
            }
        }
        StoreCommand::Import { file } => {
            other(&arguments.store, file)?;
            let from = Store::open(file)?;
            let runs: Vec<i64> = from.runs()?.into_iter().map(|run| run.id).collect();
            let copied = from.copy(&runs, &arguments.store)?;
            for (run, Copied { number, was_there }) in runs.iter().zip(&copied) {
                let already = if *was_there { " already" } else { "" };
                print(format_args!("run {run} of {} is{already} run {number}", file.display()))?;
            }
            let there = copied.iter().filter(|copied| copied.was_there).count();
            print(format_args!("{} imported, {there} there already", copied.len() - there))?;
        }
    }
    Ok(Exit::Done)
}

fn delete(store: &Store, runs: &[i64]) -> Result<()> {
    store.delete(runs)?;
    if !measured::shrink(store) {
        tell("a run is being measured: the space is given back when runs are deleted after it");
    }
    let words: Vec<String> = runs.iter().map(ToString::to_string).collect();
    match words.as_slice() {
        [] => print("no run is deleted"),
        [run] => print(format_args!("deleted run {run}")),
        runs => print(format_args!("deleted runs {}", runs.join(", "))),
    }
}

fn tag(store: &Store, run: i64, tags: &[String]) -> Result<()> {
    store.set_tags(run, tags)?;
    match &store.heading(run)?.tags[..] {
        [] => print(format_args!("run {run} has no tags")),
        tags => print(format_args!("run {run}: #{}", tags.join(" #"))),
    }
}

/// Refuses to copy a store into itself.
fn other(store: &Path, file: &Path) -> Result<()> {
    let is_same = match (store.canonicalize(), file.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    };
    match is_same {
        true => Err(UsageError(format!("{} is the store itself: name another file", file.display())).into()),
        false => Ok(()),
    }
}
