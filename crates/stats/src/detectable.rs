//! The difference that a comparison would find: with the stated power, a two-sided t test at the 5 % level rejects "no difference".

use crate::t_quantile;

/// The level of the test.
const ALPHA: f64 = 0.05;
/// The probability that the difference is found.
const POWER: f64 = 0.95;

/// The difference that is found with 95 % power, when the mean has this standard error and the error so many degrees of freedom:
/// (t₀.₉₇₅ + t₀.₉₅) · SE (Cohen, "Statistical Power Analysis for the Behavioral Sciences", 1988, chapter 2, with t in place of the normal
/// quantiles). A little conservative with few degrees of freedom.
///
/// NaN unless the degrees of freedom are positive.
pub fn detectable_difference(standard_error: f64, degrees_of_freedom: f64) -> f64 {
    let quantile = |probability| t_quantile(probability, degrees_of_freedom);
    (quantile(1.0 - ALPHA / 2.0) + quantile(POWER)) * standard_error
}
