//! A compiled object, loaded into the kernel: its maps, and its programs with their globals filled in.

use aya::{
    Ebpf, EbpfLoader,
    programs::{Program, ProgramError, ProgramType, SchedClassifier},
    sys::is_program_supported,
};

use crate::BpfError;

/// Lines of the verifier's log that are shown: the reason is at its end, before a line or two of statistics.
const LOG_LINES: usize = 12;

/// An object file and what is in it.
pub(crate) struct Object {
    pub bytes: &'static [u8],
    /// Its programs.
    pub programs: &'static [&'static str],
    /// The first version of Linux that has all helpers that the programs call (bpf-helpers(7)).
    pub since: &'static str,
}

impl Object {
    /// Loads the programs with the `globals`, each the bytes of a variable that the object has.
    pub fn load(&self, globals: &[(&str, &[u8])]) -> Result<Ebpf, BpfError> {
        // Without the permission to load programs, the loader detects no features of the kernel and fails with a misleading error.
        is_program_supported(ProgramType::SchedClassifier)
            .map_err(|e| BpfError::new("load the smallest BPF program", e))?;
        let mut loader = EbpfLoader::new();
        for (name, bytes) in globals {
            loader.override_global(name, *bytes, true);
        }
        let mut ebpf =
            loader.load(self.bytes).map_err(|e| BpfError::new("create the maps of a BPF program", e))?;
        for name in self.programs {
            classifier(&mut ebpf, name)?.load().map_err(|error| self.refused(name, error))?;
        }
        Ok(ebpf)
    }

    fn refused(&self, program: &'static str, error: ProgramError) -> BpfError {
        match error {
            // The verifier itself fails with other errors (EACCES, EINVAL) than a lack of privileges.
            ProgramError::LoadError { io_error, verifier_log }
                if io_error.raw_os_error() != Some(nix::libc::EPERM) =>
            {
                let log = verifier_log.to_string();
                let lines: Vec<&str> = log.trim_end().lines().collect();
                let log = lines[lines.len().saturating_sub(LOG_LINES)..].join("\n");
                BpfError::Refused { program, since: self.since, log, source: io_error }
            }
            error => BpfError::new(format!("load the BPF program `{program}`"), error),
        }
    }
}

/// The program `name` of an object.
pub(crate) fn classifier<'a>(ebpf: &'a mut Ebpf, name: &str) -> Result<&'a mut SchedClassifier, BpfError> {
    let what = || format!("find the BPF program `{name}` in its object");
    let program: &mut Program =
        ebpf.program_mut(name).ok_or_else(|| BpfError::new(what(), "it does not exist"))?;
    program.try_into().map_err(|e: ProgramError| BpfError::new(what(), e))
}
