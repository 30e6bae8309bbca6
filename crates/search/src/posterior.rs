//! Where the capacity is, after some trials: a posterior on a grid.
//!
//! The probability that a slice fails rises with the logarithm of its rate, from 0 to 1 around the capacity, where it is one half: as a logistic
//! curve, or as that of a Gumbel distribution, which rises slowly and ends abruptly, as queues do. How steep it is depends on the service and
//! on the length of a slice; it is estimated along with the capacity. A small part of all slices fails or passes for another reason, so that one
//! outlier does not move the capacity far. Longer trials are of another curve, and have no part in this one.

use crate::load::{Load, loads};
use crate::trial::Trial;

/// Steepnesses, as the scale of the curve in logarithms of rates: from a cliff to a service that is different each time. Beforehand each is as
/// likely as it is large (a uniform prior, at points that are farther apart the larger they are): with equal weights, first trials that look like a
/// cliff by luck would end a search.
const SCALES: [f64; 9] = [0.002, 0.0035, 0.006, 0.011, 0.02, 0.035, 0.06, 0.11, 0.2];
/// Points of the grid over the capacity.
const POINTS: usize = 96;
/// The share of slices whose outcome has nothing to do with the rate, each way.
const LAPSES: f64 = 0.01;
/// Beyond the trials' rates, in logarithms.
const MARGIN: f64 = std::f64::consts::LN_2;
/// So often a finer grid follows: a search over four decades ends with steps of a thousandth.
const FINER: usize = 2;
/// What a finer grid leaves out on each side.
const NEGLIGIBLE: f64 = 1e-4;
/// ln ln 2: where a Gumbel curve is one half.
const GUMBEL_MEDIAN: f64 = -0.366_512_920_581_664_3;
/// By which a logistic curve is as steep as the normal one of the same standard deviation.
const LOGISTIC: f64 = 1.702;

/// The capacity, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The posterior's median, requests a second.
    pub rate: f64,
    /// The central 95 % of the posterior.
    pub interval: [f64; 2],
    /// Half the width of that interval, relative to the rate.
    pub half_width: f64,
    /// How far apart, in logarithms of rates, slices lie that nearly all pass and that nearly all fail: the posterior's mean of the scale.
    pub scale: f64,
}

/// The shapes of the curve.
#[derive(Clone, Copy)]
enum Shape {
    Logistic,
    Gumbel,
}

/// The posterior after these trials; `None` unless some passed and some failed.
pub fn estimate(trials: &[Trial]) -> Option<Estimate> {
    let loads = loads(trials);
    if loads.iter().all(|load| load.failed == 0) || loads.iter().all(|load| load.passed == 0) {
        return None;
    }
    let [low, high] = [loads.first()?.log_rate, loads.last()?.log_rate];
    let mut grid = Grid::of(&loads, low - MARGIN, high + MARGIN);
    for _ in 0..FINER {
        let (low, high) = (grid.quantile(NEGLIGIBLE), grid.quantile(1.0 - NEGLIGIBLE));
        grid = Grid::of(&loads, low - grid.step, high + grid.step);
    }
    let [low, median, high] = [0.025, 0.5, 0.975].map(|share| grid.quantile(share));
    Some(Estimate {
        rate: median.exp(),
        interval: [low.exp(), high.exp()],
        half_width: (high - low) / 2.0,
        scale: grid.scale,
    })
}

/// The posterior of the capacity's logarithm at equal distances, summed over shapes and scales.
struct Grid {
    from: f64,
    step: f64,
    /// They sum up to 1.
    masses: Vec<f64>,
    /// The posterior's mean of the scale.
    scale: f64,
}

impl Grid {
    fn of(loads: &[Load], from: f64, to: f64) -> Grid {
        let step = (to - from) / (POINTS - 1) as f64;
        let at = |point: usize| from + step * point as f64;
        let curves =
            [Shape::Logistic, Shape::Gumbel].into_iter().flat_map(|shape| SCALES.map(|scale| (shape, scale)));
        let mut masses = vec![0.0; POINTS];
        let (mut total, mut scales) = (0.0, 0.0);
        for (shape, scale) in curves {
            for (point, mass) in masses.iter_mut().enumerate() {
                let likely = scale * likelihood(loads, shape, scale, at(point));
                *mass += likely;
                total += likely;
                scales += likely * scale;
            }
        }
        masses.iter_mut().for_each(|mass| *mass /= total);
        Grid { from, step, masses, scale: scales / total }
    }

    /// Where so much of the posterior lies below, with the mass of each point spread evenly around it.
    fn quantile(&self, share: f64) -> f64 {
        let mut below = 0.0;
        for (point, mass) in self.masses.iter().enumerate() {
            if below + mass >= share && *mass > 0.0 {
                return self.from + self.step * (point as f64 - 0.5 + (share - below) / mass);
            }
            below += mass;
        }
        self.from + self.step * (POINTS - 1) as f64
    }
}

/// The probability of what was seen, with the capacity there. Each trial multiplies it by at least the share of lapses, so it does not underflow in
/// the trials of a search.
fn likelihood(loads: &[Load], shape: Shape, scale: f64, capacity: f64) -> f64 {
    let of = |load: &Load| {
        let fails = probability_of_failing(shape, (load.log_rate - capacity) / scale);
        let fails = LAPSES + (1.0 - 2.0 * LAPSES) * fails;
        (1.0 - fails).powi(load.passed as i32) * fails.powi(load.failed as i32)
    };
    loads.iter().map(of).product()
}

/// At a distance from the capacity in scales.
fn probability_of_failing(shape: Shape, distance: f64) -> f64 {
    match shape {
        Shape::Logistic => 1.0 / (1.0 + (-LOGISTIC * distance).exp()),
        Shape::Gumbel => 1.0 - (-(distance + GUMBEL_MEDIAN).exp()).exp(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_model::rows::Purpose;

    fn trial(rate: f64, passed: bool) -> Trial {
        Trial { rate, slices: 1.0, passed, purpose: Purpose::Search }
    }

    #[test]
    fn both_curves_are_one_half_at_the_capacity_and_rise() {
        for shape in [Shape::Logistic, Shape::Gumbel] {
            assert!((probability_of_failing(shape, 0.0) - 0.5).abs() < 1e-9);
            let steps = (-50..50).map(|step| f64::from(step) / 10.0);
            let figures: Vec<f64> = steps.map(|distance| probability_of_failing(shape, distance)).collect();
            assert!(figures.windows(2).all(|pair| pair[0] <= pair[1]), "{figures:?}");
        }
    }

    #[test]
    fn nothing_is_known_from_one_kind_of_outcome() {
        assert_eq!(estimate(&[]), None);
        assert_eq!(estimate(&[trial(100.0, true), trial(200.0, true)]), None);
        assert_eq!(estimate(&[trial(100.0, false)]), None);
    }

    #[test]
    fn the_capacity_lies_between_what_passed_and_what_failed() {
        let found = estimate(&[trial(100.0, true), trial(200.0, false)]).unwrap();
        assert!(found.interval[0] < 110.0 && found.interval[1] > 180.0, "{found:?}");
        assert!((110.0..190.0).contains(&found.rate), "{found:?}");
        let closer: Vec<Trial> = [100.0, 140.0, 148.0]
            .map(|rate| trial(rate, true))
            .into_iter()
            .chain([152.0, 160.0, 200.0].map(|rate| trial(rate, false)))
            .collect();
        let closer = estimate(&closer).unwrap();
        assert!(closer.half_width < found.half_width, "{closer:?}");
        assert!((146.0..154.0).contains(&closer.rate), "{closer:?}");
    }

    #[test]
    fn long_trials_have_no_part_in_it() {
        let short: Vec<Trial> = (90..110).map(|rate| trial(f64::from(rate), rate < 100)).collect();
        let long = Trial { slices: 5.0, purpose: Purpose::Confirm, ..trial(98.0, false) };
        assert_eq!(estimate(&[&short[..], &[long]].concat()), estimate(&short));
    }

    #[test]
    fn one_outlier_does_not_move_the_capacity_far() {
        let mut trials: Vec<Trial> =
            (0..12).map(|step| 94.0 + f64::from(step)).map(|rate| trial(rate, rate < 100.0)).collect();
        let before = estimate(&trials).unwrap();
        trials.push(trial(50.0, false));
        let after = estimate(&trials).unwrap();
        assert!((after.rate / before.rate - 1.0).abs() < 0.02, "{before:?} {after:?}");
    }
}
