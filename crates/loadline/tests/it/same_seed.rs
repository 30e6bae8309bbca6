//! The same seed gives the same plan and the same schedule; another seed gives others.

use crate::support::place::Place;
use crate::support::store::SlicePlace;

#[test]
fn the_same_seed_measures_the_same_cells_in_the_same_order_with_the_same_requests() {
    let place = Place::shared();
    let plan =
        ["--slice", "100ms", "--blocks", "3", "--deployments", "2", "--warmup", "1s", "--repeats", "0"];
    let slices = |run: i64, seed: &str| -> Vec<SlicePlace> {
        let arguments = ["compare", "--on", "host", "--on", "pod", "--seed", seed];
        place.run(arguments.into_iter().chain(plan)).assert_measured();
        place.store().slices(run)
    };
    let (one, same, other) = (slices(1, "11"), slices(2, "11"), slices(3, "12"));
    assert_eq!(one.len(), 18, "three cells in six blocks");
    assert_eq!(one, same);

    let order = |slices: &[SlicePlace]| -> Vec<usize> { slices.iter().map(|slice| slice.3).collect() };
    assert_ne!(order(&one), order(&other), "another seed, another order");
    let due = |slices: &[SlicePlace]| -> Vec<u64> { slices.iter().map(|slice| slice.4).collect() };
    assert_ne!(due(&one), due(&other), "another seed, other arrivals");
    for cell in one.chunks(3).map(|block| block.iter().map(|slice| slice.4).collect::<Vec<_>>()) {
        assert_eq!(cell, vec![cell[0]; 3], "all cells of a block have the same schedule");
    }
}
