//! What is on the machine that carries a run's name: links, rules, cgroups, processes, and the run's folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Longest that kube-proxy may take to see that a Service is gone.
const KUBE_PROXY_PATIENCE: Duration = Duration::from_secs(10);

/// Everything of the run `label`, in words; of root's registry.
pub fn of_run(label: &str) -> Vec<String> {
    of_run_in(label, Path::new("/run/loadline"))
}

/// Everything of the run `label`, whose user's registry is at `registry`. What is kube-proxy's goes a moment after the run's Services.
pub fn of_run_in(label: &str, registry: &Path) -> Vec<String> {
    let is_kube_proxys = |found: &String| found.contains("-A KUBE-");
    let deadline = Instant::now() + KUBE_PROXY_PATIENCE;
    loop {
        let found = of_run_now(label, registry);
        if found.is_empty() || !found.iter().all(is_kube_proxys) || Instant::now() > deadline {
            return found;
        }
        sleep(Duration::from_millis(200));
    }
}

fn of_run_now(label: &str, registry: &Path) -> Vec<String> {
    let listings = [
        ("ip", &["-o", "link"][..]),
        ("nft", &["list", "ruleset"]),
        ("iptables-nft-save", &[]),
        ("iptables-legacy-save", &[]),
    ];
    let names = [format!("ll{label}"), format!("LL{label}"), format!("loadline-{label}")];
    let mut found = Vec::new();
    for (tool, arguments) in listings {
        let lines = lines_of(tool, arguments);
        let owned = lines.into_iter().filter(|line| names.iter().any(|name| line.contains(name)));
        found.extend(owned.map(|line| format!("{tool}: {line}")));
    }
    found.extend(cgroups(label).iter().map(|dir| format!("cgroup {}", dir.display())));
    found.extend(processes(label).iter().map(|pid| format!("process {pid}")));
    let folder = registry.join(label);
    found.extend(folder.exists().then(|| format!("folder {}", folder.display())));
    found
}

/// Fails if anything of the run is left.
pub fn assert_none(label: &str) {
    let left = of_run(label);
    assert!(left.is_empty(), "left of run {label}: {left:#?}");
}

/// Processes that the run started, directly or not.
pub fn processes(label: &str) -> Vec<u32> {
    let owner = format!("LOADLINE_OWNER=loadline-{label}");
    let pids = fs::read_dir("/proc").expect("/proc").flatten();
    let owned = |pid: &u32| {
        // A process may end while it is looked at.
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(&owner)
    };
    pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(owned).collect()
}

fn cgroups(label: &str) -> Vec<PathBuf> {
    let root = PathBuf::from("/sys/fs/cgroup");
    let hierarchies = fs::read_dir(&root).expect("cgroups").flatten().map(|entry| entry.path());
    let dirs = hierarchies.chain([root.clone()]).map(|top| top.join(format!("loadline-{label}")));
    dirs.filter(|dir| dir.exists()).collect()
}

fn lines_of(tool: &str, arguments: &[&str]) -> Vec<String> {
    let output =
        Command::new(tool).args(arguments).output().unwrap_or_else(|error| panic!("{tool}: {error}"));
    assert!(output.status.success(), "{tool}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}
