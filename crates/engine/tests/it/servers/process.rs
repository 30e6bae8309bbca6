//! A server's process: started with what it needs, ended with the test.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// A running server and its folder. Dropping it ends the server, also when a test panics.
pub struct Process {
    child: Child,
    folder: TempDir,
}

impl Process {
    /// A folder for a server's files.
    pub fn folder() -> TempDir {
        tempfile::Builder::new().prefix("loadline-test-").tempdir().unwrap()
    }

    /// Starts a program in its folder. It is told by the kernel to end when the thread that started it does (PR_SET_PDEATHSIG), so
    /// that a test that is killed leaves nothing behind.
    pub fn start(folder: TempDir, program: &str, arguments: &[&str]) -> Process {
        let output = File::create(folder.path().join("output")).unwrap();
        let child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", program])
            .args(arguments)
            .current_dir(folder.path())
            // Whatever the server wants to keep of itself, it keeps in its folder.
            .env("HOME", folder.path())
            .env("XDG_DATA_HOME", folder.path())
            .env("XDG_CONFIG_HOME", folder.path())
            .env("PATH", format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default()))
            .stdin(Stdio::null())
            .stdout(output.try_clone().unwrap())
            .stderr(output)
            .spawn()
            .unwrap_or_else(|error| {
                panic!("can't start {program}: {error}; tests/install-tools installs it")
            });
        Process { child, folder }
    }

    /// Waits until the server is up, and says what it said when it is not.
    pub fn wait_until_up(mut self, is_up: impl Fn(&Path) -> bool) -> Process {
        super::wait_for("a server to come up", || {
            if let Some(status) = self.child.try_wait().unwrap() {
                let said = std::fs::read_to_string(self.path("output")).unwrap_or_default();
                panic!("the server ended at once ({status}):\n{said}");
            }
            is_up(self.folder.path())
        });
        self
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// A file in its folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
