//! What a terminal shows of a run while it goes on, and what is left of it.

use rustix::process::{Pid, Signal, kill_process};

use crate::support::STAGED;
use crate::support::place::Place;
use crate::support::terminal::{after_the_last_wiping, on_terminal, on_terminal_until};

const COMPARE: [&str; 7] = ["compare", "--on", "host", "--on", "pod", "--rate", "500/s"];

#[test]
fn medians_and_differences_are_shown_while_it_is_measured_and_wiped_at_the_end() {
    let place = Place::shared();
    let shown = on_terminal(&place, &[&COMPARE[..], &STAGED].concat());
    for text in ["measuring", "blocks", "p50 so far", "difference, 95 %", "host", "pod", "±", "machine: "] {
        assert!(shown.contains(text), "{text}: {shown:?}");
    }
    assert!(!after_the_last_wiping(&shown).chars().any(char::is_alphanumeric), "{shown:?}");
    assert!(!shown.contains("\u{1b}[?1049h"), "what stood on the screen before stays: {shown:?}");
}

#[test]
fn an_interrupt_leaves_the_terminal_as_it_was() {
    let place = Place::shared();
    let shown = on_terminal_until(&place, &[&COMPARE[..], &STAGED].concat(), |child| {
        place.wait_for_rows("slice", 3);
        kill_process(Pid::from_child(child), Signal::INT).expect("the program is alive");
    });
    let left = after_the_last_wiping(&shown);
    assert!(!left.contains("measuring") && !left.contains("so far"), "{left:?}");
    // Hiding the cursor, or another screen, would have to be undone.
    assert!(!shown.contains("\u{1b}[?"), "{shown:?}");
}
