//! Why the slowest requests were slow, a line for each cell that was watched.

use loadline_model::result::{Cell, RunResult, Tail, TailCause, Unit};
use loadline_model::tails::Cause;

use crate::figures::Scale;
use crate::groups;

/// What is above the lines.
pub(crate) const HEADING: &str =
    "What the slowest hundredth of the requests met, and how many would have met it by chance.";
/// A cause is worth a word if it met so many more than by chance, or took so much more of their time.
const LEAST_MORE: f64 = 0.05;
/// What took less of their time does not explain it.
const LEAST_TIME: f64 = 0.01;

/// The lines, without their heading; none where nothing was watched.
pub(crate) fn lines(result: &RunResult) -> Vec<String> {
    let line = |cell: &Cell| {
        Some(format!("{}: {}", groups::cell_name(result, cell), explained(cell.tail.as_ref()?)))
    };
    result.cells.iter().filter_map(line).collect()
}

fn explained(tail: &Tail) -> String {
    let ns = tail.from_ns as f64;
    let from = Scale::of(Unit::Nanoseconds, &[ns]).figure(ns);
    let is_named = |cause: &&TailCause| cause.time_share >= LEAST_TIME && more(cause) >= LEAST_MORE;
    let mut causes: Vec<&TailCause> = tail.causes.iter().filter(is_named).collect();
    causes.sort_by(|left, right| more(right).total_cmp(&more(left)));
    let found = if causes.is_empty() {
        "nothing that is watched held the service up more often than by chance".to_owned()
    } else {
        causes.into_iter().map(met).collect::<Vec<_>>().join("; ")
    };
    format!("{} requests from {from} on: {found}", tail.requests)
}

/// By how much a cause met more of them than by chance, or took more of their time.
fn more(cause: &TailCause) -> f64 {
    f64::max(cause.touched - cause.by_chance, cause.time_share - cause.time_by_chance)
}

fn met(cause: &TailCause) -> String {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    format!(
        "{} {} (by chance {}), for {} of their time (of all time {})",
        percent(cause.touched),
        words(cause.cause),
        percent(cause.by_chance),
        percent(cause.time_share),
        percent(cause.time_by_chance)
    )
}

/// What a request did that met the cause.
fn words(cause: Cause) -> &'static str {
    match cause {
        Cause::Throttled => "while the service was throttled (CPU limit)",
        Cause::JvmCollected => "while the JVM had stopped for a collection",
        Cause::JvmStopped => "while the JVM stood still at a safepoint without a collection",
        Cause::GoStopped => "while Go's collector had stopped the program",
        Cause::RunQueue => "while a thread of the service waited for a CPU",
        Cause::Disk => "while a thread waited for a disk",
        Cause::Memory => "while a thread waited for memory",
        Cause::OtherClient => {
            "while another client, such as the kubelet's probe, was connected to the service"
        }
        Cause::Paused => "while another program or the hypervisor had a CPU",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(causes: &[(Cause, f64, f64)]) -> Tail {
        let cause = |(cause, touched, by_chance): &(Cause, f64, f64)| TailCause {
            cause: *cause,
            touched: *touched,
            by_chance: *by_chance,
            time_share: touched / 2.0,
            time_by_chance: by_chance / 4.0,
        };
        Tail { requests: 120, from_ns: 8_000_000, causes: causes.iter().map(cause).collect() }
    }

    #[test]
    fn what_long_requests_cannot_help_meeting_counts_by_its_time() {
        let cause = |time_share, time_by_chance| TailCause {
            cause: Cause::Throttled,
            touched: 1.0,
            by_chance: 0.99,
            time_share,
            time_by_chance,
        };
        let with = |cause| explained(&Tail { requests: 120, from_ns: 8_000_000, causes: vec![cause] });
        let named = "100 % while the service was throttled (CPU limit) (by chance 99 %), for 60 % of their time (of all time 40 %)";
        assert!(with(cause(0.6, 0.4)).ends_with(named), "{}", with(cause(0.6, 0.4)));
        let nothing = "nothing that is watched held the service up more often than by chance";
        assert!(with(cause(0.42, 0.4)).ends_with(nothing));
        // Nor does what it met more often explain a request that it held up for no time.
        assert!(with(TailCause { by_chance: 0.2, ..cause(0.005, 0.001) }).ends_with(nothing));
    }

    #[test]
    fn what_met_more_than_chance_is_said_the_most_first() {
        let seen =
            tail(&[(Cause::RunQueue, 0.5, 0.3), (Cause::Throttled, 0.93, 0.2), (Cause::Paused, 0.1, 0.09)]);
        assert_eq!(
            explained(&seen),
            "120 requests from 8.00 ms on: 93 % while the service was throttled (CPU limit) (by chance 20 %), for 46 % of their time (of all time 5 %); \
            50 % while a thread of the service waited for a CPU (by chance 30 %), for 25 % of their time (of all time 8 %)"
        );
        let nothing = explained(&tail(&[(Cause::Paused, 0.1, 0.09)]));
        assert!(
            nothing.ends_with("nothing that is watched held the service up more often than by chance"),
            "{nothing}"
        );
    }
}
