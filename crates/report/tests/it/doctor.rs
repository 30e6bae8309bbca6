//! What is shown of a machine that was examined.

use insta::assert_snapshot;
use loadline_report::Style;
use loadline_report::doctor::table;

use crate::support::doctor as made_up;

const PLAIN: Style = Style { colour: false, width: 100, full: false, by_request: false, spectrum: false };

#[test]
fn what_can_be_told_stands_before_what_was_seen_and_what_would_help() {
    assert_snapshot!(table(&made_up::server(), &PLAIN));
    let coloured = table(
        &made_up::server(),
        &Style { colour: true, width: 100, full: false, by_request: false, spectrum: false },
    );
    assert!(coloured.contains("  \u{1b}[33m!\u{1b}[0m frequency governor powersave"), "{coloured}");
}

#[test]
fn what_is_not_visible_in_a_virtual_machine_is_said() {
    assert_snapshot!(table(&made_up::virtual_machine(), &PLAIN));
}

#[test]
fn an_interrupted_examination_shows_what_it_has() {
    assert_snapshot!(table(&made_up::interrupted(), &PLAIN));
}
