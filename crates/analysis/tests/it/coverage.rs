//! How often the interval of each row holds the truth, under different kinds of noise, and which rows claim nothing: runs are made up and judged from end to
//! end.

use loadline_analysis::analyse;
use loadline_analysis::result::Verdict;
use loadline_model::new_histogram;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;

use crate::made_up::MadeUp;
use crate::made_up::noise::Noise;

/// The candidate's additional response time, µs.
const SHIFT_US: f64 = 5.0;
/// What a made-up pod that is slower raises more than the host for each request.
const SOFTIRQS: f64 = 2.0;
/// So that enough of them lie beyond p99.9.
const REQUESTS: u64 = 800;

/// What was seen of a row in all runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Runs whose interval holds the truth.
    pub held: usize,
    /// Runs whose interval does not.
    pub missed: usize,
    /// Runs in which the row claims nothing.
    pub silent: usize,
}

impl Seen {
    /// Share of the intervals that hold the truth.
    pub fn coverage(&self) -> f64 {
        self.held as f64 / (self.held + self.missed).max(1) as f64
    }
}

/// The rows, by their metrics.
pub const ROWS: [&str; 10] = [
    "response.p50",
    "response.p90",
    "response.p99",
    "response.p99.9",
    "response.mean",
    "response.mean.undisturbed",
    "response.p50.paired",
    "response.p99.paired",
    "cpu.service",
    "softirqs",
];

/// Judges so many runs.
pub fn coverage(noise: Noise, runs: u64) -> [Seen; ROWS.len()] {
    let truths = truths(noise);
    let mut seen = [Seen::default(); ROWS.len()];
    for seed in 0..runs {
        let run = MadeUp {
            seed,
            shift_us: SHIFT_US,
            cpu_noise_us: 1.0,
            noise,
            requests: REQUESTS,
            ..MadeUp::default()
        };
        let result = analyse(&run.data());
        for ((metric, truth), seen) in ROWS.iter().zip(truths).zip(&mut seen) {
            let row = result.contrasts[0].rows.iter().find(|row| row.metric == *metric).expect(metric);
            match row.interval {
                Some([low, high]) if low <= truth && truth <= high => seen.held += 1,
                Some(_) => seen.missed += 1,
                None => {
                    assert_eq!(row.verdict, Verdict::Unresolved, "{row:?}");
                    seen.silent += 1;
                }
            }
        }
    }
    for (metric, seen) in ROWS.iter().zip(seen) {
        let coverage = 100.0 * seen.coverage();
        println!("{:>30}  {metric:<26} {coverage:5.1} %, silent in {} of {runs}", noise.name, seen.silent);
    }
    seen
}

/// The true differences of the rows, in their units; that of the mean, undisturbed, is what is left without stalls.
fn truths(noise: Noise) -> [f64; ROWS.len()] {
    let [host, pod] = [false, true].map(|is_candidate| {
        let mut random = Pcg64::seed_from_u64(99);
        let (mut weather, mut deployment) = (noise.weather(&mut random), 0.0);
        let mut all = new_histogram();
        // Nine slices of a deployment, as in a run of three cells, so that the drift is the same.
        for slice in 0..3_000 {
            if slice % 9 == 0 {
                weather = noise.weather(&mut random);
                deployment = MadeUp { noise, ..MadeUp::default() }.deployment_us(&mut random);
            }
            let shift = if is_candidate { SHIFT_US } else { 0.0 };
            let base = 100.0 + shift + deployment + weather.next(is_candidate, &mut random);
            for ns in noise.responses_ns(base, is_candidate, REQUESTS, &mut random) {
                all.record(ns).expect("a time of less than an hour");
            }
        }
        [0.5, 0.9, 0.99, 0.999].map(|quantile| all.value_at_quantile(quantile) as f64 / 1e3)
    });
    let quantile = |at: usize| pod[at] - host[at];
    let mean = SHIFT_US + noise.mean_of_stalls_us(REQUESTS);
    let us =
        [quantile(0), quantile(1), quantile(2), quantile(3), mean, SHIFT_US, quantile(0), SHIFT_US, SHIFT_US];
    let mut truths = [SOFTIRQS; ROWS.len()];
    for (truth, us) in truths.iter_mut().zip(us) {
        *truth = us * 1e3;
    }
    truths
}

/// Whether a row estimates something that is known. Of what the service itself does seldom the mean, undisturbed, leaves out a part, and p99 slice
/// by slice does so where one side alone does it.
pub fn has_truth(metric: &str, noise: Noise) -> bool {
    match metric {
        "response.mean.undisturbed" => noise.stalls.is_none(),
        "response.p99.paired" => noise.stalls.is_none_or(|stalls| !stalls.candidate_alone),
        _ => true,
    }
}

/// So many of few runs miss by chance: one interval in twenty, and three standard deviations.
fn holds(seen: Seen) -> bool {
    let runs = (seen.held + seen.missed) as f64;
    seen.missed as f64 <= 0.05 * runs + 3.0 * (0.05 * 0.95 * runs).sqrt()
}

/// Whether few loud slices may carry the row: its tail is theirs.
fn may_be_silent(metric: &str) -> bool {
    ["response.p90", "response.p99", "response.p99.9", "response.mean"].contains(&metric)
}

#[test]
fn intervals_hold_the_truth_where_the_machine_is_noisy() {
    for noise in [Noise::CORRELATED, Noise::LOUD, Noise::TWO_MODES] {
        for (metric, seen) in ROWS.iter().zip(coverage(noise, 30)) {
            assert!(
                holds(seen) && (seen.silent <= 2 || may_be_silent(metric)),
                "{}, {metric}: {seen:?}",
                noise.name
            );
        }
    }
}

#[test]
fn intervals_hold_the_truth_where_one_side_stalls() {
    let seen = coverage(Noise::STALLING, 30);
    for (metric, seen) in ROWS.iter().zip(seen).filter(|(metric, _)| has_truth(metric, Noise::STALLING)) {
        assert!(holds(seen), "{metric}: {seen:?}");
    }
}

#[test]
fn a_mean_that_the_longest_stalls_make_claims_nothing() {
    let seen = coverage(Noise::HEAVY_TAIL, 30);
    let mean = seen[4];
    assert!(mean.silent >= 24, "no interval covers the mean of such stalls: {mean:?}");
    assert!(holds(seen[0]) && seen[0].silent == 0, "the median does not mind: {:?}", seen[0]);
}

#[test]
fn blocks_of_which_many_stall_claim_nothing_of_the_middle_ones() {
    let at = ROWS.iter().position(|metric| *metric == "response.p99.paired").expect("the row");
    assert!(coverage(Noise::BOTH_STALLING, 30)[at].silent >= 20);
    assert!(coverage(Noise::HEAVY_REQUESTS, 30)[at].silent <= 1);
}
