//! From capacities, a load over a day and prices to what each platform costs. Only what does the same is an alternative: the platforms of one
//! service under one load.

mod turns;

use loadline_model::decision::{
    Alternatives, CostOption, DECISION_SCHEMA, DayProfile, Decision, LeftOut, PlatformPrices, Prices,
    WhyLeftOut,
};
use loadline_model::result::{Capacities, Cell, CellCapacity, Role, RunResult};

/// Days of a month, on average.
const DAYS: f64 = 30.4;
const GIB: f64 = 1_073_741_824.0;

/// Why nothing can be decided.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undecidable {
    /// The run is no search.
    #[error("run {0} has no capacities: `loadline capacity` finds them")]
    NoCapacities(i64),
    /// What has prices and a capacity has replicas without a size.
    #[error(
        "the replicas of {0} have no size: write `replica: {{cpu: 1, memory: 1Gi}}` for each in the price file, or measure \
         with `limits`"
    )]
    NoSize(String),
    /// No platform has prices and a capacity.
    #[error(
        "no platform has both prices and a capacity that holds for longer: the run has {measured}, the prices are of {priced}; \
         `loadline report {run}` says what each carries"
    )]
    NothingInCommon {
        /// Number of the run.
        run: i64,
        /// Platforms of the run.
        measured: String,
        /// Platforms with prices.
        priced: String,
    },
}

/// What is known of an option.
struct Known<'a> {
    cell: &'a Cell,
    found: &'a CellCapacity,
    capacity: f64,
    interval: [f64; 2],
    carries: f64,
    prices: &'a PlatformPrices,
    replica: Replica,
}

/// What each platform costs that carries the load.
///
/// # Errors
/// When the run has no capacities, none of a platform with prices, or no replica whose cost is known.
pub fn decide(result: &RunResult, profile: &DayProfile, prices: &Prices) -> Result<Decision, Undecidable> {
    let Some(found) = &result.capacities else { return Err(Undecidable::NoCapacities(result.run.id)) };
    let groups: Vec<Alternatives> =
        groups(result, found).into_iter().map(|group| alternatives(&group, profile, prices)).collect();
    if groups.iter().all(|group| group.options.is_empty()) {
        let left_out = groups.iter().flat_map(|group| &group.left_out);
        let without_size: Vec<&str> = left_out
            .filter(|left_out| left_out.why == WhyLeftOut::NoSize)
            .map(|left_out| left_out.label.as_str())
            .collect();
        if !without_size.is_empty() {
            return Err(Undecidable::NoSize(listed(without_size.into_iter())));
        }
        let measured = result.cells.iter().filter(|cell| cell.role != Role::Twin);
        return Err(Undecidable::NothingInCommon {
            run: result.run.id,
            measured: listed(measured.map(|cell| cell.platform.as_str())),
            priced: listed(prices.platforms.iter().map(|platform| platform.name.as_str())),
        });
    }
    Ok(Decision {
        schema: DECISION_SCHEMA.to_owned(),
        run: result.run.id,
        trusted: result.trust.trusted,
        objectives: found.objectives.clone(),
        currency: prices.currency.clone(),
        profile: profile.clone(),
        groups,
    })
}

/// Each once.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut each: Vec<&str> = Vec::new();
    for name in names {
        if !each.contains(&name) {
            each.push(name);
        }
    }
    if each.is_empty() { "none".to_owned() } else { each.join(", ") }
}

/// The cells of one service under one load, without twins.
type Group<'a> = Vec<(&'a Cell, &'a CellCapacity)>;

fn groups<'a>(result: &'a RunResult, found: &'a Capacities) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for capacity in &found.cells {
        let Some(cell) = result.cell(capacity.cell).filter(|cell| cell.role != Role::Twin) else { continue };
        match groups.iter_mut().find(|group| does_the_same(group[0].0, cell)) {
            Some(group) => group.push((cell, capacity)),
            None => groups.push(vec![(cell, capacity)]),
        }
    }
    groups
}

fn does_the_same(one: &Cell, other: &Cell) -> bool {
    let what = |cell: &Cell| {
        (
            cell.service.clone(),
            cell.load.clone(),
            cell.connections,
            cell.new_connections,
            cell.options.clone(),
        )
    };
    what(one) == what(other)
}

fn alternatives(group: &Group<'_>, profile: &DayProfile, prices: &Prices) -> Alternatives {
    let (mut known, mut left_out) = (Vec::new(), Vec::new());
    for (cell, found) in group {
        match known_of(cell, found, prices) {
            Ok(option) => known.push(option),
            Err(why) => {
                left_out.push(LeftOut { label: cell.label.clone(), why, findings: found.findings.clone() });
            }
        }
    }
    let is_measured =
        |platform: &&PlatformPrices| group.iter().any(|(cell, _)| cell.platform == platform.name);
    let unmeasured = prices.platforms.iter().filter(|platform| !is_measured(platform));
    left_out.extend(unmeasured.map(|platform| LeftOut {
        label: platform.name.clone(),
        why: WhyLeftOut::NotMeasured,
        findings: Vec::new(),
    }));
    let mut options: Vec<CostOption> = known.iter().map(|known| option(known, profile, prices)).collect();
    let turns = turns::turns(&known, &options, profile, prices);
    options.sort_by(|one, other| one.monthly_cost.total_cmp(&other.monthly_cost));
    let (first, _) = group[0];
    Alternatives {
        service: first.service.clone(),
        load: format!("{}, {} connections", first.load, first.connections),
        options,
        left_out,
        turns,
    }
}

fn known_of<'a>(
    cell: &'a Cell,
    found: &'a CellCapacity,
    prices: &'a Prices,
) -> Result<Known<'a>, WhyLeftOut> {
    let of_platform = prices.platforms.iter().find(|prices| prices.name == cell.platform);
    let prices = of_platform.ok_or(WhyLeftOut::NoPrice)?;
    let (Some(capacity), Some(interval)) = (found.rate_per_second, found.interval) else {
        return Err(WhyLeftOut::NoCapacity);
    };
    let carries = found.carried_per_second.ok_or(WhyLeftOut::NotForLonger)?;
    let replica = Replica::of(cell, prices).ok_or(WhyLeftOut::NoSize)?;
    Ok(Known { cell, found, capacity, interval, carries, prices, replica })
}

fn option(known: &Known<'_>, profile: &DayProfile, prices: &Prices) -> CostOption {
    let replicas: Vec<u32> =
        profile.per_second.iter().map(|rate| replicas(*rate, known.carries, prices)).collect();
    let at = |capacity: f64| monthly(known, capacity, profile, prices);
    let left = |lost: u32| {
        let hours = profile.per_second.iter().zip(&replicas);
        hours.map(|(rate, replicas)| free(*rate, replicas - lost, known.carries)).collect::<Vec<f64>>()
    };
    CostOption {
        label: known.cell.label.clone(),
        platform: known.cell.platform.clone(),
        capacity: known.capacity,
        capacity_interval: known.interval,
        carries: known.carries,
        monthly_cost: at(known.carries),
        monthly_interval: [at(known.interval[1]), at(known.carries)],
        monthly_fixed: fixed(known.prices, prices),
        headroom: left(0).into_iter().fold(f64::INFINITY, f64::min),
        headroom_one_lost: left(1),
        replicas,
        findings: known.found.findings.clone(),
    }
}

/// Enough for the rate with the headroom free, and those that are spare; at least one.
fn replicas(rate: f64, carries: f64, prices: &Prices) -> u32 {
    let needed = (rate / (carries * (1.0 - prices.headroom))).ceil().max(1.0);
    needed as u32 + prices.spare
}

/// The share of what replicas carry that a rate leaves; of none it leaves less than nothing, unless there is nothing to carry.
fn free(rate: f64, replicas: u32, carries: f64) -> f64 {
    match replicas {
        _ if rate == 0.0 => 1.0,
        0 => -1.0,
        _ => 1.0 - rate / (f64::from(replicas) * carries),
    }
}

/// Of what there is without any load.
fn fixed(platform: &PlatformPrices, prices: &Prices) -> f64 {
    platform.cluster_hour * 24.0 * DAYS + platform.engineer_hours * prices.engineer_hour
}

fn monthly(known: &Known<'_>, carries: f64, profile: &DayProfile, prices: &Prices) -> f64 {
    let each = known.replica.cpus * known.prices.cpu_hour + known.replica.gib * known.prices.gib_hour;
    replica_hours(carries, profile, prices) * each + fixed(known.prices, prices)
}

/// Hours of all replicas in a month.
fn replica_hours(carries: f64, profile: &DayProfile, prices: &Prices) -> f64 {
    let a_day: f64 = profile.per_second.iter().map(|rate| f64::from(replicas(*rate, carries, prices))).sum();
    a_day * DAYS
}

/// What a replica is paid for.
#[derive(Clone, Copy)]
struct Replica {
    cpus: f64,
    gib: f64,
}

impl Replica {
    /// `None` if nothing says how much a replica has of what has a price: it would seem to cost nothing.
    fn of(cell: &Cell, prices: &PlatformPrices) -> Option<Replica> {
        let limits = prices.replica.or(cell.limits);
        let gib = limits.memory_bytes.map(|bytes| bytes as f64 / GIB);
        // What is free of charge needs no size.
        let size = |known: Option<f64>, price: f64| known.or((price == 0.0).then_some(0.0));
        Some(Replica { cpus: size(limits.cpus, prices.cpu_hour)?, gib: size(gib, prices.gib_hour)? })
    }
}
