//! An ordinary user gets the whole topology in a user namespace, except for the cgroup, which is reported.

use std::{
    fs,
    os::unix::{
        fs::{PermissionsExt, chown},
        process::CommandExt,
    },
    path::Path,
    process::{Command, Output},
};

const NOBODY: u32 = 65534;
const NODEPORT: &str = r#"{"nodeport": {"backend": "nftables", "services": 3}}"#;

/// Runs the helper as `nobody` and returns what it printed.
fn as_nobody(layers: &str) -> Output {
    with_nodes_as_nobody("shared", layers)
}

fn with_nodes_as_nobody(nodes: &str, layers: &str) -> Output {
    in_home(|helper, home| {
        let registry = home.join("runs");
        let output = run(helper, home, &["rootless", nodes, registry.to_str().unwrap(), layers]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(fs::read_dir(&registry).unwrap().count(), 1, "the run is still registered");
        output
    })
}

/// What is missing for the layers as this user.
fn missing_for_nobody(layers: &str) -> Vec<String> {
    let output = in_home(|helper, home| run(helper, home, &["missing", layers]));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    lines(&output)
}

/// Runs `work` with a copy of the helper and a home that `nobody` may use.
fn in_home(work: impl FnOnce(&Path, &Path) -> Output) -> Output {
    assert!(rustix::process::geteuid().is_root(), "this test becomes another user: run it as root");
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let (helper, home) = (dir.path().join("helper"), dir.path().join("home"));
    // By another process: a file that this one has open for writing would, in a child just forked, be busy.
    assert!(
        Command::new("cp")
            .args([Path::new(loadline_test_support::helper()), &helper])
            .status()
            .unwrap()
            .success()
    );
    fs::create_dir(&home).unwrap();
    chown(&home, Some(NOBODY), Some(NOBODY)).unwrap();
    work(&helper, &home)
}

fn run(helper: &Path, home: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(helper);
    command
        .args(arguments)
        .uid(NOBODY)
        .gid(NOBODY)
        .current_dir(home)
        .env_clear()
        .env("PATH", "/usr/bin:/bin");
    command.output().unwrap()
}

fn lines(output: &Output) -> Vec<String> {
    String::from_utf8(output.stdout.clone()).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn a_bare_process_over_the_wire_needs_no_root() {
    assert_eq!(lines(&as_nobody("[]")), ["198.18.0.2"]);
}

#[test]
fn a_pod_behind_a_node_port_needs_no_root_with_either_backend() {
    for backend in ["iptables", "nftables"] {
        let layers =
            format!(r#"["veth", "bridge", {{"nodeport": {{"backend": "{backend}", "services": 3}}}}]"#);
        assert_eq!(lines(&as_nobody(&layers)), ["198.18.0.17"], "{backend}");
    }
}

#[test]
fn a_published_port_needs_no_root() {
    assert_eq!(lines(&as_nobody(r#"["veth", "bridge", "published"]"#)), ["198.18.0.2"]);
}

#[test]
fn an_unavailable_cgroup_is_left_out_with_a_note() {
    let said = lines(&as_nobody(r#"["cgroup", "veth"]"#));
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[1].starts_with("CPU and memory are neither limited nor accounted for"), "{said:?}");
    assert!(said[1].contains("systemd-run --user --scope -p Delegate=yes"), "{said:?}");
}

#[test]
fn a_node_of_its_own_needs_no_root() {
    loadline_test_support::load_br_netfilter();
    let client = "198.18.0.18";
    for (layers, caller) in [
        ("[]", client),
        (r#"["veth", "bridge", "br-netfilter", "conntrack", "published"]"#, client),
        (
            r#"["veth", "bridge", "conntrack", "nodeport"]"#.replace(r#""nodeport""#, NODEPORT).as_str(),
            "198.18.0.25",
        ),
        (r#"["veth", {"other-node": "vxlan"}, "conntrack"]"#, client),
        (r#"["macvlan"]"#, client),
    ] {
        assert_eq!(lines(&with_nodes_as_nobody("own", layers)), [caller], "{layers}");
    }
}

#[test]
fn twenty_thousand_rules_need_no_root() {
    assert_eq!(lines(&with_nodes_as_nobody("own", r#"["veth", {"rules": 20000}]"#)), ["198.18.0.18"]);
}

#[test]
fn what_needs_root_is_named_and_the_rest_is_not() {
    loadline_test_support::load_br_netfilter();
    let all = r#"["veth", "bridge", "br-netfilter", "conntrack", {"rules": 10}, {"other-node": "vxlan"}]"#;
    assert_eq!(missing_for_nobody(all), [""; 0]);
    let said = missing_for_nobody(r#"["cgroup", "quota"]"#);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].starts_with("the layer `quota` is not available here") && said[0].contains("run as root"),
        "{said:?}"
    );
}
