//! Where a series of figures changed, without knowing of what distribution they are: E-divisive (Matteson & James, "A Nonparametric Approach
//! for Multiple Change Point Analysis of Multivariate Data", JASA 109 (2014)) with the energy distance, α = 1.
//!
//! The split of a part of the series with the largest statistic is a change point if few random orders of that part have a split with one as
//! large (a permutation test); then both sides are looked at. The statistic is maximised over the end of the right side as well, so that a
//! change is seen whose level comes back later. A t test at the best split, which others use, takes the best of many for the only one.
//!
//! Figures that are not equally sure cannot change places: where unsure ones are neighbours, as in a loud week, an order that scatters them looks
//! more even than any that could have been. So each place keeps its weight, and what changes places is by how much figures lie off their mean, in
//! units of how far they would by chance.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Fewest figures on each side of a change: of fewer it is a spike, or not settled.
pub const LEAST_SIDE: usize = 4;
/// Random orders of a permutation test.
const ORDERS: usize = 999;
/// By chance a series without a change has one with this probability at most.
const LEVEL: f64 = 0.005;

/// A change in a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// The first figure after it.
    pub at: usize,
    /// How often random orders show as much.
    pub p_value: f64,
}

/// A figure of a series, and how much it counts beside the others: the inverse of its variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weighted {
    /// The figure.
    pub figure: f64,
    /// More than 0.
    pub weight: f64,
}

/// The changes of a series, in order. The same seed draws the same random orders.
pub fn change_points(series: &[Weighted], seed: u64) -> Vec<ChangePoint> {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut found = Vec::new();
    divide(series, 0, &mut random, &mut found);
    found.sort_by_key(|change| change.at);
    found
}

/// Finds the changes of a part that begins at `from` in the series.
fn divide(part: &[Weighted], from: usize, random: &mut Pcg64, found: &mut Vec<ChangePoint>) {
    let Some((at, statistic)) = best_split(part) else { return };
    let mut residuals = residuals(part);
    let mut as_large = 0;
    for _ in 0..ORDERS {
        shuffle(&mut residuals, random);
        // The statistic knows distances alone.
        let at_place = |(one, residual): (&Weighted, &f64)| Weighted {
            figure: residual / one.weight.sqrt(),
            weight: one.weight,
        };
        let order: Vec<Weighted> = part.iter().zip(&residuals).map(at_place).collect();
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

/// By how much each figure lies off the weighted mean, in its own standard deviation, of which only ratios are known.
fn residuals(part: &[Weighted]) -> Vec<f64> {
    let weights: f64 = part.iter().map(|one| one.weight).sum();
    let mean = part.iter().map(|one| one.weight * one.figure).sum::<f64>() / weights;
    part.iter().map(|one| (one.figure - mean) * one.weight.sqrt()).collect()
}

fn shuffle(part: &mut [f64], random: &mut Pcg64) {
    for last in (1..part.len()).rev() {
        part.swap(last, random.random_range(0..=last));
    }
}

/// Where the left side is least like the right one, and the statistic there.
fn best_split(part: &[Weighted]) -> Option<(usize, f64)> {
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

/// Weighted sums of the distances between figures: of any two ranges from four of them.
struct Sums {
    count: usize,
    /// Of all pairs of the first i and the first j.
    upto: Vec<f64>,
    /// Of the first weights, and of their squares.
    weights: Vec<(f64, f64)>,
}

impl Sums {
    fn of(part: &[Weighted]) -> Sums {
        let count = part.len() + 1;
        let mut upto = vec![0.0; count * count];
        let mut weights = vec![(0.0, 0.0); count];
        for (i, one) in part.iter().enumerate() {
            let mut row = 0.0;
            for (j, other) in part.iter().enumerate() {
                row += one.weight * other.weight * (one.figure - other.figure).abs();
                upto[(i + 1) * count + j + 1] = upto[i * count + j + 1] + row;
            }
            let (sum, squares) = weights[i];
            weights[i + 1] = (sum + one.weight, squares + one.weight * one.weight);
        }
        Sums { count, upto, weights }
    }

    fn between(&self, (i0, i1): (usize, usize), (j0, j1): (usize, usize)) -> f64 {
        let at = |i: usize, j: usize| self.upto[i * self.count + j];
        at(i1, j1) - at(i0, j1) - at(i1, j0) + at(i0, j0)
    }

    /// The weights of a range, and their squares.
    fn weights(&self, (from, to): (usize, usize)) -> (f64, f64) {
        (self.weights[to].0 - self.weights[from].0, self.weights[to].1 - self.weights[from].1)
    }

    /// The energy distance of the figures before `at` and those from there to `end`, times how much there is of both. A few unsure figures lie
    /// far from the others by chance; their weights say how little that is.
    fn statistic(&self, at: usize, end: usize) -> f64 {
        let (left, right) = ((0, at), (at, end));
        let ((n, of_left), (m, of_right)) = (self.weights(left), self.weights(right));
        let across = 2.0 * self.between(left, right) / (n * m);
        let within = |range, sum: f64, squares: f64| self.between(range, range) / (sum * sum - squares);
        n * m / (n + m) * (across - within(left, n, of_left) - within(right, m, of_right))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures around 100 with a standard deviation of one.
    fn noise(count: usize, seed: u64) -> Vec<Weighted> {
        let mut random = Pcg64::seed_from_u64(seed);
        // The sum of twelve uniform numbers has a variance of one.
        let one = |random: &mut Pcg64| (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        (0..count).map(|_| Weighted { figure: 100.0 + one(&mut random), weight: 1.0 }).collect()
    }

    #[test]
    fn a_change_of_three_standard_deviations_is_found_where_it_is() {
        let mut figures = noise(40, 1);
        figures[25..].iter_mut().for_each(|one| one.figure += 3.0);
        let found = change_points(&figures, 7);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!((24..=26).contains(&found[0].at), "{found:?}");
    }

    #[test]
    fn a_level_that_comes_back_is_two_changes() {
        let mut figures = noise(45, 2);
        figures[15..30].iter_mut().for_each(|one| one.figure += 4.0);
        let found: Vec<usize> = change_points(&figures, 7).iter().map(|change| change.at).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!((14..=16).contains(&found[0]) && (29..=31).contains(&found[1]), "{found:?}");
    }

    #[test]
    fn a_single_spike_and_a_short_series_have_no_change() {
        let mut figures = noise(30, 3);
        figures[12].figure += 20.0;
        assert_eq!(change_points(&figures, 7), []);
        let alike = Weighted { figure: 5.0, weight: 1.0 };
        assert_eq!(change_points(&noise(2 * LEAST_SIDE - 1, 3), 7), [], "too few");
        assert_eq!(change_points(&[alike; 20], 7), [], "nothing differs");
    }

    #[test]
    fn a_series_without_a_change_seldom_has_one() {
        let alarms = (0..60).filter(|seed| !change_points(&noise(24, 100 + seed), 7).is_empty()).count();
        assert!(alarms <= 3, "{alarms} of 60");
    }

    #[test]
    fn a_loud_spell_is_no_change() {
        let alarms = |weight: f64| {
            let is_found = |seed: &u64| {
                let mut figures = noise(40, 400 + seed);
                for one in &mut figures[13..27] {
                    *one = Weighted { figure: 100.0 + 3.0 * (one.figure - 100.0), weight };
                }
                !change_points(&figures, 7).is_empty()
            };
            (0..60).filter(is_found).count()
        };
        let (known, unknown) = (alarms(1.0 / 9.0), alarms(1.0));
        assert!(known <= 3, "{known} of 60, {unknown} where it is not known to be loud");
    }

    /// Every other figure has five times the standard deviation, and the change is three times the smaller one.
    #[test]
    fn a_change_is_found_among_unsure_figures_that_weigh_less() {
        let found = |unsure: f64, change: f64| {
            let is_found = |seed: &u64| {
                let mut figures = noise(40, 200 + seed);
                for one in figures.iter_mut().step_by(2) {
                    *one = Weighted { figure: 100.0 + 5.0 * (one.figure - 100.0), weight: unsure };
                }
                figures[20..].iter_mut().for_each(|one| one.figure += change);
                change_points(&figures, 7).iter().any(|change| change.at.abs_diff(20) <= 2)
            };
            (0..40).filter(is_found).count()
        };
        let (equal, weighted) = (found(1.0, 3.0), found(1.0 / 25.0, 3.0));
        assert!(
            weighted >= 35 && weighted > equal + 15,
            "{weighted} of 40, {equal} where all weigh the same"
        );
        assert!(found(1.0 / 25.0, 0.0) <= 2, "without a change");
    }
}
