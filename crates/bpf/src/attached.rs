//! Programs at the hooks of links, for as long as a value lives.
//! They are filters of the links' clsact queueing discipline, which every kernel since 4.5 has: a layer is the same on all of them.

use std::{fs::File, mem::ManuallyDrop, thread};

use aya::{
    Ebpf,
    programs::{
        ProgramError, TcAttachType,
        tc::{self, NlOptions, TcAttachOptions},
    },
};
use nix::{
    errno::Errno,
    net::if_::if_nametoindex,
    sched::{CloneFlags, setns},
};

use crate::{BpfError, error::os_reason, object::classifier};

/// Where a program of an object is attached.
pub(crate) struct Hook<'a> {
    pub program: &'static str,
    pub link: &'a str,
    pub side: TcAttachType,
}

/// Programs that are loaded and attached. Dropping it detaches and unloads them; an empty clsact stays.
/// If the process is killed instead, they stay attached until their links are deleted.
#[derive(Debug)]
pub struct Attached {
    /// The programs, and the network namespace that their links are in. `None` only while it is dropped.
    held: Option<(Ebpf, File)>,
    program_ids: Vec<u32>,
}

impl Attached {
    /// Attaches loaded programs to links of the calling thread's network namespace.
    pub(crate) fn new(mut ebpf: Ebpf, hooks: &[Hook]) -> Result<Attached, BpfError> {
        let path = "/proc/thread-self/ns/net";
        let netns = File::open(path).map_err(|e| BpfError::new(format!("open {path}"), e))?;
        let program_ids = hooks.iter().map(|hook| hook.attach(&mut ebpf)).collect::<Result<_, _>>()?;
        Ok(Attached { held: Some((ebpf, netns)), program_ids })
    }

    /// The kernel's ids of the programs, by which it keeps their statistics (`bpftool prog show id ID`).
    pub fn program_ids(&self) -> &[u32] {
        &self.program_ids
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        let Some((ebpf, netns)) = self.held.take() else { return };
        // A filter is removed by its link's index, which in another namespace would be another link. So it is removed in the right namespace, on
        // a thread of its own, or left until the link is deleted.
        let ebpf = ManuallyDrop::new(ebpf);
        let remove = move || {
            if setns(netns, CloneFlags::CLONE_NEWNET).is_ok() {
                drop(ManuallyDrop::into_inner(ebpf));
            }
        };
        if let Ok(thread) = thread::Builder::new().spawn(remove) {
            let _ = thread.join();
        }
    }
}

impl Hook<'_> {
    /// Returns the program's id.
    fn attach(&self, ebpf: &mut Ebpf) -> Result<u32, BpfError> {
        let Hook { program, link, side } = self;
        index_of(link)?;
        add_clsact(link)?;
        let classifier = classifier(ebpf, program)?;
        let options = TcAttachOptions::Netlink(NlOptions::default());
        let done = classifier.attach_with_options(link, *side, options);
        done.and_then(|_| Ok(classifier.info()?.id())).map_err(|error: ProgramError| {
            let what = format!("attach the BPF program `{program}` to the link `{link}`");
            match os_reason(&error) {
                // No classifier of the name "bpf" (net/sched/cls_api.c).
                Some(Errno::ENOENT) => BpfError::KernelLacks { what, option: "CONFIG_NET_CLS_BPF" },
                _ => BpfError::new(what, error),
            }
        })
    }
}

fn add_clsact(link: &str) -> Result<(), BpfError> {
    let Err(error) = tc::qdisc_add_clsact(link) else { return Ok(()) };
    let what = format!("add clsact to the link `{link}`");
    match os_reason(&error) {
        // It exists already, for another program.
        Some(Errno::EEXIST) => Ok(()),
        // No queueing discipline of the name "clsact" (net/sched/sch_api.c).
        Some(Errno::ENOENT) => Err(BpfError::KernelLacks { what, option: "CONFIG_NET_SCH_INGRESS" }),
        _ => Err(BpfError::new(what, error)),
    }
}

/// The index of a link of the calling thread's network namespace.
pub(crate) fn index_of(link: &str) -> Result<u32, BpfError> {
    if_nametoindex(link).map_err(|source| BpfError::NoLink { link: link.to_owned(), source })
}
