//! Numbers in the memory of another process (proc_pid_mem(5)), which is not stopped for it: each is read at once.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::process::Pid;

/// The type of the entry point among the auxiliary values (getauxval(3), AT_ENTRY).
const AT_ENTRY: u64 = 9;

/// The memory of a process.
pub(crate) struct Memory {
    file: File,
    /// How far from where its file says the program was loaded.
    bias: u64,
}

impl Memory {
    /// Opens that of a process whose file has its entry point there.
    pub(crate) fn open(pid: Pid, entry: u64) -> io::Result<Memory> {
        let auxiliary = std::fs::read(format!("/proc/{pid}/auxv"))?;
        let loaded = entry_point(&auxiliary).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Memory { file: File::open(format!("/proc/{pid}/mem"))?, bias: loaded.wrapping_sub(entry) })
    }

    /// The number of 64 bits at this address of the file.
    pub(crate) fn u64(&self, address: u64) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact_at(&mut bytes, address.wrapping_add(self.bias))?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// The number of 32 bits there.
    pub(crate) fn u32(&self, address: u64) -> io::Result<u32> {
        let mut bytes = [0; 4];
        self.file.read_exact_at(&mut bytes, address.wrapping_add(self.bias))?;
        Ok(u32::from_le_bytes(bytes))
    }
}

/// Pairs of a type and a value, of 64 bits each.
fn entry_point(auxiliary: &[u8]) -> Option<u64> {
    let number = |bytes: &[u8]| Some(u64::from_ne_bytes(bytes.try_into().ok()?));
    let mut pairs =
        auxiliary.chunks_exact(16).filter_map(|pair| Some((number(&pair[..8])?, number(&pair[8..])?)));
    pairs.find(|(kind, _)| *kind == AT_ENTRY).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_this_process_are_read_where_its_file_was_loaded() {
        static NUMBER: u64 = 0x0123_4567_89ab_cdef;
        let pid = rustix::process::getpid();
        let auxiliary = std::fs::read("/proc/self/auxv").unwrap();
        // As if the file had been loaded 4096 bytes above where it says.
        let memory = Memory::open(pid, entry_point(&auxiliary).unwrap() - 4096).unwrap();
        let address = (&raw const NUMBER) as u64 - 4096;
        assert_eq!(memory.u64(address).unwrap(), NUMBER);
        assert_eq!(memory.u32(address).unwrap(), 0x89ab_cdef);
        assert!(memory.u32(0).is_err());
    }

    #[test]
    fn auxiliary_values_without_an_entry_point_are_none() {
        assert_eq!(entry_point(&[]), None);
        assert_eq!(entry_point(&[9; 15]), None);
    }
}
