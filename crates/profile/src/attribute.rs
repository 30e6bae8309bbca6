//! Attributes every sample to a layer, to a side, or to the list of what was not recognised.
//!
//! A sample belongs to the layer of the innermost recognised function of its kernel stack. Whose it is: what service and load do,
//! and what they ask of the kernel, is theirs. A soft interrupt interrupts any task, so its work belongs to the path of the
//! requests whatever the task; so do the kernel's own threads that carry packets, and everything that the idle task does except idling.
//! The rest belongs to foreign processes.

use std::collections::{BTreeSet, HashMap};

use crate::{
    Layer, Profile, ProfileError, ThreadRoles,
    layers::{self, Found},
    profiler::Samples,
    roles::Role,
    symbols::{Chain, Names, Symbols, UNKNOWN},
};

/// Where soft interrupts begin (kernel/softirq.c): `handle_softirqs` since Linux 6.9, before that `__do_softirq`.
const SOFTIRQ_ENTRIES: [&str; 2] = ["handle_softirqs", "__do_softirq"];

/// What carries packets in threads of the kernel: polling of links in threads (net/core/dev.c) and WireGuard's workers
/// (drivers/net/wireguard). Other network functions there tidy up, namespaces for instance, and belong to no request.
const PACKET_CARRIERS: [&str; 2] = ["napi_threaded_poll", "wg_packet_"];

impl Samples {
    /// Resolves the addresses and attributes every sample to its layer. The processes must still exist: their symbols come from
    /// their memory maps, without which their functions are `[unknown]`. BPF programs must still be loaded.
    ///
    /// # Errors
    /// If the kernel's symbols cannot be read.
    pub fn resolve(&self, who: &ThreadRoles, symbols: &Symbols) -> Result<Profile, ProfileError> {
        profile(self, who, symbols)
    }
}

fn profile(samples: &Samples, who: &ThreadRoles, symbols: &Symbols) -> Result<Profile, ProfileError> {
    let chains: Vec<(u32, Role, Chain, u64, u64)> = samples
        .seen()
        .iter()
        .map(|(seen, &count)| {
            (seen.pid, who.role(seen.pid, seen.tid), Chain::parse(&seen.chain), count, count * seen.period_ns)
        })
        .collect();
    let mut kernel = BTreeSet::new();
    let mut user = HashMap::<u32, BTreeSet<u64>>::new();
    for (pid, role, chain, ..) in &chains {
        kernel.extend(&chain.kernel);
        if matches!(role, Role::Service | Role::Load) {
            user.entry(*pid).or_default().extend(&chain.user);
        }
    }
    let names = Names::look_up(symbols, &kernel, &user)?;

    let mut profile = Profile::empty(samples.period_ns());
    profile.watched_ns = u64::try_from(samples.watched().as_nanos()).unwrap_or(u64::MAX);
    profile.lost = samples.lost();
    profile.throttled = samples.throttled();
    profile.idle_throttled = samples.idle_throttled();
    for (pid, role, chain, count, ns) in &chains {
        let kernel: Vec<&str> = chain.kernel.iter().map(|&address| names.kernel(address)).collect();
        let mut user: Vec<&str> = chain.user.iter().map(|&address| names.user(*pid, address)).collect();
        // What the kernel finds on the stack of a program without frame pointers: one such frame is enough.
        user.dedup_by(|a, b| a == b && *a == UNKNOWN);
        profile.samples += count;
        charge(&mut profile, *role, &kernel, &user, *ns);
    }
    Ok(profile)
}

/// What a sample is attributed to.
#[derive(Debug, PartialEq, Eq)]
enum Attribution<'a> {
    Kernel(Layer),
    Unknown(&'a str),
    User,
    Foreign,
    Idle,
}

/// Attributes a sample by its task and the functions of its kernel stack, innermost first.
fn place<'a>(role: Role, kernel: &[&'a str]) -> Attribution<'a> {
    let Some(outermost) = kernel.last() else {
        return if matches!(role, Role::Service | Role::Load) {
            Attribution::User
        } else {
            Attribution::Foreign
        };
    };
    let found = layers::innermost(kernel);
    let on_the_path = match role {
        Role::Service | Role::Load => true,
        Role::IdleTask if found == Found::Layer(Layer::Idle) => return Attribution::Idle,
        Role::IdleTask => true,
        Role::Foreign => softirq_entry(kernel).is_some() || kernel.iter().any(|name| carries_packets(name)),
    };
    match found {
        _ if !on_the_path => Attribution::Foreign,
        Found::Layer(layer) => Attribution::Kernel(layer),
        Found::Nothing(unlisted) => Attribution::Unknown(unlisted.unwrap_or(outermost)),
    }
}

fn carries_packets(name: &str) -> bool {
    PACKET_CARRIERS.iter().any(|carrier| name.starts_with(carrier))
}

/// The position of the innermost entry into soft interrupts.
fn softirq_entry(kernel: &[&str]) -> Option<usize> {
    kernel.iter().position(|name| SOFTIRQ_ENTRIES.contains(name))
}

fn charge(profile: &mut Profile, role: Role, kernel: &[&str], user: &[&str], ns: u64) {
    match place(role, kernel) {
        Attribution::Idle => return profile.idle_ns += ns,
        Attribution::Foreign => return profile.foreign_ns += ns,
        Attribution::User if role == Role::Service => profile.user_ns.service += ns,
        Attribution::User => profile.user_ns.load += ns,
        Attribution::Kernel(layer) => *profile.kernel_ns.entry(layer).or_default() += ns,
        Attribution::Unknown(name) => *profile.unknown_ns.entry(name.to_owned()).or_default() += ns,
    }
    // Of a task that was only interrupted, only the interrupt is shown.
    let (root, user, kernel) = match role {
        Role::Service => ("service", user, kernel),
        Role::Load => ("load", user, kernel),
        Role::IdleTask | Role::Foreign => {
            let shown = softirq_entry(kernel).map_or(kernel, |entry| &kernel[..=entry]);
            ("softirq", [].as_slice(), shown)
        }
    };
    let kernel: Vec<String> = kernel.iter().rev().map(|name| format!("{name}_[k]")).collect();
    let frames =
        std::iter::once(root).chain(user.iter().rev().copied()).chain(kernel.iter().map(String::as_str));
    profile.stacks.add(frames, ns);
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEND: [&str; 4] = ["tcp_sendmsg_locked", "tcp_sendmsg", "__x64_sys_sendto", "do_syscall_64"];
    const RECEIVE: [&str; 4] = ["veth_poll", "net_rx_action", "handle_softirqs", "do_softirq"];

    #[test]
    fn what_service_and_load_ask_of_the_kernel_is_on_the_path() {
        assert_eq!(place(Role::Service, &SEND), Attribution::Kernel(Layer::Tcp));
        assert_eq!(place(Role::Load, &SEND), Attribution::Kernel(Layer::Tcp));
    }

    #[test]
    fn what_other_processes_ask_of_the_kernel_is_foreign_but_soft_interrupts_over_them_are_not() {
        assert_eq!(place(Role::Foreign, &SEND), Attribution::Foreign);
        let over_them = [RECEIVE.as_slice(), &["asm_sysvec_apic_timer_interrupt"]].concat();
        assert_eq!(place(Role::Foreign, &over_them), Attribution::Kernel(Layer::Veth));
    }

    #[test]
    fn the_idle_task_is_idle_only_when_nothing_else_is_recognised_further_in() {
        let idle = ["pv_native_safe_halt", "default_idle", "do_idle", "cpu_startup_entry"];
        assert_eq!(place(Role::IdleTask, &idle), Attribution::Idle);
        assert_eq!(
            place(Role::IdleTask, &[RECEIVE.as_slice(), &idle].concat()),
            Attribution::Kernel(Layer::Veth)
        );
    }

    #[test]
    fn a_thread_of_the_kernel_counts_where_it_carries_packets() {
        let encrypting =
            ["wg_packet_encrypt_worker", "process_one_work", "worker_thread", "kthread", "ret_from_fork"];
        assert_eq!(place(Role::Foreign, &encrypting), Attribution::Kernel(Layer::Tunnel));
        let tidying =
            ["nf_ct_iterate_cleanup", "cleanup_net", "process_one_work", "worker_thread", "kthread"];
        assert_eq!(place(Role::Foreign, &tidying), Attribution::Foreign);
    }

    #[test]
    fn time_in_a_program_is_its_side_s_own() {
        assert_eq!(place(Role::Load, &[]), Attribution::User);
        assert_eq!(place(Role::Foreign, &[]), Attribution::Foreign);
    }

    #[test]
    fn a_stack_in_which_nothing_is_recognised_is_listed_by_its_innermost_function() {
        assert_eq!(place(Role::Service, &["frobnicate", "twiddle"]), Attribution::Unknown("frobnicate"));
    }

    #[test]
    fn every_sample_is_booked_once_and_stacks_hold_what_is_on_the_path() {
        let mut profile = Profile::empty(100);
        charge(&mut profile, Role::Service, &SEND, &["write", "main"], 300);
        charge(&mut profile, Role::Load, &[], &["main"], 200);
        charge(&mut profile, Role::Foreign, &SEND, &["other"], 500);
        charge(&mut profile, Role::Foreign, &RECEIVE, &["other"], 700);
        charge(&mut profile, Role::IdleTask, &["do_idle"], &[], 1100);
        charge(&mut profile, Role::Service, &["frobnicate"], &[], 100);
        assert_eq!(profile.path_ns() + profile.foreign_ns + profile.idle_ns, 2_900);
        assert_eq!(profile.stacks.total_ns(), profile.path_ns());
        assert_eq!((profile.foreign_ns, profile.idle_ns, profile.user_ns.load), (500, 1_100, 200));
        let stacks = profile.stacks.folded();
        assert!(
            stacks.contains(&("softirq;handle_softirqs_[k];net_rx_action_[k];veth_poll_[k]".into(), 700)),
            "{stacks:?}"
        );
        assert!(stacks.iter().any(|(stack, _)| stack.starts_with("service;main;write;do_syscall_64_[k];")));
        // 100 of 300 + 700 + 100.
        assert!((profile.unknown_share() - 1.0 / 11.0).abs() < 1e-9);
    }
}
