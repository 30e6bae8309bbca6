//! An ordinary user climbs the ladder in a user namespace: what needs root is left out and named, everything else is measured.

use crate::support;
use crate::support::leftovers;
use crate::support::place::{Place, ended};
use crate::support::user::OrdinaryUser;

/// In several blocks: a busy machine may take the load's CPU for all of a short slice.
const SHORT: [&str; 10] =
    ["--slice", "50ms", "--blocks", "4", "--deployments", "1", "--warmup", "1s", "--repeats", "0"];

#[test]
fn an_ordinary_user_measures_the_ladder_less_what_needs_root_which_is_named() {
    let place = Place::shared();
    let user = OrdinaryUser::at(&place);
    let arguments = [
        "layers",
        "--part",
        "same-node",
        "--part",
        "other-node",
        "--part",
        "instead",
        "--profile",
        "--json",
        "-",
    ];
    let output = user.command(arguments.into_iter().chain(SHORT)).output().expect("setpriv is there");
    let ended = ended(output);
    ended.assert_measured();
    let result = ended.result();
    for cell in &result.cells {
        assert!(cell.answered > 0 && cell.errors.is_empty(), "{}: {:?}", cell.label, cell.errors);
    }
    let platforms: Vec<&str> = result.cells.iter().map(|cell| cell.platform.as_str()).collect();
    for name in ["veth", "bridge", "conntrack", "nodeport", "routed", "vxlan", "macvlan"] {
        assert!(platforms.contains(&name), "{name}: {platforms:?} {:?}", result.notes);
    }
    for name in ["cgroup", "ebpf"] {
        let note = result.notes.iter().find(|note| note.text.starts_with(&format!("{name} was left out")));
        let note = note.unwrap_or_else(|| panic!("nothing is said of {name}: {:?}", result.notes));
        assert!(note.text.contains("root"), "{}", note.text);
    }
    let profile = result.notes.iter().find(|note| note.text.starts_with("nothing was profiled"));
    assert!(profile.is_some_and(|note| note.text.contains("root")), "{:?}", result.notes);
    let store = support::store::Reader::open(&user.home.join("loadline.db")).expect("a store");
    let left = leftovers::of_run_in(&store.label(), &user.registry);
    assert!(left.is_empty(), "{left:#?}");
}
