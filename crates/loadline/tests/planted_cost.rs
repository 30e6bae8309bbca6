//! A planted cost is found: a ladder with a rung whose CPU time is known from elsewhere says so much of it, in the right layer, by its
//! differences and by what the kernel was seen doing.

mod support;

use std::io::Write;
use std::net::UdpSocket;
use std::process::{Command, Stdio};

use loadline_analysis::result::RunResult;
use loadline_platform::Netns;
use rustix::time::{ClockId, clock_gettime};
use support::leftovers;
use support::place::Place;

/// How far off what is found may be from what was planted.
const TOLERANCE: f64 = 0.15;
/// What is planted costs up to half as much again while neighbours use the same memory, so each run is held against what the cost was
/// just before and after it, and the median of several runs decides. A wrong attribution is wrong in all of them.
const ROUNDS: std::ops::RangeInclusive<usize> = 3..=9;

const RULES: u32 = 20_000;
/// How long a packet spins, whatever the machine: far longer than what a program costs beside its loops.
const SPIN_NS: f64 = 50_000.0;

#[test]
fn a_chain_of_20_000_rules_is_found_in_nf_tables() {
    let place = Place::alone();
    found(&place, &format!("rules={RULES}"), "rules", "nf-tables", || cost_of_rules(RULES));
}

#[test]
fn a_spinning_program_is_found_in_bpf() {
    let place = Place::alone();
    let cost = |loops| loadline_bpf::spin_ns_per_packet(loops).expect("root may run BPF programs");
    const SOME: u32 = 10_000;
    let loops = (f64::from(SOME) * SPIN_NS / cost(SOME)) as u32;
    found(&place, &format!("spin={loops}"), "spin", "bpf", || cost(loops));
}

/// Measures until the median of the runs has found the cost both ways.
fn found(place: &Place, rung: &str, name: &str, layer: &str, cost: impl Fn() -> f64) {
    let own = format!("veth+{rung}");
    let (mut by_difference, mut by_sampling) = (Vec::new(), Vec::new());
    let mut before = cost();
    for round in 1..=*ROUNDS.end() {
        let seed = round.to_string();
        let what = ["layers", "--rung", &own, "--profile", "--seed", &seed, "--json", "-"];
        let plan = ["--slice", "50ms", "--blocks", "6", "--deployments", "2", "--repeats", "1"];
        let ended = place.run(what.into_iter().chain(plan));
        ended.assert_measured();
        leftovers::assert_none(&place.store().label());
        let after = cost();
        let planted = (before + after) / 2.0;
        let (difference, sampled, largest) = costs(&ended.result(), name, layer);
        assert_eq!(largest, layer, "the cost was seen in another layer");
        println!("planted {planted:.0} ns, by difference {difference:.0}, by sampling {sampled:.0}");
        by_difference.push(difference / planted);
        by_sampling.push(sampled / planted);
        let is_near = |shares: &[f64]| (median(shares) - 1.0).abs() <= TOLERANCE;
        if ROUNDS.contains(&round) && is_near(&by_difference) && is_near(&by_sampling) {
            return;
        }
        before = after;
    }
    panic!("shares of what was planted, by difference {by_difference:?}, by sampling {by_sampling:?}");
}

fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// What a rung costs over kept connections, ns: by the ladder's difference, in the layer by sampling, and which layer was seen most.
fn costs(result: &RunResult, name: &str, layer: &str) -> (f64, f64, String) {
    let ladder =
        result.ladders.iter().find(|ladder| !result.cells[ladder.bottom].new_connections).expect("a ladder");
    let rung =
        ladder.rungs.iter().find(|rung| result.cells[rung.cell].label == name).expect("the planted rung");
    let contrast = &result.contrasts[rung.contrast];
    let by_difference =
        contrast.rows.iter().find(|row| row.metric == "cpu.path").expect("CPU time").difference;
    let seen = contrast.seen.as_ref().expect("a profile");
    let by_sampling =
        seen.layers.iter().find(|found| found.layer == layer).map_or(0.0, |found| found.difference.value);
    (by_difference, by_sampling, seen.layers[0].layer.clone())
}

/// CPU time that one packet spends in a chain of so many rules that match nothing, ns. It depends on where in memory the rules come to
/// lie, so it is the median of several chains, as a ladder has one in each deployment.
fn cost_of_rules(count: u32) -> f64 {
    median(&std::array::from_fn::<f64, 5, _>(|_| cost_of_chain(count)))
}

/// A socket's sending with a chain of rules less without.
fn cost_of_chain(count: u32) -> f64 {
    const PACKETS: u32 = 300;
    let netns = Netns::new().expect("root makes namespaces");
    netns
        .run(|| {
            let receiver = UdpSocket::bind("127.0.0.1:0").expect("a socket");
            let sender = UdpSocket::bind("127.0.0.1:0").expect("a socket");
            sender.connect(receiver.local_addr().expect("an address")).expect("connected");
            let send = || {
                let before = thread_cpu_ns();
                for _ in 0..PACKETS {
                    sender.send(b"x").expect("loopback takes it");
                }
                thread_cpu_ns() - before
            };
            let without = send();
            let rule = "add rule ip planted chain_of_rules ip saddr 192.0.2.1 drop\n";
            nft("table ip planted { chain chain_of_rules { }; }\n");
            nft(&rule.repeat(count as usize));
            nft("table ip planted { chain output { type filter hook output priority filter; udp dport != 0 jump chain_of_rules; }; }\n");
            Ok((send() - without) / f64::from(PACKETS))
        })
        .expect("a thread")
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
