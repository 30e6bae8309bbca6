//! Searches of real services that misbehave under overload or as time goes by: each ends with what is to be known of it, and that of a service
//! which behaves with none of these findings.

use crate::proof::{Row, prove};
use crate::support::go;
use crate::support::leftovers;
use crate::support::place::Place;

/// Services by what they do, and how what is found of them begins.
const SERVICES: [(&str, &str); 5] = [
    (BEHAVES, ""),
    ("collapses", "it collapses under overload"),
    ("leaks", "the longer it is loaded, the less it carries"),
    ("sheds", "it sheds load"),
    ("stays bad", "after an overload it fails at"),
];
const BEHAVES: &str = "behaves";
const SEARCHES: usize = 5;
/// What the machine does meanwhile can hide one.
const MOST_HIDDEN: usize = 1;

#[test]
fn searches_of_services_that_misbehave_end_with_their_finding() {
    let place = Place::alone();
    let program = go::build(&place, "misbehaves", "prove/misbehaving");
    let service = |(name, _): &(&str, &str)| {
        format!(
            "  - {{name: {name}, command: '{program} {{host}}:{{port}} \"{name}\"', requests: [GET /]}}\n"
        )
    };
    let mut found = SERVICES.map(|_| 0);
    for seed in 1..=SEARCHES {
        place.write(
            "experiment.yaml",
            &format!(
                "services:\n{}platforms: [host]\nloads: [{{rate: 500/s, connections: 1024, timeout: 2s}}]\n\
                capacity: {{objectives: [success >= 99%, p99 <= 50ms], precision: 10%}}\nplan: {{warmup: 1s, seed: {seed}}}\n",
                SERVICES.iter().map(service).collect::<String>()
            ),
        );
        let ended = place.run(["run", "experiment.yaml", "--json", "-"]);
        ended.assert_measured();
        leftovers::assert_none(&place.store().label());
        let result = ended.result();
        for capacity in &result.capacities.as_ref().expect("capacities").cells {
            let name = &result.cells[capacity.cell.0].service;
            let at = SERVICES.iter().position(|(service, _)| service == name).expect("a service");
            let findings: Vec<&str> = capacity.findings.iter().map(|finding| &*finding.text).collect();
            println!("{name}: {:?} {:?} {findings:?}", capacity.rate_per_second, capacity.trials);
            let is_found = |of: &str| findings.iter().any(|finding| finding.starts_with(of));
            found[at] += usize::from(match name == BEHAVES {
                true => SERVICES.iter().all(|(other, finding)| *other == BEHAVES || !is_found(finding)),
                false => is_found(SERVICES[at].1),
            });
        }
    }
    let row = |((service, finding), found): (&(&str, &str), usize)| Row {
        what: match *service == BEHAVES {
            true => "search of a service that behaves: none of the findings below".to_owned(),
            false => format!("search of a service that {service}: \"{finding}\""),
        },
        expected: format!("in {} of {SEARCHES}", SEARCHES - MOST_HIDDEN),
        found: format!("in {found}"),
        interval: format!("{SEARCHES} searches"),
        holds: found + MOST_HIDDEN >= SEARCHES,
    };
    prove(&SERVICES.iter().zip(found).map(row).collect::<Vec<Row>>());
}
