//! What makes a capacity's interval say little: the service does not do the same each time.

use loadline_model::result::Irregularity;
use loadline_model::rows::Purpose;

use crate::confirm::Confirmed;
use crate::inverted::{Inverted, inverted};
use crate::posterior::estimate;
use crate::trial::Trial;

/// Trials after an overload that must fail for it to be said.
const LEAST_UNRECOVERED: usize = 2;
/// A scale from which on a capacity is a range: nine of ten slices pass 14 % below it, and one of ten 14 % above.
const WIDE_SCALE: f64 = 0.1;
/// Standard normal quantile of a drift: by chance in one search of 370.
const DRIFT: f64 = 3.0;
/// Fewest trials that show a drift.
const LEAST_TRIALS: usize = 8;

/// What these trials show.
pub fn irregularities(trials: &[Trial]) -> Vec<Irregularity> {
    let inverted = inverted(trials).filter(Inverted::is_certain);
    let inverted =
        inverted.map(|seen| Irregularity::Inverted { passes: seen.passes.rate, fails: seen.fails.rate });
    [inverted, hysteresis(trials), with_time(trials), unsteady(trials)].into_iter().flatten().collect()
}

fn hysteresis(trials: &[Trial]) -> Option<Irregularity> {
    let mut failed = trials.iter().filter(|trial| trial.purpose == Purpose::Recover && !trial.passed);
    let rate = failed.clone().next()?.rate;
    (failed.by_ref().count() >= LEAST_UNRECOVERED).then_some(Irregularity::Hysteresis { rate })
}

/// Whether later trials fail more often than the rate alone explains, or less often.
fn with_time(trials: &[Trial]) -> Option<Irregularity> {
    let found = estimate(trials)?;
    let counted: Vec<&Trial> = crate::trial::counted(trials).collect();
    if Confirmed::of(trials).is_worse_with_time() {
        return Some(Irregularity::WorseWithTime);
    }
    if counted.len() < LEAST_TRIALS {
        return None;
    }
    let middle = (counted.len() - 1) as f64 / 2.0;
    let (mut score, mut variance) = (0.0, 0.0);
    for (position, trial) in counted.iter().enumerate() {
        let distance = (trial.rate / found.rate).ln() / found.scale;
        let fails = (1.0 / (1.0 + (-1.7 * distance).exp())).clamp(0.02, 0.98);
        let late = position as f64 - middle;
        score += late * (f64::from(u8::from(!trial.passed)) - fails);
        variance += late * late * fails * (1.0 - fails);
    }
    let drift = score / variance.sqrt();
    if drift > DRIFT {
        return Some(Irregularity::WorseWithTime);
    }
    (drift < -DRIFT).then_some(Irregularity::BetterWithTime)
}

fn unsteady(trials: &[Trial]) -> Option<Irregularity> {
    let found = estimate(trials).filter(|found| found.scale >= WIDE_SCALE)?;
    // Where a logistic curve is at 10 and at 90 %.
    let reach = 1.3 * found.scale;
    Some(Irregularity::Unsteady { from: found.rate * (-reach).exp(), to: found.rate * reach.exp() })
}
