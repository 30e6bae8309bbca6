//! Addresses to names: the kernel's from `/proc/kallsyms` (BPF programs are there too, as `bpf_prog_TAG_NAME`), a program's from
//! the files in its memory map.

use std::{
    collections::{BTreeSet, HashMap},
    io::{BufRead, BufReader},
    path::PathBuf,
};

use blazesym::{
    MaybeDefault, Pid,
    symbolize::{
        Input, Symbolizer,
        source::{Kernel, Process, Source},
    },
};

use crate::ProfileError;

const KALLSYMS: &str = "/proc/kallsyms";

/// The name of an unresolved function.
pub(crate) const UNKNOWN: &str = "[unknown]";

/// Marks in a call chain are the topmost 4,096 addresses (`PERF_CONTEXT_MAX`, include/uapi/linux/perf_event.h).
const CONTEXT_MAX: u64 = -4095_i64 as u64;
const CONTEXT_KERNEL: u64 = -128_i64 as u64;
const CONTEXT_USER: u64 = -512_i64 as u64;

/// A call chain taken apart: addresses inside the functions, innermost first.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Chain {
    pub(crate) kernel: Vec<u64>,
    pub(crate) user: Vec<u64>,
}

impl Chain {
    /// Takes a call chain of `perf_event_open(2)` apart. A caller's address is the one it returns to, which may be behind the
    /// function that called; the byte before it is inside.
    pub(crate) fn parse(addresses: &[u64]) -> Chain {
        let mut chain = Chain::default();
        let mut side = None;
        for &address in addresses {
            match address {
                CONTEXT_KERNEL => side = Some(&mut chain.kernel),
                CONTEXT_USER => side = Some(&mut chain.user),
                // A hypervisor's guest: not ours.
                CONTEXT_MAX.. => side = None,
                _ => {
                    if let Some(frames) = &mut side {
                        frames.push(if frames.is_empty() { address } else { address.saturating_sub(1) });
                    }
                }
            }
        }
        chain
    }
}

/// The symbols of the kernel and of programs. They are read when they are first needed, and then kept: take others once BPF programs have been
/// loaded or unloaded.
#[derive(Debug)]
pub struct Symbols(Symbolizer);

impl Symbols {
    /// Symbols of which none are read yet.
    #[allow(clippy::new_without_default, reason = "what is read depends on the machine")]
    pub fn new() -> Symbols {
        Symbols(Symbolizer::builder().enable_code_info(false).enable_inlined_fns(false).build())
    }
}

/// Names of the requested addresses.
#[derive(Debug, Default)]
pub(crate) struct Names {
    kernel: HashMap<u64, String>,
    user: HashMap<(u32, u64), String>,
}

impl Names {
    /// Looks up addresses of the kernel, and of programs by PID.
    ///
    /// # Errors
    /// If the kernel's symbols cannot be read. A process that has ended has no names, which is not an error.
    pub(crate) fn look_up(
        Symbols(symbolizer): &Symbols,
        kernel: &BTreeSet<u64>,
        user: &HashMap<u32, BTreeSet<u64>>,
    ) -> Result<Names, ProfileError> {
        let mut names = Names::default();
        // Only the running kernel's file: a vmlinux in /boot has no BPF programs, and may be another build.
        let source = Kernel { vmlinux: MaybeDefault::None, ..Kernel::default() };
        let addresses: Vec<u64> = kernel.iter().copied().collect();
        let found = symbolizer
            .symbolize(&Source::Kernel(source), Input::AbsAddr(&addresses))
            .map_err(|e| ProfileError::Symbols(e.to_string()))?;
        for (address, symbol) in addresses.iter().zip(found) {
            if let Some(symbol) = symbol.into_sym() {
                names.kernel.insert(*address, plain(&symbol.name).to_owned());
            }
        }
        for (&pid, addresses) in user {
            let addresses: Vec<u64> = addresses.iter().copied().collect();
            let source = Source::Process(Process::new(Pid::from(pid)));
            let Ok(found) = symbolizer.symbolize(&source, Input::AbsAddr(&addresses)) else { continue };
            for (address, symbol) in addresses.iter().zip(found) {
                if let Some(symbol) = symbol.into_sym() {
                    names.user.insert((pid, *address), symbol.name.into_owned());
                }
            }
        }
        Ok(names)
    }

    /// The kernel function at an address.
    pub(crate) fn kernel(&self, address: u64) -> &str {
        self.kernel.get(&address).map_or(UNKNOWN, String::as_str)
    }

    /// The function of a program at an address.
    pub(crate) fn user(&self, pid: u32, address: u64) -> &str {
        self.user.get(&(pid, address)).map_or(UNKNOWN, String::as_str)
    }
}

/// A function's name without the suffixes that compilers append to their copies of it (`.isra.0`, `.constprop.0`, `.part.0`, `.cold`).
fn plain(name: &str) -> &str {
    match name.find('.') {
        Some(dot) if dot > 0 => &name[..dot],
        _ => name,
    }
}

/// Checks that the kernel shows its addresses to this user.
///
/// # Errors
/// If it does not, or has no `/proc/kallsyms`.
pub(crate) fn check_kernel() -> Result<(), ProfileError> {
    let read = |source| ProfileError::Read { path: PathBuf::from(KALLSYMS), source };
    let file = std::fs::File::open(KALLSYMS).map_err(read)?;
    for line in BufReader::new(file).lines() {
        // Hidden addresses are all zeroes (kallsyms_show_value, kernel/ksyms_common.c); so are a few real ones of per-CPU variables.
        if line.map_err(read)?.split(' ').next().is_some_and(|address| address.bytes().any(|b| b != b'0')) {
            return Ok(());
        }
    }
    Err(ProfileError::HiddenSymbols)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_taken_apart_at_its_marks_and_callers_are_looked_up_inside_their_call() {
        let chain = Chain::parse(&[CONTEXT_KERNEL, 100, 200, CONTEXT_USER, 300, 400]);
        assert_eq!(chain, Chain { kernel: vec![100, 199], user: vec![300, 399] });
        assert_eq!(Chain::parse(&[]), Chain::default());
        assert_eq!(Chain::parse(&[CONTEXT_USER, 7]), Chain { kernel: vec![], user: vec![7] });
    }

    #[test]
    fn frames_of_a_guest_are_no_frames_of_ours() {
        let guest = -2048_i64 as u64;
        assert_eq!(Chain::parse(&[CONTEXT_KERNEL, 1, guest, 2]).kernel, [1]);
    }

    #[test]
    fn copies_that_a_compiler_made_bear_the_name_of_the_function() {
        assert_eq!(plain("tcp_ack.constprop.0"), "tcp_ack");
        assert_eq!(plain("bpf_prog_0123456789abcdef_spin"), "bpf_prog_0123456789abcdef_spin");
        assert_eq!(plain(".text"), ".text");
    }
}
