//! What is compared is measured one right after the other where possible: the nearer two slices are in time, the more of the machine's noise
//! they share. On a ladder over new connections, the difference of two medians varied by 1.8 µs between neighbours, 25 ms apart (interquartile
//! range), and by 3.3 µs at 0.2 s.

use loadline_model::CellId;
use loadline_model::plan::Plan;
use rand_pcg::rand_core::Rng;

use super::{random_index, shuffle};

/// The cells of one load in the order of their turns. They stand in a ring, in which each is next to what it is compared with, or, where that
/// has several such neighbours, as often next to it as the others. The ring begins anywhere and goes either way, so that no cell is first, last
/// or after its neighbour more often than another.
///
/// Where all are compared with one cell, as in most experiments, each order is as likely as any other.
pub(super) fn ring(plan: &Plan, cells: &[CellId], rng: &mut impl Rng) -> Vec<CellId> {
    let mut cells = cells.to_vec();
    shuffle(&mut cells, rng);
    let compared = |cell: &CellId| {
        let with_it = |from: &CellId| {
            plan.contrasts
                .iter()
                .find(|contrast| contrast.candidate == *from)
                .map(|contrast| contrast.baseline)
        };
        // What failed is left out: what stands above it is next to what stands below.
        let mut below = std::iter::successors(with_it(cell), with_it).take(plan.cells.len());
        below.find(|below| cells.contains(below))
    };
    let pairs: Vec<(CellId, Option<CellId>)> = cells.iter().map(|cell| (*cell, compared(cell))).collect();
    let mut ring: Vec<CellId> = Vec::with_capacity(cells.len());
    for (root, _) in pairs.iter().filter(|(_, below)| below.is_none()) {
        // A root has two neighbours.
        let mut branches = branches(*root, &pairs).into_iter();
        let before = branches.next().unwrap_or_default();
        ring.extend(before.into_iter().rev());
        ring.push(*root);
        ring.extend(branches.flatten());
    }
    debug_assert_eq!(ring.len(), cells.len(), "no cell is compared with itself, by whatever detour");
    if !ring.is_empty() {
        let first = random_index(rng, ring.len());
        ring.rotate_left(first);
    }
    if random_index(rng, 2) == 1 {
        ring.reverse();
    }
    ring
}

/// What is compared with a cell, each with what is compared with that in turn.
fn branches(below: CellId, pairs: &[(CellId, Option<CellId>)]) -> Vec<Vec<CellId>> {
    let above = pairs.iter().filter(|(_, other)| *other == Some(below));
    let branch = |cell: CellId| std::iter::once(cell).chain(branches(cell, pairs).into_iter().flatten());
    above.map(|(cell, _)| branch(*cell).collect()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use loadline_model::plan::{CellPlan, ContrastKind, ContrastPlan, Role};
    use loadline_model::{LoadId, SiteId};
    use rand_pcg::Pcg64;
    use rand_pcg::rand_core::SeedableRng;

    /// A plan with nothing but contrasts: candidates with their baselines.
    fn plan(contrasts: &[(usize, usize)]) -> Plan {
        let contrast = |(candidate, baseline): &(usize, usize)| ContrastPlan {
            candidate: CellId(*candidate),
            baseline: CellId(*baseline),
            kind: ContrastKind::Planned,
        };
        let cell = CellPlan { site: SiteId(0), load: LoadId(0), role: Role::Candidate };
        let cells = vec![cell; contrasts.len() + 1];
        Plan { sites: Vec::new(), cells, contrasts: contrasts.iter().map(contrast).collect(), seed: 0 }
    }

    fn rings(plan: &Plan, cells: &[usize], seeds: u64) -> impl Iterator<Item = Vec<usize>> {
        let cells: Vec<CellId> = cells.iter().copied().map(CellId).collect();
        (0..seeds).map(move |seed| {
            ring(plan, &cells, &mut Pcg64::seed_from_u64(seed)).iter().map(|cell| cell.0).collect()
        })
    }

    /// How many steps apart two cells are on the ring.
    fn apart(ring: &[usize], one: usize, other: usize) -> usize {
        let at = |cell| ring.iter().position(|found| *found == cell).unwrap();
        let steps = at(one).abs_diff(at(other));
        steps.min(ring.len() - steps)
    }

    #[test]
    fn a_rung_is_next_to_the_one_below_it_and_the_twin_next_to_the_bottom() {
        // 0 is the bottom with its twin 7; 1, 2, 3 stand on it, and 4, 5 on the one hand and 6 on the other on 3.
        let plan = plan(&[(1, 0), (2, 1), (3, 2), (4, 3), (5, 4), (6, 3), (7, 0)]);
        for ring in rings(&plan, &[0, 1, 2, 3, 4, 5, 6, 7], 200) {
            for (above, below) in [(1, 0), (2, 1), (3, 2), (5, 4), (7, 0)] {
                assert_eq!(apart(&ring, above, below), 1, "{above} and {below} in {ring:?}");
            }
            assert_eq!(apart(&ring, 4, 3).min(apart(&ring, 6, 3)), 1, "{ring:?}");
        }
        let next = |above: usize| {
            rings(&plan, &[0, 1, 2, 3, 4, 5, 6, 7], 200).filter(move |ring| apart(ring, above, 3) == 1)
        };
        assert!(next(4).count() > 50 && next(6).count() > 50, "neither branch is always the far one");
    }

    #[test]
    fn two_baselines_are_each_between_what_is_compared_with_them() {
        let plan = plan(&[(1, 0), (2, 0), (4, 3), (5, 3)]);
        for ring in rings(&plan, &[0, 1, 2, 3, 4, 5], 100) {
            for (above, below) in [(1, 0), (2, 0), (4, 3), (5, 3)] {
                assert_eq!(apart(&ring, above, below), 1, "{above} and {below} in {ring:?}");
            }
        }
    }

    #[test]
    fn what_stood_on_a_cell_that_failed_is_next_to_the_one_below_that() {
        let plan = plan(&[(1, 0), (2, 1), (3, 2), (4, 0)]);
        for ring in rings(&plan, &[0, 1, 3, 4], 50) {
            assert_eq!(apart(&ring, 3, 1), 1, "{ring:?}");
        }
    }

    #[test]
    fn every_cell_is_as_often_at_every_position() {
        let plan = plan(&[(1, 0), (2, 1), (3, 2), (4, 3)]);
        let mut seen = BTreeMap::new();
        for ring in rings(&plan, &[0, 1, 2, 3, 4], 5_000) {
            for (position, cell) in ring.into_iter().enumerate() {
                *seen.entry((cell, position)).or_insert(0_u32) += 1;
            }
        }
        assert_eq!(seen.len(), 25);
        // A thousand each; six standard errors are 170.
        assert!(seen.values().all(|count| count.abs_diff(1_000) < 170), "{seen:?}");
    }

    #[test]
    fn cells_that_are_compared_with_one_other_come_in_any_order() {
        let plan = plan(&[(1, 0), (2, 0), (3, 0)]);
        let mut seen: BTreeMap<Vec<usize>, u32> = BTreeMap::new();
        rings(&plan, &[0, 1, 2, 3], 24_000).for_each(|ring| *seen.entry(ring).or_default() += 1);
        assert_eq!(seen.len(), 24);
        assert!(seen.values().all(|count| count.abs_diff(1_000) < 190), "{seen:?}");
    }

    #[test]
    fn without_comparisons_any_order_will_do() {
        let plan = plan(&[]);
        let seen: std::collections::BTreeSet<Vec<usize>> = rings(&plan, &[0, 1, 2], 200).collect();
        assert_eq!(seen.len(), 6);
        assert_eq!(rings(&plan, &[], 1).next(), Some(Vec::new()));
    }
}
