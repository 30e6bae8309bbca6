//! The difference that a comparison will claim with the stated power, before there is one.

use crate::{Levels, POWER, t_quantile};

/// The difference that is claimed with 95 % power, when the mean has this standard error and the error so many degrees of freedom:
/// (t₀.₉₈₇₅ + t₀.₉₅) · SE (Cohen, "Statistical Power Analysis for the Behavioral Sciences", 1988, chapter 2, with t in place of the normal
/// quantiles).
///
/// NaN unless the degrees of freedom are positive.
pub fn detectable_difference(standard_error: f64, degrees_of_freedom: f64) -> f64 {
    resolution(standard_error, degrees_of_freedom, Levels::DEFAULT.difference)
}

/// The same at any level, two-sided.
pub fn resolution(standard_error: f64, degrees_of_freedom: f64, level: f64) -> f64 {
    let quantile = |probability| t_quantile(probability, degrees_of_freedom);
    (quantile(1.0 - level / 2.0) + quantile(POWER)) * standard_error
}
