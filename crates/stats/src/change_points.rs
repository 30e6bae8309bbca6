//! Where a series of figures changed, without knowing of what distribution they are: E-divisive (Matteson & James, "A Nonparametric Approach
//! for Multiple Change Point Analysis of Multivariate Data", JASA 109 (2014)) with the energy distance, α = 1.
//!
//! The split of a part of the series with the largest statistic is a change point if few random orders of that part have a split with one as
//! large (a permutation test); then both sides are looked at. The statistic is maximised over the end of the right side as well, so that a
//! change is seen whose level comes back later. A t test at the best split, which others use, takes the best of many for the only one.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Fewest figures on each side of a change: of fewer it is a spike, or not settled.
pub const LEAST_SIDE: usize = 4;
/// Random orders of a permutation test.
const ORDERS: usize = 999;
/// By chance a series without a change has one with this probability at most.
const LEVEL: f64 = 0.01;

/// A change in a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// The first figure after it.
    pub at: usize,
    /// How often random orders show as much.
    pub p_value: f64,
}

/// The changes of a series, in order. The same seed draws the same random orders.
pub fn change_points(figures: &[f64], seed: u64) -> Vec<ChangePoint> {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut found = Vec::new();
    divide(figures, 0, &mut random, &mut found);
    found.sort_by_key(|change| change.at);
    found
}

/// Finds the changes of a part that begins at `from` in the series.
fn divide(part: &[f64], from: usize, random: &mut Pcg64, found: &mut Vec<ChangePoint>) {
    let Some((at, statistic)) = best_split(part) else { return };
    let mut order = part.to_vec();
    let mut as_large = 0;
    for _ in 0..ORDERS {
        shuffle(&mut order, random);
        as_large += usize::from(best_split(&order).is_some_and(|(_, other)| other >= statistic));
        // No further order can make it a change.
        if as_large as f64 > LEVEL * (ORDERS + 1) as f64 {
            return;
        }
    }
    let p_value = (as_large + 1) as f64 / (ORDERS + 1) as f64;
    if p_value > LEVEL {
        return;
    }
    found.push(ChangePoint { at: from + at, p_value });
    divide(&part[..at], from, random, found);
    divide(&part[at..], from + at, random, found);
}

fn shuffle(figures: &mut [f64], random: &mut Pcg64) {
    for last in (1..figures.len()).rev() {
        figures.swap(last, random.random_range(0..=last));
    }
}

/// Where the left side is least like the right one, and the statistic there.
fn best_split(part: &[f64]) -> Option<(usize, f64)> {
    let count = part.len();
    let sums = Sums::of(part);
    let mut best: Option<(usize, f64)> = None;
    for at in LEAST_SIDE..=count.saturating_sub(LEAST_SIDE) {
        for end in at + LEAST_SIDE..=count {
            let statistic = sums.statistic(at, end);
            if best.is_none_or(|(_, most)| statistic > most) {
                best = Some((at, statistic));
            }
        }
    }
    best
}

/// Sums of the distances between figures: of any two ranges from four of them.
struct Sums {
    count: usize,
    /// Of all pairs of the first i and the first j.
    upto: Vec<f64>,
}

impl Sums {
    fn of(part: &[f64]) -> Sums {
        let count = part.len() + 1;
        let mut upto = vec![0.0; count * count];
        for (i, one) in part.iter().enumerate() {
            let mut row = 0.0;
            for (j, other) in part.iter().enumerate() {
                row += (one - other).abs();
                upto[(i + 1) * count + j + 1] = upto[i * count + j + 1] + row;
            }
        }
        Sums { count, upto }
    }

    fn between(&self, (i0, i1): (usize, usize), (j0, j1): (usize, usize)) -> f64 {
        let at = |i: usize, j: usize| self.upto[i * self.count + j];
        at(i1, j1) - at(i0, j1) - at(i1, j0) + at(i0, j0)
    }

    /// The energy distance of the figures before `at` and those from there to `end`, weighted by how many there are.
    fn statistic(&self, at: usize, end: usize) -> f64 {
        let (left, right) = ((0, at), (at, end));
        let (n, m) = (at as f64, (end - at) as f64);
        let across = 2.0 * self.between(left, right) / (n * m);
        let within = |range, n: f64| self.between(range, range) / (n * (n - 1.0));
        n * m / (n + m) * (across - within(left, n) - within(right, m))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures around 100 with a standard deviation of one.
    fn noise(count: usize, seed: u64) -> Vec<f64> {
        let mut random = Pcg64::seed_from_u64(seed);
        // The sum of twelve uniform numbers has a variance of one.
        let one = |random: &mut Pcg64| (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        (0..count).map(|_| 100.0 + one(&mut random)).collect()
    }

    #[test]
    fn a_change_of_three_standard_deviations_is_found_where_it_is() {
        let mut figures = noise(40, 1);
        figures[25..].iter_mut().for_each(|figure| *figure += 3.0);
        let found = change_points(&figures, 7);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!((24..=26).contains(&found[0].at), "{found:?}");
    }

    #[test]
    fn a_level_that_comes_back_is_two_changes() {
        let mut figures = noise(45, 2);
        figures[15..30].iter_mut().for_each(|figure| *figure += 4.0);
        let found: Vec<usize> = change_points(&figures, 7).iter().map(|change| change.at).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!((14..=16).contains(&found[0]) && (29..=31).contains(&found[1]), "{found:?}");
    }

    #[test]
    fn a_single_spike_and_a_short_series_have_no_change() {
        let mut figures = noise(30, 3);
        figures[12] += 20.0;
        assert_eq!(change_points(&figures, 7), []);
        assert_eq!(change_points(&[1.0, 2.0, 9.0, 9.0, 9.0], 7), []);
        assert_eq!(change_points(&[5.0; 20], 7), [], "nothing differs");
    }

    #[test]
    fn a_series_without_a_change_seldom_has_one() {
        let alarms = (0..60).filter(|seed| !change_points(&noise(24, 100 + seed), 7).is_empty()).count();
        assert!(alarms <= 3, "{alarms} of 60");
    }
}
