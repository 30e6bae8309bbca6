//! The most that services carry, as a search found it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Contrast, Statement, Verdict};
use crate::CellId;
use crate::experiment::Objective;
use crate::rows::Purpose;

/// What a search found.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Capacities {
    /// What a slice had to meet, as it was written.
    pub objectives: Vec<String>,
    /// The same, each with its metric and its bound; times in ns, `success` and `sent` as shares.
    #[serde(default)]
    pub bounds: Vec<Objective>,
    /// Half the width that each interval was to have, relative to the capacity.
    pub precision: f64,
    /// One per cell, in the order of the plan.
    pub cells: Vec<CellCapacity>,
    /// Each candidate against its baseline, of those of which it is known what they carry for longer.
    pub differences: Vec<CapacityDifference>,
    /// All cells at the smallest of their capacities, compared block by block.
    pub at_the_same_rate: Vec<Contrast>,
    /// Each cell at its own capacity, compared block by block; and with `capacity` as a metric, what is in `differences`.
    pub at_their_own: Vec<Contrast>,
}

/// The capacity of a cell.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CellCapacity {
    /// Index in the cells of the result.
    pub cell: CellId,
    /// The rate at which half of the slices fail an objective, requests a second; absent where none was found.
    pub rate_per_second: Option<f64>,
    /// Its interval: the central 95 % of the posterior, or of several deployments Student's.
    pub interval: Option<[f64; 2]>,
    /// The highest rate that certainly passes (RFC 9971).
    pub lower_bound: Option<f64>,
    /// The lowest rate that certainly fails.
    pub upper_bound: Option<f64>,
    /// Answered requests a second at the lower bound: RFC 9971's conditional throughput.
    pub conditional_throughput: Option<f64>,
    /// The highest rate at which a slice passed that was five times as long; of several deployments the lowest, and `None` if in one there was none.
    pub for_longer: Option<f64>,
    /// What it carries for longer than a slice, requests a second, by which it is compared with others and costs are computed: the lower end of the
    /// interval, or if a slice that was five times as long failed, what passes for longer. Absent if nothing did.
    #[serde(default)]
    pub carried_per_second: Option<f64>,
    /// The length of its slices at the capacity, s; a service may carry more in shorter ones.
    pub slice_s: Option<f64>,
    /// Where its curve has its knee; absent where too few rates were tried, or none on one side of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee: Option<Knee>,
    /// The objective that most of the failing trials near the capacity failed.
    pub limited_by: Option<String>,
    /// What a load thread could send at most by the CPU time that requests cost it, requests a second.
    pub generator_limit: Option<f64>,
    /// Trials, those of all deployments.
    pub trials: usize,
    /// What is not as it would be of a service with one capacity.
    pub findings: Vec<Statement<CapacityFinding>>,
    /// Every rate that was tried, in ascending order.
    pub curve: Vec<CurvePoint>,
}

impl CellCapacity {
    /// Whether a slice failed that was longer than those of the search.
    pub fn fails_for_longer(&self) -> bool {
        self.curve.iter().any(|point| point.purpose == Purpose::Confirm && point.failed > 0)
    }
}

/// Where a curve has its knee: of the rates that were tried the one at which most requests were answered by the time that one waited (Kleinrock's
/// power: throughput over response time, here its median). Beyond it waiting grows faster than throughput.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Knee {
    /// That rate, requests a second.
    pub rate_per_second: f64,
    /// The next rates that were tried below and above it.
    pub between: [f64; 2],
}

/// What was seen at one rate.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CurvePoint {
    /// Asked for, requests a second.
    pub rate_per_second: f64,
    /// Answered before the slices were over, requests a second.
    pub achieved_per_second: f64,
    /// Share of the due requests that were answered as expected.
    pub success: f64,
    /// Median response time, ns.
    pub p50_ns: u64,
    /// 99th percentile of the response time, ns.
    pub p99_ns: u64,
    /// Trials that met all objectives.
    pub passed: usize,
    /// Trials that did not.
    pub failed: usize,
    /// What they were for.
    pub purpose: Purpose,
}

/// A capacity against another one.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CapacityDifference {
    /// What is compared with.
    pub baseline: CellId,
    /// What is compared.
    pub candidate: CellId,
    /// Candidate over baseline, less one: 0.92 is 92 % more.
    pub relative: f64,
    /// Its interval. It reaches to the difference of what both carry for longer, if a longer slice of one of them failed.
    pub interval: [f64; 2],
    /// p-value of "no difference" in slices, Holm-corrected over all differences.
    pub p_holm: f64,
    /// Differences within this share are equivalent: twice the precision.
    #[serde(default)]
    pub margin: f64,
    /// p-value of "larger than the margin", by two one-sided tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_equivalent: Option<f64>,
    /// `more`, `fewer`, `equivalent`, or `unresolved`.
    pub verdict: Verdict,
    /// Whether both cells can be trusted; otherwise the verdict claims nothing, and reports show it in parentheses.
    #[serde(default)]
    pub trusted: bool,
}

/// Something about a capacity that its number alone does not say.
#[derive(Clone, Debug, PartialEq)]
pub enum CapacityFinding {
    /// All that the generator can send is carried.
    LimitedByGenerator {
        /// The highest rate that was sent, requests a second.
        rate: f64,
    },
    /// Nothing is carried.
    CarriesNothing {
        /// The lowest rate that was tried.
        rate: f64,
    },
    /// It carries all that it was asked for.
    CarriesAll {
        /// The highest rate that was tried.
        rate: f64,
    },
    /// The time was over before the interval was as narrow as it was to be.
    TimeOver,
    /// So much was tried before the interval was as narrow as it was to be that more of it would not help.
    GaveUp {
        /// Trials in a deployment.
        trials: usize,
        /// Attempts that were none: not sent, or disturbed by the machine.
        lost: usize,
    },
    /// No rate is certain to pass, or none to fail.
    NoBound {
        /// Whether it is the lower bound that is missing.
        lower: bool,
    },
    /// What an overload leaves behind was not looked at: the time was over, or such a rate may not be tried or could not be sent.
    NotOverloaded,
    /// A slice that was five times as long failed, so that it carries less for longer than in slices.
    LessForLonger {
        /// The lowest rate at which one did.
        failed: f64,
        /// What it carries for longer; `None` if none passed.
        carries: Option<f64>,
    },
    /// The machine disturbed many trials, which say nothing.
    Disturbed {
        /// How many.
        trials: usize,
        /// Of how many in all.
        of: usize,
    },
    /// Requests waited for a connection while the service answered as fast as ever.
    LimitedByConnections {
        /// How many there are.
        connections: usize,
    },
    /// Overloaded, it answers far fewer requests than it can.
    Collapse {
        /// Answered a second at the most.
        most: f64,
        /// Answered a second under an overload.
        overloaded: f64,
    },
    /// Overloaded, it refuses requests rather than answering all of them late.
    Sheds {
        /// The share that was refused.
        share: f64,
        /// The statuses, as `GET /a: 503`.
        kind: String,
    },
    /// It has no single capacity.
    Irregular(Irregularity),
}

/// One of the ways in which a service has no single capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Irregularity {
    /// A larger rate passes where a smaller one fails.
    Inverted {
        /// The one that passes.
        passes: f64,
        /// The one that fails.
        fails: f64,
    },
    /// After an overload it fails at a rate that it carried before.
    Hysteresis {
        /// That rate.
        rate: f64,
    },
    /// The longer it is loaded, the less it carries.
    WorseWithTime,
    /// The longer it is loaded, the more it carries: it was not warm.
    BetterWithTime,
    /// Slices of one rate pass and fail, over a wide range.
    Unsteady {
        /// A rate that nine of ten slices pass.
        from: f64,
        /// A rate that nine of ten slices fail.
        to: f64,
    },
}
