//! `loadline layers` as its user types it: every rung carries requests, stands on the right one, and leaves nothing behind.

use crate::support::competition::Competition;
use crate::support::leftovers;
use crate::support::place::Place;
use loadline_model::CellId;
use loadline_model::notes::Note;
use loadline_model::result::{Estimate, Ladder, RunResult, Statement};

/// As little measuring as shows that everything works.
const BRIEF: [&str; 10] =
    ["--slice", "50ms", "--blocks", "2", "--deployments", "3", "--warmup", "1s", "--repeats", "0"];
/// One slice of each cell in each of two deployments: a profile takes seconds for each.
const TWICE: [&str; 10] =
    ["--slice", "50ms", "--blocks", "1", "--deployments", "2", "--warmup", "1s", "--repeats", "0"];
/// A few slices of each cell, so that one of them at least has a CPU, whoever else wants it.
const DEPLOYED_ONCE: [&str; 10] =
    ["--slice", "50ms", "--blocks", "4", "--deployments", "1", "--warmup", "1s", "--repeats", "2"];

fn layers(place: &Place, arguments: &[&str], plan: &[&str]) -> RunResult {
    let all = ["layers"].iter().chain(arguments).chain(plan).chain(&["--json", "-"]);
    let ended = place.run(all.copied());
    ended.assert_measured();
    leftovers::assert_none(&place.store().label());
    let result = ended.result();
    for cell in &result.cells {
        let slices: Vec<_> = result.slices.iter().filter(|slice| slice.cell == cell.id).collect();
        let is_carried = cell.answered > 0 && cell.errors.is_empty();
        assert!(is_carried, "{}: {:?}, {slices:?}, {:?}", cell.label, cell.errors, result.notes);
    }
    result
}

fn label(result: &RunResult, cell: CellId) -> &str {
    &result.cells[cell].label
}

/// Rungs with what each stands on.
fn rungs<'a>(result: &'a RunResult, ladder: &Ladder) -> Vec<(&'a str, &'a str)> {
    ladder.rungs.iter().map(|rung| (label(result, rung.cell), label(result, rung.below))).collect()
}

/// Whether a layer became a rung, or a note says which option of the kernel or program it lacks.
fn is_there_or_named(result: &RunResult, name: &str) -> bool {
    let named = |note: &Statement<Note>| note.text.starts_with(&format!("{name} was left out"));
    result.cells.iter().any(|cell| cell.platform == name) || result.notes.iter().any(named)
}

#[test]
fn a_ladder_is_measured_both_ways_rung_by_rung_and_summed_up() {
    let place = Place::alone();
    let result = layers(&place, &[], &BRIEF);

    let new_connections: Vec<bool> =
        result.ladders.iter().map(|ladder| result.cells[ladder.bottom].new_connections).collect();
    assert_eq!(new_connections, [false, true]);
    for ladder in &result.ladders {
        let rungs = rungs(&result, ladder);
        for expected in [
            ("cgroup", "host"),
            ("quota", "cgroup"),
            ("veth", "quota"),
            ("bridge", "veth"),
            ("br-netfilter", "bridge"),
            ("conntrack", "br-netfilter"),
            ("nodeport", "conntrack"),
            ("routed", "veth"),
            ("vxlan", "routed"),
        ] {
            assert!(rungs.contains(&expected), "{expected:?} is not among {rungs:?}");
        }
        let tops: Vec<&str> = ladder.sums.iter().map(|sum| label(&result, sum.top)).collect();
        assert_eq!(tops, ["nodeport", "vxlan"]);
        for row in ladder.sums.iter().flat_map(|sum| &sum.rows) {
            if row.metric != "response.p99" {
                assert!(row.residual.is_some_and(|residual| residual.interval.is_some()), "{row:?}");
            }
        }
    }
    for name in ["ipip", "geneve", "wireguard"] {
        assert!(is_there_or_named(&result, name), "{name}: {:?}", result.notes);
    }
    // A tunnel to another node takes as much CPU time again as a plain process does. A machine that is not to be trusted may hide that, but not
    // show the contrary.
    let kept =
        result.ladders.iter().find(|ladder| !result.cells[ladder.bottom].new_connections).expect("both");
    let vxlan = kept.sums.iter().find(|sum| label(&result, sum.top) == "vxlan").expect("a top");
    let cpu = vxlan.rows.iter().find(|row| row.metric == "cpu.path").expect("CPU time");
    let costs = |found: Estimate| match result.trust.trusted {
        true => found.value > 0.0,
        false => found.interval.is_some_and(|[_, high]| high > 0.0),
    };
    assert!(costs(cpu.sum) && cpu.end_to_end.is_some_and(costs), "{cpu:?}");
}

#[test]
fn what_there_is_instead_of_veth_and_bridge_carries_requests_or_is_named() {
    let place = Place::shared();
    let result = layers(&place, &["--part", "instead"], &DEPLOYED_ONCE);
    for name in ["macvlan", "ipvlan-l2", "ipvlan-l3", "ipvlan-l3s", "netkit", "ebpf"] {
        assert!(is_there_or_named(&result, name), "{name}: {:?}", result.notes);
    }
    // These this kernel has.
    for name in ["macvlan", "ebpf"] {
        assert!(result.cells.iter().any(|cell| cell.platform == name), "{name}: {:?}", result.notes);
    }
}

#[test]
fn node_ports_among_thousands_of_services_and_proxies_carry_requests() {
    let place = Place::shared();
    let result = layers(&place, &["--part", "services", "--part", "proxies"], &DEPLOYED_ONCE);
    for name in [
        "iptables 10,000",
        "nftables 10,000",
        "userland-proxy",
        "haproxy, both, mTLS",
        "nginx, both, mTLS",
        "envoy",
    ] {
        assert!(result.cells.iter().any(|cell| cell.platform == name), "{name}: {:?}", result.notes);
    }
}

#[test]
fn a_rung_of_ones_own_stands_on_what_it_adds_to_and_real_cni_plugins_make_one() {
    let place = Place::shared();
    let state = place.path("cni-state");
    place.write(
        "bridge.conflist",
        &format!(
            r#"{{"cniVersion": "1.0.0", "name": "mine", "plugins": [{{"type": "bridge", "bridge": "cni0", "isGateway": true,
            "ipam": {{"type": "host-local", "dataDir": "{}", "ranges": [[{{"subnet": "10.88.0.0/24"}}]],
            "routes": [{{"dst": "0.0.0.0/0"}}]}}}}]}}"#,
            state.display()
        ),
    );
    let own = ["--rung", "cgroup+quota+veth+rules=300", "--rung", "cgroup+quota+cni=bridge.conflist"];
    let result = layers(&place, &own, &DEPLOYED_ONCE);
    let rungs = rungs(&result, &result.ladders[0]);
    assert!(rungs.contains(&("rules", "veth")) && rungs.contains(&("cni", "quota")), "{rungs:?}");
    assert_eq!(rungs.len(), 5, "no more than what is below them: {rungs:?}");
    let reserved = std::fs::read_dir(state.join("mine")).expect("host-local keeps its state there").flatten();
    let reserved: Vec<_> = reserved.map(|entry| entry.file_name()).collect();
    assert!(reserved.iter().all(|name| !name.to_string_lossy().starts_with("10.")), "{reserved:?}");
}

#[test]
fn a_profile_says_which_layers_the_kernel_was_seen_in_and_draws_flame_graphs() {
    let place = Place::alone();
    let arguments = [
        "--rung",
        "cgroup+quota+veth+bridge+br-netfilter+conntrack+nodeport",
        "--profile",
        "--flame-graphs",
        "flames",
    ];
    // A profile of 300 ms holds a few samples of each layer, and others' programs may take those.
    let mut unseen = vec![("bridge", "bridge"), ("conntrack", "conntrack"), ("nodeport", "nat")];
    let mut attempts = 0;
    let result = loop {
        let result = layers(&place, &arguments, &TWICE);
        unseen.retain(|(rung, layer)| seen_difference(&result, rung, layer) <= 0.0);
        attempts += 1;
        if unseen.is_empty() {
            break result;
        }
        assert!(attempts < 4, "not seen, as rungs and layers: {unseen:?}");
    };
    for cell in &result.cells {
        let seen = cell
            .seen
            .as_ref()
            .unwrap_or_else(|| panic!("{} was not profiled: {:?}", cell.label, result.notes));
        assert!(seen.samples > 0 && seen.unknown_share <= 0.1, "{}: {:?}", cell.label, seen.unknown);
    }
    let bridge =
        result.cells.iter().find(|cell| cell.platform == "bridge").and_then(|cell| cell.seen.as_ref());
    let raised = &bridge.expect("a profile").softirqs;
    assert!(
        raised.iter().any(|reason| reason.function == "veth_xmit" && reason.per_request > 0.5),
        "{raised:?}"
    );
    for picture in ["bridge-closed-loop-1", "bridge-closed-loop-1-less-veth-closed-loop-1"] {
        let svg = std::fs::read_to_string(place.path(&format!("flames/{picture}.svg"))).expect(picture);
        assert!(svg.contains("<svg") && svg.contains("tcp_sendmsg"), "{picture}");
    }
}

/// CPU time of a layer per request that a rung adds to the one below, as the profiler saw it.
fn seen_difference(result: &RunResult, rung: &str, layer: &str) -> f64 {
    let rung = result.ladders[0].rungs.iter().find(|found| label(result, found.cell) == rung).expect(rung);
    let seen = result.contrasts[rung.contrast].seen.as_ref().expect("both were profiled");
    seen.layers.iter().find(|found| found.layer == layer).map_or(0.0, |found| found.difference.value)
}

#[test]
fn a_profile_beside_other_programs_is_repeated_and_then_told_from_an_undisturbed_one() {
    let place = Place::alone();
    let _competition = Competition::on_cpu_0();
    // Long enough that some of each slice is answered, whoever else takes the CPUs.
    let plan =
        ["--slice", "500ms", "--blocks", "1", "--deployments", "1", "--warmup", "1s", "--repeats", "1"];
    let result = layers(&place, &["--rung", "veth", "--profile"], &plan);
    let told = |note: &Statement<Note>| {
        note.text.starts_with("the profiler saw disturbed times, too (other programs used")
    };
    assert!(result.notes.iter().any(told), "{:?}", result.notes);
    assert!(result.cells.iter().all(|cell| cell.seen.is_some()), "it is kept all the same");
}

#[test]
fn a_rung_without_its_foundation_is_refused_before_anything_is_started() {
    let place = Place::new();
    let ended = place.run(["layers", "--rung", "cgroup+bridge"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("`bridge` needs the layer `veth`"), "{}", ended.stderr);
    assert!(!place.path("loadline.db").exists());
}
