//! One call of one plugin: it is found in the plugin folders, given its configuration, and its result read (CNI specification, section 2).

use std::{
    env,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde::Deserialize;
use serde_json::{Map, Value};

use loadline_machine::{ErrorContext, Netns, PROCESS_LABEL, tool};

use super::LINK;
use crate::error::LocalError;

/// Plugin folders unless CNI_PATH is set: the usual one, Debian's and Fedora's.
const FOLDERS: [&str; 3] = ["/opt/cni/bin", "/usr/lib/cni", "/usr/libexec/cni"];
/// One call of a plugin.
pub(super) struct Call<'a> {
    /// `ADD` or `DEL`.
    pub command: &'static str,
    pub program: &'a Path,
    /// Folders of the plugins that it calls itself.
    pub folders: &'a [PathBuf],
    pub container_id: &'a str,
    /// The pod's namespace, as a path; empty once it is gone.
    pub netns: &'a str,
    pub config: Map<String, Value>,
}

/// What a plugin prints on its standard output when it fails.
#[derive(Deserialize)]
struct Failure {
    code: u64,
    msg: String,
    #[serde(default)]
    details: String,
}

/// The folders that are searched for plugins.
pub(super) fn folders() -> Vec<PathBuf> {
    match env::var_os("CNI_PATH") {
        Some(path) if !path.is_empty() => env::split_paths(&path).collect(),
        _ => FOLDERS.map(PathBuf::from).to_vec(),
    }
}

pub(super) fn find(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    folders.iter().map(|folder| folder.join(name)).find(|file| tool::is_executable(file))
}

/// Runs the plugin in the namespace `node` and returns its result, if any; the inner error is why it failed.
pub(super) fn run(call: &Call, node: &Netns) -> Result<Result<Option<Value>, String>, LocalError> {
    let shown = call.program.display();
    let mut command = Command::new(call.program);
    command
        .env("CNI_COMMAND", call.command)
        .env("CNI_CONTAINERID", call.container_id)
        .env("CNI_NETNS", call.netns)
        .env("CNI_IFNAME", LINK)
        .env("CNI_PATH", env::join_paths(call.folders).unwrap_or_default())
        .env_remove("CNI_ARGS")
        .env(PROCESS_LABEL, call.container_id)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let config = Value::Object(call.config.clone()).to_string();
    let output = node.run(|| {
        let mut child = command.spawn().with_context(|| format!("start {shown}"))?;
        // A plugin that fails early closes the pipe and prints why.
        if let Some(mut stdin) = child.stdin.take() {
            let _ = stdin.write_all(config.as_bytes());
        }
        child.wait_with_output().with_context(|| format!("wait for {shown}"))
    })?;
    Ok(answer(&output))
}

fn answer(output: &Output) -> Result<Option<Value>, String> {
    let said = String::from_utf8_lossy(&output.stdout);
    if output.status.success() {
        return match said.trim() {
            "" => Ok(None),
            said => serde_json::from_str(said)
                .map(Some)
                .map_err(|error| format!("its result is not JSON: {error}")),
        };
    }
    if let Ok(Failure { code, msg, details }) = serde_json::from_str(&said) {
        let details = if details.is_empty() { details } else { format!("; {details}") };
        return Err(format!("{msg}{details} (code {code})"));
    }
    let printed = [said, String::from_utf8_lossy(&output.stderr)].concat();
    Err(format!("{} {}", output.status, printed.trim()).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use std::{os::unix::process::ExitStatusExt, process::ExitStatus};

    use super::*;

    fn answered(code: i32, stdout: &str, stderr: &str) -> Result<Option<Value>, String> {
        let status = ExitStatus::from_raw(code << 8);
        answer(&Output { status, stdout: stdout.into(), stderr: stderr.into() })
    }

    #[test]
    fn an_error_is_shown_with_its_details_and_code() {
        let said =
            r#"{"cniVersion": "1.0.0", "code": 11, "msg": "no address left", "details": "10.1.0.0/30"}"#;
        assert_eq!(answered(1, said, "").unwrap_err(), "no address left; 10.1.0.0/30 (code 11)");
        assert_eq!(answered(1, r#"{"code": 7, "msg": "bad"}"#, "").unwrap_err(), "bad (code 7)");
    }

    #[test]
    fn a_plugin_that_dies_without_an_error_is_described_by_its_output() {
        assert_eq!(answered(2, "", "panic: nil\n").unwrap_err(), "exit status: 2 panic: nil");
    }

    #[test]
    fn an_answer_is_json_or_nothing() {
        assert_eq!(answered(0, "\n", "a warning"), Ok(None));
        assert_eq!(answered(0, r#"{"ips": []}"#, ""), Ok(Some(serde_json::json!({"ips": []}))));
        assert!(answered(0, "done", "").unwrap_err().contains("not JSON"));
    }
}
