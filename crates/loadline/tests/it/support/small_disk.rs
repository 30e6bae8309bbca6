//! A file system that is soon full.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Unmounted with the value.
pub struct SmallDisk(pub PathBuf);

impl SmallDisk {
    /// At a folder that it makes, of a size as of mount(8): `1m`.
    pub fn at(path: PathBuf, size: &str) -> SmallDisk {
        fs::create_dir(&path).expect("a folder");
        let size = format!("size={size}");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &size, "loadline-test"]).arg(&path).status();
        assert!(mounted.expect("mount starts").success());
        SmallDisk(path)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Nothing more can be done in a drop: if it fails, `mount` still lists it.
        let _ = Command::new("umount").arg(&self.0).status();
    }
}
