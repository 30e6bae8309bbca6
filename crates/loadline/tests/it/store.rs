//! Stored runs: named, tagged, copied, deleted, and a metric over them.

use serde_json::Value;

use crate::support::BRIEF;
use crate::support::place::{Ended, Place};

fn done(place: &Place, arguments: &[&str]) -> String {
    let Ended { code, stdout, stderr } = place.run(arguments.iter().copied());
    assert_eq!(code, Some(0), "{arguments:?}: {stderr}");
    stdout
}

#[test]
fn runs_are_named_tagged_copied_and_deleted() {
    let place = Place::shared();
    for _ in 0..3 {
        place.run(["compare", "--on", "host", "--rate", "500/s"].into_iter().chain(BRIEF)).assert_measured();
    }
    assert_eq!(done(&place, &["store", "tag", "1", "release", "v1.2"]), "run 1: #release #v1.2\n");
    assert_eq!(done(&place, &["store", "untag", "1", "v1.2"]), "run 1: #release\n");
    assert_eq!(done(&place, &["store", "rename", "2", "before the fix"]), "run 2 is called before the fix\n");
    let listed = done(&place, &["report", "--list", "--match", "release"]);
    assert!(
        listed.contains("#release") && listed.lines().filter(|line| line.contains("500/s")).count() == 1,
        "{listed}"
    );
    assert!(done(&place, &["report", "--list", "--match", "before the fix"]).contains("   2  "));
    assert_eq!(done(&place, &["store", "list", "--match", "release"]), listed);
    assert_eq!(
        done(&place, &["store", "list", "--last", "2"]),
        done(&place, &["report", "--list", "--last", "2"])
    );

    assert_eq!(
        done(&place, &["store", "export", "2", "1", "-o", "other.db"]),
        "run 2 is run 1 in other.db\nrun 1 is run 2 in other.db\n"
    );
    let mut figures = ["loadline.db", "other.db"].into_iter().zip(["2", "1"]).map(|(store, run)| {
        let json: Value =
            serde_json::from_str(&place.run(["report", run, "--store", store, "--json", "-"]).stdout)
                .expect("JSON");
        (json["cells"].clone(), json["slices"].clone(), json["run"]["name"].clone())
    });
    assert_eq!(figures.next(), figures.next(), "a copy has the same figures");

    assert_eq!(done(&place, &["store", "prune", "--keep", "1"]), "deleted run 2\n", "a run with a tag stays");
    assert_eq!(
        done(&place, &["store", "merge", "other.db"]),
        "run 1 of other.db is run 4\nrun 2 of other.db is already run 1\n1 imported, 1 there already\n"
    );
    assert_eq!(
        done(&place, &["store", "import", "other.db"]),
        "run 1 of other.db is already run 4\nrun 2 of other.db is already run 1\n0 imported, 2 there already\n"
    );
    assert_eq!(done(&place, &["store", "delete", "3", "4"]), "deleted runs 3, 4\n");
    let missing = place.run(["store", "delete", "1", "9"]);
    assert_eq!(missing.code, Some(1), "{}", missing.stdout);
    assert!(missing.stderr.contains("has no run 9"), "{}", missing.stderr);
    assert!(done(&place, &["report", "--list"]).contains("   1  "), "nothing is deleted if one is missing");
    let itself = place.run(["store", "import", "loadline.db"]);
    assert_eq!(
        (itself.code, itself.stderr.contains("is the store itself")),
        (Some(2), true),
        "{}",
        itself.stderr
    );
}

#[test]
fn a_metric_is_shown_over_the_runs_that_have_it() {
    let place = Place::shared();
    let two = ["compare", "--on", "host", "--on", "pod", "--rate", "500/s"];
    for _ in 0..2 {
        place.run(two.into_iter().chain(BRIEF)).assert_measured();
    }
    let shown = done(&place, &["history", "p50"]);
    assert!(shown.contains("response.p50 · orders on host · 500/s Poisson, 16 connections"), "{shown}");
    assert!(shown.contains("orders on pod"), "{shown}");
    // Whether they can be trusted depends on the machine: the marks say what the JSON says.
    let told: Value = serde_json::from_str(&done(&place, &["history", "p50", "--json", "-"])).expect("JSON");
    let series = told["series"].as_array().expect("series").iter();
    let points = series.flat_map(|one| one["points"].as_array().expect("points"));
    let (doubtful, sound): (Vec<&Value>, Vec<&Value>) =
        points.partition(|point| point["untrusted"].as_bool().unwrap_or_default());
    assert_eq!(doubtful.len() + sound.len(), 4, "{told}");
    assert_eq!(shown.matches('●').count(), sound.len(), "{shown}");
    assert_eq!(shown.contains("○ cannot be trusted: gates failed"), !doubtful.is_empty(), "{shown}");
    assert!(shown.contains("fewer than 8 runs, in which no change could be seen"), "{shown}");
    done(&place, &["store", "tag", "2", "nightly"]);
    let nightly: Value =
        serde_json::from_str(&done(&place, &["history", "p50", "--match", "NIGHT", "--json", "-"]))
            .expect("JSON");
    assert_eq!(nightly["series"][0]["points"][0]["run"], 2, "{nightly}");
    assert_eq!(nightly["series"][0]["points"].as_array().map(Vec::len), Some(1));
    let json: Value =
        serde_json::from_str(&done(&place, &["history", "cpu.service", "--json", "-"])).expect("JSON");
    assert_eq!(
        (json["series"].as_array().map(Vec::len), json["metric"].as_str()),
        (Some(2), Some("cpu.service"))
    );
    assert_eq!(json["series"][0]["points"].as_array().map(Vec::len), Some(2));
    let csv = done(&place, &["history", "--csv", "-"]);
    assert_eq!(csv.lines().count(), 1 + 4, "a header and a row for each cell of each run");
    let starts: Value =
        serde_json::from_str(&done(&place, &["history", "start.answered", "--json", "-"])).expect("JSON");
    assert_eq!(starts["series"].as_array().map(Vec::len), Some(2), "{starts}");
    let mistyped = place.run(["history", "start.anwsered"]);
    assert!(
        mistyped.code == Some(2) && mistyped.stderr.contains("did you mean `start.answered`?"),
        "{}",
        mistyped.stderr
    );
    let unknown = place.run(["history", "p98"]);
    assert_eq!(
        (unknown.code, unknown.stderr.contains("there is no metric `p98`")),
        (Some(2), true),
        "{}",
        unknown.stderr
    );
}
