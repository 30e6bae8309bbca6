//! A machine that is the same wherever the tests run: four CPUs, two programs, one busy port, one name.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;

use loadline_spec::Machine;
use tempfile::TempDir;

/// A folder with the executable programs `server` and `python3`, and a file `notes.txt` that is none.
pub fn programs() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, mode) in [("server", 0o755), ("python3", 0o755), ("notes.txt", 0o644)] {
        let path = folder.path().join(name);
        std::fs::write(&path, "").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    folder
}

/// The machine whose programs are in `folder`.
pub fn machine(folder: &TempDir) -> Machine<'static> {
    Machine {
        check_builtin: &check_builtin,
        services: folder.path().join("services"),
        cpus: vec![0, 1, 2, 3],
        path: folder.path().as_os_str().to_owned(),
        listens: &|port| port == 5432,
        resolve: &resolve,
        seed: 7,
    }
}

fn check_builtin(name: &str, args: &[String]) -> Result<(), String> {
    match args.first().map(String::as_str) {
        None | Some("--delay" | "--orders") if name == "orders" => Ok(()),
        None => Ok(()),
        Some(other) => Err(format!("unknown argument `{other}`")),
    }
}

fn resolve(host: &str, port: u16) -> Vec<SocketAddr> {
    if host == "localhost" { vec![SocketAddr::from(([127, 0, 0, 1], port))] } else { Vec::new() }
}
