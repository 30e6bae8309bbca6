//! A planted cost is found: paths that differ in a CPU time that is known from elsewhere differ by so much, and in the right layer, by the
//! difference of their slices and by what the kernel was seen doing.

use std::io::Write;
use std::net::UdpSocket;
use std::ops::RangeInclusive;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use super::median;
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

/// Rules that a packet goes through on either side.
const RULES: [u32; 2] = [1_000, 5_000];
/// Of the rules that it goes through again and again, as the layer has them.
const RULES_OF_CHAIN: u32 = 200;
/// Packets that bring the rules into the caches, and as many that are timed then.
const PACKETS: usize = 16;
/// Packets of each kind that are always on their way: what a rule costs depends on where in memory the packet lies (by a third, for one
/// in four), so that always the same one would not tell.
const ON_THEIR_WAY: usize = 64;
/// How long a packet spins on either side, whatever the machine.
const SPIN_NS: [f64; 2] = [10_000.0, 30_000.0];

#[test]
fn rules_are_found_in_nf_tables() {
    let place = Place::alone();
    let chains = Chains::new(RULES);
    // A try takes half a millisecond: one percent of the CPU.
    let meter = Meter { pause: Duration::from_millis(50), cost: &|| chains.difference_of_packets() };
    found(&place, "rules", RULES, "nf-tables", &meter);
}

#[test]
fn a_spinning_program_is_found_in_bpf() {
    let place = Place::alone();
    let cost = |loops| loadline_bpf::spin_ns_per_packet(loops).expect("root may run BPF programs");
    const SOME: u32 = 10_000;
    let loops = SPIN_NS.map(|ns| (f64::from(SOME) * ns / cost(SOME)) as u32);
    // Each takes tens of milliseconds.
    let meter = Meter { pause: Duration::from_secs(2), cost: &|| cost(loops[1]) - cost(loops[0]) };
    found(&place, "spin", loops, "bpf", &meter);
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
fn found(place: &Place, planted: &str, amounts: [u32; 2], layer: &str, meter: &Meter) {
    place.write("planted.yaml", &experiment(planted, amounts));
    let (mut rounds, mut disturbed, mut planted_ns) = (Vec::new(), 0, Vec::new());
    loop {
        let (round, cost_ns, is_disturbed) = measure(place, layer, meter);
        if is_disturbed && disturbed < MOST_DISTURBED {
            disturbed += 1;
            continue;
        }
        rounds.push(round);
        planted_ns.push(cost_ns);
        if rounds.len() == ROUNDS {
            break;
        }
    }
    let row = |what: &str, expected: String, found: String, interval: String, holds: bool| Row {
        what: format!("planted cost, `{planted}`, {what}"),
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

/// The same path twice, with little and with much of what is planted: what else a rung takes with it, as a hook and what its work
/// displaces in the caches, is on both sides.
fn experiment(planted: &str, [little, much]: [u32; 2]) -> String {
    format!(
        "
name: planted
services: [{{name: orders, builtin: orders}}]
platforms:
  - {{name: little, local: [veth, {planted}: {little}]}}
  - {{name: much, local: [veth, {planted}: {much}]}}
loads: [{{closed: true, connections: 1}}]
cpus: {{load: {LOAD_CPU}}}
plan: {{nodes: own, profile: 1s, slice: 50ms, blocks: 4, deployments: 4}}
"
    )
}

/// One round, what was planted meanwhile, ns, and whether others had the CPUs.
fn measure(place: &Place, layer: &str, meter: &Meter) -> (Found, f64, bool) {
    let (ended, planted) = meter.during(|| place.run(["run", "planted.yaml", "--json", "-"]));
    ended.assert_measured();
    leftovers::assert_none(&place.store().label());
    let result = ended.result();
    let (difference, sampled, largest) = costs(&result, layer);
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

/// How much more CPU time a request takes, ns: by the difference of slices, in the layer by sampling, and which layer was seen most.
fn costs(result: &RunResult, layer: &str) -> (Estimate, Estimate, String) {
    let contrast = &result.contrasts[0];
    let row = contrast.rows.iter().find(|row| row.metric == "cpu.path").expect("CPU time");
    let seen = contrast.seen.as_ref().expect("a profile");
    let by_sampling = seen.layers.iter().find(|found| found.layer == layer).map(|found| found.difference);
    let nothing = Estimate { value: 0.0, interval: None };
    let by_difference = Estimate { value: row.difference, interval: row.interval };
    (by_difference, by_sampling.unwrap_or(nothing), seen.layers[0].layer.clone())
}

/// Two chains of rules that match nothing, and for each a pair of sockets whose packets go through it.
struct Chains {
    sockets: [[UdpSocket; 2]; 2],
}

impl Chains {
    fn new(rules: [u32; 2]) -> Chains {
        let netns = Netns::new().expect("root makes namespaces");
        let lay = || {
            let rule = "add rule ip planted again ip saddr 192.0.2.1 drop\n";
            nft(&format!(
                "table ip planted {{
                    chain again {{ }}
                    chain output {{ type filter hook output priority filter; }}
                }}
                {}",
                rule.repeat(RULES_OF_CHAIN as usize)
            ));
            let sockets = rules.map(|count| {
                let [sender, receiver] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").expect("a socket"));
                let to = receiver.local_addr().expect("an address");
                sender.connect(to).expect("connected");
                let port = to.port();
                let jump = format!("add rule ip planted of_{count} jump again\n");
                nft(&format!(
                    "table ip planted {{ chain of_{count} {{ }}; }}
                    {}
                    add rule ip planted output udp dport {port} jump of_{count}",
                    jump.repeat((count / RULES_OF_CHAIN) as usize)
                ));
                for _ in 0..ON_THEIR_WAY {
                    sender.send(b"x").expect("loopback takes it");
                }
                [sender, receiver]
            });
            Ok(Chains { sockets })
        };
        netns.run(lay).expect("a thread")
    }

    /// How much more CPU time a packet spends in the second chain than in the first, ns.
    fn difference_of_packets(&self) -> f64 {
        let [little, much] = self.sockets.each_ref().map(|[sender, receiver]| {
            let send = || {
                let before = thread_cpu_ns();
                sender.send(b"x").expect("loopback takes it");
                let took = thread_cpu_ns() - before;
                receiver.recv(&mut [0]).expect("loopback delivers at once");
                took
            };
            let [_, timed] = [(); 2].map(|()| std::array::from_fn::<f64, PACKETS, _>(|_| send()));
            mean(&timed)
        });
        much - little
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
