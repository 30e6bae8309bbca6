//! Frequency, idle states and cores of the CPUs, as sysfs has them
//! (Documentation/admin-guide/pm/cpufreq.rst, cpuidle.rst and intel_pstate.rst; Documentation/ABI/testing/sysfs-devices-system-cpu).

use std::path::{Path, PathBuf};

use loadline_model::result::doctor::{CpuPower, Governor, IdleState};

use crate::procfs::{parse_cpu_list, read_number, read_trimmed};

/// Reads what the kernel shows of these CPUs. `sys`: where sysfs is mounted.
pub fn read_cpu_power(sys: &Path, cpus: &[usize]) -> CpuPower {
    let all = sys.join("devices/system/cpu");
    let each: Vec<(usize, PathBuf)> = cpus.iter().map(|cpu| (*cpu, all.join(format!("cpu{cpu}")))).collect();
    let first = |file: &str| each.iter().find_map(|(_, dir)| read_trimmed(dir.join(file)));
    CpuPower {
        frequency_driver: first("cpufreq/scaling_driver"),
        governors: governors(&each),
        energy_preference: first("cpufreq/energy_performance_preference"),
        turbo: turbo(&all),
        idle_driver: read_trimmed(all.join("cpuidle/current_driver")).filter(|driver| driver != "none"),
        idle_states: idle_states(&each),
        smt: read_number(all.join("smt/active")).map(|active| active == 1),
        shared_cores: shared_cores(&each),
    }
}

fn governors(each: &[(usize, PathBuf)]) -> Vec<Governor> {
    let mut governors: Vec<Governor> = Vec::new();
    for (cpu, dir) in each {
        let Some(name) = read_trimmed(dir.join("cpufreq/scaling_governor")) else { continue };
        match governors.iter_mut().find(|governor| governor.name == name) {
            Some(governor) => governor.cpus.push(*cpu),
            None => governors.push(Governor { name, cpus: vec![*cpu] }),
        }
    }
    governors
}

/// intel_pstate has a switch of its own, which says the opposite of everybody else's.
fn turbo(all: &Path) -> Option<bool> {
    let off = read_number(all.join("intel_pstate/no_turbo")).map(|off| off == 0);
    off.or_else(|| read_number(all.join("cpufreq/boost")).map(|on| on == 1))
}

fn idle_states(each: &[(usize, PathBuf)]) -> Vec<IdleState> {
    let mut states: Vec<IdleState> = Vec::new();
    for (cpu, dir) in each {
        for index in 0.. {
            let dir = dir.join(format!("cpuidle/state{index}"));
            let Some(name) = read_trimmed(dir.join("name")) else { break };
            let exit_latency_ns = read_number(dir.join("latency")).unwrap_or(0).saturating_mul(1000);
            let enabled = read_number(dir.join("disable")) == Some(0);
            let at = states.iter().position(|state| state.name == name).unwrap_or_else(|| {
                states.push(IdleState { name, exit_latency_ns, enabled_on: Vec::new() });
                states.len() - 1
            });
            states[at].enabled_on.extend(enabled.then_some(*cpu));
        }
    }
    states
}

fn shared_cores(each: &[(usize, PathBuf)]) -> Vec<Vec<usize>> {
    let mut cores: Vec<Vec<usize>> = Vec::new();
    for (_, dir) in each {
        let list = read_trimmed(dir.join("topology/thread_siblings_list"));
        let threads = list.and_then(|list| parse_cpu_list(&list)).unwrap_or_default();
        if threads.len() > 1 && !cores.contains(&threads) {
            cores.push(threads);
        }
    }
    cores
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sysfs with these files.
    fn sysfs(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join("devices/system/cpu").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, format!("{text}\n")).unwrap();
        }
        root
    }

    /// As recorded on a server with a Xeon Gold 6130: intel_pstate in active mode, hyper-threading on.
    fn bare_metal() -> tempfile::TempDir {
        let mut files = vec![
            ("intel_pstate/no_turbo".to_owned(), "0"),
            ("cpuidle/current_driver".to_owned(), "intel_idle"),
            ("smt/active".to_owned(), "1"),
        ];
        for cpu in 0..4 {
            let sibling = if cpu % 2 == 0 { "0,2" } else { "1,3" };
            let of_cpu = [
                ("topology/thread_siblings_list", sibling),
                ("cpufreq/scaling_driver", "intel_pstate"),
                ("cpufreq/scaling_governor", if cpu == 3 { "performance" } else { "powersave" }),
                ("cpufreq/energy_performance_preference", "balance_performance"),
                ("cpuidle/state0/name", "POLL"),
                ("cpuidle/state0/latency", "0"),
                ("cpuidle/state0/disable", "0"),
                ("cpuidle/state1/name", "C1"),
                ("cpuidle/state1/latency", "2"),
                ("cpuidle/state1/disable", "0"),
                ("cpuidle/state2/name", "C6"),
                ("cpuidle/state2/latency", "133"),
                ("cpuidle/state2/disable", if cpu == 3 { "1" } else { "0" }),
            ];
            files.extend(of_cpu.map(|(name, text)| (format!("cpu{cpu}/{name}"), text)));
        }
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
        sysfs(&files)
    }

    #[test]
    fn a_server_shows_how_its_cpus_are_clocked_and_how_deep_they_sleep() {
        let sys = bare_metal();
        let power = read_cpu_power(sys.path(), &[0, 1, 2, 3]);
        assert_eq!(power.frequency_driver.as_deref(), Some("intel_pstate"));
        assert_eq!(power.energy_preference.as_deref(), Some("balance_performance"));
        assert_eq!((power.turbo, power.smt), (Some(true), Some(true)));
        let governor = |name: &str, cpus: &[usize]| Governor { name: name.to_owned(), cpus: cpus.to_vec() };
        assert_eq!(power.governors, [governor("powersave", &[0, 1, 2]), governor("performance", &[3])]);
        let deepest = IdleState { name: "C6".into(), exit_latency_ns: 133_000, enabled_on: vec![0, 1, 2] };
        assert_eq!(power.idle_states.last(), Some(&deepest));
        assert_eq!(power.idle_states.len(), 3);
        assert_eq!(power.idle_driver.as_deref(), Some("intel_idle"));
        assert_eq!(power.shared_cores, [vec![0, 2], vec![1, 3]]);
    }

    #[test]
    fn other_drivers_have_one_switch_for_turbo() {
        let sys = sysfs(&[("cpufreq/boost", "1")]);
        assert_eq!(read_cpu_power(sys.path(), &[0]).turbo, Some(true));
    }

    #[test]
    fn a_virtual_machine_shows_neither_frequency_nor_idle_states() {
        let sys = sysfs(&[
            ("smt/active", "0"),
            ("cpuidle/current_driver", "none"),
            ("cpu0/topology/thread_siblings_list", "0"),
            ("cpu1/topology/thread_siblings_list", "1"),
        ]);
        let nothing = CpuPower { smt: Some(false), ..CpuPower::default() };
        assert_eq!(read_cpu_power(sys.path(), &[0, 1]), nothing);
    }
}
