//! Stops all processes of a cgroup for a while, and lets them go on.

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use crate::{
    error::{Error, ErrorContext},
    wait::{self, SHORT_INTERVAL},
};

/// How long the processes of a cgroup may take to stop: one that waits within the kernel stops when it is done.
const FREEZE_TIMEOUT: Duration = Duration::from_millis(500);
/// A parent that waits for its child to execute a program (vfork(2)) does not stop while the child has. All go on for a moment before each
/// new attempt.
const ATTEMPTS: usize = 20;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(100);

/// A cgroup whose processes can be stopped.
#[derive(Clone, Debug)]
pub struct Freezer {
    /// What is written to.
    switch: PathBuf,
    frozen: &'static str,
    thawed: &'static str,
    /// Which file says that all have stopped, and by which line.
    state: (PathBuf, &'static str),
}

impl Freezer {
    /// Of the cgroup at this path below the root of its hierarchy, `/system/daemons`. `None` if there is no such cgroup, or this process is in it.
    pub fn of(cgroup: &str) -> Option<Freezer> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let own = fs::read_to_string("/proc/self/cgroup").ok()?;
        let is_own =
            own.lines().filter_map(|line| line.splitn(3, ':').nth(2)).any(|path| is_below(path, cgroup));
        let is_proper = cgroup.starts_with('/') && cgroup.len() > 1 && !cgroup.contains("..");
        if is_own || !is_proper {
            return None;
        }
        roots(&mounts).into_iter().find_map(|(root, version)| {
            let dir = root.join(cgroup.trim_start_matches('/'));
            let freezer = Freezer::in_dir(&dir, version);
            freezer.switch.exists().then_some(freezer)
        })
    }

    fn in_dir(dir: &Path, version: Version) -> Freezer {
        match version {
            // Documentation/admin-guide/cgroup-v1/freezer-subsystem.rst
            Version::One => {
                let switch = dir.join("freezer.state");
                Freezer { state: (switch.clone(), "FROZEN"), switch, frozen: "FROZEN", thawed: "THAWED" }
            }
            // Documentation/admin-guide/cgroup-v2.rst, "Core Interface Files"
            Version::Two => Freezer {
                switch: dir.join("cgroup.freeze"),
                frozen: "1",
                thawed: "0",
                state: (dir.join("cgroup.events"), "frozen 1"),
            },
        }
    }

    /// Stops all processes, and returns once they have stopped.
    ///
    /// # Errors
    /// When they have not after twelve seconds; then none is stopped.
    pub fn freeze(&self) -> Result<(), Error> {
        let (file, line) = &self.state;
        let is_frozen = || {
            let state = fs::read_to_string(file).ok()?;
            state.lines().any(|found| found == *line).then_some(())
        };
        for _ in 0..ATTEMPTS {
            self.write(self.frozen)?;
            if wait::until(FREEZE_TIMEOUT, SHORT_INTERVAL, is_frozen).is_some() {
                return Ok(());
            }
            self.thaw()?;
            thread::sleep(BETWEEN_ATTEMPTS);
        }
        Err(io::Error::from(io::ErrorKind::TimedOut))
            .with_context(|| format!("stop the processes of {}", self.switch.display()))
    }

    /// Lets all processes go on.
    pub fn thaw(&self) -> Result<(), Error> {
        self.write(self.thawed)
    }

    fn write(&self, word: &str) -> Result<(), Error> {
        fs::write(&self.switch, word).with_context(|| format!("write {word} to {}", self.switch.display()))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Version {
    One,
    Two,
}

/// Where cgroups can be frozen: the mount points of version 1's freezer and of version 2 (`proc_pid_mountinfo(5)`).
fn roots(mounts: &str) -> Vec<(PathBuf, Version)> {
    let root = |line: &str| {
        let (mount, kind) = line.split_once(" - ")?;
        let words: Vec<&str> = kind.split(' ').collect();
        let version = match *words.first()? {
            "cgroup" if words.get(2)?.split(',').any(|option| option == "freezer") => Version::One,
            "cgroup2" => Version::Two,
            _ => return None,
        };
        Some((PathBuf::from(mount.split(' ').nth(4)?), version))
    };
    mounts.lines().filter_map(root).collect()
}

fn is_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above.trim_end_matches('/'))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_are_found_where_they_are_mounted() {
        let mounts = "30 24 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n\
            31 24 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
            32 24 0:29 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer\n";
        let expected = [("/sys/fs/cgroup/unified", Version::Two), ("/sys/fs/cgroup/freezer", Version::One)];
        assert_eq!(roots(mounts), expected.map(|(path, version)| (PathBuf::from(path), version)));
    }

    #[test]
    fn what_this_process_is_in_is_never_frozen() {
        assert_eq!(Freezer::of("/").map(|found| found.switch), None);
        assert!(is_below("/user/session", "/user") && is_below("/user", "/user/"));
        assert!(!is_below("/users", "/user"));
    }
}
