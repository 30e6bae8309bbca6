//! A terminal of 100 columns, and what is written to it.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::Child;

use super::place::Place;
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

/// What the program writes to a terminal on its standard error.
pub fn on_terminal(place: &Place, arguments: &[&str]) -> String {
    on_terminal_until(place, arguments, |_| ())
}

/// The same; `meanwhile` is called with the program under way.
pub fn on_terminal_until(place: &Place, arguments: &[&str], meanwhile: impl FnOnce(&Child)) -> String {
    let (ours, theirs) = terminal();
    let mut command = place.command(arguments.iter().copied());
    command.env("TERM", "xterm").stderr(theirs).stdout(std::process::Stdio::null());
    let mut child = command.spawn().expect("the program starts");
    // The last copy of the other end must be the child's, for reading to end with it.
    drop(command);
    meanwhile(&child);
    let mut shown = Vec::new();
    // Reading from a terminal that nobody has open any more is an error (EIO).
    let _ = File::from(ours).read_to_end(&mut shown);
    child.wait().expect("a child");
    String::from_utf8(shown).expect("text")
}

/// What is left when the last line that changes has been wiped.
pub fn after_the_last_wiping(shown: &str) -> &str {
    shown.rfind("\u{1b}[2K").map(|at| &shown[at + 4..]).expect("a line is wiped")
}
