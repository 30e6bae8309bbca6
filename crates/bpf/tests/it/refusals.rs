//! The errors for an ordinary user.

use std::{env, process::Command};

use loadline_bpf::{attach_datapath, attach_spin, spin_ns_per_packet};

use crate::topology::{POD, POD_MAC};

const INSIDE: &str = "LOADLINE_TEST_IN_USER_NAMESPACE";

/// The test starts itself inside a user namespace, where root is root of its own network and of nothing else.
#[test]
fn root_in_a_user_namespace_gets_an_error_that_asks_for_the_machines_root() {
    if env::var_os(INSIDE).is_none() {
        let test = "refusals::root_in_a_user_namespace_gets_an_error_that_asks_for_the_machines_root";
        let output = Command::new("unshare")
            .args(["--user", "--map-root-user", "--net"])
            .arg(env::current_exe().unwrap())
            .args(["--exact", test])
            .env(INSIDE, "yes")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    for error in [
        attach_datapath("lo", "lo", POD, POD_MAC).unwrap_err(),
        attach_spin("lo", 1).unwrap_err(),
        spin_ns_per_packet(1).unwrap_err(),
    ] {
        let message = error.to_string();
        assert!(message.contains("BPF programs for packets need root (CAP_BPF and CAP_NET_ADMIN outside any user namespace): run as root"), "{message}");
    }
}
