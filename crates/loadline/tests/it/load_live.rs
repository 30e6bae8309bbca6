//! The living line of a load: there on a terminal while it runs, and nowhere else.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;

use crate::support::nginx::Nginx;
use crate::support::place::Place;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// A terminal: what is written to the second end is read from the first.
fn terminal() -> (OwnedFd, OwnedFd) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("a terminal of ours");
    let name = ptsname(&ours, Vec::new()).expect("a name");
    let theirs =
        rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("its other end");
    let size = rustix::termios::Winsize { ws_row: 24, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&theirs, size).expect("a size");
    (ours, theirs)
}

/// What a load writes to a terminal on its standard error.
fn on_terminal(place: &Place, arguments: &[&str]) -> String {
    let (ours, theirs) = terminal();
    let mut command = place.command(arguments.iter().copied());
    command.env("TERM", "xterm").stderr(theirs).stdout(std::process::Stdio::null());
    let mut child = command.spawn().expect("the program starts");
    // The last copy of the other end must be the child's, for reading to end with it.
    drop(command);
    let mut shown = Vec::new();
    // Reading from a terminal that nobody has open any more is an error (EIO).
    let _ = File::from(ours).read_to_end(&mut shown);
    child.wait().expect("a child");
    String::from_utf8(shown).expect("text")
}

#[test]
fn every_second_is_shown_on_a_terminal_and_wiped_at_the_end() {
    let place = Place::alone();
    let nginx = Nginx::start(&place);
    let shown = on_terminal(&place, &["load", &nginx.url("/"), "--rate", "200/s", "--for", "3s"]);
    for text in ["1 s, 2 s left · ", "2 s, 1 s left · ", "/s · p50 ", " · p99 ", " · 0 errors"] {
        assert!(shown.contains(text), "{text}: {shown:?}");
    }
    // Nothing visible follows the last wiping of the line.
    let last = shown.rfind("\u{1b}[2K").map(|at| &shown[at + 4..]).expect("wiped");
    assert!(!last.chars().any(char::is_alphanumeric), "{shown:?}");
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
