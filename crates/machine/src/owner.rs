//! Who owns an object on the machine: a run, or one deployment of it, known from the object's name alone.
//! Everything is created and removed by these names, so that nothing else can be touched.

use std::{fmt, path::PathBuf};

use crate::run_name::RunName;

/// The environment variable that labels every process started for a run (and what it starts).
pub const PROCESS_LABEL: &str = "LOADLINE_OWNER";

/// The label with the run's name on what a platform creates elsewhere.
pub const RUN_LABEL: &str = "loadline.run";
/// The label with the deployment's number, where the object belongs to one deployment.
pub const SLOT_LABEL: &str = "loadline.slot";

/// A run as a whole, or its deployment number `slot`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The run.
    pub run: RunName,
    /// The deployment's number; `None` is the run as a whole.
    pub slot: Option<u16>,
}

impl Owner {
    /// The run as a whole.
    pub fn run(run: RunName) -> Owner {
        Owner { run, slot: None }
    }

    /// Name of an nft table, comment of an iptables rule, label of a process.
    pub fn label(&self) -> String {
        match self.slot {
            Some(slot) => format!("loadline-{}-{slot}", self.run),
            None => format!("loadline-{}", self.run),
        }
    }

    /// Whether a label belongs to the owner, or to one of its deployments.
    pub fn owns_label(&self, label: &str) -> bool {
        self.owns(label.strip_prefix("loadline-"), "-")
    }

    /// A link's name: at most 12 of the 15 characters that the kernel allows.
    pub fn link(&self, role: Role) -> String {
        let slot = self.slot.map(|slot| slot.to_string()).unwrap_or_default();
        format!("ll{}{}{slot}", self.run, role as u8 as char)
    }

    /// Whether a link belongs to the owner, or to one of its deployments.
    pub fn owns_link(&self, name: &str) -> bool {
        let Some(rest) = name.strip_prefix(&format!("ll{}", self.run)) else { return false };
        let Some(number) = rest.strip_prefix(|c: char| Role::ALL.iter().any(|r| *r as u8 as char == c))
        else {
            return false;
        };
        match self.slot {
            Some(slot) => number == slot.to_string(),
            None => number.bytes().all(|b| b.is_ascii_digit()),
        }
    }

    /// The pattern by which iptables matches all links of the run.
    pub fn links_pattern(&self) -> String {
        format!("ll{}+", self.run)
    }

    /// An iptables chain's name: at most 28 characters.
    pub fn chain(&self, suffix: &str) -> String {
        match self.slot {
            Some(slot) => format!("LL{}-{slot}-{suffix}", self.run),
            None => format!("LL{}-{suffix}", self.run),
        }
    }

    /// Whether a chain belongs to the owner, or to one of its deployments.
    pub fn owns_chain(&self, name: &str) -> bool {
        self.owns(name.strip_prefix("LL"), "-")
    }

    /// Path of the cgroup below a hierarchy's root.
    pub fn cgroup(&self) -> PathBuf {
        let top = PathBuf::from(format!("loadline-{}", self.run));
        match self.slot {
            Some(slot) => top.join(slot.to_string()),
            None => top,
        }
    }

    /// `rest` is `RUN`, `RUN-…` or `RUN-SLOT…`, where the slot must end where a part ends.
    fn owns(&self, rest: Option<&str>, separator: &str) -> bool {
        let Some(rest) = rest.and_then(|rest| rest.strip_prefix(&self.run.to_string())) else { return false };
        let mut parts = rest.split(separator);
        if parts.next() != Some("") {
            return false;
        }
        match self.slot {
            Some(slot) => parts.next() == Some(slot.to_string().as_str()),
            None => true,
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label())
    }
}

/// The purpose of a link, one letter of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The node's end of the wire to the client.
    Wire = b'w' as isize,
    /// The far end of a pair, until it is moved into its namespace.
    Peer = b'p' as isize,
    /// The bridge in front of a pod.
    Bridge = b'b' as isize,
    /// The node's end of a pod's pair.
    Veth = b'v' as isize,
    /// The node's end of a second wire to the client, which macvlan links of containers are on.
    Macvlan = b'm' as isize,
}

impl Role {
    const ALL: [Role; 5] = [Role::Wire, Role::Peer, Role::Bridge, Role::Veth, Role::Macvlan];
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> RunName {
        "0a1b2c".parse().unwrap()
    }

    #[test]
    fn a_run_owns_everything_of_its_deployments() {
        let deployment = Owner { run: run(), slot: Some(12) };
        for owner in [Owner::run(run()), deployment] {
            assert!(owner.owns_label(&deployment.label()));
            assert!(owner.owns_chain(&deployment.chain("SVC-1")));
            assert!(owner.owns_link(&deployment.link(Role::Veth)));
        }
    }

    #[test]
    fn a_deployment_owns_nothing_of_other_deployments_or_of_its_run() {
        let deployment = Owner { run: run(), slot: Some(1) };
        for other in [Owner { run: run(), slot: Some(12) }, Owner::run(run())] {
            assert!(!deployment.owns_label(&other.label()));
            assert!(!deployment.owns_chain(&other.chain("SVC-1")));
            assert!(!deployment.owns_link(&other.link(Role::Veth)));
        }
    }

    #[test]
    fn a_run_owns_nothing_of_others() {
        let owner = Owner::run(run());
        for name in
            ["", "eth0", "ll", "ll0a1b2c", "ll0a1b2cx1", "ll0a1b2dw", "ll0a1b2cw-", "loadline-0a1b2c0"]
        {
            assert!(!owner.owns_link(name) && !owner.owns_label(name), "{name}");
        }
        for name in ["LL0a1b2d-1-SVC", "LL0a1b2c1-SVC", "KUBE-SERVICES", "DOCKER"] {
            assert!(!owner.owns_chain(name), "{name}");
        }
    }

    #[test]
    fn the_longest_names_fit_the_kernels_limits() {
        let owner = Owner { run: run(), slot: Some(crate::addresses::SLOTS) };
        assert!(owner.link(Role::Bridge).len() <= 15);
        assert!(owner.chain("POSTROUTING").len() <= 28);
        assert!(owner.chain("SVC-65535").len() <= 28);
    }
}
