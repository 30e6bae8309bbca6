//! What about a machine makes measurements less sharp, the worst first. A bound without a source is a rule of thumb.

use loadline_model::gates::STEAL_SHARE;
use loadline_model::result::doctor::{Advice, Finding, OtherPrograms, Stolen};

use super::Examination;

/// Other programs' share of the CPUs from which on they are named; a rule of thumb.
const OTHER_PROGRAMS_SHARE: f64 = 0.02;
/// A program below this share is not worth naming.
const LEAST_PROGRAM_SHARE: f64 = 0.002;
/// Programs that are named at most.
const MOST_PROGRAMS: usize = 3;
/// How busy a sibling may be; a rule of thumb.
const SIBLING_SHARE: f64 = 0.05;
/// Share of a CPU's time that may go to pauses of 1 ms and more; a rule of thumb.
const PAUSES_SHARE: f64 = 0.005;
/// Longest exit latency of an idle state that measurements of tens of µs can stand; a rule of thumb.
const EXIT_LATENCY_NS: u64 = 20_000;
/// Waking a thread on another CPU takes a few µs on a CPU that is awake; from here on it was asleep. A rule of thumb.
const WAKE_UP_NS: u64 = 30_000;
/// A clock that is read without a system call takes 20 to 40 ns (vdso(7)).
const CLOCK_READ_NS: f64 = 100.0;
/// A pause of at least this length is long.
const LONG_PAUSE_NS: u64 = 1_000_000;

/// All advice for a machine.
pub fn advice(seen: &Examination, stolen: &Stolen) -> Vec<Advice> {
    let findings = [
        (seen.cpus.len() == 1).then_some(Finding::SingleCpu),
        stolen_time(stolen),
        seen.other_programs.as_ref().and_then(other_programs),
        pauses(seen),
        shared_core(seen),
        busy_sibling(seen),
        governor(seen),
        idle_states(seen),
        wake_ups(seen),
        clock(seen),
        (seen.cpu_power.turbo == Some(true)).then_some(Finding::Turbo),
    ];
    findings.into_iter().flatten().map(Advice::of).collect()
}

fn stolen_time(stolen: &Stolen) -> Option<Finding> {
    stolen.most().filter(|share| *share > STEAL_SHARE).map(|share| Finding::StolenTime { share })
}

fn other_programs(seen: &OtherPrograms) -> Option<Finding> {
    let named = seen.programs.iter().filter(|program| program.share >= LEAST_PROGRAM_SHARE);
    (seen.share > OTHER_PROGRAMS_SHARE).then(|| Finding::OtherPrograms {
        share: seen.share,
        top: named.take(MOST_PROGRAMS).cloned().collect(),
    })
}

fn pauses(seen: &Examination) -> Option<Finding> {
    let long = seen.pauses.iter().flat_map(|pauses| &pauses.cpus).filter_map(|cpu| {
        let long = cpu.over.iter().find(|count| count.least_ns >= LONG_PAUSE_NS)?;
        let all = cpu.over.first().map_or(0.0, |count| count.lost_ns_per_second);
        Some((cpu, long, all))
    });
    let (cpu, long, all) =
        long.max_by(|one, other| one.1.lost_ns_per_second.total_cmp(&other.1.lost_ns_per_second))?;
    let lost_share = long.lost_ns_per_second / 1e9;
    (lost_share > PAUSES_SHARE).then(|| Finding::Pauses {
        cpu: cpu.cpu,
        per_minute: long.per_minute,
        lost_share,
        longest_ns: cpu.longest_ns,
        to_programs: cpu.other_programs_ns_per_second.map(|programs| programs > all / 2.0),
    })
}

/// The CPU of the load, and those of the service.
fn placed(seen: &Examination) -> Option<(usize, &[usize])> {
    let run = &seen.run.as_ref()?.run;
    Some((*run.load_cpus.first()?, &run.service_cpus))
}

fn siblings(seen: &Examination, cpu: usize) -> impl Iterator<Item = usize> {
    let core = seen.cpu_power.shared_cores.iter().find(|core| core.contains(&cpu));
    core.into_iter().flatten().copied().filter(move |other| *other != cpu)
}

fn shared_core(seen: &Examination) -> Option<Finding> {
    let (load_cpu, service_cpus) = placed(seen)?;
    let service_cpu = siblings(seen, load_cpu).find(|cpu| service_cpus.contains(cpu))?;
    Some(Finding::SharedCore { load_cpu, service_cpu })
}

/// A CPU that neither service nor load uses, but shares a core with one of them.
fn busy_sibling(seen: &Examination) -> Option<Finding> {
    let (load_cpu, service_cpus) = placed(seen)?;
    let used: Vec<usize> = service_cpus.iter().copied().chain([load_cpu]).collect();
    let busy = |cpu| seen.other_programs.as_ref()?.cpus.iter().find(|busy| busy.cpu == cpu);
    let pairs = used.iter().flat_map(|cpu| siblings(seen, *cpu).map(move |sibling| (*cpu, sibling)));
    pairs
        .filter(|(_, sibling)| !used.contains(sibling))
        .filter_map(|(cpu, sibling)| {
            Some(Finding::BusySibling { cpu, sibling, share: busy(sibling)?.share })
                .filter(|_| busy(sibling).is_some_and(|busy| busy.share > SIBLING_SHARE))
        })
        .next()
}

fn governor(seen: &Examination) -> Option<Finding> {
    let power = &seen.cpu_power;
    let governor = power.governors.iter().find(|governor| governor.name != "performance")?;
    Some(Finding::Governor {
        governor: governor.name.clone(),
        cpus: governor.cpus.clone(),
        driver: power.frequency_driver.clone(),
    })
}

fn idle_states(seen: &Examination) -> Option<Finding> {
    let enabled = seen.cpu_power.idle_states.iter().filter(|state| !state.enabled_on.is_empty());
    let deepest = enabled.max_by_key(|state| state.exit_latency_ns)?;
    (deepest.exit_latency_ns > EXIT_LATENCY_NS).then(|| Finding::IdleStates {
        deepest: deepest.name.clone(),
        exit_latency_ns: deepest.exit_latency_ns,
        most_ns: EXIT_LATENCY_NS,
    })
}

fn wake_ups(seen: &Examination) -> Option<Finding> {
    let p50_ns = seen.wake_ups.other_cpu?.p50_ns;
    let unexplained = seen.cpu_power.idle_states.is_empty();
    (unexplained && p50_ns > WAKE_UP_NS).then_some(Finding::WakeUps { p50_ns })
}

fn clock(seen: &Examination) -> Option<Finding> {
    let clock = seen.clock.as_ref()?;
    let source = clock.source.clone()?;
    (source != "tsc" && clock.read_ns > CLOCK_READ_NS).then(|| Finding::Clock {
        source,
        read_ns: clock.read_ns,
        tsc_available: clock.alternatives.iter().any(|other| other == "tsc"),
    })
}

#[cfg(test)]
mod tests {
    use loadline_model::result::doctor::{
        ClockReading, CpuPauses, CpuPower, Governor, IdleState, Latency, PauseCount, Pauses, Program, Topic,
        WakeUps,
    };

    use super::*;

    fn topics(seen: &Examination) -> Vec<Topic> {
        advice(seen, &seen.stolen).into_iter().map(|advice| advice.topic).collect()
    }

    fn pauses_of(lost_ns_per_second: f64, programs: f64) -> Pauses {
        let count = |least_ns| PauseCount { least_ns, per_minute: 60.0, lost_ns_per_second };
        let cpu = CpuPauses {
            cpu: 1,
            over: [100_000, 1_000_000, 10_000_000].map(count).into(),
            longest_ns: 20_000_000,
            other_programs_ns_per_second: Some(programs),
        };
        Pauses { seconds: 5.0, cpus: vec![cpu] }
    }

    #[test]
    fn a_quiet_machine_needs_none() {
        let quiet = Examination {
            cpus: vec![0, 1],
            pauses: Some(pauses_of(1e6, 0.0)),
            clock: Some(ClockReading {
                source: Some("kvm-clock".into()),
                alternatives: Vec::new(),
                read_ns: 40.0,
            }),
            ..Examination::default()
        };
        assert_eq!(topics(&quiet), []);
    }

    #[test]
    fn a_server_as_it_is_delivered_saves_power() {
        let state = |name: &str, exit_latency_ns, cpus: &[usize]| IdleState {
            name: name.into(),
            exit_latency_ns,
            enabled_on: cpus.to_vec(),
        };
        let mut server = Examination {
            cpus: vec![0, 1],
            cpu_power: CpuPower {
                governors: vec![Governor { name: "powersave".into(), cpus: vec![0, 1] }],
                turbo: Some(true),
                idle_states: vec![state("C1", 2_000, &[0, 1]), state("C6", 133_000, &[0])],
                ..CpuPower::default()
            },
            wake_ups: WakeUps {
                timer: None,
                other_cpu: Some(Latency { p50_ns: 60_000, p99_ns: 90_000, count: 100 }),
            },
            ..Examination::default()
        };
        assert_eq!(topics(&server), [Topic::Governor, Topic::IdleStates, Topic::Turbo]);
        server.cpu_power.idle_states.pop();
        server.cpu_power.governors[0].name = "performance".into();
        server.cpu_power.turbo = Some(false);
        assert_eq!(topics(&server), []);
        server.cpu_power.idle_states.clear();
        assert_eq!(topics(&server), [Topic::WakeUps], "nothing shown explains it");
    }

    #[test]
    fn what_takes_the_cpus_is_named_first() {
        let program = |name: &str, share| Program {
            name: name.into(),
            processes: 1,
            pid: 7,
            in_container: false,
            share,
        };
        let busy = Examination {
            cpus: vec![0],
            stolen: Stolen { idle_share: Some(0.0), busy_share: Some(0.2), loaded_share: None },
            other_programs: Some(OtherPrograms {
                seconds: 3.0,
                share: 0.3,
                cpus: Vec::new(),
                programs: vec![program("java", 0.29), program("sshd", 0.0001)],
            }),
            pauses: Some(pauses_of(2e8, 1.9e8)),
            clock: Some(ClockReading {
                source: Some("hpet".into()),
                alternatives: vec!["tsc".into()],
                read_ns: 900.0,
            }),
            ..Examination::default()
        };
        let found = advice(&busy, &busy.stolen);
        let expected =
            [Topic::SingleCpu, Topic::StolenTime, Topic::OtherPrograms, Topic::Pauses, Topic::Clock];
        assert_eq!(found.iter().map(|advice| advice.topic).collect::<Vec<_>>(), expected);
        let what = |index: usize| found[index].seen.what.clone().unwrap();
        assert!(matches!(what(2), Finding::OtherPrograms { top, .. } if top.len() == 1));
        assert!(matches!(what(3), Finding::Pauses { to_programs: Some(true), cpu: 1, .. }));
        assert!(matches!(what(4), Finding::Clock { tsc_available: true, .. }));
    }
}
