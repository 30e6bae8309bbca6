//! `--flame-graphs FOLDER`: a picture of every profiled cell, and one of how it differs from the cell that it is compared with.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use loadline_model::result::{Cell, RunResult};
use loadline_model::rows::profiles_by_cell;
use loadline_profile::{differential_flame_graph, flame_graph};
use loadline_store::Store;

use crate::streams::tell;

/// Writes the pictures of a run into the folder, which is made if need be.
pub fn write(result: &RunResult, store: &Store, folder: &Path) -> Result<()> {
    let profiles = profiles_by_cell(store.profiles(result.run.id)?);
    if profiles.is_empty() {
        tell("no flame graphs: nothing was profiled (--profile, or `profile:` in the plan)");
        return Ok(());
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
    let save = |title: &str, drawn: Result<Vec<u8>, _>| match drawn {
        Ok(picture) => {
            let path = folder.join(format!("{}.svg", file_name(title)));
            fs::write(&path, picture).with_context(|| format!("cannot write {}", path.display()))
        }
        // A slice too short for a sample is no reason to lose the others.
        Err(error) => {
            tell(format_args!("no flame graph of {title}: {error}"));
            Ok(())
        }
    };
    for (cell, (profile, _)) in &profiles {
        let title = title(result, &result.cells[*cell]);
        save(&title, flame_graph(profile, &title))?;
    }
    for contrast in &result.contrasts {
        let (Some((here, requests)), Some((there, requests_there))) =
            (profiles.get(&contrast.candidate), profiles.get(&contrast.baseline))
        else {
            continue;
        };
        let factor = *requests as f64 / (*requests_there).max(1) as f64;
        let [here_title, there_title] =
            [contrast.candidate, contrast.baseline].map(|cell| title(result, &result.cells[cell]));
        let title = format!("{here_title} less {there_title}");
        save(&title, differential_flame_graph(there, here, factor, &title))?;
    }
    Ok(())
}

/// The cell's name, with its load when there are several.
fn title(result: &RunResult, cell: &Cell) -> String {
    let load = |cell: &Cell| {
        let kept = if cell.new_connections { ", new connections" } else { "" };
        format!("{}, {}{kept}", cell.load, cell.connections)
    };
    let several = result.cells.iter().any(|other| load(other) != load(cell));
    if several { format!("{}, {}", cell.label, load(cell)) } else { cell.label.clone() }
}

fn file_name(title: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = title.replace('′', "-twin").chars().map(plain).collect();
    name.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}
