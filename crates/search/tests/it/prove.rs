//! Coverage and findings over thousands of searches (`make prove`).

use crate::coverage::{SERVICES, coverage};
use crate::findings::{IRREGULAR, false_alarms, found};
use crate::proof::{Row, prove};

const SEARCHES: u64 = 500;
/// Trials of a search of a service whose slices all pass below its capacity and all fail above, from a rate that is 3 to 30 times lower.
const MOST_TRIALS: f64 = 25.0;
const WITHOUT_NOISE: &str = "a cliff";

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
        let held = 100.0 * seen.coverage();
        Row {
            what: format!("capacity of {name}: the interval holds it"),
            expected: match name == WITHOUT_NOISE {
                true => format!("≥ 93 %, in at most {MOST_TRIALS:.0} trials on average"),
                false => "93 to 97 %".to_owned(),
            },
            found: format!("{held:.1} %, {:.1} trials", seen.each()),
            interval: format!("± {:.1} %, {SEARCHES} searches", error(held)),
            holds: held + error(held) >= 93.0
                && (name == WITHOUT_NOISE || held - error(held) <= 97.0)
                && (name != WITHOUT_NOISE || seen.each() <= MOST_TRIALS),
        }
    });
    prove(&rows);
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
    let alarms = share(false_alarms(SEARCHES));
    rows.push(Row {
        what: "capacity of a service that has one: a finding".to_owned(),
        expected: "≤ 5 %".to_owned(),
        found: format!("{alarms:.1} %"),
        interval: format!("± {:.1} %, {SEARCHES} searches", error(alarms)),
        holds: alarms - error(alarms) <= 5.0,
    });
    prove(&rows);
}
