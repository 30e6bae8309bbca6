//! The difference that a comparison claims with the stated power.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::{Levels, POWER, t_quantile};

/// The difference that is claimed with 95 % power, when the mean has this standard error and the error so many degrees of freedom.
///
/// NaN unless the degrees of freedom are positive.
pub fn detectable_difference(standard_error: f64, degrees_of_freedom: f64) -> f64 {
    resolution(standard_error, degrees_of_freedom, Levels::DEFAULT.difference)
}

/// The same at any level, two-sided: t(1 − 1/4ν) + z₀.₉₅ √(1 + t²/2ν) standard errors, where t is the quantile of the test. A test statistic with
/// a difference behind it has the noncentral t distribution, of which this is the normal approximation (Abramowitz & Stegun, "Handbook of
/// Mathematical Functions", 1964, 26.7.10). With many deployments it is t + z₀.₉₅.
pub fn resolution(standard_error: f64, degrees_of_freedom: f64, level: f64) -> f64 {
    let t = t_quantile(1.0 - level / 2.0, degrees_of_freedom);
    let spread = (1.0 + t * t / (2.0 * degrees_of_freedom)).sqrt();
    (t * (1.0 - 0.25 / degrees_of_freedom) + Normal::standard().inverse_cdf(POWER) * spread) * standard_error
}
