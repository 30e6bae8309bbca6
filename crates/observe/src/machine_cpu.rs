//! `/proc/stat`: where the time of all CPUs together went, and how many there are.
//! For an examination of the machine, that of each CPU as well. The kernel counts it in ticks of 1/USER_HZ s (10 ms), so over a slice each mode is known to about a percent.

use std::collections::BTreeMap;

use loadline_model::metrics::{
    HigherIs, MACHINE_CPU, MACHINE_CPUS, MACHINE_TASKS, MOST_STOLEN, MetricDeclaration, Unit,
};
use loadline_model::{MachineCpu, Observations};
use serde::{Deserialize, Serialize};

use crate::probe::{Probe, Target};
use crate::task_time::TaskTime;

/// Reads the CPU time of the whole machine.
#[derive(Default)]
pub(crate) struct MachineCpuProbe {
    /// Whose stolen time is told; none: that of all.
    cpus: Vec<usize>,
    tasks: Option<TaskTime>,
}

impl MachineCpuProbe {
    /// Tells what was stolen from these CPUs; if none are given, from all.
    pub(crate) fn new(cpus: &[usize]) -> MachineCpuProbe {
        MachineCpuProbe { cpus: cpus.to_vec(), tasks: None }
    }
}

/// Totals since boot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Totals {
    cpu: MachineCpu,
    /// CPUs online.
    cpus: u32,
    /// Time stolen from each CPU, ns.
    stolen: BTreeMap<u32, u64>,
    /// For how long tasks ran.
    tasks_ns: Option<u64>,
}

impl Probe for MachineCpuProbe {
    type Reading = Totals;

    fn name(&self) -> &'static str {
        "machine_cpu"
    }

    fn metrics(&self) -> Vec<MetricDeclaration> {
        let time = |name| MetricDeclaration::counter(name, Unit::Nanoseconds).of_the_machine();
        let busy = time(MACHINE_CPU).shown_as("machine's CPU per request", HigherIs::Costlier);
        let modes = MachineCpu::default().by_name().map(|(name, _)| time(name));
        let cpus = MetricDeclaration::level(MACHINE_CPUS, Unit::Count).of_the_measurement();
        [busy, cpus, time(MOST_STOLEN), time(MACHINE_TASKS)].into_iter().chain(modes).collect()
    }

    fn read(&mut self, target: &Target<'_>) -> Option<Totals> {
        let ticks_per_second = rustix::param::clock_ticks_per_second();
        let text = target.proc_file("stat")?;
        let tick_ns = 1_000_000_000_u64.checked_div(ticks_per_second)?;
        let tasks = self.tasks.get_or_insert_with(|| TaskTime::of_machine(target.proc()));
        Some(Totals {
            cpu: parse(&text, tick_ns)?,
            cpus: count_cpus(&text),
            stolen: stolen_by_cpu(&text, tick_ns),
            tasks_ns: tasks.read().map(|time| time.as_nanos() as u64),
        })
    }

    fn between(&self, before: &Totals, after: &Totals, seen: &mut Observations) {
        let cpu = after.cpu.since(&before.cpu);
        seen.set_machine_cpu(&cpu);
        seen.set(MACHINE_CPU, cpu.busy_ns());
        seen.set(MACHINE_CPUS, u64::from(after.cpus));
        let tasks_ns = after.tasks_ns.zip(before.tasks_ns);
        seen.set(MACHINE_TASKS, tasks_ns.map(|(after, before)| after.saturating_sub(before)));
        // A CPU that came online in between counts from zero on its next slice.
        let is_told = |cpu: u32| self.cpus.is_empty() || self.cpus.contains(&(cpu as usize));
        let told = after.stolen.iter().filter(|(cpu, _)| is_told(**cpu));
        let stolen = |(cpu, ns): (&u32, &u64)| Some(ns.saturating_sub(*before.stolen.get(cpu)?));
        seen.set(MOST_STOLEN, told.filter_map(stolen).max());
    }
}

/// CPUs that are online have a line of their own (proc_stat(5)).
fn count_cpus(text: &str) -> u32 {
    let is_of_one = |line: &&str| {
        line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    text.lines().filter(is_of_one).count() as u32
}

/// The eighth mode of each CPU's own line.
fn stolen_by_cpu(text: &str, tick_ns: u64) -> BTreeMap<u32, u64> {
    let of_line = |line: &str| {
        let (cpu, modes) = line.strip_prefix("cpu")?.split_once(' ')?;
        Some((cpu.parse().ok()?, parse_modes(modes, tick_ns)?.steal_ns))
    };
    text.lines().filter_map(of_line).collect()
}

/// Where the time of the CPUs went since boot: of all together, and of each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// All CPUs together.
    pub all: MachineCpu,
    /// By number.
    pub each: BTreeMap<usize, MachineCpu>,
}

impl CpuTimes {
    /// Reads them now; `None` if the kernel does not say.
    pub fn now() -> Option<CpuTimes> {
        let ticks_per_second = rustix::param::clock_ticks_per_second();
        CpuTimes::parse(&crate::procfs::read("/proc/stat")?, 1_000_000_000_u64.checked_div(ticks_per_second)?)
    }

    /// What was added since `before`.
    pub fn since(&self, before: &CpuTimes) -> CpuTimes {
        let each = self.each.iter().filter_map(|(cpu, now)| Some((*cpu, now.since(before.each.get(cpu)?))));
        CpuTimes { all: self.all.since(&before.all), each: each.collect() }
    }

    fn parse(text: &str, tick_ns: u64) -> Option<CpuTimes> {
        let each = text.lines().filter_map(|line| {
            let (cpu, times) = line.strip_prefix("cpu")?.split_once(' ')?;
            Some((cpu.parse().ok()?, parse_modes(times, tick_ns)?))
        });
        Some(CpuTimes { all: parse(text, tick_ns)?, each: each.collect() })
    }
}

fn parse(text: &str, tick_ns: u64) -> Option<MachineCpu> {
    parse_modes(text.lines().find_map(|line| line.strip_prefix("cpu "))?, tick_ns)
}

fn parse_modes(line: &str, tick_ns: u64) -> Option<MachineCpu> {
    let mut modes = line.split_ascii_whitespace().map(|word| word.parse::<u64>().ok()?.checked_mul(tick_ns));
    let mut next = || modes.next().flatten();
    Some(MachineCpu {
        user_ns: next()?,
        nice_ns: next()?,
        system_ns: next()?,
        idle_ns: next()?,
        iowait_ns: next()?,
        irq_ns: next()?,
        softirq_ns: next()?,
        steal_ns: next()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SAMPLE: &str = "\
cpu  84799 1 8463 116410 1104 2 144 154 7 0
cpu0 41297 0 4007 59854 209 0 32 74 0 0
cpu1 43502 1 4456 56556 895 2 111 79 7 0
intr 457051 0 0
";

    #[test]
    fn a_recorded_file_is_read_in_nanoseconds() {
        let cpu = parse(SAMPLE, 10_000_000);
        let expected = MachineCpu {
            user_ns: 847_990_000_000,
            nice_ns: 10_000_000,
            system_ns: 84_630_000_000,
            idle_ns: 1_164_100_000_000,
            iowait_ns: 11_040_000_000,
            irq_ns: 20_000_000,
            softirq_ns: 1_440_000_000,
            steal_ns: 1_540_000_000,
        };
        assert_eq!(cpu, Some(expected));
        assert_eq!(expected.busy_ns(), 847_990_000_000 + 84_630_000_000 + 1_440_000_000 + 30_000_000);
    }

    #[test]
    fn the_cpus_are_counted() {
        assert_eq!(count_cpus(SAMPLE), 2);
        assert_eq!(count_cpus("intr 1\n"), 0);
    }

    #[test]
    fn each_cpu_has_its_own_times() {
        let times = CpuTimes::parse(SAMPLE, 10_000_000).unwrap();
        assert_eq!(times.each.keys().copied().collect::<Vec<_>>(), [0, 1]);
        assert_eq!((times.each[&1].user_ns, times.all.user_ns), (435_020_000_000, 847_990_000_000));
        assert_eq!(times.since(&times).each[&0], MachineCpu::default());
    }

    #[test]
    fn what_was_stolen_is_told_cpu_by_cpu() {
        let totals = |text: &str| Totals {
            cpu: parse(text, 10_000_000).unwrap(),
            cpus: count_cpus(text),
            stolen: stolen_by_cpu(text, 10_000_000),
            tasks_ns: None,
        };
        let before = totals(SAMPLE);
        assert_eq!(before.stolen, BTreeMap::from([(0, 740_000_000), (1, 790_000_000)]));
        let after = totals(&SAMPLE.replace("74 0 0\n", "75 0 0\n").replace("79 7 0\n", "84 7 0\n"));
        let mut seen = Observations::default();
        Probe::between(&MachineCpuProbe::default(), &before, &after, &mut seen);
        assert_eq!(seen.count(MOST_STOLEN), Some(50_000_000), "CPU 1 lost most");
        Probe::between(&MachineCpuProbe::new(&[0, 7]), &before, &after, &mut seen);
        assert!(seen.count(MOST_STOLEN).is_some_and(|ns| ns < 50_000_000), "CPU 1 is nobody's");
    }

    #[test]
    fn a_file_without_the_line_or_with_too_few_modes_is_none() {
        assert_eq!(parse("", 1), None);
        assert_eq!(parse("cpu0 1 2 3 4 5 6 7 8\n", 1), None);
        assert_eq!(parse("cpu  1 2 3 4\n", 1), None);
    }

    #[test]
    fn this_machine_has_been_busy() {
        let (subject, proc) = (crate::Subject::default(), crate::procfs::Proc::default());
        let totals = Probe::read(&mut MachineCpuProbe::default(), &Target::new(&subject, &proc));
        assert!(totals.is_some_and(|totals| totals.cpu.busy_ns() > 0 && totals.cpus > 0));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(?s).*", numbers: [u64; 8]) {
            let _ = (parse(&text, 10_000_000), stolen_by_cpu(&text, 10_000_000), CpuTimes::parse(&text, 10_000_000));
            let line = numbers.map(|n| n.to_string()).join(" ");
            let _ = parse(&format!("cpu  {line}"), 10_000_000).map(|cpu| cpu.busy_ns());
        }
    }
}
