//! What the slowest requests of a cell met: how many of them overlap with each cause that held the service up, and how many would by chance.

use loadline_model::rows::TailRow;
use loadline_model::tails::{Cause, Span};
use loadline_model::{CellId, SlowRequest};

use crate::RunData;
use crate::result::{Tail, TailCause};

/// The slowest of so many requests are looked at, as far as they were kept.
const ONE_IN: u64 = 100;

/// What was seen over all watched slices of a cell.
pub fn tail(data: &RunData, cell: CellId) -> Option<Tail> {
    let rows: Vec<(&TailRow, &[SlowRequest])> =
        data.tails.iter().filter(|row| row.cell == cell).map(|row| (row, slowest(row))).collect();
    let requests: usize = rows.iter().map(|(_, slowest)| slowest.len()).sum();
    let from_ns = rows.iter().filter_map(|(_, slowest)| slowest.first()).map(|least| least.took).min()?;
    let mut seen: Vec<Cause> = rows.iter().flat_map(|(row, _)| row.timeline.spans.keys().copied()).collect();
    seen.sort_unstable();
    seen.dedup();
    let causes = seen.into_iter().map(|cause| met(cause, &rows)).collect();
    Some(Tail { requests: requests as u64, from_ns, causes })
}

/// The slowest hundredth of its requests, one at least; they are sorted.
fn slowest(row: &TailRow) -> &[SlowRequest] {
    let count = usize::try_from((row.answered / ONE_IN).max(1)).unwrap_or(usize::MAX);
    &row.slowest[row.slowest.len().saturating_sub(count)..]
}

fn met(cause: Cause, rows: &[(&TailRow, &[SlowRequest])]) -> TailCause {
    let (mut requests, mut touched, mut by_chance) = (0.0, 0.0, 0.0);
    let (mut overlapped, mut took, mut overlapped_by_chance) = (0.0, 0.0, 0.0);
    for (row, slowest) in rows {
        let timeline = &row.timeline;
        // Where it was not watched, nobody knows who met it.
        let Some(spans) = timeline.spans.get(&cause) else { continue };
        let share = chance(spans, 0, timeline.began, timeline.ended);
        for request in *slowest {
            let overlap: u64 = spans.iter().map(|span| overlap(span, request)).sum();
            requests += 1.0;
            touched += f64::from(overlap > 0);
            by_chance += chance(spans, request.took, timeline.began, timeline.ended);
            overlapped += overlap as f64;
            took += request.took as f64;
            overlapped_by_chance += share * request.took as f64;
        }
    }
    TailCause {
        cause,
        touched: touched / f64::max(requests, 1.0),
        by_chance: by_chance / f64::max(requests, 1.0),
        time_share: overlapped / f64::max(took, 1.0),
        time_by_chance: overlapped_by_chance / f64::max(took, 1.0),
    }
}

fn overlap(span: &Span, request: &SlowRequest) -> u64 {
    span.to.min(request.done()).saturating_sub(span.from.max(request.due))
}

/// How likely a request of this length, due at any moment of the slice, overlaps with one of the spans, which are in order.
fn chance(spans: &[Span], took: u64, began: u64, ended: u64) -> f64 {
    // It does if it is due within a span, or less than its length before one.
    let (mut covered, mut reached) = (0, began);
    for span in spans {
        let from = span.from.saturating_sub(took).max(reached);
        let to = span.to.min(ended);
        if to > from {
            covered += to - from;
            reached = to;
        }
    }
    covered as f64 / ended.saturating_sub(began).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_model::tails::Timeline;
    use proptest::prelude::*;

    fn span(from: u64, to: u64) -> Span {
        Span { from, to }
    }

    #[test]
    fn a_request_overlaps_with_what_lies_between_its_begin_and_its_end() {
        let request = SlowRequest { took: 10, due: 100 };
        for (spanned, expected) in
            [((90, 100), 0), ((90, 105), 5), ((102, 104), 2), ((50, 200), 10), ((110, 120), 0)]
        {
            assert_eq!(overlap(&span(spanned.0, spanned.1), &request), expected, "{spanned:?}");
        }
    }

    #[test]
    fn what_a_cause_took_of_the_time_stands_beside_what_it_takes_by_chance() {
        let timeline =
            Timeline { began: 0, ended: 1_000, spans: [(Cause::Throttled, vec![span(100, 300)])].into() };
        let slowest = vec![SlowRequest { due: 150, took: 100 }, SlowRequest { due: 200, took: 200 }];
        let row = TailRow { cell: CellId(0), round: 0, answered: 200, slowest, timeline };
        let met = met(Cause::Throttled, &[(&row, &row.slowest)]);
        // 100 of 100 and 100 of 200.
        assert_eq!((met.touched, met.time_share), (1.0, 200.0 / 300.0));
        assert!((met.time_by_chance - 0.2).abs() < 1e-12, "{met:?}");
    }

    #[test]
    fn a_slice_in_which_a_cause_was_not_watched_says_nothing_of_it() {
        let row = |spans: &[(Cause, Vec<Span>)]| TailRow {
            cell: CellId(0),
            round: 0,
            answered: 100,
            slowest: vec![SlowRequest { due: 150, took: 100 }],
            timeline: Timeline { began: 0, ended: 1_000, spans: spans.iter().cloned().collect() },
        };
        let watched = row(&[(Cause::OtherClient, vec![span(100, 300)])]);
        let alone = met(Cause::OtherClient, &[(&watched, &watched.slowest)]);
        let unwatched = row(&[(Cause::Throttled, Vec::new())]);
        let rows = [(&watched, &*watched.slowest), (&unwatched, &*unwatched.slowest)];
        assert_eq!(met(Cause::OtherClient, &rows), alone);
    }

    #[test]
    fn chance_grows_with_the_requests_length() {
        let spans = [span(100, 110), span(500, 510)];
        assert_eq!(chance(&spans, 0, 0, 1_000), 0.02);
        assert_eq!(chance(&spans, 90, 0, 1_000), 0.2);
        // So long that each meets the first or the second.
        assert_eq!(chance(&spans, 500, 0, 1_000), 0.51);
        assert_eq!(chance(&[], 500, 0, 1_000), 0.0);
    }

    proptest! {
        #[test]
        fn chance_is_a_share(
            mut edges in proptest::collection::vec(0u64..10_000, 0..20), took in 0u64..20_000, began in 0u64..5_000, length in 0u64..10_000,
        ) {
            edges.sort_unstable();
            let spans: Vec<Span> = edges.chunks_exact(2).map(|pair| span(pair[0], pair[1])).collect();
            let chance = chance(&spans, took, began, began + length);
            prop_assert!((0.0..=1.0).contains(&chance), "{chance}");
        }
    }
}
