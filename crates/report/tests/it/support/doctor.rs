//! Machines that were made up to be examined.

use loadline_model::Machine;
use loadline_model::result::doctor::*;
use loadline_model::result::{Statement, Unit};

pub fn all() -> Vec<DoctorResult> {
    vec![server(), virtual_machine(), interrupted()]
}

/// A quiet server as it is delivered: it saves power.
pub fn server() -> DoctorResult {
    let findings = [
        Finding::OtherPrograms {
            share: 0.031,
            top: vec![program("java", 3, 0.021), program("dockerd", 1, 0.004)],
        },
        Finding::SharedCore { load_cpu: 3, service_cpu: 1 },
        Finding::BusySibling { cpu: 1, sibling: 3, share: 0.12 },
        Finding::Governor {
            governor: "powersave".into(),
            cpus: vec![0, 1, 2],
            driver: Some("intel_pstate".into()),
        },
        Finding::IdleStates { deepest: "C6".into(), exit_latency_ns: 133_000, most_ns: 20_000 },
        Finding::Turbo,
    ];
    DoctorResult {
        schema: SCHEMA.to_owned(),
        version: "0.1.0".into(),
        command_line: vec!["loadline".into(), "doctor".into()],
        started_unix_s: 1_767_323_045.0,
        seconds: 58.2,
        interrupted: false,
        machine: Machine {
            cpu_model: Some("Intel(R) Xeon(R) Gold 6130".into()),
            cpus: Some(4),
            kernel: Some("6.1.0".into()),
            clocksource: Some("tsc".into()),
            ..Machine::default()
        },
        noise: Some(noise()),
        pauses: Some(Pauses { seconds: 4.8, cpus: (0..6).map(pauses).collect() }),
        stolen: Some(Stolen { idle_share: Some(0.0), busy_share: Some(0.004), loaded_share: None }),
        clock: Some(ClockReading {
            source: Some("tsc".into()),
            alternatives: vec!["hpet".into()],
            read_ns: 21.4,
        }),
        wake_ups: WakeUps {
            timer: Some(Latency { p50_ns: 52_000, p99_ns: 141_000, count: 1400 }),
            other_cpu: Some(Latency { p50_ns: 38_000, p99_ns: 97_000, count: 1380 }),
        },
        cpu_power: cpu_power(),
        other_programs: Some(OtherPrograms {
            seconds: 3.0,
            share: 0.031,
            cpus: vec![CpuBusy { cpu: 0, share: 0.05 }, CpuBusy { cpu: 1, share: 0.01 }],
            programs: vec![program("java", 3, 0.021), program("dockerd", 1, 0.004)],
        }),
        advice: findings.into_iter().map(Advice::of).collect(),
        left_out: Vec::new(),
    }
}

/// A loud virtual machine with one CPU, examined by an ordinary user.
pub fn virtual_machine() -> DoctorResult {
    let findings = [
        Finding::SingleCpu,
        Finding::StolenTime { share: 0.11 },
        Finding::Pauses {
            cpu: 0,
            per_minute: 312.0,
            lost_share: 0.064,
            longest_ns: 21_300_000,
            to_programs: Some(false),
        },
        Finding::WakeUps { p50_ns: 61_000 },
        Finding::Clock { source: "acpi_pm".into(), read_ns: 812.0, tsc_available: true },
        Finding::Clock { source: "hpet".into(), read_ns: 612.0, tsc_available: false },
    ];
    let left_out = [
        LeftOut::Frequency { virtual_machine: true },
        LeftOut::IdleStates { virtual_machine: true },
        LeftOut::Wire { why: "cannot create a user namespace: not permitted".into() },
    ];
    let server = server();
    let mut noise = noise();
    noise.run.disturbed_slices = 90;
    for row in &mut noise.rows {
        row.resolution.clear();
    }
    DoctorResult {
        machine: Machine { hypervisor: Some("QEMU".into()), cpus: Some(1), ..Machine::default() },
        noise: Some(noise),
        pauses: Some(Pauses { seconds: 4.8, cpus: vec![pauses(0)] }),
        wake_ups: WakeUps { other_cpu: None, ..server.wake_ups },
        cpu_power: CpuPower { smt: Some(false), ..CpuPower::default() },
        advice: findings.into_iter().map(Advice::of).collect(),
        left_out: left_out.into_iter().map(Statement::of).collect(),
        ..server
    }
}

/// Ended by Ctrl-C while other programs were watched.
pub fn interrupted() -> DoctorResult {
    DoctorResult {
        interrupted: true,
        seconds: 1.2,
        noise: None,
        pauses: None,
        stolen: None,
        clock: None,
        wake_ups: WakeUps::default(),
        other_programs: None,
        advice: Vec::new(),
        left_out: vec![Statement::of(LeftOut::FewDeployments { deployments: 1 })],
        ..server()
    }
}

fn noise() -> Noise {
    let row = |metric: &str, label: &str, figure, half_width, differences: [f64; 3]| NoiseRow {
        metric: metric.into(),
        label: label.into(),
        unit: Unit::Nanoseconds,
        figure,
        half_width,
        variance_within: 9e6,
        variance_between: 1e5,
        resolution: [(1, 6, 12), (10, 41, 36), (60, 247, 36)]
            .into_iter()
            .zip(differences)
            .map(|((minutes, deployments, blocks), difference)| Resolution {
                minutes,
                deployments,
                blocks,
                difference,
            })
            .collect(),
    };
    let correlation = |from_s, to_s, correlation| Correlation { from_s, to_s, correlation, pairs: 200 };
    Noise {
        run: NoiseRun {
            label: "3fa9c1".into(),
            site: "orders on host".into(),
            load: "2000/s Poisson".into(),
            deployments: 7,
            blocks: 12.0,
            slice_s: 0.1,
            seconds: 43.8,
            overhead_seconds: 27.0,
            disturbed_slices: 4,
            slices: 172,
        },
        rows: vec![
            row("response.p50", "response p50", 56_300.0, 1_420.0, [2_130.0, 702.0, 281.0]),
            row("response.p99", "response p99", 131_000.0, 19_800.0, [29_300.0, 9_700.0, 3_900.0]),
            row("cpu.service", "CPU per request", 30_100.0, 640.0, [910.0, 310.0, 122.0]),
        ],
        correlation: vec![
            correlation(0.0, 0.25, 0.44),
            correlation(0.25, 0.5, 0.41),
            correlation(1.0, 2.0, 0.302),
            correlation(8.0, 16.0, -0.021),
        ],
    }
}

fn pauses(cpu: usize) -> CpuPauses {
    let lost = 1e5 * (1 + cpu) as f64;
    let count = |least_ns, per_minute| PauseCount { least_ns, per_minute, lost_ns_per_second: lost };
    CpuPauses {
        cpu,
        over: vec![count(100_000, 113.0), count(1_000_000, 12.5), count(10_000_000, 0.0)],
        longest_ns: 2_130_000,
        other_programs_ns_per_second: Some(lost / 4.0),
    }
}

fn cpu_power() -> CpuPower {
    let governor = |name: &str, cpus: &[usize]| Governor { name: name.into(), cpus: cpus.to_vec() };
    let state = |name: &str, exit_latency_ns, cpus: &[usize]| IdleState {
        name: name.into(),
        exit_latency_ns,
        enabled_on: cpus.to_vec(),
    };
    CpuPower {
        frequency_driver: Some("intel_pstate".into()),
        governors: vec![governor("powersave", &[0, 1, 2]), governor("performance", &[3])],
        energy_preference: Some("balance_performance".into()),
        turbo: Some(true),
        idle_driver: Some("intel_idle".into()),
        idle_states: vec![
            state("POLL", 0, &[0, 1, 2, 3]),
            state("C1", 2_000, &[0, 1, 2, 3]),
            state("C1E", 10_000, &[]),
            state("C6", 133_000, &[0, 1, 2]),
        ],
        smt: Some(true),
        shared_cores: vec![vec![0, 2], vec![1, 3]],
    }
}

fn program(name: &str, processes: usize, share: f64) -> Program {
    Program { name: name.into(), processes, pid: 812, in_container: processes > 1, share }
}
