//! Facts about a daemon: its version, and those of its settings that affect what a container costs.

use bollard::models::{SystemInfo, SystemVersion};

use loadline_machine::Environment;
use loadline_platform::PlatformInfo;

use crate::{client::Client, error::DockerError};

/// Queries the daemon.
pub(crate) fn read(endpoint: Option<&str>, environment: &Environment) -> Result<PlatformInfo, DockerError> {
    let client = Client::connect(endpoint, environment.node())?;
    let version = client.call("read Docker's version", bollard::Docker::version)?;
    let info = client.call("read Docker's settings", bollard::Docker::info)?;
    Ok(describe(version, info))
}

fn describe(version: SystemVersion, info: SystemInfo) -> PlatformInfo {
    // Docker calls itself `Engine`, Podman says its name.
    let components = version.components.unwrap_or_default();
    let name =
        components.first().map_or("Docker", |first| first.name.as_str()).replace("Engine", "Docker Engine");
    let cgroups = info.cgroup_version.map(|found| format!("cgroup v{found}"));
    let parts = [
        Some(format!("{name} {}", version.version.clone().unwrap_or_default()).trim().to_owned()),
        info.default_runtime.clone(),
        info.driver.clone(),
        cgroups,
        info.cgroup_driver.map(|driver| format!("cgroup driver {driver}")),
        version.kernel_version.clone().map(|kernel| format!("Linux {kernel}")),
    ];
    let summary = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
    let facts = serde_json::json!({
        "name": name,
        "version": version.version,
        "api_version": version.api_version,
        "kernel": version.kernel_version,
        "runtime": info.default_runtime,
        "storage_driver": info.driver,
        "cgroup_driver": info.cgroup_driver,
        "cgroup_version": info.cgroup_version,
        "security_options": info.security_options,
        "live_restore": info.live_restore_enabled,
    });
    PlatformInfo { summary, facts }
}
