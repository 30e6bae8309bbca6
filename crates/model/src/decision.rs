//! What platforms cost that carry a load over a day: what it is decided from, and what comes out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::platform::Limits;
use crate::result::{CapacityFinding, Statement};

/// What things cost, and what must be kept in reserve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prices {
    /// What amounts are in, `USD`.
    pub currency: String,
    /// Share of each replica's capacity that is kept free.
    pub headroom: f64,
    /// Replicas beyond those that the load needs, so that as many may be lost.
    pub spare: u32,
    /// Of an engineer's hour.
    pub engineer_hour: f64,
    /// By platform.
    pub platforms: Vec<PlatformPrices>,
}

/// What a platform costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlatformPrices {
    /// Its name, as in the run.
    pub name: String,
    /// Of a CPU for an hour.
    pub cpu_hour: f64,
    /// Of a GiB of memory for an hour.
    pub gib_hour: f64,
    /// What a replica has; of what the run limited, that.
    pub replica: Limits,
    /// What the platform itself costs in an hour, whatever runs on it.
    pub cluster_hour: f64,
    /// Hours that an engineer has to do with it in a month.
    pub engineer_hours: f64,
}

/// A load over a day: requests a second in each hour.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DayProfile {
    /// 24 of them.
    pub per_second: Vec<f64>,
}

/// What is decided.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Decision {
    /// Version of this document's shape.
    pub schema: String,
    /// Number of the run that the capacities are of.
    pub run: i64,
    /// Whether its figures can be trusted.
    pub trusted: bool,
    /// What was asked of the services, as it was written.
    pub objectives: Vec<String>,
    /// What amounts are in.
    pub currency: String,
    /// The load, of each group by itself.
    pub profile: DayProfile,
    /// One for each service under each load: only what does the same is an alternative.
    pub groups: Vec<Alternatives>,
}

/// The shape of [`Decision`].
pub const DECISION_SCHEMA: &str = "loadline/decision/2";

/// The platforms that a service could run on.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Alternatives {
    /// Name of the service.
    pub service: String,
    /// The load under which it was searched, with its connections.
    pub load: String,
    /// The cheapest first.
    pub options: Vec<CostOption>,
    /// What is no option, and why.
    pub left_out: Vec<LeftOut>,
    /// What else would have to be so for another option to be cheapest.
    pub turns: Vec<Turn>,
}

/// A platform whose cost is not known.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// What the run or the price file calls it.
    pub label: String,
    /// Why.
    pub why: WhyLeftOut,
    /// What the search found of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Statement<CapacityFinding>>,
}

/// Why the cost of a platform is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhyLeftOut {
    /// It has no prices.
    NoPrice,
    /// It has prices, and the run did not measure it.
    NotMeasured,
    /// No capacity was found.
    NoCapacity,
    /// What it carries for longer than a slice was not found.
    NotForLonger,
    /// A CPU or memory has a price, and neither the price file nor the run says how much of it a replica has.
    NoSize,
}

/// A platform and what it costs.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CostOption {
    /// Service and platform, as the run calls them.
    pub label: String,
    /// Name of the platform.
    pub platform: String,
    /// The capacity of a replica in slices, requests a second.
    pub capacity: f64,
    /// Its interval.
    pub capacity_interval: [f64; 2],
    /// What a replica is relied on to carry: the lower end of the interval, or less where that does not hold for longer.
    pub carries: f64,
    /// Replicas in each hour of the day.
    pub replicas: Vec<u32>,
    /// In a month of 30.4 days.
    pub monthly_cost: f64,
    /// With as few replicas as the upper end of the capacity's interval would need, and with these.
    pub monthly_interval: [f64; 2],
    /// The part of it that is there without any load.
    pub monthly_fixed: f64,
    /// Share of what the replicas carry that is free in the hour in which least is.
    pub headroom: f64,
    /// The same of each hour when one replica is lost then; below zero the load is not carried.
    pub headroom_one_lost: Vec<f64>,
    /// What the number of the capacity alone does not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Statement<CapacityFinding>>,
}

/// What would make another option the cheapest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    /// The option.
    pub label: String,
    /// What it takes.
    pub what: TurnOf,
}

/// What would have to be different.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurnOf {
    /// All hours have so many times the load, more than 1, or this part of it, less than 1. Replicas are whole, so that beyond it another may be
    /// cheaper for a while.
    Load(f64),
    /// A replica carries so many requests a second.
    Capacity(f64),
    /// Its fixed cost in a month is so much.
    Fixed(f64),
    /// A CPU costs so much in an hour.
    CpuHour(f64),
    /// A GiB of memory costs so much in an hour.
    GibHour(f64),
    /// This share of each replica is kept free, of all options.
    Headroom(f64),
}
