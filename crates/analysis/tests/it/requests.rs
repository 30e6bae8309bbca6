//! The requests of a mix, each compared by itself.

use loadline_analysis::analyse;
use loadline_analysis::result::{Contrast, Row, Verdict};
use loadline_model::CellId;
use loadline_model::SparseHistogram;
use loadline_model::rows::RequestTimes;

use crate::made_up::MadeUp;

const CANDIDATE: CellId = CellId(2);

/// Two requests that are answered alike, but for the second one of the candidate, which takes longer. `other` is what the candidate calls it.
fn contrast(other: &str) -> Contrast {
    let mut data = MadeUp::default().data();
    for slice in &mut data.slices {
        let (mut slower, name) =
            (SparseHistogram::default(), if slice.cell == CANDIDATE { other } else { "POST /b" });
        let more = if slice.cell == CANDIDATE { 50_000 } else { 0 };
        slice.response.iter().for_each(|(ns, count)| slower.record_n(ns + more, count));
        slice.by_request = [("GET /a", slice.response.clone()), (name, slower)]
            .map(|(request, response)| RequestTimes { request: request.to_owned(), response })
            .into();
    }
    analyse(&data).contrasts.remove(0)
}

fn median<'a>(contrast: &'a Contrast, request: &str) -> &'a Row {
    let found = contrast.by_request.iter().find(|rows| rows.request == request).expect("its rows");
    found.rows.iter().find(|row| row.metric == "response.p50").expect("a median")
}

#[test]
fn the_request_that_got_slower_is_told_from_the_one_that_did_not() {
    let contrast = contrast("POST /b");
    let slower = median(&contrast, "POST /b");
    assert_eq!(slower.verdict, Verdict::Slower);
    assert!((slower.difference - 50_000.0).abs() < 5_000.0, "{slower:?}");
    let same = median(&contrast, "GET /a");
    assert!(matches!(same.verdict, Verdict::Equivalent | Verdict::Unresolved), "{same:?}");
    assert!(same.trusted);
    let metrics: Vec<&str> = contrast.by_request[0].rows.iter().map(|row| row.metric.as_str()).collect();
    assert_eq!(metrics, ["response.p50", "response.p90", "response.p99", "response.mean"]);
}

#[test]
fn cells_with_different_requests_are_compared_as_a_whole_alone() {
    assert!(contrast("POST /c").by_request.is_empty());
}
