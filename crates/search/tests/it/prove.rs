//! Coverage and findings over thousands of searches (`make prove`).

use crate::coverage::{SERVICES, coverage, half_fail};
use crate::findings::{IRREGULAR, found};
use crate::proof::{Row, prove};
use crate::services::GOAL;

const SEARCHES: u64 = 500;
/// Rates that a search tries on average, from one that is up to ten times lower than the capacity. Of a service whose slices all pass below its
/// capacity and all fail above, trials as well: each of the others' trials tells less.
const MOST_PROBES: f64 = 25.0;
const WITHOUT_NOISE: &str = "a cliff";
/// Where slices differ by less than the precision, intervals hold the truth more often than they say.
const LITTLE_NOISE: &str = "a cliff that differs by 1 % from slice to slice";
/// Times that are more variable than exponential ones.
const VARIABLE: &str = "M/G/4 with log-normal times, p99 within 50 ms";
const SEED: u64 = 1;

fn share(count: usize) -> f64 {
    100.0 * count as f64 / SEARCHES as f64
}

/// Two standard errors of a share, in percent.
fn error(share: f64) -> f64 {
    200.0 * (share / 100.0 * (1.0 - share / 100.0) / SEARCHES as f64).sqrt()
}

#[test]
fn intervals_of_capacities_hold_the_truth() {
    let rows = SERVICES.map(|(name, make)| {
        let seen = coverage(make, SEARCHES);
        let (held, alarms) = (100.0 * seen.coverage(), share(seen.alarms));
        let holds = Row {
            what: format!("capacity of {name}: the interval holds it"),
            expected: match name {
                WITHOUT_NOISE => format!("≥ 93 %, in at most {MOST_PROBES:.0} trials on average"),
                LITTLE_NOISE => format!("≥ 93 %, at no more than {MOST_PROBES:.0} rates on average"),
                _ => format!("93 to 97 %, at no more than {MOST_PROBES:.0} rates on average"),
            },
            found: format!("{held:.1} %, {:.1} trials at {:.1} rates", seen.each(), seen.rates_each()),
            interval: format!("± {:.1} %, {SEARCHES} searches", error(held)),
            holds: held + error(held) >= 93.0
                && ([WITHOUT_NOISE, LITTLE_NOISE].contains(&name) || held - error(held) <= 97.0)
                && seen.rates_each() <= MOST_PROBES
                && (name != WITHOUT_NOISE || seen.each() <= MOST_PROBES),
        };
        let alarm = Row {
            what: format!("capacity of {name}: found to be irregular"),
            expected: "≤ 5 %".to_owned(),
            found: format!("{alarms:.1} %"),
            interval: format!("± {:.1} %, {SEARCHES} searches", error(alarms)),
            holds: alarms - error(alarms) <= 5.0,
        };
        [holds, alarm]
    });
    prove(rows.as_flattened());
}

/// Trials of 25 slices stand for endless ones.
#[test]
fn slices_are_long_enough() {
    let queues = SERVICES.into_iter().filter(|(name, _)| name.starts_with("M/"));
    let rows = queues.map(|(name, make)| {
        let (mut service, truth) = make(SEED);
        let most = 100.0 * GOAL.precision * if name == VARIABLE { 2.0 } else { 1.25 };
        let too_high = 100.0 * (truth / half_fail(service.as_mut(), 25.0, 200) - 1.0);
        Row {
            what: format!("capacity of {name}: above that in slices 25 times as long"),
            expected: format!("by at most {most:.1} %"),
            found: format!("by {too_high:.1} %"),
            interval: "200 trials at each step".to_owned(),
            holds: too_high <= most,
        }
    });
    prove(&rows.collect::<Vec<Row>>());
}

#[test]
fn services_without_a_single_capacity_are_told() {
    let mut rows: Vec<Row> = Vec::new();
    for (name, make, is_it) in IRREGULAR {
        let found = share(found(make, is_it, SEARCHES));
        rows.push(Row {
            what: format!("capacity of a service that {name}: the finding"),
            expected: "≥ 95 %".to_owned(),
            found: format!("{found:.1} %"),
            interval: format!("± {:.1} %, {SEARCHES} searches", error(found)),
            holds: found + error(found) >= 95.0,
        });
    }
    prove(&rows);
}
