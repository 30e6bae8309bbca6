//! From capacities, a load over a day and prices to what each platform costs.

use loadline_model::decision::{
    CostOption, DECISION_SCHEMA, DayProfile, Decision, PlatformPrices, Prices, Turn,
};
use loadline_model::result::{Cell, RunResult};

/// Days of a month, on average.
const DAYS: f64 = 30.4;
const GIB: f64 = 1_073_741_824.0;
/// Loads that are looked at for a turn, as multiples and parts of the one that was asked for.
const MOST_TIMES: f64 = 1_000.0;
/// Halvings until a turn is known to a thousandth.
const HALVINGS: usize = 40;

/// Why nothing can be decided.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undecidable {
    /// The run is no search.
    #[error("run {0} has no capacities: `loadline capacity` finds them")]
    NoCapacities(i64),
    /// No platform has both a capacity and a price.
    #[error("no platform has both a capacity and prices: the run has {measured}, the prices are of {priced}")]
    NothingInCommon {
        /// Platforms of the run.
        measured: String,
        /// Platforms with prices.
        priced: String,
    },
}

/// What is known of an option.
struct Known<'a> {
    cell: &'a Cell,
    capacity: f64,
    interval: [f64; 2],
    prices: &'a PlatformPrices,
}

/// What each platform costs that carries the load.
///
/// # Errors
/// When the run has no capacities, or none of a platform with prices.
pub fn decide(result: &RunResult, profile: &DayProfile, prices: &Prices) -> Result<Decision, Undecidable> {
    let Some(found) = &result.capacities else { return Err(Undecidable::NoCapacities(result.run.id)) };
    let known: Vec<Known<'_>> = found
        .cells
        .iter()
        .filter_map(|capacity| {
            let cell = result.cell(capacity.cell)?;
            let prices = prices.platforms.iter().find(|prices| prices.name == cell.platform)?;
            Some(Known { cell, capacity: capacity.rate_per_second?, interval: capacity.interval?, prices })
        })
        .collect();
    if known.is_empty() {
        let listed = |names: Vec<&str>| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        return Err(Undecidable::NothingInCommon {
            measured: listed(result.cells.iter().map(|cell| cell.platform.as_str()).collect()),
            priced: listed(prices.platforms.iter().map(|platform| platform.name.as_str()).collect()),
        });
    }
    let mut options: Vec<CostOption> = known.iter().map(|known| option(known, profile, prices)).collect();
    let turns = turns(&known, &options, profile, prices);
    options.sort_by(|one, other| one.monthly_cost.total_cmp(&other.monthly_cost));
    Ok(Decision {
        schema: DECISION_SCHEMA.to_owned(),
        run: result.run.id,
        currency: prices.currency.clone(),
        profile: profile.clone(),
        options,
        turns,
    })
}

fn option(known: &Known<'_>, profile: &DayProfile, prices: &Prices) -> CostOption {
    let replicas: Vec<u32> =
        profile.per_second.iter().map(|rate| replicas(*rate, known.capacity, prices)).collect();
    let at = |capacity: f64| monthly(known, capacity, profile, prices);
    let peak = profile.per_second.iter().copied().fold(0.0, f64::max);
    let most = replicas.iter().copied().max().unwrap_or(0);
    let free = |replicas: u32| 1.0 - peak / (f64::from(replicas) * known.capacity);
    CostOption {
        label: known.cell.label.clone(),
        platform: known.cell.platform.clone(),
        capacity: known.capacity,
        capacity_interval: known.interval,
        monthly_cost: at(known.capacity),
        // The less a replica carries, the more of them there must be.
        monthly_interval: [at(known.interval[1]), at(known.interval[0])],
        monthly_fixed: fixed(known.prices, prices),
        headroom: free(most),
        headroom_one_lost: if most > 1 { free(most - 1) } else { -1.0 },
        replicas,
    }
}

/// Enough for the rate with the headroom free, and those that are spare.
fn replicas(rate: f64, capacity: f64, prices: &Prices) -> u32 {
    let needed = (rate / (capacity * (1.0 - prices.headroom))).ceil().max(1.0);
    needed as u32 + prices.spare
}

/// Of what there is without any load.
fn fixed(platform: &PlatformPrices, prices: &Prices) -> f64 {
    platform.cluster_hour * 24.0 * DAYS + platform.engineer_hours * prices.engineer_hour
}

fn monthly(known: &Known<'_>, capacity: f64, profile: &DayProfile, prices: &Prices) -> f64 {
    let limits = known.prices.replica.or(known.cell.limits);
    let cpus = limits.cpus.unwrap_or(0.0);
    let gib = limits.memory_bytes.unwrap_or(0) as f64 / GIB;
    let each = cpus * known.prices.cpu_hour + gib * known.prices.gib_hour;
    let hours: f64 = profile.per_second.iter().map(|rate| f64::from(replicas(*rate, capacity, prices))).sum();
    hours * DAYS * each + fixed(known.prices, prices)
}

/// What would make another option the cheapest, of each of them.
fn turns(known: &[Known<'_>], options: &[CostOption], profile: &DayProfile, prices: &Prices) -> Vec<Turn> {
    let Some(cheapest) = (0..options.len())
        .min_by(|one, other| options[*one].monthly_cost.total_cmp(&options[*other].monthly_cost))
    else {
        return Vec::new();
    };
    let best = options[cheapest].monthly_cost;
    let others = (0..options.len()).filter(|at| *at != cheapest);
    let of_option = |at: usize| {
        let label = || options[at].label.clone();
        let scaled = |times: f64| DayProfile {
            per_second: profile.per_second.iter().map(|rate| rate * times).collect(),
        };
        let is_cheapest_at_load = |times: f64| {
            let profile = scaled(times);
            let cost = |at: usize| monthly(&known[at], known[at].capacity, &profile, prices);
            (0..known.len()).all(|other| other == at || cost(at) < cost(other))
        };
        let is_cheaper_with = |capacity: f64| monthly(&known[at], capacity, profile, prices) < best;
        let fixed = options[at].monthly_fixed - (options[at].monthly_cost - best);
        [
            first(is_cheapest_at_load, 1.0, MOST_TIMES).map(|times| Turn::Load { label: label(), times }),
            first(|parts| is_cheapest_at_load(1.0 / parts), 1.0, MOST_TIMES)
                .map(|parts| Turn::LessLoad { label: label(), times: 1.0 / parts }),
            first(is_cheaper_with, options[at].capacity, options[at].capacity * MOST_TIMES)
                .map(|rate| Turn::Capacity { label: label(), rate }),
            (fixed > 0.0).then(|| Turn::Fixed { label: label(), amount: fixed }),
        ]
    };
    others.flat_map(of_option).flatten().collect()
}

/// The least value from which on something holds, if it does at the most one.
fn first(holds: impl Fn(f64) -> bool, least: f64, most: f64) -> Option<f64> {
    if !holds(most) {
        return None;
    }
    let (mut low, mut high) = (least, most);
    for _ in 0..HALVINGS {
        let middle = (low * high).sqrt();
        if holds(middle) { high = middle } else { low = middle }
    }
    Some(high)
}
