//! Commands of one's own, as a user compares the old one with the new one.

use crate::support::BRIEF;
use crate::support::place::Place;

#[test]
fn two_named_commands_are_compared_on_the_host() {
    let place = Place::shared();
    let server = |name: &str| format!("{name}: python3 -m http.server {{port}} --bind {{host}}");
    let (old, new) = (server("old"), server("new"));
    let job = ["compare", &old, &new, "--rate", "50/s", "--json", "-"];
    let ended = place.run(job.into_iter().chain(BRIEF));

    ended.assert_measured();
    let result = ended.result();
    let labels: Vec<&str> = result.cells.iter().map(|cell| cell.label.as_str()).collect();
    assert_eq!(labels, ["old", "old′", "new"]);
    assert!(result.cells.iter().all(|cell| cell.platform == "host" && cell.answered > 0));
}
