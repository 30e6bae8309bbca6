//! At a rate so low that slices would gather nothing, the cells run side by side, request by request, and it is said.

use crate::support::place::Place;

#[test]
fn a_low_rate_runs_side_by_side_of_itself() {
    let place = Place::shared();
    let plan = ["--slice", "1s", "--blocks", "2", "--deployments", "1", "--warmup", "1s", "--repeats", "0"];
    let arguments = ["compare", "--on", "host", "--on", "pod", "--rate", "100/min", "--json", "-"];
    let ended = place.run(arguments.into_iter().chain(plan));

    ended.assert_measured();
    let result = ended.result();
    assert!(result.cells.iter().all(|cell| cell.interleave == "requests"));
    assert!(result.notes.iter().any(|note| note.text.contains("side by side")), "{:?}", result.notes);
    assert!(ended.stderr.contains("side by side"), "{}", ended.stderr);
    for slice in &result.slices {
        assert_eq!(slice.duration_s, 3.0, "as long as three slices one after the other");
        assert_eq!(slice.position, 0, "all cells have the block's one turn");
    }
}
