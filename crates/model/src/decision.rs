//! What platforms cost that carry a load over a day: what it is decided from, and what comes out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::platform::Limits;

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
    /// What amounts are in.
    pub currency: String,
    /// The load.
    pub profile: DayProfile,
    /// The cheapest first.
    pub options: Vec<CostOption>,
    /// What else would have to be so for another option to be cheapest.
    pub turns: Vec<Turn>,
}

/// The shape of [`Decision`].
pub const DECISION_SCHEMA: &str = "loadline/decision/1";

/// A platform and what it costs.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CostOption {
    /// Service and platform, as the run calls them.
    pub label: String,
    /// Name of the platform.
    pub platform: String,
    /// What a replica carries, requests a second.
    pub capacity: f64,
    /// Its interval.
    pub capacity_interval: [f64; 2],
    /// Replicas in each hour of the day.
    pub replicas: Vec<u32>,
    /// In a month of 30.4 days.
    pub monthly_cost: f64,
    /// At both ends of the capacity's interval.
    pub monthly_interval: [f64; 2],
    /// The part of it that is there without any load.
    pub monthly_fixed: f64,
    /// Share of the capacity that is free in the hour with the most load.
    pub headroom: f64,
    /// The same when one replica is lost then; below zero it is not carried.
    pub headroom_one_lost: f64,
}

/// What would make another option the cheapest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Turn {
    /// All hours have so many times the load, more than 1. Replicas are whole, so that beyond it another may be cheaper for a while.
    Load {
        /// The option.
        label: String,
        /// How many times.
        times: f64,
    },
    /// All hours have this part of the load.
    LessLoad {
        /// The option.
        label: String,
        /// Below 1.
        times: f64,
    },
    /// A replica carries so much.
    Capacity {
        /// The option.
        label: String,
        /// Requests a second.
        rate: f64,
    },
    /// Its fixed cost in a month is so much.
    Fixed {
        /// The option.
        label: String,
        /// The amount.
        amount: f64,
    },
}
