//! A planted cost is found: a ladder with a rung whose CPU time is known from elsewhere says so much of it, in the right layer, by its
//! differences and by what the kernel was seen doing.

use std::io::Write;
use std::net::UdpSocket;
use std::ops::RangeInclusive;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::proof::{Row, prove};
use crate::support::leftovers;
use crate::support::place::Place;
use loadline_analysis::result::{Estimate, RunResult};
use loadline_machine::Netns;
use loadline_model::gates::Gate;
use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

/// How far off the median of the rounds may be from what was planted.
const TOLERANCE: f64 = 0.15;
/// So many rounds are measured, whatever they find.
const ROUNDS: usize = 20;
/// In so many of them the interval must hold what was planted, and its layer must have been seen most: with a chance of 95 % each, fewer would
/// be one case in thirteen.
const MOST_ROUNDS: usize = 18;
/// A round is measured again where the machine itself says that others had its CPUs, whatever the round found: so often in all. Each
/// further one counts as it is.
const MOST_DISTURBED: usize = 5;
/// The CPU that carries a request to the service, and on which its cost is told meanwhile.
const LOAD_CPU: usize = 1;

const RULES: u32 = 20_000;
/// How long a packet spins, whatever the machine: far longer than what it costs beside its loops (7 to 10 µs were seen on top of 50).
const SPIN_NS: f64 = 200_000.0;

#[test]
fn a_chain_of_20_000_rules_is_found_in_nf_tables() {
    let place = Place::alone();
    let chain = Chain::new(RULES);
    // Once in sixty milliseconds takes one percent of the CPU.
    let meter = Meter { pause: Duration::from_millis(60), cost: &|| chain.cost_of_packet() };
    found(&place, &format!("rules={RULES}"), "rules", "nf-tables", &meter);
}

#[test]
fn a_spinning_program_is_found_in_bpf() {
    let place = Place::alone();
    let cost = |loops| loadline_bpf::spin_ns_per_packet(loops).expect("root may run BPF programs");
    const SOME: u32 = 10_000;
    let loops = (f64::from(SOME) * SPIN_NS / cost(SOME)) as u32;
    // Each takes fifty milliseconds.
    let meter = Meter { pause: Duration::from_secs(2), cost: &|| cost(loops) };
    found(&place, &format!("spin={loops}"), "spin", "bpf", &meter);
}

/// A round: what was found, as a share of what was planted.
struct Found {
    by_difference: Share,
    by_sampling: Share,
    in_layer: bool,
}

/// What was found, as a share of what was planted, and whether its interval holds that.
struct Share {
    found: f64,
    holds: bool,
}

/// Measures all rounds, and notes down whether their medians are near what was planted.
fn found(place: &Place, rung: &str, name: &str, layer: &str, meter: &Meter) {
    let (mut rounds, mut disturbed, mut planted_ns) = (Vec::new(), 0, Vec::new());
    for seed in 1.. {
        let (round, planted, is_disturbed) = measure(place, seed, rung, name, layer, meter);
        if is_disturbed && disturbed < MOST_DISTURBED {
            disturbed += 1;
            continue;
        }
        rounds.push(round);
        planted_ns.push(planted);
        if rounds.len() == ROUNDS {
            break;
        }
    }
    let row = |what: &str, expected: String, found: String, interval: String, holds: bool| Row {
        what: format!("planted cost, `{name}`, {what}"),
        expected,
        found,
        interval,
        holds,
    };
    let most = |what: &str, count: usize| {
        let expected = format!("in {MOST_ROUNDS} of {ROUNDS} rounds");
        row(what, expected, format!("in {count}"), format!("{ROUNDS} rounds"), count >= MOST_ROUNDS)
    };
    let mut rows = Vec::new();
    for (way, shares) in [
        ("by difference", rounds.iter().map(|round| &round.by_difference).collect::<Vec<&Share>>()),
        ("by sampling", rounds.iter().map(|round| &round.by_sampling).collect()),
    ] {
        let mut percents: Vec<f64> = shares.iter().map(|share| 100.0 * share.found).collect();
        percents.sort_by(f64::total_cmp);
        let (least, found, largest) = (percents[0], median(&percents), percents[ROUNDS - 1]);
        rows.push(row(
            &format!("{way}: the median"),
            format!("{:.1} µs, to within {:.0} %", median(&planted_ns) / 1e3, 100.0 * TOLERANCE),
            format!("{found:.0} % of it"),
            format!("{least:.0} to {largest:.0} %, {ROUNDS} rounds, {disturbed} repeated"),
            (found / 100.0 - 1.0).abs() <= TOLERANCE,
        ));
        let held = shares.iter().filter(|share| share.holds).count();
        rows.push(most(&format!("{way}: the 95 % interval holds it"), held));
    }
    let in_layer = rounds.iter().filter(|round| round.in_layer).count();
    rows.push(most(&format!("the layer in which most was seen is {layer}"), in_layer));
    prove(&rows);
}

/// One round, what a packet cost meanwhile, ns, and whether others had the CPUs.
fn measure(
    place: &Place,
    seed: usize,
    rung: &str,
    name: &str,
    layer: &str,
    meter: &Meter,
) -> (Found, f64, bool) {
    let (own, cpu, seed) = (format!("veth+{rung}"), LOAD_CPU.to_string(), seed.to_string());
    let what = ["layers", "--rung", &own, "--profile", "--seed", &seed, "--load-cpus", &cpu, "--json", "-"];
    let plan = ["--slice", "50ms", "--blocks", "4", "--deployments", "4"];
    let (ended, planted) = meter.during(|| place.run(what.into_iter().chain(plan)));
    ended.assert_measured();
    leftovers::assert_none(&place.store().label());
    let result = ended.result();
    let (difference, sampled, largest) = costs(&result, name, layer);
    let planted_range = [*planted.start(), *planted.end()];
    let is_disturbed = result
        .trust
        .gates
        .iter()
        .any(|gate| matches!(gate.gate, Gate::Steal | Gate::ForeignCpu) && !gate.holds);
    println!(
        "planted {planted_range:.0?} ns, by difference {difference:.0?}, by sampling {sampled:.0?}, most in {largest}, disturbed: {is_disturbed}"
    );
    let share = |estimate: &Estimate| Share {
        found: estimate.value / estimate.value.clamp(planted_range[0], planted_range[1]),
        holds: estimate
            .interval
            .is_some_and(|[low, high]| low <= planted_range[1] && planted_range[0] <= high),
    };
    let found =
        Found { by_difference: share(&difference), by_sampling: share(&sampled), in_layer: largest == layer };
    (found, (planted.start() + planted.end()) / 2.0, is_disturbed)
}

/// Tells what a packet is charged, again and again while something else is measured: the same CPU is fast and slow for both.
struct Meter<'a> {
    /// Between one time and the next.
    pause: Duration,
    /// CPU time of one packet now, ns.
    cost: &'a (dyn Fn() -> f64 + Sync),
}

impl Meter<'_> {
    /// What `act` returns, and what a packet cost meanwhile: from the mean of the lower half of the times, as differences leave the
    /// disturbed slices out, to the mean of all, as a profile is one. On a quiet machine these are the same.
    fn during<T>(&self, act: impl FnOnce() -> T) -> (T, RangeInclusive<f64>) {
        let (end, ended) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let meter = scope.spawn(move || {
                let mut cpu = CpuSet::new();
                cpu.set(LOAD_CPU);
                sched_setaffinity(None, &cpu).expect("there are two CPUs");
                let mut costs = Vec::new();
                while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(self.pause) {
                    costs.push((self.cost)());
                }
                costs.sort_by(f64::total_cmp);
                mean(&costs[..costs.len().div_ceil(2)])..=mean(&costs)
            });
            let done = act();
            drop(end);
            (done, meter.join().expect("the meter ends"))
        })
    }
}

fn mean(figures: &[f64]) -> f64 {
    figures.iter().sum::<f64>() / figures.len() as f64
}

fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// What a rung costs over kept connections, ns: by the ladder's difference, in the layer by sampling, and which layer was seen most.
fn costs(result: &RunResult, name: &str, layer: &str) -> (Estimate, Estimate, String) {
    let ladder =
        result.ladders.iter().find(|ladder| !result.cells[ladder.bottom].new_connections).expect("a ladder");
    let rung =
        ladder.rungs.iter().find(|rung| result.cells[rung.cell].label == name).expect("the planted rung");
    let contrast = &result.contrasts[rung.contrast];
    let row = contrast.rows.iter().find(|row| row.metric == "cpu.path").expect("CPU time");
    let seen = contrast.seen.as_ref().expect("a profile");
    let by_sampling = seen.layers.iter().find(|found| found.layer == layer).map(|found| found.difference);
    let nothing = Estimate { value: 0.0, interval: None };
    let by_difference = Estimate { value: row.difference, interval: row.interval };
    (by_difference, by_sampling.unwrap_or(nothing), seen.layers[0].layer.clone())
}

/// A chain of rules that match nothing, which each packet between two sockets goes through.
struct Chain {
    sender: UdpSocket,
    _receiver: UdpSocket,
    /// CPU time to send a packet without it, ns.
    without: f64,
}

impl Chain {
    fn new(rules: u32) -> Chain {
        let netns = Netns::new().expect("root makes namespaces");
        let lay = || {
            let receiver = UdpSocket::bind("127.0.0.1:0").expect("a socket");
            let sender = UdpSocket::bind("127.0.0.1:0").expect("a socket");
            sender.connect(receiver.local_addr().expect("an address")).expect("connected");
            let mut chain = Chain { sender, _receiver: receiver, without: 0.0 };
            chain.without = median(&std::array::from_fn::<f64, 100, _>(|_| chain.cost_of_packet()));
            let rule = "add rule ip planted chain_of_rules ip saddr 192.0.2.1 drop\n";
            nft("table ip planted { chain chain_of_rules { }; }\n");
            nft(&rule.repeat(rules as usize));
            nft(
                "table ip planted { chain output { type filter hook output priority filter; udp dport != 0 jump chain_of_rules; }; }\n",
            );
            Ok(chain)
        };
        netns.run(lay).expect("a thread")
    }

    /// CPU time that a packet spends in the chain, ns.
    fn cost_of_packet(&self) -> f64 {
        let send = || {
            let before = thread_cpu_ns();
            self.sender.send(b"x").expect("loopback takes it");
            thread_cpu_ns() - before
        };
        // The first finds other things in the caches than its rules.
        send();
        send() - self.without
    }
}

fn nft(script: &str) {
    let mut nft =
        Command::new("nft").args(["-f", "-"]).stdin(Stdio::piped()).spawn().expect("nft is installed");
    nft.stdin.take().expect("a pipe").write_all(script.as_bytes()).expect("nft reads");
    assert!(nft.wait().expect("nft ends").success());
}

fn thread_cpu_ns() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}
