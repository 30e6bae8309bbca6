//! What a search finds of services that are overloaded: queues in simulated time, from which clients run away, or that refuse what is too much.

use std::collections::VecDeque;

use loadline_analysis::analyse;
use loadline_analysis::result::{CapacityFinding, CellCapacity};
use loadline_model::rows::SliceRow;
use loadline_model::{CellId, SparseHistogram};
use rand_pcg::Pcg64;

use crate::made_up::noise::uniform;
use crate::made_up::searched::{Searched, objectives, rate};

/// What the server works off, requests a second.
const CARRIED: f64 = 1_000.0;

/// Poisson arrivals at one server, whose requests take exponential times.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    /// So long a client waits, s. The server works on its request nevertheless.
    gives_up_s: f64,
    /// With so many requests at the server another one is refused.
    most_waiting: usize,
}

/// Each overload ends otherwise: all are answered late, hardly any are answered in time, some are refused.
pub const LATE: Queue = Queue { gives_up_s: f64::INFINITY, most_waiting: usize::MAX };
pub const COLLAPSES: Queue = Queue { gives_up_s: 0.2, ..LATE };
pub const SHEDS: Queue = Queue { most_waiting: 30, ..LATE };

impl Queue {
    fn answer(self, slice: SliceRow, random: &mut Pcg64) -> SliceRow {
        let rate = rate(&slice);
        let slices = slice.trial.map_or(1.0, |trial| trial.slices);
        let duration_s = objectives().slice_s(rate) * slices;
        let mut slice = SliceRow { due: 0, answered: 0, answered_in_time: 0, duration_s, ..slice };
        slice.response = SparseHistogram::default();
        let (mut now_s, mut ends_s) = (0.0, VecDeque::new());
        loop {
            now_s += exponential(1.0 / rate, random);
            if now_s > duration_s {
                break;
            }
            slice.due += 1;
            while ends_s.front().is_some_and(|end_s| *end_s <= now_s) {
                ends_s.pop_front();
            }
            if ends_s.len() >= self.most_waiting {
                *slice.errors.entry("GET /: 503".to_owned()).or_default() += 1;
                (slice.answered, slice.answered_in_time) = (slice.answered + 1, slice.answered_in_time + 1);
                slice.response.record_n(100_000, 1);
                continue;
            }
            let end_s = ends_s.back().map_or(now_s, |end_s| *end_s) + exponential(1.0 / CARRIED, random);
            ends_s.push_back(end_s);
            if end_s - now_s > self.gives_up_s {
                *slice.errors.entry("GET /: timeout".to_owned()).or_default() += 1;
                continue;
            }
            slice.answered += 1;
            slice.answered_in_time += u64::from(end_s <= duration_s);
            slice.response.record_n(((end_s - now_s) * 1e9) as u64, 1);
        }
        (slice.sent_in_time, slice.service) = (slice.due, slice.response.clone());
        slice
    }
}

fn exponential(mean: f64, random: &mut Pcg64) -> f64 {
    -mean * uniform(random).ln()
}

/// What a search finds of such a service.
fn searched(queue: Queue, seed: u64) -> CellCapacity {
    let service = move |_: CellId, _: u32, slice: SliceRow, random: &mut Pcg64| queue.answer(slice, random);
    let data = Searched { seed, rounds: 1, static_pod: false, service }.data();
    analyse(&data).capacities.expect("a search").cells.swap_remove(0)
}

/// In how many of so many searches the service is said to collapse, and in how many to refuse requests.
pub fn collapses_and_sheds(queue: Queue, searches: u64) -> [usize; 2] {
    let mut seen = [0; 2];
    for seed in 0..searches {
        for finding in searched(queue, seed).findings.into_iter().filter_map(|finding| finding.what) {
            seen[0] += usize::from(matches!(finding, CapacityFinding::Collapse { .. }));
            seen[1] += usize::from(matches!(finding, CapacityFinding::Sheds { .. }));
        }
    }
    seen
}

#[test]
fn a_queue_that_is_overloaded_answers_late_collapses_or_refuses() {
    assert_eq!(collapses_and_sheds(LATE, 5), [0, 0]);
    assert_eq!(collapses_and_sheds(COLLAPSES, 5), [5, 0]);
    assert_eq!(collapses_and_sheds(SHEDS, 5), [0, 5]);
}

#[test]
fn what_limits_a_queue_is_the_objective_that_it_fails_first() {
    let limited_by = |queue| searched(queue, 1).limited_by;
    assert_eq!(limited_by(LATE).as_deref(), Some("p99 <= 50ms"));
    assert_eq!(limited_by(SHEDS).as_deref(), Some("success >= 99%"));
}
