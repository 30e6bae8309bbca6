//! `loadline doctor`: examines this machine, and says what can be told on it.

mod noise;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use anyhow::Result;
use loadline_analysis::{Examination, doctor_result};
use loadline_doctor::{bystanders, clock_reading, pauses, wake_ups};
use loadline_model::result::doctor::{LeftOut, Stolen};
use loadline_observe::{describe_machine, read_cpu_power};
use loadline_run::deploy::Network;

use super::experiment::{allowed_cpus, is_root};
use crate::arguments::DoctorArguments;
use crate::console::progress;
use crate::exit::Exit;
use crate::interrupt;
use crate::outputs;
use crate::streams::print;
use crate::turn::wait_for_turn;

/// How the time is shared out; what is left goes to the noise.
const BYSTANDERS_SHARE: f64 = 0.05;
const PAUSES_SHARE: f64 = 0.08;
const WAKE_UPS_SHARE: f64 = 0.05;

pub fn doctor(arguments: &DoctorArguments) -> Result<Exit> {
    outputs::check_files(&arguments.json)?;
    // Before any thread is started: a user namespace can only be entered by a process that has one.
    let (network, no_wire) = network();
    let stop = interrupt::stop_flag_of_run()?;
    let Some(_turn) = wait_for_turn(arguments.turn.anyway, &stop)? else { return Ok(Exit::Interrupted) };
    let seconds = f64::from(arguments.seconds);
    let mut examination = examine(seconds, &stop)?;
    examination.left_out.extend(no_wire);
    let failed = match stop.load(Ordering::Relaxed) {
        true => false,
        false => add_noise(&mut examination, network, seconds, stop.clone())?,
    };
    examination.interrupted = stop.load(Ordering::Relaxed);
    examination.seconds =
        examination.started.and_then(|at| at.elapsed().ok()).map_or(0.0, |d| d.as_secs_f64());
    let interrupted = examination.interrupted;
    let result = doctor_result(examination);
    if let Some(path) = &arguments.json {
        outputs::to(path, |out| loadline_report::doctor::json(&result, out))?;
    }
    if !arguments.json.as_deref().is_some_and(outputs::is_stdout) {
        print(loadline_report::doctor::table(&result, &outputs::style()).trim_end())?;
    }
    Ok(match (interrupted, failed) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Failed,
        (false, false) => Exit::Done,
    })
}

/// The network of the service that is compared with itself, and why it has no wire if so.
fn network() -> (Network, Option<LeftOut>) {
    if is_root() {
        return (Network::Wired, None);
    }
    match loadline_machine::enter_user_namespace() {
        Ok(()) => (Network::WiredInUserNamespace, None),
        Err(error) => (Network::WithoutWire, Some(LeftOut::Wire { why: error.to_string() })),
    }
}

/// Everything but the noise.
fn examine(seconds: f64, stop: &AtomicBool) -> Result<Examination> {
    let share = |share: f64| Duration::from_secs_f64(share * seconds);
    let (machine, cpus) = (describe_machine(), allowed_cpus()?);
    let mut seen = Examination {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command_line: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        started: Some(SystemTime::now()),
        cpu_power: read_cpu_power(Path::new("/sys"), &cpus),
        ..Examination::default()
    };
    say("other programs", share(BYSTANDERS_SHARE));
    if let Some(found) = bystanders(share(BYSTANDERS_SHARE), stop) {
        seen.stolen.idle_share = found.stolen_share;
        seen.other_programs = Some(found.programs);
    }
    say("pauses", share(PAUSES_SHARE));
    if let Some(found) = pauses(&cpus, share(PAUSES_SHARE), stop) {
        seen.stolen = Stolen { busy_share: found.stolen_share, ..seen.stolen };
        seen.pauses = Some(found.pauses);
    }
    say("clock and wake-ups", share(WAKE_UPS_SHARE));
    seen.clock = Some(clock_reading(&machine));
    seen.wake_ups = wake_ups(&cpus, share(WAKE_UPS_SHARE), stop);
    Ok(Examination { machine, cpus, ..seen })
}

/// Compares a service with itself in the time that is left; returns whether that failed.
fn add_noise(
    examination: &mut Examination,
    network: Network,
    seconds: f64,
    stop: Arc<AtomicBool>,
) -> Result<bool> {
    let spent = examination.started.and_then(|at| at.elapsed().ok()).unwrap_or_default();
    let left = Duration::from_secs_f64(seconds).saturating_sub(spent);
    say("noise: orders on host against its twin", left);
    let found = noise::measure(network, left, stop)?;
    let failed = found.failure.is_some();
    examination.run = Some(found.data);
    examination.left_out.extend(found.failure.map(|why| LeftOut::Noise { why }));
    Ok(failed)
}

fn say(what: &str, duration: Duration) {
    progress(format_args!("  {what}, {:.0} s", duration.as_secs_f64().ceil()));
}
