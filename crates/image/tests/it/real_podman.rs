//! Podman loads the archive and runs it, with storage of the test's own.

use std::path::Path;

use crate::runtimes::{Contained, installed, run};
use crate::service::{archive, assert_served};

fn podman(folder: &Path, arguments: &[&str]) -> String {
    let mut command = installed("podman");
    command
        .args(["--root".as_ref(), folder.join("root").as_os_str()])
        .args(["--runroot".as_ref(), folder.join("run").as_os_str()])
        .args(["--tmpdir".as_ref(), folder.join("tmp").as_os_str()])
        // What works without systemd, and leaves no mounts.
        .args(["--storage-driver=vfs", "--cgroup-manager=cgroupfs", "--events-backend=file"]);
    run(command.args(arguments))
}

#[test]
fn podman_loads_the_archive_and_runs_it_as_user_1000() {
    let folder = tempfile::tempdir().expect("a folder");
    let archived = archive(folder.path());
    let podman = |arguments: &[&str]| podman(folder.path(), arguments);

    let said = podman(&["load", "--input", &archived.path.display().to_string()]);
    assert_eq!(said, format!("Loaded image: {}", archived.name));
    assert_eq!(podman(&["images", "--quiet", "--no-trunc"]), archived.id);

    // Podman would raise limits, which a machine without CAP_SYS_RESOURCE refuses.
    let limits = ["--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024"];
    let options = ["run", "--detach", "--network=none", "--log-driver=none"];
    let container = podman(&[&options[..], &limits, &[&archived.name]].concat());
    let contained = Contained { pid: podman(&["inspect", "--format", "{{.State.Pid}}", &container]) };
    assert_served(&contained, "127.0.0.1:8080 as told by the image");
    podman(&["rm", "--force", "--time=0", &container]);
    podman(&["rmi", "--force", &archived.name]);
}
