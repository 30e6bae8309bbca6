//! What would make another option the cheapest.

use loadline_model::decision::{CostOption, DayProfile, Prices, Turn, TurnOf};

use super::{Known, Replica, monthly, replica_hours};

/// Loads and capacities that are looked at, as multiples and parts of those that there are.
const MOST_TIMES: f64 = 1_000.0;
/// Steps in which they are looked at, of 2.9 % each: what holds in a narrower range alone may be missed.
const STEPS: u32 = 240;
/// Halvings of a step, until a turn is known to a ten-thousandth.
const HALVINGS: usize = 10;
/// Headrooms that are looked at, in percent.
const MOST_HEADROOM: u32 = 95;

/// Of each option but the cheapest. `options` are in the order of `known`.
pub fn turns(
    known: &[Known<'_>],
    options: &[CostOption],
    profile: &DayProfile,
    prices: &Prices,
) -> Vec<Turn> {
    let all = All { known, profile, prices };
    let by_cost =
        |one: &usize, other: &usize| options[*one].monthly_cost.total_cmp(&options[*other].monthly_cost);
    let Some(cheapest) = (0..options.len()).min_by(by_cost) else { return Vec::new() };
    let best = options[cheapest].monthly_cost;
    let of_option = |at: usize| {
        let label = options[at].label.clone();
        all.turns(at, best).into_iter().flatten().map(move |what| Turn { label: label.clone(), what })
    };
    (0..options.len()).filter(|at| *at != cheapest).flat_map(of_option).collect()
}

/// The alternatives, and what their costs follow from.
struct All<'a> {
    known: &'a [Known<'a>],
    profile: &'a DayProfile,
    prices: &'a Prices,
}

impl All<'_> {
    /// Of an option that is not the cheapest, which costs `best`.
    fn turns(&self, at: usize, best: f64) -> [Option<TurnOf>; 7] {
        let of = &self.known[at];
        let costs = |carries: f64| monthly(of, carries, self.profile, self.prices);
        let too_much = costs(of.carries) - best;
        // What a unit would have to cost of which so many are paid for.
        let price = |now: f64, units: f64| Some(now - too_much / units).filter(|price| *price > 0.0);
        let hours = replica_hours(of.carries, self.profile, self.prices);
        let Replica { cpus, gib } = of.replica;
        let fixed = super::fixed(of.prices, self.prices);
        [
            first(|times| self.is_cheapest_at(at, times)).map(TurnOf::Load),
            first(|parts| self.is_cheapest_at(at, 1.0 / parts)).map(|parts| TurnOf::Load(1.0 / parts)),
            first(|times| costs(of.carries * times) < best).map(|times| TurnOf::Capacity(of.carries * times)),
            price(fixed, 1.0).map(TurnOf::Fixed),
            price(of.prices.cpu_hour, hours * cpus).map(TurnOf::CpuHour),
            price(of.prices.gib_hour, hours * gib).map(TurnOf::GibHour),
            self.headroom(at).map(TurnOf::Headroom),
        ]
    }

    fn is_cheapest_at(&self, at: usize, times: f64) -> bool {
        let per_second = self.profile.per_second.iter().map(|rate| rate * times).collect();
        self.is_cheapest(at, &DayProfile { per_second }, self.prices)
    }

    fn is_cheapest(&self, at: usize, profile: &DayProfile, prices: &Prices) -> bool {
        let cost = |of: &Known<'_>| monthly(of, of.carries, profile, prices);
        let own = cost(&self.known[at]);
        self.known.iter().enumerate().all(|(other, of)| other == at || own < cost(of))
    }

    /// The headroom nearest to the one that was asked for with which it is the cheapest, in whole percent.
    fn headroom(&self, at: usize) -> Option<f64> {
        let is_cheapest = |headroom: &f64| {
            let prices = Prices { headroom: *headroom, ..self.prices.clone() };
            self.is_cheapest(at, self.profile, &prices)
        };
        let found = (0..=MOST_HEADROOM).map(|percent| f64::from(percent) / 100.0).filter(is_cheapest);
        let away = |headroom: &f64| (headroom - self.prices.headroom).abs();
        found.min_by(|one, other| away(one).total_cmp(&away(other)))
    }
}

/// The factor nearest to 1, and larger, at which something holds that does not at 1. Replicas are whole, so that it may hold in a range alone,
/// and not at the largest factor.
fn first(holds: impl Fn(f64) -> bool) -> Option<f64> {
    let factor = |step: u32| MOST_TIMES.powf(f64::from(step) / f64::from(STEPS));
    let step = (1..=STEPS).find(|step| holds(factor(*step)))?;
    let (mut low, mut high) = (factor(step - 1), factor(step));
    for _ in 0..HALVINGS {
        let middle = (low * high).sqrt();
        if holds(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(found: Option<f64>, expected: f64) {
        assert!(
            found.is_some_and(|found| (found / expected - 1.0).abs() < 1e-4),
            "{found:?}, not {expected}"
        );
    }

    #[test]
    fn the_nearest_of_several_ranges_is_found_and_none_where_there_is_none() {
        assert_near(first(|times| times > 20.0), 20.0);
        assert_near(first(|times| (2.0..2.2).contains(&times) || times > 20.0), 2.0);
        assert_near(first(|times| (900.0..950.0).contains(&times)), 900.0);
        assert_eq!(first(|_| false), None);
    }
}
