//! The result of a single load in all its outputs.

use std::io::{self, Write};
use std::time::{Duration, UNIX_EPOCH};

use insta::assert_snapshot;
use loadline_model::result::Spread;
use loadline_model::{Record, Second};
use loadline_report::Style;
use loadline_report::load::*;

use crate::support::load as made_up;

const PLAIN: Style = Style { colour: false, width: 100, full: false, by_request: false, spectrum: false };

#[test]
fn a_load_is_shown_with_what_was_asked_for_and_where_the_time_went() {
    for (name, result) in [("open", made_up::open()), ("closed", made_up::closed())] {
        assert_snapshot!(name, format!("{}\n{}", head(&result.options), table(&result, &PLAIN)));
    }
}

#[test]
fn an_untrusted_load_says_so_first_and_says_what_to_do() {
    assert_snapshot!(table(&made_up::untrusted(), &PLAIN));
    let coloured = table(&made_up::untrusted(), &Style { colour: true, ..PLAIN });
    assert!(
        coloured.starts_with("  \u{1b}[31mnot to be trusted:\u{1b}[0m the service did not"),
        "{coloured}"
    );
}

#[test]
fn a_load_that_was_stopped_at_once_has_no_figures() {
    let result = made_up::nothing();
    assert_snapshot!(format!("{}\n{}", head(&result.options), table(&result, &PLAIN)));
}

#[test]
fn markdown_of_a_load() {
    assert_snapshot!(markdown(&made_up::untrusted()));
}

#[test]
fn wrk_s_layout_holds_its_figures() {
    let rates = Spread { mean: 500.5, stdev: 12.0, max: 520.0, within: 0.7 };
    let both = WrkOptions { latency: true, uncorrected: true };
    for (name, result, options) in [
        ("wrk_closed", made_up::closed(), WrkOptions { latency: true, uncorrected: false }),
        ("wrk_open", made_up::open(), both),
    ] {
        let text = wrk_head(&result.options, Duration::from_secs(120)) + &wrk(&result, &rates, options);
        assert_snapshot!(name, text);
    }
    for has_rate in [false, true] {
        let mut nothing = made_up::nothing();
        nothing.options.closed = !has_rate;
        let text = wrk(&nothing, &Spread::default(), both);
        assert!(text.contains("  0 requests in 0.00us, 0.00B read\nRequests/sec:      0.00\n"), "{text}");
    }
}

#[test]
fn hgrm_holds_the_response_times() {
    let mut out = Vec::new();
    hgrm(&made_up::open(), &mut out).expect("a vector takes everything");
    let text = String::from_utf8(out).expect("text");
    assert!(text.starts_with("       Value     Percentile TotalCount 1/(1-Percentile)\n\n"), "{text}");
    assert!(text.contains("Total count    =         1001]"), "{text}");
    let mut out = Vec::new();
    hgrm(&made_up::nothing(), &mut out).expect("a vector takes everything");
    assert!(String::from_utf8_lossy(&out).contains("Total count    =            0]"));
}

#[test]
fn each_second_is_a_row_and_a_line() {
    let record = made_up::record();
    let second = Second { began: Duration::from_secs(2), length: Duration::from_secs(2), record: &record };
    let mut csv = Vec::new();
    let mut rows = SecondsCsv::new(&mut csv).expect("a vector takes everything");
    rows.second(&second).expect("a vector takes everything");
    let nothing = Record::empty();
    rows.second(&Second { record: &nothing, ..second }).expect("a vector takes everything");
    drop(rows);
    assert_snapshot!(String::from_utf8(csv).expect("CSV is UTF-8"));
    assert_eq!(
        progress(&second, Duration::from_secs(10), 1234),
        "4 s, 6 s left · 501/s · p50 501 µs · p99 991 µs · 1,234 errors"
    );
}

#[test]
fn a_log_holds_three_histograms_of_each_second() {
    let record = made_up::record();
    let second = Second { began: Duration::ZERO, length: Duration::from_secs(1), record: &record };
    let mut out = Vec::new();
    let mut log = IntervalLog::new(&mut out, UNIX_EPOCH).expect("a vector takes everything");
    log.second(&second).expect("a vector takes everything");
    drop(log);
    let text = String::from_utf8(out).expect("text");
    assert!(text.starts_with("#[Histogram log format version 1.3]\n"), "{text}");
    let tags: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("Tag=")?.split(',').next()).collect();
    assert_eq!(tags, ["response", "service", "send_lag"]);
}

/// A disk that is full.
struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_an_error_of_every_output() {
    let result = made_up::open();
    assert!(json(&result, &mut Full).is_err());
    assert!(hgrm(&result, &mut Full).is_err());
    assert!(SecondsCsv::new(Full).is_err());
    assert!(IntervalLog::new(Full, UNIX_EPOCH).is_err());
}
