//! What platforms cost, from capacities that were found, and prices.

use crate::support::place::Place;

const PRICES: &str = "
currency: EUR
headroom: 20%
spare: 1
platforms:
  - {name: host, cpu_hour: 0.05, gib_hour: 0.01, replica: {cpu: 1, memory: 1Gi}, cluster_hour: 0.5}
  - {name: pod, cpu_hour: 0.05, gib_hour: 0.01, replica: {cpu: 1, memory: 1Gi}}
  - {name: docker, cpu_hour: 0.05, gib_hour: 0.01}
";

/// A store with the capacities of host and pod.
fn searched(place: &Place) {
    place.write("prices.yaml", PRICES);
    let service = ["capacity", "--service", "orders --delay 2ms --at-once 4", "--on", "host", "--on", "pod"];
    let rough = [
        "--rate",
        "800/s",
        "-c",
        "64",
        "--precision",
        "30%",
        "--objective",
        "p99 <= 200ms",
        "--warmup",
        "1s",
        "--within",
        "2min",
    ];
    place.run(service.into_iter().chain(rough)).assert_measured();
}

#[test]
fn the_cheapest_comes_first_with_what_would_turn_it_around() {
    let place = Place::shared();
    searched(&place);
    let ended = place.run(["decide", "--load", "600000/min", "--prices", "prices.yaml"]);
    ended.assert_measured();
    let stdout = ended.stdout.replace("\n  ", " ");
    for text in [
        "pod costs least of those whose cost is known, ",
        "EUR a month",
        "each carries",
        "docker is left out: it has prices, and was not measured",
        "The load is 10000/s at all hours",
        "p99 <= 200ms",
    ] {
        assert!(stdout.contains(text), "{text}: {stdout}");
    }
    assert_eq!(stdout.contains("can't be trusted"), ended.code == Some(3), "{stdout}");
    let day: String = (0..24).map(|hour| format!("{hour},{}/min\n", 60000 + 10000 * hour)).collect();
    place.write("day.csv", &format!("hour,rate\n{day}"));
    let json = place.run(["decide", "--load", "day.csv", "--prices", "prices.yaml", "--json", "-"]);
    json.assert_measured();
    let decision: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(decision["trusted"], json.code == Some(0));
    assert_eq!(decision["groups"][0]["options"][0]["replicas"].as_array().map(Vec::len), Some(24));
    assert_eq!(decision["groups"][0]["options"][1]["platform"], "host");
}

#[test]
fn what_is_wrong_with_prices_or_a_profile_is_said() {
    let place = Place::new();
    place.write("prices.yaml", PRICES);
    place.write("negative.yaml", &PRICES.replace("cpu_hour: 0.05", "cpu_hour: -1"));
    place.write("missing.yaml", &PRICES.replace("cpu_hour: 0.05, ", ""));
    place.write("twice.yaml", &PRICES.replace("name: pod", "name: host"));
    place.write("hours.yaml", &PRICES.replace("cluster_hour: 0.5", "engineer_hours: 6"));
    place.write("gap.csv", "0,100/s\n1,100/s\n");
    place.write("units.csv", "0,100\n");
    for (load, prices, why) in [
        ("100/s", "negative.yaml", "`-1` is below zero"),
        ("100/s", "missing.yaml", "the platform has no `cpu_hour`"),
        ("100/s", "twice.yaml", "the platform `host` is listed twice"),
        ("100/s", "hours.yaml", "`engineer_hours` have no price"),
        ("100/s", "absent.yaml", "cannot read the price file"),
        ("100", "prices.yaml", "`100` is neither a rate nor a file"),
        ("gap.csv", "prices.yaml", "the profile has no rate for hour 2, 3"),
        ("units.csv", "prices.yaml", "line 1: a rate needs its unit"),
    ] {
        let ended = place.run(["decide", "--load", load, "--prices", prices]);
        assert_eq!(ended.code, Some(2), "{load} {prices}: {}", ended.stderr);
        assert!(ended.stderr.contains(why), "{load} {prices}: {}", ended.stderr);
    }
}
