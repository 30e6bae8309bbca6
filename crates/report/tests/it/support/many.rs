//! An invented result of six platforms under six loads, with the claims of a published benchmark.

use loadline_model::experiment::TimeUnit;

use super::*;

const PLATFORMS: [&str; 6] = ["host", "docker", "nodePort", "hostNetwork", "static pod", "other node"];
/// Load, its rate, the host's p50 and CPU per request in µs, half-widths of the two.
const LOADS: [(&str, f64, [f64; 2], [f64; 2]); 6] = [
    ("100/min Poisson", 100.0 / 60.0, [3_240.0, 144.0], [121.0, 13.0]),
    ("500/min Poisson", 500.0 / 60.0, [3_190.0, 139.0], [38.0, 12.0]),
    ("1000/min Poisson", 1000.0 / 60.0, [3_150.0, 120.0], [31.0, 9.0]),
    ("5000/min Poisson", 5000.0 / 60.0, [3_150.0, 111.0], [35.0, 24.0]),
    ("10000/min Poisson", 10_000.0 / 60.0, [3_130.0, 91.0], [34.0, 8.0]),
    ("2000/s Poisson", 2000.0, [3_100.0, 68.0], [14.2, 3.1]),
];
/// What a platform adds to the host's p50 and CPU per request, µs.
const COSTS: [[f64; 2]; 6] = [[0.0, 0.0], [18.0, 9.1], [26.0, 10.4], [7.0, 1.2], [17.0, 9.4], [51.0, 27.3]];

/// Six platforms under six loads.
pub fn six_by_six() -> RunResult {
    let mut result = slower();
    result.run.name = "monolith against Kubernetes".to_owned();
    result.run.question = Some("What do Docker and Kubernetes cost the orders service?".to_owned());
    result.cells.clear();
    result.contrasts.clear();
    result.noise.clear();
    for (load, rate, [p50, cpu], [p50_half, cpu_half]) in LOADS {
        let baseline = result.cells.len();
        for (platform, [slower, costlier]) in PLATFORMS.iter().zip(COSTS) {
            let id = result.cells.len();
            let role = if id == baseline { Role::Baseline } else { Role::Candidate };
            let mut cell = cell(id, platform, role, load, rate, p50 + slower);
            cell.connections = 100;
            result.cells.push(cell);
            if id > baseline {
                let few = rate < 10.0;
                let mut contrast = contrast(
                    baseline,
                    id,
                    &[
                        sample("response p50", p50, slower, Some(p50_half), Verdict::Slower),
                        sample(
                            "response p99",
                            5_100.0,
                            3.0 * slower,
                            (!few).then_some(160.0),
                            Verdict::Slower,
                        ),
                        sample("CPU per request", cpu, costlier, Some(cpu_half), Verdict::Costlier),
                        sample("response mean", p50, slower, Some(p50_half), Verdict::Slower),
                    ],
                );
                contrast.rows[2].metric = "cpu.service".to_owned();
                result.contrasts.push(contrast);
            }
        }
    }
    result.slices = slices(&result.cells, 2, 2);
    result.trust.slices = result.slices.len();
    result.trust.slices_repeated = 91;
    result.claims = claims();
    result
}

/// The same where the load had too much to do at one rate, and one platform at another.
pub fn trusted_in_part() -> RunResult {
    let mut result = six_by_six();
    let at = |load: usize, platforms: std::ops::Range<usize>| {
        platforms.map(move |platform| CellId(load * PLATFORMS.len() + platform)).collect::<Vec<CellId>>()
    };
    let remedy = "give the load a CPU of its own";
    let gates = &mut result.trust.gates;
    gates[1] = GateSummary { cells: at(5, 0..6), ..failing("send_lag", "send lag p99 310 µs", 7, remedy) };
    gates[4] = GateSummary { cells: at(2, 4..5), ..failing("steal", "stolen CPU 4.2 %", 1, "wait") };
    result.trust.trusted = false;
    for contrast in &mut result.contrasts {
        let trusted = result.trust.trusts([contrast.candidate]);
        contrast.rows.iter_mut().for_each(|row| row.trusted = trusted);
    }
    for claim in &mut result.claims {
        claim.findings.iter_mut().for_each(|finding| finding.trusted = result.trust.trusts([finding.cell]));
        claim.trusted = claim.findings.iter().all(|finding| finding.trusted);
    }
    result
}

fn sample(label: &str, baseline: f64, cost: f64, half: Option<f64>, higher: Verdict) -> Sample<'_> {
    let verdict = match half {
        Some(half) if cost - half > 0.0 => higher,
        Some(half) if cost + half < 0.01 * baseline => Verdict::Equivalent,
        _ => Verdict::Unresolved,
    };
    let interval = half.map(|half| [(cost - half) * US, (cost + half) * US]);
    (label, Unit::Nanoseconds, baseline * US, (baseline + cost) * US, interval, Some(12.0 * US), verdict)
}

/// Cell of nodePort under a load.
fn node_port(load: usize) -> CellId {
    CellId(load * PLATFORMS.len() + 2)
}

fn claims() -> Vec<ClaimResult> {
    let finding = |load, claimed, is_share, found: f64, half: f64, judgement| Finding {
        cell: node_port(load),
        against: None,
        claimed,
        is_share,
        found: Some(found),
        interval: Some([found - half, found + half]),
        baseline: None,
        p_holm: None,
        trusted: true,
        note: None,
        judgement,
    };
    let claim = |text: &str, judgement, findings| ClaimResult {
        text: text.to_owned(),
        metric: "response mean".to_owned(),
        metric_unit: Unit::Nanoseconds,
        published_in: None,
        published_baseline: None,
        judgement,
        trusted: true,
        must: false,
        findings,
    };
    use ClaimJudgement::*;
    let added = |claimed, loads: std::ops::Range<usize>| {
        loads.map(|load| finding(load, claimed, false, 26.0 * US, 31.0 * US, Refuted)).collect::<Vec<_>>()
    };
    let share = |claimed, loads: std::ops::Range<usize>, judgement| {
        loads.map(|load| finding(load, claimed, true, 0.008, 0.01, judgement)).collect::<Vec<_>>()
    };
    let published = |baseline_ms: [f64; 2], claim: ClaimResult| ClaimResult {
        published_in: Some(TimeUnit::Ms),
        published_baseline: Some(baseline_ms.map(|ms| ms * MS)),
        ..claim
    };
    let far = |claim: ClaimResult| ClaimResult {
        findings: claim
            .findings
            .into_iter()
            .map(|finding| Finding { baseline: Some(3.15 * MS), ..finding })
            .collect(),
        ..claim
    };
    vec![
        published(
            [12.0, 17.0],
            claim("Kubernetes adds 4.5 ms to a request", Refuted, added([3.6 * MS, 5.4 * MS], 0..3)),
        ),
        far(published(
            [12.0, 17.0],
            claim("Kubernetes is 26 to 37 % slower", NotComparable, share([0.26, 0.37], 0..3, NotComparable)),
        )),
        claim("p99 is 12 % lower on the monolith", Refuted, share([0.12, 0.41], 2..3, Refuted)),
        claim("at 1000 a minute it adds 7 ms to the mean", Refuted, added([5.6 * MS, 8.4 * MS], 2..3)),
        claim("static pods close 60 % of the gap", OutOfReach, share([0.48, 0.72], 2..3, OutOfReach)),
        claim("above 5000 a minute it is negligible", Confirmed, share([-0.05, 0.05], 3..5, Confirmed)),
    ]
}
