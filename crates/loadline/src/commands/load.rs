//! `loadline load`: the engine alone, against a URL.

mod live;
mod options;
mod per_second;
mod plan;
mod quantities;
mod reader;
mod requests;
mod slice;
mod target;
mod watchdog;

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use anyhow::Result;
use loadline_analysis::{LoadRun, ThreadRates, load_result};
use loadline_engine::{Engine, EngineError, Options};
use loadline_model::gates::CpuUse;
use loadline_model::result::Spread;
use loadline_model::result::load::{LoadOptions, LoadResult};
use loadline_report::load::{self as report, WrkOptions};
use loadline_run::gates;

use self::options::load_options;
use self::per_second::PerSecond;
use self::plan::Plan;
use self::watchdog::Watchdog;
use super::machine::machine;
use crate::arguments::{Format, LoadArguments};
use crate::exit::{Exit, UsageError};
use crate::streams::{print, tell};
use crate::{interrupt, outputs};

/// How often wrk looks at its threads' rates.
const INTERVAL_OF_WRK: Duration = Duration::from_millis(100);

pub fn load(arguments: &LoadArguments) -> Result<Exit> {
    let mut plan = Plan::read(arguments, &machine().cpus)?;
    let files = [&arguments.json, &arguments.markdown, &arguments.hgrm, &arguments.hlog, &arguments.csv];
    let files: Vec<&PathBuf> = files.into_iter().flatten().collect();
    outputs::check_files(files.iter().copied())?;
    let takes_stdout = files.iter().any(|path| outputs::is_stdout(path));
    if let Some(netns) = &plan.netns {
        target::enter_namespace(netns)?;
    }
    plan.options.stop = interrupt::stop_flag()?;
    target::settle(&mut plan)?;
    let mut engine = Engine::start(&Options { interval: interval(arguments), ..plan.options.clone() })
        .map_err(too_much_is_wrong_usage)?;
    engine.prepare()?;
    if plan.options.stop.load(Ordering::Relaxed) {
        return Ok(Exit::Interrupted);
    }
    let options = load_options(arguments, &plan);
    if !takes_stdout {
        show_head(arguments, &plan, &options)?;
    }
    let (result, rates) = drive(arguments, &plan, options, &mut engine)?;
    // Its threads end here: what is written from now on disturbs nothing, and nothing disturbs it.
    drop(engine);
    write(arguments, &result)?;
    if !takes_stdout {
        show(arguments, &result, &rates)?;
    }
    // Where the table does not say it, it must be said elsewhere.
    if takes_stdout || arguments.format == Format::Wrk {
        for sentence in report::distrust(&result) {
            tell(format_args!("loadline: not to be trusted: {sentence}"));
        }
    }
    Ok(exit(arguments, &result))
}

/// Drives the load, puts out its seconds meanwhile, and judges it. Returns the result and, if they are wanted, the load threads' rates.
fn drive(
    arguments: &LoadArguments,
    plan: &Plan,
    options: LoadOptions,
    engine: &mut Engine,
) -> Result<(LoadResult, Spread)> {
    let started = SystemTime::now();
    let interval = interval(arguments);
    let whole = plan.slice.duration;
    let per_second = interval.map(|interval| PerSecond::new(arguments, whole, interval, started));
    let mut per_second = per_second.transpose()?;
    let watchdog = Watchdog::start();
    engine.begin(plan.slice.clone(), Engine::next_start())?;
    let mut rates = ThreadRates::default();
    let mut written = Ok(());
    let record = engine.finish_with(|record| {
        let (Some(per_second), Some(interval)) = (&mut per_second, interval) else { return };
        rates.take(record, interval);
        // The load goes on when a disk is full; it is said when it has ended.
        if written.is_ok() {
            written = per_second.take(record);
        }
    });
    let observed = watchdog.finish();
    if let Some(per_second) = &per_second {
        per_second.wipe();
    }
    let record = record?;
    written?;
    if let Some(per_second) = &mut per_second {
        per_second.finish(record.duration)?;
    }
    // What other programs used can't be told from the service, which may run here as well.
    let cpu_use = CpuUse::of(&observed, None);
    let waited_for_cpu_ns = observed.count(loadline_model::metrics::RUN_QUEUE_WAIT);
    let gate_failures = gates::failures_with_waiting(&plan.slice.load, &record, cpu_use, waited_for_cpu_ns);
    let result = load_result(LoadRun {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command_line: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        started,
        options,
        requests: plan.requests.clone(),
        record,
        cpu_use,
        waited_for_cpu_ns,
        gate_failures,
    });
    Ok((result, rates.spread()))
}

/// How often the engine hands its records over; `None` when nobody wants them.
fn interval(arguments: &LoadArguments) -> Option<Duration> {
    match arguments.format {
        Format::Wrk => Some(INTERVAL_OF_WRK),
        Format::Table => PerSecond::is_wanted(arguments).then_some(Duration::from_secs(1)),
    }
}

/// Nothing has been measured when there can't be so many connections.
fn too_much_is_wrong_usage(error: EngineError) -> anyhow::Error {
    match error {
        EngineError::TooManyFiles { .. } => UsageError(error.to_string()).into(),
        error => error.into(),
    }
}

/// Writes the files that hold the result as a whole.
fn write(arguments: &LoadArguments, result: &LoadResult) -> Result<()> {
    if let Some(path) = &arguments.json {
        outputs::to(path, |out| report::json(result, out))?;
    }
    if let Some(path) = &arguments.markdown {
        outputs::to(path, |out| Ok(out.write_all(report::markdown(result).as_bytes())?))?;
    }
    if let Some(path) = &arguments.hgrm {
        outputs::to(path, |out| report::hgrm(result, out))?;
    }
    Ok(())
}

fn show_head(arguments: &LoadArguments, plan: &Plan, options: &LoadOptions) -> Result<()> {
    match arguments.format {
        Format::Table => print(report::head(options)),
        Format::Wrk => print(report::wrk_head(options, plan.slice.duration).trim_end()),
    }
}

fn show(arguments: &LoadArguments, result: &LoadResult, rates: &Spread) -> Result<()> {
    match arguments.format {
        Format::Table => print(report::table(result, &outputs::style()).trim_end()),
        Format::Wrk => {
            let options =
                WrkOptions { latency: arguments.latency, uncorrected: arguments.uncorrected_latency };
            print(report::wrk(result, rates, options).trim_end())
        }
    }
}

fn exit(arguments: &LoadArguments, result: &LoadResult) -> Exit {
    // Scripts for wrk saturate on purpose and take another exit code than 0 for a failure to run; the sentence is on stderr.
    let as_wrk_would = arguments.format == Format::Wrk;
    match result.interrupted {
        true => Exit::Interrupted,
        false if result.trust.trusted || as_wrk_would => Exit::Done,
        false => Exit::Untrusted,
    }
}
