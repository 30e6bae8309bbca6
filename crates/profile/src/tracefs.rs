//! The ids and formats of the kernel's tracepoints, from tracefs, mounted or not.

use std::{
    fs::File,
    io::{self, Read},
    os::fd::OwnedFd,
    path::Path,
};

use rustix::{
    fs::{CWD, Mode, OFlags, openat},
    mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen},
};

use crate::ProfileError;

/// Where tracefs usually is (Documentation/trace/ftrace.rst).
const MOUNTED: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// The tracing file system.
pub(crate) struct TraceFs(OwnedFd);

/// A tracepoint.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tracepoint {
    name: &'static str,
    /// Its id for `perf_event_open(2)`.
    pub(crate) id: u64,
    /// The description of its record.
    format: String,
}

impl TraceFs {
    /// Opens it where it is mounted, or else through a detached mount.
    pub(crate) fn open() -> io::Result<TraceFs> {
        let directory = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        MOUNTED
            .iter()
            .filter(|path| Path::new(path).join("events").is_dir())
            .find_map(|path| Some(TraceFs(openat(CWD, *path, directory, Mode::empty()).ok()?)))
            .map_or_else(TraceFs::detached, Ok)
    }

    /// A detached mount, which is visible to no one and vanishes with this descriptor (fsmount(2)).
    fn detached() -> io::Result<TraceFs> {
        let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_create(&context)?;
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
            | MountAttrFlags::MOUNT_ATTR_NODEV
            | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        Ok(TraceFs(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?))
    }

    /// A tracepoint by group and name, such as `irq/softirq_raise`.
    pub(crate) fn tracepoint(&self, name: &'static str) -> Result<Tracepoint, ProfileError> {
        let failed = |source| ProfileError::Tracepoint { name, source };
        let id = self.read(&format!("events/{name}/id")).map_err(failed)?;
        let id = id.trim().parse().map_err(|_| failed(io::Error::from(io::ErrorKind::InvalidData)))?;
        Ok(Tracepoint { name, id, format: self.read(&format!("events/{name}/format")).map_err(failed)? })
    }

    fn read(&self, path: &str) -> io::Result<String> {
        let fd = openat(&self.0, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        let mut text = String::new();
        File::from(fd).read_to_string(&mut text)?;
        Ok(text)
    }
}

impl Tracepoint {
    /// The id, and where a field begins in the record, in bytes.
    ///
    /// # Errors
    /// If this kernel's record has no such field.
    pub(crate) fn field(&self, field: &str) -> Result<(u64, usize), ProfileError> {
        let offset = self.offset(field).ok_or_else(|| ProfileError::Tracepoint {
            name: self.name,
            source: io::Error::other(format!("its record has no field {field}")),
        })?;
        Ok((self.id, offset))
    }

    /// A line of the format: `field:unsigned int vec; offset:8; size:4; signed:0;`.
    fn offset(&self, field: &str) -> Option<usize> {
        self.format.lines().find_map(|line| {
            let mut parts = line.trim().split(';').map(str::trim);
            let declaration = parts.next()?.strip_prefix("field:")?;
            (declaration.split(' ').next_back()? == field).then_some(())?;
            parts.find_map(|part| part.strip_prefix("offset:"))?.parse().ok()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_by_its_name_alone() {
        let format = "name: softirq_raise\nID: 221\nformat:\n\
            \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
            \n\tfield:unsigned int vec;\toffset:8;\tsize:4;\tsigned:0;\n";
        let tracepoint = Tracepoint { name: "irq/softirq_raise", id: 221, format: format.into() };
        assert_eq!(tracepoint.offset("vec"), Some(8));
        assert_eq!(tracepoint.offset("type"), None);
        assert!(tracepoint.field("type").is_err_and(|e| e.to_string().contains("irq/softirq_raise")));
    }

    #[test]
    fn tracepoints_are_found_where_tracefs_is_mounted_nowhere() {
        let mounts = || std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        let before = mounts();
        let tracing = TraceFs::detached().unwrap();
        let raise = tracing.tracepoint("irq/softirq_raise").unwrap();
        assert!(raise.id > 0 && raise.offset("vec").is_some(), "{raise:?}");
        assert!(tracing.tracepoint("irq/no_such").is_err_and(|e| e.to_string().contains("irq/no_such")));
        assert_eq!(mounts(), before);
    }
}
