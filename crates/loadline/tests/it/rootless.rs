//! An ordinary user compares host and pod: all of it lives in a user namespace, and what had to be left out is said.

use std::os::unix::fs::MetadataExt;

use crate::support::place::{Place, ended};
use crate::support::store::Reader;
use crate::support::user::{OrdinaryUser, UID};
use crate::support::{BRIEF, leftovers};

#[test]
fn an_ordinary_user_compares_host_and_pod() {
    let place = Place::shared();
    let user = OrdinaryUser::at(&place);
    let arguments = ["compare", "--on", "host", "--on", "pod"];
    let ended = ended(user.command(arguments.into_iter().chain(BRIEF)).output().expect("setpriv is there"));

    ended.assert_measured();
    assert!(ended.stdout.contains("pod"), "{}", ended.stdout);
    let sentences: Vec<&str> = ended.stderr.lines().filter(|line| line.contains("cgroup")).collect();
    assert!(!sentences.is_empty(), "nothing was said of the cgroup:\n{}", ended.stderr);

    let path = user.home.join("loadline.db");
    assert_eq!(std::fs::metadata(&path).expect("a store").uid(), UID);
    let store = Reader::open(&path).expect("a store");
    assert_eq!((store.state().as_str(), store.count("slice")), ("complete", Some(12)));
    let left = leftovers::of_run_in(&store.label(), &user.registry);
    assert!(left.is_empty(), "{left:#?}");
}

#[test]
fn a_limit_that_an_ordinary_user_cannot_set_is_refused_or_measured_without() {
    let place = Place::shared();
    let user = OrdinaryUser::at(&place);
    let arguments = ["compare", "--on", "host", "--no-twin", "--limit-cpu", "0.5"];
    let other = ["--service", "orders", "--service", "hello"];
    let refused = user.command(arguments.into_iter().chain(other)).output();
    let refused = ended(refused.expect("setpriv is there"));
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{}", refused.stderr);
    for said in ["limits cannot be set on host", "Delegate=yes", "--allow-missing measures without"] {
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }

    let plan = ["--slice", "100ms", "--blocks", "1", "--deployments", "1", "--warmup", "1s"];
    let without =
        user.command(arguments.into_iter().chain(plan).chain(other).chain(["--allow-missing"])).output();
    let without = ended(without.expect("setpriv is there"));
    without.assert_measured();
    let first = without.stdout.lines().next().expect("a report");
    assert_eq!(first, "Measured without limits on host: this user cannot write to cgroups.");
    assert!(!without.stdout.contains("limits: "), "{}", without.stdout);
}
