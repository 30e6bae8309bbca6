//! `loadline load`: the engine alone, against a URL.

mod distribution;
mod hlog;
mod json;
mod live;
mod plan;
mod quantities;
mod reader;
mod requests;
mod seconds;
mod seconds_csv;
mod slice;
mod table;
mod target;
mod watchdog;
mod wrk;

use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use loadline_engine::{Engine, EngineError, Options, Record};
use loadline_spec::Machine;

use self::hlog::IntervalLog;
use self::live::Live;
use self::plan::Plan;
use self::seconds::{Second, Seconds};
use self::seconds_csv::SecondsCsv;
use self::watchdog::{Verdict, Watchdog};
use super::serve;
use crate::arguments::{Format, LoadArguments};
use crate::exit::{Exit, UsageError, colour};
use crate::{interrupt, outputs};

/// How often wrk looks at its threads' rates.
const INTERVAL_OF_WRK: Duration = Duration::from_millis(100);

pub fn load(arguments: &LoadArguments) -> Result<Exit> {
    let mut plan = Plan::read(arguments, &Machine::this(&serve::check).cpus)?;
    let files: Vec<&PathBuf> =
        [&arguments.json, &arguments.hgrm, &arguments.hlog, &arguments.csv].into_iter().flatten().collect();
    outputs::check_files(files.iter().copied())?;
    let takes_stdout = files.iter().any(|path| outputs::is_stdout(path));
    if let Some(netns) = &plan.netns {
        target::enter_namespace(netns)?;
    }
    plan.options.stop = interrupt::stop_flag()?;
    target::settle(&mut plan)?;
    let mut engine = Engine::start(&options(arguments, &plan)).map_err(too_much_is_wrong_usage)?;
    engine.prepare()?;
    if plan.options.stop.load(Ordering::Relaxed) {
        return Ok(Exit::Interrupted);
    }
    if !takes_stdout {
        show_head(arguments, &plan)?;
    }
    let (record, samples, verdict, started) = drive(arguments, &plan, &mut engine)?;
    // Its threads end here: what is written from now on disturbs nothing, and nothing disturbs it.
    drop(engine);
    if let Some(path) = &arguments.json {
        let mut out = outputs::create(path)?;
        json::write(arguments, &plan, started, &record, &verdict, &mut out)
            .and_then(|()| Ok(out.flush()?))
            .with_context(|| format!("can't write {}", path.display()))?;
    }
    if let Some(path) = &arguments.hgrm {
        let mut out = outputs::create(path)?;
        distribution::write_hgrm(&record.response, &mut out)
            .and_then(|()| out.flush())
            .with_context(|| format!("can't write {}", path.display()))?;
    }
    if !takes_stdout {
        show(arguments, &plan, &record, &samples, &verdict);
    }
    // Where the table does not say it, it must be said elsewhere.
    if takes_stdout || arguments.format == Format::Wrk {
        for doubt in &verdict.doubts {
            eprintln!("loadline: not to be trusted: {}", doubt.sentence());
        }
    }
    Ok(exit(arguments, &record, &verdict))
}

/// Drives the load and tells of each second; returns the record, wrk's samples, what the watchdog saw, and when it began.
fn drive(
    arguments: &LoadArguments,
    plan: &Plan,
    engine: &mut Engine,
) -> Result<(Record, wrk::Samples, Verdict, SystemTime)> {
    let started = SystemTime::now();
    let mut tellers = Tellers::new(arguments, plan, started)?;
    let watchdog = Watchdog::start();
    engine.begin(plan.slice.clone(), Engine::next_start())?;
    let mut samples = wrk::Samples::default();
    let mut told = Ok(());
    let mut seconds = tellers.interval.map(|interval| Seconds::new(interval, plan.slice.duration));
    let record = engine.finish_with(|interval| {
        let Some(seconds) = &mut seconds else { return };
        samples.take(interval, tellers.interval.unwrap_or_default());
        // The load goes on when a disk is full; it is said when it has ended.
        if told.is_ok() {
            told = seconds.take(interval, |second| tellers.tell(second));
        }
    });
    tellers.live.finish();
    let record = record?;
    told?;
    if let Some(seconds) = &mut seconds {
        seconds.finish(record.duration, |second| tellers.tell(second))?;
    }
    tellers.live.finish();
    let verdict = watchdog.judge(&plan.slice.load, &record);
    Ok((record, samples, verdict, started))
}

/// Those who are told of the seconds while they pass.
struct Tellers {
    live: Live,
    csv: Option<SecondsCsv>,
    log: Option<IntervalLog>,
    /// How often the engine hands its records over; `None` when nobody wants them.
    interval: Option<Duration>,
}

impl Tellers {
    fn new(arguments: &LoadArguments, plan: &Plan, started: SystemTime) -> Result<Tellers> {
        let live = Live::new(plan.slice.duration, arguments.quiet);
        let csv = arguments.csv.as_deref().map(SecondsCsv::create).transpose()?;
        let log = arguments.hlog.as_deref().map(|path| IntervalLog::create(path, started)).transpose()?;
        Ok(Tellers { live, csv, log, interval: interval(arguments) })
    }

    fn tell(&mut self, second: &Second<'_>) -> Result<()> {
        self.live.show(second);
        if let Some(csv) = &mut self.csv {
            csv.second(second)?;
        }
        match &mut self.log {
            Some(log) => log.second(second),
            None => Ok(()),
        }
    }
}

fn interval(arguments: &LoadArguments) -> Option<Duration> {
    let tells = arguments.csv.is_some() || arguments.hlog.is_some() || Live::would_show(arguments.quiet);
    match arguments.format {
        Format::Wrk => Some(INTERVAL_OF_WRK),
        Format::Table => tells.then_some(Duration::from_secs(1)),
    }
}

fn options(arguments: &LoadArguments, plan: &Plan) -> Options {
    Options { interval: interval(arguments), ..plan.options.clone() }
}

/// Nothing has been measured when there can't be so many connections.
fn too_much_is_wrong_usage(error: EngineError) -> anyhow::Error {
    match error {
        EngineError::TooManyFiles { .. } => UsageError(error.to_string()).into(),
        error => error.into(),
    }
}

fn show_head(arguments: &LoadArguments, plan: &Plan) -> Result<()> {
    let options = &plan.options;
    match arguments.format {
        Format::Table => println!("{}", table::head(&plan.slice.load, options)),
        Format::Wrk => {
            print!(
                "{}",
                wrk::head(&arguments.url, plan.slice.duration, options.threads, options.connections)
            );
        }
    }
    // It is read while the load goes on, also through a pipe.
    Ok(std::io::stdout().flush()?)
}

fn show(arguments: &LoadArguments, plan: &Plan, record: &Record, samples: &wrk::Samples, verdict: &Verdict) {
    match arguments.format {
        Format::Table => {
            let coloured = colour(&std::io::stdout());
            let red =
                |text: &str| if coloured { format!("\u{1b}[31m{text}\u{1b}[0m") } else { text.to_owned() };
            print!("{}", table::result(&plan.slice.load, record, verdict, red));
        }
        Format::Wrk => {
            let summary = wrk::Summary {
                record,
                samples,
                has_rate: !plan.slice.load.is_closed(),
                latency: arguments.latency,
                uncorrected: arguments.uncorrected_latency,
            };
            print!("{}", summary.text());
        }
    }
}

fn exit(arguments: &LoadArguments, record: &Record, verdict: &Verdict) -> Exit {
    // Scripts for wrk saturate on purpose and take another exit code than 0 for a failure to run; the sentence is on stderr.
    let as_wrk_would = arguments.format == Format::Wrk;
    match record.stopped {
        true => Exit::Interrupted,
        false if verdict.is_trusted() || as_wrk_would => Exit::Done,
        false => Exit::Untrusted,
    }
}
