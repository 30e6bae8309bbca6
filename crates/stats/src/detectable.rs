//! The difference that a comparison would claim with the stated power, see [`crate::Bootstrap::resolution`].

use crate::{Levels, t_quantile};

/// The probability that the difference is claimed.
const POWER: f64 = 0.95;

/// The difference that is claimed with 95 % power, when the mean has this standard error and the error so many degrees of freedom:
/// (t₀.₉₈₇₅ + t₀.₉₅) · SE (Cohen, "Statistical Power Analysis for the Behavioral Sciences", 1988, chapter 2, with t in place of the normal
/// quantiles). A little conservative with few degrees of freedom.
///
/// NaN unless the degrees of freedom are positive.
pub fn detectable_difference(standard_error: f64, degrees_of_freedom: f64) -> f64 {
    let quantile = |probability| t_quantile(probability, degrees_of_freedom);
    (quantile(1.0 - Levels::DEFAULT.difference / 2.0) + quantile(POWER)) * standard_error
}
