//! The positive control: a known delay is found, and found to be as long as it is; a service against itself is not.

mod support;

use loadline_analysis::result::{Contrast, Row, Verdict};
use support::leftovers;
use support::place::Place;

fn median(contrast: &Contrast) -> &Row {
    contrast.rows.iter().find(|row| row.metric == "response.p50").expect("a median")
}

#[test]
fn a_delay_of_200_us_is_found_and_its_interval_holds_it() {
    let place = Place::alone();
    let services = ["compare", "--service", "orders", "--service", "orders --delay 200us", "--on", "host"];
    // A request every millisecond is over before the next begins. At random times delayed requests would meet more often than
    // others, on the one CPU of the service, and their waiting for each other would be a difference too.
    let load = ["--rate", "1000/s", "--arrivals", "uniform"];
    let plan = ["--slice", "600ms", "--blocks", "2", "--deployments", "6", "--repeats", "1"];
    let ended = place.run(services.into_iter().chain(load).chain(plan).chain(["--json", "-"]));

    ended.assert_measured();
    let result = ended.result();
    let found = median(&result.contrasts[0]);
    let interval = found.interval.expect("twelve blocks make a claim");
    assert_eq!(found.verdict, Verdict::Slower, "{found:?}");
    assert!(interval[0] <= 200e3 && 200e3 <= interval[1], "{interval:?} does not hold 200 µs: {found:?}");

    leftovers::assert_none(&place.store().label());
}
