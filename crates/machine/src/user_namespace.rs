//! For an ordinary user: the whole topology inside one user and network namespace (`user_namespaces(7)`), in which
//! the user is root for links and rules, and for nothing else.

use std::{fs, io};

use rustix::thread::UnshareFlags;

use crate::{
    error::{Error, ErrorContext},
    netlink::{self, Netlink},
    sys,
};

/// Moves this process into a new user, network and mount namespace, as root there, with the loopback device up.
/// The network namespace that it leaves cannot be entered again: what listens there is unreachable afterwards.
///
/// # Errors
/// [`Error::SeveralThreads`] if a second thread exists already; [`Error::UserNamespaceRefused`], naming the setting
/// to change, if the kernel refuses.
pub fn enter_user_namespace() -> Result<(), Error> {
    let threads =
        fs::read_dir("/proc/self/task").with_context(|| "list the threads of this process")?.count();
    if threads > 1 {
        return Err(Error::SeveralThreads { threads });
    }
    let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let namespaces = UnshareFlags::NEWUSER | UnshareFlags::NEWNET | UnshareFlags::NEWNS;
    let step = |step, result: io::Result<()>| {
        result.map_err(|source| Error::UserNamespaceRefused { step, hint: hint(read_setting), source })
    };
    step("creating it", sys::unshare(namespaces))?;
    // Without it the kernel accepts no group map from an ordinary user (CVE-2014-8989).
    step("denying setgroups", fs::write("/proc/self/setgroups", "deny"))?;
    step("mapping the user", fs::write("/proc/self/uid_map", format!("0 {uid} 1")))?;
    step("mapping the group", fs::write("/proc/self/gid_map", format!("0 {gid} 1")))?;
    netlink::with_netlink(async |net: &Netlink| net.set_up(net.index_of("lo").await?).await)
}

/// The effective user id in the parent user namespace: the same inside and outside our own namespace.
pub fn host_uid() -> Result<u32, Error> {
    let map = fs::read_to_string("/proc/self/uid_map").with_context(|| "read /proc/self/uid_map")?;
    let inner = rustix::process::geteuid().as_raw();
    Ok(map_to_host(&map, inner).unwrap_or(inner))
}

/// Each line of a map: first inner id, first outer id, length.
fn map_to_host(map: &str, inner: u32) -> Option<u32> {
    map.lines().find_map(|line| {
        let mut numbers = line.split_whitespace().map(|word| word.parse::<u32>().ok());
        let (from, to, length) = (numbers.next()??, numbers.next()??, numbers.next()??);
        let offset = inner.checked_sub(from).filter(|offset| *offset < length)?;
        to.checked_add(offset)
    })
}

fn read_setting(name: &str) -> Option<String> {
    let path = format!("/proc/sys/{}", name.replace('.', "/"));
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// Names the setting that forbids user namespaces, or all settings that may.
fn hint(setting: impl Fn(&str) -> Option<String>) -> String {
    let forbids = [
        ("kernel.unprivileged_userns_clone", "0", "1"),
        ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
        ("user.max_user_namespaces", "0", "10000"),
    ];
    for (name, forbidding, allowing) in forbids {
        if setting(name).as_deref() == Some(forbidding) {
            return format!(
                "{name} is {forbidding}: as root, run `sysctl -w {name}={allowing}`, or run loadline as root"
            );
        }
    }
    let names = forbids.map(|(name, ..)| name).join(", ");
    format!("Run as root. In a container, the seccomp profile may forbid it; otherwise see sysctl {names}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outer_user_is_read_from_the_map() {
        assert_eq!(map_to_host("         0       1000          1\n", 0), Some(1000));
        assert_eq!(map_to_host("0 0 4294967295\n", 1000), Some(1000));
        assert_eq!(map_to_host("0 1000 1\n1 100000 65536\n", 5), Some(100_004));
        assert_eq!(map_to_host("0 1000 1\n", 7), None);
    }

    #[test]
    fn the_hint_names_the_setting_that_forbids() {
        let ubuntu =
            |name: &str| (name == "kernel.apparmor_restrict_unprivileged_userns").then(|| "1".to_owned());
        assert!(hint(ubuntu).contains("sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"));
        assert!(hint(|_| None).contains("user.max_user_namespaces"));
    }

    #[test]
    fn a_process_with_threads_is_rejected() {
        // The test harness has a thread besides this one.
        let refused = std::thread::spawn(enter_user_namespace).join().unwrap();
        assert!(matches!(refused, Err(Error::SeveralThreads { .. })));
    }
}
