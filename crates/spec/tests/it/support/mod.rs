//! A machine that is the same wherever the tests run: four CPUs, two programs, one busy port, one name.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;

use loadline_model::metrics::{MetricDeclaration, Unit};
use loadline_spec::Machine;
use tempfile::TempDir;

/// The reference services that were built, with their modes.
const SERVICES: [(&str, &[&str]); 19] = [
    ("spring", &["platform", "virtual", "reactive"]),
    ("spring-aot", &["platform"]),
    ("spring-java-17", &["platform"]),
    ("quarkus", &["platform", "virtual", "reactive"]),
    ("quarkus-aot", &["platform"]),
    ("micronaut", &["platform", "virtual", "reactive"]),
    ("micronaut-aot", &["platform"]),
    ("helidon", &["virtual"]),
    ("javalin", &["platform", "virtual"]),
    ("spark", &["platform", "virtual"]),
    ("vertx", &["reactive"]),
    ("dropwizard", &["platform"]),
    ("pekko", &["reactive"]),
    ("go-net-http", &["virtual"]),
    ("go-1.24-line", &["virtual"]),
    ("go-fiber", &["virtual"]),
    ("django", &["platform"]),
    ("node", &["reactive"]),
    ("nginx", &["reactive"]),
];

/// A folder with the executable programs `server` and `python3`, a file `notes.txt` that is none, and the reference services, which all start
/// that server.
pub fn programs() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let services = folder.path().join("services");
    std::fs::create_dir(&services).unwrap();
    for (name, modes) in SERVICES {
        let command = [folder.path().join("server").display().to_string(), "--quiet".to_owned()];
        let built = serde_json::json!({ "modes": modes, "directory": services, "command": command });
        std::fs::write(services.join(format!("{name}.json")), built.to_string()).unwrap();
    }
    std::fs::write(services.join("spring.tar"), "").unwrap();
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
        metrics: vec![MetricDeclaration::level("jvm.heap.used", Unit::Bytes)],
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
