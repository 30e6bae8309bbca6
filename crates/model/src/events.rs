//! Events of a run in progress. They can be written and read, so that a page shows a run of another process.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::CellId;
use crate::notes::Note;
use crate::rows::SliceRow;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The run has its place in the store.
    Begun {
        /// Its number there.
        run: i64,
    },
    /// A service is being started.
    Deploying {
        /// Round of deployments, from 0.
        round: u32,
        /// Service and platform.
        site: String,
    },
    /// What a start is waiting for.
    Progress {
        /// Service and platform.
        site: String,
        /// `pulling nginx:1.27, 34 of 67 MB`
        text: String,
    },
    /// A service answered for the first time.
    Ready {
        /// Service and platform.
        site: String,
        /// Since its start.
        after: Duration,
    },
    /// The warm-up of a cell has ended, because it is warm or at its time limit.
    Warm {
        /// The cell.
        cell: CellId,
        /// How long it was loaded.
        after: Duration,
        /// Whether it is stationary.
        stationary: bool,
        /// Whether its service's compiler still works, as in a JVM that is not warm.
        #[serde(default)]
        compiling: bool,
    },
    /// A slice was measured and kept.
    Measured(Box<SliceRow>),
    /// A block is complete.
    BlockDone {
        /// Round of deployments, from 0.
        round: u32,
        /// Block of the round, from 0.
        block: u32,
    },
    /// The machine disturbed a load's cells: all of them will be measured again.
    Repeating {
        /// The cells.
        cells: Vec<CellId>,
    },
    /// The machine is too busy to measure on, and the run has time to wait.
    Waiting {
        /// For how long.
        pause: Duration,
    },
    /// The run continues without a service.
    GivenUp {
        /// Why.
        failure: String,
    },
    /// A note for the reader of the figures.
    Note(Note),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::{Gate, GateFailure};
    use crate::load::{Arrivals, Load};
    use crate::metrics::WALL;
    use crate::{CellId, Observations, SparseHistogram};

    fn slice() -> SliceRow {
        let mut times = SparseHistogram::default();
        (1..=1000).for_each(|us| times.record_n(us * 1000, 1));
        SliceRow {
            cell: CellId(3),
            load: Load::Open { rate: "100/min".parse().unwrap(), arrivals: Arrivals::Poisson },
            round: 1,
            block: 2,
            attempt: 0,
            position: 4,
            at_s: 12.25,
            duration_s: 0.5,
            due: 1000,
            sent_in_time: 999,
            answered: 1000,
            answered_in_time: 998,
            waited: 3,
            reconnects: 1,
            received_bytes: u64::MAX,
            load_cpu_ns: 7,
            by_request: Vec::new(),
            load_spun_ns: None,
            errors: [("timeout".to_owned(), 2)].into(),
            service: times.clone(),
            send_lag: SparseHistogram::default(),
            response: times,
            observations: Observations::default().with(WALL, 5),
            cpu_use: None,
            gate_failures: vec![GateFailure::Stolen { share: 0.25, most: 0.02 }],
            trial: None,
        }
    }

    #[test]
    fn an_event_that_was_written_is_read_the_same() {
        let site = || "orders on pod".to_owned();
        for (name, event) in [
            ("begun", Event::Begun { run: 7 }),
            ("deploying", Event::Deploying { round: 0, site: site() }),
            ("progress", Event::Progress { site: site(), text: "pulling".to_owned() }),
            ("ready", Event::Ready { site: site(), after: Duration::from_millis(1500) }),
            (
                "warm",
                Event::Warm {
                    cell: CellId(1),
                    after: Duration::from_secs(3),
                    stationary: true,
                    compiling: false,
                },
            ),
            ("measured", Event::Measured(Box::new(slice()))),
            ("block_done", Event::BlockDone { round: 1, block: 2 }),
            ("repeating", Event::Repeating { cells: vec![CellId(0), CellId(2)] }),
            ("waiting", Event::Waiting { pause: Duration::from_secs(2) }),
            ("given_up", Event::GivenUp { failure: "died".to_owned() }),
            ("note", Event::Note(Note::NoWire)),
            ("note", Event::Note(Note::ProfileDisturbed { gate: Gate::Steal })),
        ] {
            let written = serde_json::to_value(&event).unwrap();
            assert_eq!(written["event"], name);
            let text = serde_json::to_string(&written).unwrap();
            assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event, "{text}");
        }
    }
}
