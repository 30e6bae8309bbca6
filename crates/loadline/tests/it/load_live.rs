//! The living line of a load: there on a terminal while it runs, and nowhere else.

use crate::support::nginx::Nginx;
use crate::support::place::Place;
use crate::support::terminal::{after_the_last_wiping, on_terminal};

#[test]
fn every_second_is_shown_on_a_terminal_and_wiped_at_the_end() {
    let place = Place::alone();
    let nginx = Nginx::start(&place);
    let shown = on_terminal(&place, &["load", &nginx.url("/"), "--rate", "200/s", "--for", "3s"]);
    for text in ["1 s, 2 s left · ", "2 s, 1 s left · ", "/s · p50 ", " · p99 ", " · 0 errors"] {
        assert!(shown.contains(text), "{text}: {shown:?}");
    }
    // Nothing visible follows the last wiping of the line.
    assert!(!after_the_last_wiping(&shown).chars().any(char::is_alphanumeric), "{shown:?}");
}

#[test]
fn nothing_is_shown_when_quiet_or_elsewhere() {
    let place = Place::alone();
    let nginx = Nginx::start(&place);
    let url = nginx.url("/");
    let arguments = ["load", &url, "--rate", "100/s", "--for", "1500ms"];
    assert_eq!(on_terminal(&place, &[&arguments[..], &["--quiet"]].concat()), "");
    let ended = place.run(arguments);
    ended.assert_measured();
    assert_eq!(ended.stderr, "");
}
