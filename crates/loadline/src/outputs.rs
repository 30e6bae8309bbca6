//! A result to everywhere it was asked for: terminal, JSON, CSV, Markdown, HTML, JUnit XML.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use loadline_model::RunState;
use loadline_model::result::RunResult;
use loadline_report::{Evidence, ReportError, Style};
use loadline_store::Store;

use crate::arguments::{By, OutputArguments};
use crate::console::colour;
use crate::exit::{Exit, UsageError};
use crate::{flame_graphs, streams};

/// Terminal width that tables are made for when it can't be asked for.
const WIDTH: usize = 100;
/// What a table can use of a wider terminal.
const WIDEST: usize = 160;

/// Reads a run (the latest without a number) from the store and judges it.
pub fn analyse(store: &Store, run: Option<i64>) -> Result<RunResult> {
    Ok(loadline_analysis::analyse(&store.data(run)?))
}

/// Finds out before a run what would fail after it.
pub fn check(outputs: &OutputArguments) -> Result<()> {
    check_files(outputs.files().chain([&outputs.store]))
}

/// Finds out whether these files could be made, and that at most one of them is standard output.
pub fn check_files<'a>(files: impl IntoIterator<Item = &'a PathBuf>) -> Result<()> {
    let mut to_stdout = 0;
    for path in files {
        if is_stdout(path) {
            to_stdout += 1;
            continue;
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            let why = format!("{}: there is no folder {}", path.display(), folder.display());
            return Err(UsageError(why).into());
        }
        if path.is_dir() {
            return Err(UsageError(format!("{} is a folder: name a file", path.display())).into());
        }
    }
    if to_stdout > 1 {
        let why = "only one output can go to standard output (-): give the others a file";
        return Err(UsageError(why.to_owned()).into());
    }
    Ok(())
}

/// Whether a file's name means standard output.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Creates an output; `-` is standard output.
pub fn create(path: &Path) -> Result<Box<dyn Write>> {
    if is_stdout(path) {
        return Ok(Box::new(streams::stdout()));
    }
    let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(Box::new(BufWriter::new(file)))
}

/// Writes the files that were asked for, and the table unless standard output is taken.
pub fn write(result: &RunResult, store: &Store, outputs: &OutputArguments) -> Result<()> {
    write_all(result, store, outputs)?;
    print(result, outputs, Some(&kept(result, &outputs.store)))
}

/// Prints the table, and a line behind it, unless standard output is taken.
pub fn print(result: &RunResult, outputs: &OutputArguments, last: Option<&str>) -> Result<()> {
    if outputs.files().any(|path| is_stdout(path)) {
        return Ok(());
    }
    let by_request = outputs.by == Some(By::Request);
    let (full, spectrum) = (outputs.full, outputs.spectrum);
    let style = Style { full, by_request, spectrum, width: terminal_width(), ..style() };
    let table = loadline_report::terminal(result, &style);
    match last {
        Some(line) => streams::print(format_args!("{}\n\n{line}", table.trim_end())),
        None => streams::print(table.trim_end()),
    }
}

/// Writes the files that were asked for of a run in the store.
pub fn write_all(result: &RunResult, store: &Store, outputs: &OutputArguments) -> Result<()> {
    let run = result.run.id;
    write_files(result, || Ok(Evidence::of(store.profiles(run)?, store.slices(run)?)), outputs)?;
    match &outputs.flame_graphs {
        Some(folder) => flame_graphs::write(result, store, folder),
        None => Ok(()),
    }
}

/// Writes the files that were asked for, but no flame graphs.
pub fn write_files(
    result: &RunResult,
    evidence: impl FnOnce() -> Result<Evidence>,
    outputs: &OutputArguments,
) -> Result<()> {
    if let Some(path) = &outputs.json {
        to(path, |out| loadline_report::json(result, out))?;
    }
    if let Some(path) = &outputs.csv {
        to(path, |out| loadline_report::csv_slices(result, out))?;
    }
    if let Some(path) = &outputs.csv_summary {
        to(path, |out| loadline_report::csv_summary(result, out))?;
    }
    if let Some(path) = &outputs.markdown {
        to(path, |out| Ok(out.write_all(loadline_report::markdown(result).as_bytes())?))?;
    }
    if outputs.html.is_some() || outputs.hlog.is_some() {
        let evidence = evidence()?;
        if let Some(path) = &outputs.html {
            to(path, |out| loadline_report::html(result, &evidence, &[], out))?;
        }
        if let Some(path) = &outputs.hlog {
            to(path, |out| loadline_report::hlog(result, &evidence, out))?;
        }
    }
    if let Some(path) = &outputs.junit {
        to(path, |out| loadline_report::junit(result, out))?;
    }
    if let Some(path) = &outputs.annotations {
        to(path, |out| loadline_report::annotations(result, out))?;
    }
    Ok(())
}

/// How to write sentences and narrow tables on standard output.
pub fn style() -> Style {
    Style {
        colour: colour(&std::io::stdout()),
        width: terminal_width().min(WIDTH),
        full: false,
        by_request: false,
        spectrum: false,
    }
}

/// The exit code that a result deserves; a run that went on without a service has failed, unless that is allowed, and so has one that could
/// not judge a condition: it would pass whatever happens.
pub fn exit_of(result: &RunResult, outputs: &OutputArguments) -> Exit {
    match result.run.state {
        RunState::Interrupted => Exit::Interrupted,
        RunState::Failed => Exit::Failed,
        _ if !result.run.failures.is_empty() && !outputs.allow_missing => Exit::Failed,
        RunState::Complete | RunState::Unfinished if result.fails() => Exit::Fails,
        RunState::Complete | RunState::Unfinished if !result.trust.trusted => Exit::Untrusted,
        _ if says_what_was_not_judged(result) => Exit::Failed,
        RunState::Complete | RunState::Unfinished => Exit::Done,
    }
}

/// Whether there are conditions that could not be judged, which are then named on standard error: the table may have gone elsewhere.
fn says_what_was_not_judged(result: &RunResult) -> bool {
    for condition in result.unmeasured_conditions() {
        let why = match condition.findings.is_empty() {
            true => "nothing was compared".to_owned(),
            false => format!("{} was not measured", condition.label),
        };
        streams::tell(format_args!("error: cannot judge `{}`: {why}", condition.text));
    }
    result.unmeasured_conditions().next().is_some()
}

fn kept(result: &RunResult, store: &Path) -> String {
    let id = result.run.id;
    let option = match store.to_str() {
        Some("loadline.db") => String::new(),
        _ => format!(" --store {}", store.display()),
    };
    format!("Kept in {} as run {id} · loadline report {id}{option} --json run-{id}.json", store.display())
}

/// Writes an output to a file; `-` is standard output.
pub fn to(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<(), ReportError>) -> Result<()> {
    let failed = || format!("cannot write {}", path.display());
    let mut out = create(path)?;
    write(&mut out).with_context(failed)?;
    out.flush().with_context(failed)
}

fn terminal_width() -> usize {
    let stdout = std::io::stdout();
    let size = stdout.is_terminal().then(|| rustix::termios::tcgetwinsize(&stdout).ok()).flatten();
    size.map_or(WIDTH, |size| usize::from(size.ws_col).clamp(60, WIDEST))
}
