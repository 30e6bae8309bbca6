//! Gives every sample to a layer, a side, or the lists of what could not be told.
//!
//! A sample belongs to the layer of the innermost recognised function of its kernel stack. Whose it is: what service and load do,
//! and what they ask of the kernel, is theirs. A soft interrupt runs over whoever is there, so its work belongs to the path of the
//! requests whatever the task; so do the kernel's own threads that carry packets, and all that the idle task does but idling.
//! The rest belongs to foreign processes.

use std::collections::{BTreeSet, HashMap};

use crate::{
    Layer, Profile, ProfileError, Who,
    layers::{self, Found},
    profiler::Samples,
    symbols::{Chain, Names, UNKNOWN},
    who::Role,
};

/// Where soft interrupts begin (kernel/softirq.c): `handle_softirqs` since Linux 6.9, before that `__do_softirq`.
const SOFTIRQ_ENTRIES: [&str; 2] = ["handle_softirqs", "__do_softirq"];

/// What carries packets in threads of the kernel: polling of links in threads (net/core/dev.c) and WireGuard's workers
/// (drivers/net/wireguard). Other network functions there tidy up, namespaces for instance, and are no request's.
const CARRIERS: [&str; 2] = ["napi_threaded_poll", "wg_packet_"];

impl Samples {
    /// Names the addresses and gives every sample to its layer. The processes have to be there still: their symbols come from
    /// their memory maps, without which their functions are `[unknown]`. BPF programs have to be loaded still.
    ///
    /// # Errors
    /// If the kernel's symbols cannot be read.
    pub fn resolve(&self, who: &Who) -> Result<Profile, ProfileError> {
        profile(self, who)
    }
}

fn profile(samples: &Samples, who: &Who) -> Result<Profile, ProfileError> {
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
    let names = Names::look_up(&kernel, &user)?;

    let mut profile = Profile::empty(samples.period_ns());
    profile.watched_ns = u64::try_from(samples.watched().as_nanos()).unwrap_or(u64::MAX);
    profile.lost = samples.lost();
    profile.throttled = samples.throttled();
    profile.idle_throttled = samples.idle_throttled();
    for (pid, role, chain, count, ns) in &chains {
        let kernel: Vec<&str> = chain.kernel.iter().map(|&address| names.kernel(address)).collect();
        let mut user: Vec<&str> = chain.user.iter().map(|&address| names.user(*pid, address)).collect();
        // What the kernel finds on the stack of a program without frame pointers: one such frame says as much as many.
        user.dedup_by(|a, b| a == b && *a == UNKNOWN);
        profile.samples += count;
        book(&mut profile, *role, &kernel, &user, *ns);
    }
    Ok(profile)
}

/// What a sample is.
#[derive(Debug, PartialEq, Eq)]
enum Place<'a> {
    Kernel(Layer),
    Unknown(&'a str),
    User,
    Foreign,
    Idle,
}

/// Tells what a sample is by its task and the functions of its kernel stack, innermost first.
fn place<'a>(role: Role, kernel: &[&'a str]) -> Place<'a> {
    let Some(outermost) = kernel.last() else {
        return if matches!(role, Role::Service | Role::Load) { Place::User } else { Place::Foreign };
    };
    let found = layers::innermost(kernel);
    let on_the_path = match role {
        Role::Service | Role::Load => true,
        Role::IdleTask if found == Found::Layer(Layer::Idle) => return Place::Idle,
        Role::IdleTask => true,
        Role::Foreign => softirq_entry(kernel).is_some() || kernel.iter().any(|name| carries_packets(name)),
    };
    match found {
        _ if !on_the_path => Place::Foreign,
        Found::Layer(layer) => Place::Kernel(layer),
        Found::Nothing(unlisted) => Place::Unknown(unlisted.unwrap_or(outermost)),
    }
}

fn carries_packets(name: &str) -> bool {
    CARRIERS.iter().any(|carrier| name.starts_with(carrier))
}

/// The position of the innermost entry into soft interrupts.
fn softirq_entry(kernel: &[&str]) -> Option<usize> {
    kernel.iter().position(|name| SOFTIRQ_ENTRIES.contains(name))
}

fn book(profile: &mut Profile, role: Role, kernel: &[&str], user: &[&str], ns: u64) {
    match place(role, kernel) {
        Place::Idle => return profile.idle_ns += ns,
        Place::Foreign => return profile.foreign_ns += ns,
        Place::User if role == Role::Service => profile.user_ns.service += ns,
        Place::User => profile.user_ns.load += ns,
        Place::Kernel(layer) => *profile.kernel_ns.entry(layer).or_default() += ns,
        Place::Unknown(name) => *profile.unknown_ns.entry(name.to_owned()).or_default() += ns,
    }
    // Of a task that was merely hit, only the interrupt is shown.
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
        assert_eq!(place(Role::Service, &SEND), Place::Kernel(Layer::Tcp));
        assert_eq!(place(Role::Load, &SEND), Place::Kernel(Layer::Tcp));
    }

    #[test]
    fn what_other_processes_ask_of_the_kernel_is_foreign_but_soft_interrupts_over_them_are_not() {
        assert_eq!(place(Role::Foreign, &SEND), Place::Foreign);
        let over_them = [RECEIVE.as_slice(), &["asm_sysvec_apic_timer_interrupt"]].concat();
        assert_eq!(place(Role::Foreign, &over_them), Place::Kernel(Layer::Veth));
    }

    #[test]
    fn the_idle_task_is_idle_only_when_nothing_else_is_recognised_further_in() {
        let idle = ["pv_native_safe_halt", "default_idle", "do_idle", "cpu_startup_entry"];
        assert_eq!(place(Role::IdleTask, &idle), Place::Idle);
        assert_eq!(place(Role::IdleTask, &[RECEIVE.as_slice(), &idle].concat()), Place::Kernel(Layer::Veth));
    }

    #[test]
    fn a_thread_of_the_kernel_counts_where_it_carries_packets() {
        let encrypting =
            ["wg_packet_encrypt_worker", "process_one_work", "worker_thread", "kthread", "ret_from_fork"];
        assert_eq!(place(Role::Foreign, &encrypting), Place::Kernel(Layer::Tunnel));
        let tidying =
            ["nf_ct_iterate_cleanup", "cleanup_net", "process_one_work", "worker_thread", "kthread"];
        assert_eq!(place(Role::Foreign, &tidying), Place::Foreign);
    }

    #[test]
    fn time_in_a_program_is_its_side_s_own() {
        assert_eq!(place(Role::Load, &[]), Place::User);
        assert_eq!(place(Role::Foreign, &[]), Place::Foreign);
    }

    #[test]
    fn a_stack_in_which_nothing_is_recognised_is_listed_by_its_innermost_function() {
        assert_eq!(place(Role::Service, &["frobnicate", "twiddle"]), Place::Unknown("frobnicate"));
    }

    #[test]
    fn every_sample_is_booked_once_and_stacks_hold_what_is_on_the_path() {
        let mut profile = Profile::empty(100);
        book(&mut profile, Role::Service, &SEND, &["write", "main"], 300);
        book(&mut profile, Role::Load, &[], &["main"], 200);
        book(&mut profile, Role::Foreign, &SEND, &["other"], 500);
        book(&mut profile, Role::Foreign, &RECEIVE, &["other"], 700);
        book(&mut profile, Role::IdleTask, &["do_idle"], &[], 1100);
        book(&mut profile, Role::Service, &["frobnicate"], &[], 100);
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
