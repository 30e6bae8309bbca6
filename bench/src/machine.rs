//! The machine that the figures belong to, in words.

use std::fs;
use std::process::Command;

use jiff::Timestamp;

/// What is written above the tables.
pub struct Machine {
    /// Model, number and hypervisor.
    pub cpus: String,
    /// System and release.
    pub kernel: String,
    /// nginx's version.
    pub server: String,
    /// Load average over 1, 5 and 15 minutes before the first run.
    pub load_average: String,
    /// When the first run began.
    pub started: Timestamp,
    stolen_before: Option<CpuTimes>,
}

/// Jiffies of `/proc/stat` over all CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CpuTimes {
    stolen: u64,
    total: u64,
}

impl Machine {
    /// Describes it as it is now.
    pub fn describe() -> Machine {
        let lscpu = output("lscpu", &[]);
        let field = |name: &str| {
            let line = lscpu.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.map(|value| value.trim().to_owned())
        };
        let unknown = || "unknown".to_owned();
        let hypervisor = field("Hypervisor vendor")
            .map_or("no hypervisor".to_owned(), |vendor| format!("virtual, {vendor}"));
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_else(|_| unknown());
        let averages = fs::read_to_string("/proc/loadavg").unwrap_or_else(|_| unknown());
        Machine {
            cpus: format!(
                "{} × {}, {hypervisor}",
                field("CPU(s)").unwrap_or_else(unknown),
                field("Model name").unwrap_or_else(unknown)
            ),
            kernel: format!("Linux {}", release.trim()),
            server: output("nginx", &["-v"]).trim().trim_start_matches("nginx version: nginx/").to_owned(),
            load_average: averages.split_whitespace().take(3).collect::<Vec<_>>().join(", "),
            started: Timestamp::now(),
            stolen_before: cpu_times(),
        }
    }

    /// CPU time that the hypervisor gave to others since the description, as a share of all.
    pub fn stolen_share(&self) -> Option<f64> {
        let (before, after) = (self.stolen_before?, cpu_times()?);
        let total = after.total.saturating_sub(before.total);
        (total > 0).then(|| after.stolen.saturating_sub(before.stolen) as f64 / total as f64)
    }
}

fn cpu_times() -> Option<CpuTimes> {
    parse_cpu_times(&fs::read_to_string("/proc/stat").ok()?)
}

/// The line `cpu` has user, nice, system, idle, iowait, irq, softirq, steal and two that user and nice contain
/// (`proc_stat(5)`).
fn parse_cpu_times(stat: &str) -> Option<CpuTimes> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let times: Vec<u64> = line.split_whitespace().take(8).filter_map(|time| time.parse().ok()).collect();
    Some(CpuTimes { stolen: *times.get(7)?, total: times.iter().sum() })
}

/// Standard output and standard error, or nothing.
fn output(program: &str, arguments: &[&str]) -> String {
    let ran = Command::new(program).args(arguments).env("LC_ALL", "C").output();
    ran.map_or_else(
        |_| String::new(),
        |output| {
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time_is_the_eighth_column_and_guests_are_not_counted_twice() {
        let stat = "cpu  10 1 5 80 2 0 1 4 7 7\ncpu0 5 0 2 40 1 0 0 2 3 3\n";
        assert_eq!(parse_cpu_times(stat), Some(CpuTimes { stolen: 4, total: 103 }));
        assert_eq!(parse_cpu_times("intr 1\n"), None);
    }
}
