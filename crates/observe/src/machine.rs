//! What kind of machine a run took place on: all that is needed to judge its figures later.
//! Read once at the start of a run and kept with it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use loadline_model::Machine;

use crate::procfs;

/// Describes the machine that this process runs on.
pub fn describe_machine() -> Machine {
    let uname = rustix::system::uname();
    let owned = |text: &std::ffi::CStr| Some(text.to_string_lossy().into_owned());
    let cpuinfo = procfs::read("/proc/cpuinfo").unwrap_or_default();
    let online_cpus = procfs::read_trimmed("/sys/devices/system/cpu/online");
    Machine {
        hostname: owned(uname.nodename()),
        distribution: ["/etc/os-release", "/usr/lib/os-release"]
            .into_iter()
            .find_map(|path| parse_pretty_name(&procfs::read(path)?)),
        kernel: owned(uname.release()),
        architecture: owned(uname.machine()),
        cpu_model: cpuinfo_field(&cpuinfo, "model name"),
        cpus: online_cpus.as_deref().and_then(count_cpus),
        online_cpus,
        smt: procfs::read_trimmed("/sys/devices/system/cpu/smt/control"),
        governor: procfs::read_trimmed("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        mitigations: mitigations(),
        hypervisor: hypervisor(&cpuinfo),
        memory_bytes: procfs::read("/proc/meminfo")
            .and_then(|text| procfs::number_after(&text, "MemTotal:")?.checked_mul(1024)),
        cgroup_versions: cgroup_versions(&procfs::read("/proc/self/mountinfo").unwrap_or_default()),
        clocksource: procfs::read_trimmed("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        interrupt_time_apart: if Path::new("/proc/pressure/irq").exists() {
            Some(true)
        } else {
            procfs::read(format!("/boot/config-{}", uname.release().to_string_lossy()))
                .map(|config| parse_interrupt_time_apart(&config))
        },
        transparent_hugepages: procfs::read("/sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|text| parse_chosen(&text)),
        boot_id: procfs::read_trimmed("/proc/sys/kernel/random/boot_id"),
    }
}

fn mitigations() -> BTreeMap<String, String> {
    let files = fs::read_dir("/sys/devices/system/cpu/vulnerabilities").into_iter().flatten();
    files
        .filter_map(|file| {
            let file = file.ok()?;
            Some((file.file_name().into_string().ok()?, procfs::read_trimmed(file.path())?))
        })
        .collect()
}

/// The CPU says whether there is a hypervisor (Xen says it elsewhere), and the firmware which one it is.
fn hypervisor(cpuinfo: &str) -> Option<String> {
    if let Some(kind) = procfs::read_trimmed("/sys/hypervisor/type") {
        return Some(kind);
    }
    cpuinfo_field(cpuinfo, "flags")?.split(' ').find(|flag| *flag == "hypervisor")?;
    let dmi = |name: &str| procfs::read_trimmed(format!("/sys/class/dmi/id/{name}"));
    let names: Vec<String> = [dmi("sys_vendor"), dmi("product_name")].into_iter().flatten().collect();
    Some(if names.is_empty() { "unknown".to_owned() } else { names.join(" ") })
}

/// The first value of a field in `/proc/cpuinfo`, whose lines are `name<tab>: value`.
fn cpuinfo_field(text: &str, name: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim_end() == name).then(|| value.trim().to_owned())
    })
}

fn parse_pretty_name(os_release: &str) -> Option<String> {
    let value = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(value.trim().trim_matches(['"', '\'']).to_owned())
}

/// The option in brackets, as in `always [madvise] never`.
fn parse_chosen(text: &str) -> Option<String> {
    let (_, chosen) = text.split_once('[')?;
    Some(chosen.split_once(']')?.0.to_owned())
}

/// The kernel has `/proc/pressure/irq` (kernel/sched/psi.c) for nothing but this option; before Linux 6.1 its configuration tells.
fn parse_interrupt_time_apart(config: &str) -> bool {
    config.lines().any(|line| line == "CONFIG_IRQ_TIME_ACCOUNTING=y")
}

/// How many CPUs a list such as `0-3,8` names (cpuset(7), "List format").
fn count_cpus(list: &str) -> Option<u32> {
    list.split(',').try_fold(0u32, |count, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        count.checked_add(last.checked_sub(first)?.checked_add(1)?)
    })
}

/// The type of a file system is the first word after the separator ` - ` (proc_pid_mountinfo(5)).
fn cgroup_versions(mountinfo: &str) -> Vec<u8> {
    let mounted = |wanted: &str| {
        mountinfo.lines().any(|line| {
            line.split_once(" - ").is_some_and(|(_, rest)| rest.split(' ').next() == Some(wanted))
        })
    };
    [("cgroup", 1), ("cgroup2", 2)]
        .into_iter()
        .filter(|(name, _)| mounted(name))
        .map(|(_, version)| version)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn recorded_files_are_read() {
        let cpuinfo = "processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC\nflags\t\t: fpu hypervisor lm\n\nprocessor\t: 1\n";
        assert_eq!(cpuinfo_field(cpuinfo, "model name").as_deref(), Some("AMD EPYC"));
        assert!(hypervisor(cpuinfo).is_some());
        assert_eq!(cpuinfo_field(cpuinfo, "Hardware"), None);
        let os_release = "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n";
        assert_eq!(parse_pretty_name(os_release).as_deref(), Some("Debian GNU/Linux 12 (bookworm)"));
        assert_eq!(parse_chosen("always [madvise] never\n").as_deref(), Some("madvise"));
    }

    #[test]
    fn a_kernels_configuration_says_where_interrupts_are_charged() {
        assert!(parse_interrupt_time_apart("CONFIG_HZ=250\nCONFIG_IRQ_TIME_ACCOUNTING=y\n"));
        assert!(!parse_interrupt_time_apart("# CONFIG_IRQ_TIME_ACCOUNTING is not set\n"));
    }

    #[test]
    fn cpu_lists_are_counted() {
        assert_eq!(count_cpus("0"), Some(1));
        assert_eq!(count_cpus("0-3,8,10-11"), Some(7));
        assert_eq!(count_cpus("3-0"), None);
        assert_eq!(count_cpus(""), None);
        assert_eq!(count_cpus("0-4294967295"), None);
    }

    #[test]
    fn both_versions_of_cgroup_are_told_apart() {
        let v1 = "30 25 0:26 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n";
        let v2 = "31 25 0:27 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n";
        assert_eq!(cgroup_versions(v1), [1]);
        assert_eq!(cgroup_versions(v2), [2]);
        assert_eq!(cgroup_versions(&format!("{v2}{v1}")), [1, 2]);
        assert!(cgroup_versions("22 1 0:21 / /proc rw - proc proc rw\n").is_empty());
    }

    #[test]
    fn this_machine_is_described_and_survives_json() -> serde_json::Result<()> {
        let machine = describe_machine();
        assert!(machine.cpus.is_some_and(|n| n > 0) && machine.memory_bytes.is_some_and(|n| n > 0));
        assert!(machine.kernel.is_some() && machine.boot_id.is_some());
        let json = serde_json::to_string(&machine)?;
        assert_eq!(serde_json::from_str::<Machine>(&json)?, machine);
        Ok(())
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(?s).*") {
            let _ = cpuinfo_field(&text, "flags");
            let _ = (parse_pretty_name(&text), parse_chosen(&text), count_cpus(&text), cgroup_versions(&text));
        }
    }
}
