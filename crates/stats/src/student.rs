//! Student's t: the interval of a mean of independent, roughly normal figures, and its p-value.
//! "Student", "The Probable Error of a Mean", Biometrika 6 (1908); Fisher, Metron 5 (1925).

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::beta::beta_reg;

use crate::Interval;

/// The value that a t variable with `degrees_of_freedom` stays below with `probability`.
///
/// NaN unless the probability lies strictly between 0 and 1 and the degrees of freedom are positive and
/// finite.
pub fn t_quantile(probability: f64, degrees_of_freedom: f64) -> f64 {
    let inside = probability > 0.0 && probability < 1.0 && degrees_of_freedom.is_finite();
    match StudentsT::new(0.0, 1.0, degrees_of_freedom) {
        Ok(distribution) if inside => distribution.inverse_cdf(probability),
        _ => f64::NAN,
    }
}

/// The probability that a t variable with `degrees_of_freedom` lies at least as far from zero as `t`.
///
/// NaN when `t` is, or unless the degrees of freedom are positive and finite.
pub fn two_sided_p(t: f64, degrees_of_freedom: f64) -> f64 {
    if t.is_nan() || !degrees_of_freedom.is_finite() || degrees_of_freedom <= 0.0 {
        return f64::NAN;
    }
    // Abramowitz & Stegun 26.7.1; through the beta function, since 1 - cdf would lose small p-values.
    beta_reg(degrees_of_freedom / 2.0, 0.5, degrees_of_freedom / (degrees_of_freedom + t * t))
}

/// The probability that a t variable with `degrees_of_freedom` lies at or above `t`.
///
/// NaN when `t` is, or unless the degrees of freedom are positive and finite.
pub fn upper_p(t: f64, degrees_of_freedom: f64) -> f64 {
    let beyond = two_sided_p(t, degrees_of_freedom) / 2.0;
    if t < 0.0 { 1.0 - beyond } else { beyond }
}

/// The interval for the mean of `values` at `confidence` (0.95 for 95 %): mean ± t · s / √n.
///
/// None for fewer than two values, and for a confidence that is not strictly between 0 and 1.
pub fn t_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    if values.len() < 2 || !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let t = t_quantile(0.5 + confidence / 2.0, count - 1.0);
    Some(Interval::around(mean, t * (variance / count).sqrt()))
}
