//! A service that its CPU limit holds back: that is what its report says first.

use crate::support::BRIEF;
use crate::support::place::Place;

#[test]
fn a_service_that_its_limit_holds_back_is_said_to_be_throttled() {
    let place = Place::shared();
    // Each request takes 4 ms of CPU and more: three times what the limit gives, on a fast machine as well.
    let job = ["compare", "--service", "cpu", "--request", "/cpu?n=30", "--on", "host", "--no-twin"];
    let load = ["--on", "container", "--rate", "200/s", "--limit-cpu", "0.3", "--json", "result.json"];
    let ended = place.run(job.into_iter().chain(load).chain(BRIEF));

    assert!(matches!(ended.code, Some(0 | 3)), "{:?} {}", ended.code, ended.stderr);
    let said = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("Throttled by the CPU limit:"), "{}", ended.stdout);
    assert!(said.contains("(limit 0.3, "), "{}", ended.stdout);
    assert!(said.contains("Slices are shorter than ten periods of the limit"), "{}", ended.stdout);
    assert!(said.contains("limits: 0.3 CPUs"), "the title has it: {}", ended.stdout);
    let json = std::fs::read_to_string(place.path("result.json")).expect("a file");
    let result: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    for cell in result["cells"].as_array().expect("cells") {
        let (periods, throttled) = (&cell["throttling"]["periods"], &cell["throttling"]["throttled_periods"]);
        assert!(throttled.as_u64() > Some(0) && periods.as_u64() >= throttled.as_u64(), "{cell}");
        assert_eq!(cell["limits"]["cpus"], 0.3);
    }
}
