//! What was seen of the machine, a line for each: its name and its figures.

use loadline_model::result::doctor::{
    ClockReading, CpuPauses, CpuPower, DoctorResult, Latency, OtherPrograms, PauseCount, Stolen,
};

use crate::figures::{time, unsigned_percent};
use crate::words::{named_cpus, program};

/// Programs in the line; JSON has all that were seen.
const PROGRAMS: usize = 3;
/// CPUs whose pauses are shown; JSON has all.
const CPUS: usize = 2;

/// The lines, each with its name.
pub(super) fn lines(result: &DoctorResult) -> Vec<(String, String)> {
    let mut lines: Vec<(String, String)> = Vec::new();
    let mut line = |name: String, text: Option<String>| lines.extend(text.map(|text| (name, text)));
    for (name, text) in result.pauses.iter().flat_map(|seen| pauses(&seen.cpus)) {
        line(name, Some(text));
    }
    line("stolen time".to_owned(), result.stolen.as_ref().map(stolen));
    line("other programs".to_owned(), result.other_programs.as_ref().map(other_programs));
    line("clock".to_owned(), result.clock.as_ref().map(clock));
    line("wake-up".to_owned(), wake_ups(result.wake_ups.timer, result.wake_ups.other_cpu));
    line("frequency".to_owned(), frequency(&result.cpu_power));
    line("idle states".to_owned(), idle_states(&result.cpu_power));
    line("cores".to_owned(), cores(&result.cpu_power));
    lines
}

/// Those that lose the most time, by number.
fn pauses(cpus: &[CpuPauses]) -> Vec<(String, String)> {
    let lost = |cpu: &CpuPauses| cpu.over.first().map_or(0.0, |count| count.lost_ns_per_second);
    let mut shown: Vec<&CpuPauses> = cpus.iter().collect();
    shown.sort_by(|one, other| lost(other).total_cmp(&lost(one)));
    shown.truncate(CPUS);
    shown.sort_by_key(|cpu| cpu.cpu);
    let more = cpus.len() - shown.len();
    let rest = (more > 0).then(|| (String::new(), format!("{more} more CPUs lost less")));
    shown.into_iter().map(|cpu| (format!("pauses, CPU {}", cpu.cpu), pauses_of(cpu))).chain(rest).collect()
}

fn pauses_of(cpu: &CpuPauses) -> String {
    let each: Vec<String> = cpu.over.iter().map(over).collect();
    let lost = cpu.over.first().map_or(0.0, |count| count.lost_ns_per_second);
    let programs = match cpu.other_programs_ns_per_second {
        Some(programs) if lost > 0.0 => {
            format!(", {} of it to other programs", unsigned_percent((programs / lost).min(1.0)))
        }
        _ => String::new(),
    };
    format!(
        "{} per minute; {} lost per second{programs}; longest {}",
        each.join(", "),
        time(lost),
        time(cpu.longest_ns as f64)
    )
}

fn over(count: &PauseCount) -> String {
    format!("{:.0} over {} ms", count.per_minute, count.least_ns as f64 / 1e6)
}

fn stolen(stolen: &Stolen) -> String {
    let parts = [
        (stolen.idle_share, "idle"),
        (stolen.busy_share, "with all CPUs busy"),
        (stolen.loaded_share, "under load"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter_map(|(share, when)| Some(format!("{} {when}", unsigned_percent(share?))))
        .collect();
    parts.join(", ")
}

fn other_programs(seen: &OtherPrograms) -> String {
    let named: Vec<String> = seen.programs.iter().take(PROGRAMS).map(program).collect();
    let named = if named.is_empty() { String::new() } else { format!(": {}", named.join(", ")) };
    format!("{} of the CPUs{named}", unsigned_percent(seen.share))
}

fn clock(clock: &ClockReading) -> String {
    format!("{}, {} to read", clock.source.as_deref().unwrap_or("unknown source"), time(clock.read_ns))
}

fn wake_ups(timer: Option<Latency>, other_cpu: Option<Latency>) -> Option<String> {
    let of = |latency: Latency| {
        format!("p50 {}, p99 {}", time(latency.p50_ns as f64), time(latency.p99_ns as f64))
    };
    let timer = timer.map(|timer| format!("by a timer {} late", of(timer)));
    let other_cpu = other_cpu.map(|other| format!("from another CPU {}", of(other)));
    let parts: Vec<String> = timer.into_iter().chain(other_cpu).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn frequency(power: &CpuPower) -> Option<String> {
    let driver = power.frequency_driver.clone()?;
    let several = power.governors.len() > 1;
    let governors = power.governors.iter().map(|governor| match several {
        true => format!("{} on {}", governor.name, named_cpus(&governor.cpus)),
        false => governor.name.clone(),
    });
    let preference = power.energy_preference.iter().map(|preference| format!("preference {preference}"));
    let turbo = power.turbo.map(|on| format!("turbo {}", if on { "on" } else { "off" }));
    let parts: Vec<String> =
        std::iter::once(driver).chain(governors).chain(preference).chain(turbo).collect();
    Some(parts.join(", "))
}

fn idle_states(power: &CpuPower) -> Option<String> {
    let states: Vec<String> = power
        .idle_states
        .iter()
        .map(|state| {
            let off = if state.enabled_on.is_empty() { " off" } else { "" };
            format!("{} {}{off}", state.name, time(state.exit_latency_ns as f64))
        })
        .collect();
    (!states.is_empty()).then(|| format!("{} to leave", states.join(", ")))
}

fn cores(power: &CpuPower) -> Option<String> {
    match (power.smt?, power.shared_cores.as_slice()) {
        (true, [core, ..]) => Some(format!("{} hardware threads each, SMT on", core.len())),
        (true, []) => Some("SMT on".to_owned()),
        (false, _) => Some("one hardware thread each".to_owned()),
    }
}
