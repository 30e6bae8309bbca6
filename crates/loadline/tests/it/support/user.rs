//! An ordinary user: without root's rights, with the program and a home of its own.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::PathBuf;
use std::process::Command;

use super::PROGRAM;
use super::place::Place;

/// A user number that nobody has; the kernel asks for no more than a number.
pub const UID: u32 = 54_321;

/// A user with a folder to work in.
pub struct OrdinaryUser {
    pub home: PathBuf,
    /// Where the user's runs are registered.
    pub registry: PathBuf,
    program: PathBuf,
}

impl OrdinaryUser {
    /// The folder of the test is opened, so that the user can reach the program in it.
    pub fn at(place: &Place) -> OrdinaryUser {
        let (home, program, runtime) = (place.path("home"), place.path("loadline"), place.path("runtime"));
        fs::set_permissions(place.dir.path(), Permissions::from_mode(0o755)).expect("an open folder");
        fs::copy(PROGRAM, &program).expect("a copy of the program");
        for dir in [&home, &runtime] {
            fs::create_dir(dir).expect("a folder");
            fs::set_permissions(dir, Permissions::from_mode(0o700)).expect("a private folder");
            chown(dir, Some(UID), Some(UID)).expect("the user's folder");
        }
        OrdinaryUser { home, registry: runtime.join("loadline"), program }
    }

    /// `loadline ARGUMENTS` as this user, at home.
    pub fn command<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let id = UID.to_string();
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid", &id, "--regid", &id, "--clear-groups"])
            .arg(&self.program)
            .args(arguments)
            .current_dir(&self.home)
            .env("HOME", &self.home)
            .env("XDG_RUNTIME_DIR", self.registry.parent().expect("a parent"))
            .env_remove("LOADLINE_LOG");
        command
    }
}
