//! The Anderson–Darling test that gaps are exponential with a known rate, as those of a Poisson schedule must
//! be. Anderson & Darling, JASA 49 (1954); p-value by Marsaglia & Marsaglia, "Evaluating the Anderson–Darling
//! Distribution", J. Stat. Softw. 9(2) (2004).

/// How well data fit a distribution that was fully known beforehand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GoodnessOfFit {
    /// Anderson and Darling's A²: 2.492 is reached by chance in 5 % of samples, 3.857 in 1 %.
    pub statistic: f64,
    /// The probability of a statistic this large if the distribution is the right one.
    pub p_value: f64,
}

/// Tests that `gaps_s` (seconds, in any order) are independent exponentials with `rate_per_s`.
///
/// The rate must be the one asked for, not one estimated from these gaps: with an estimate the p-value is too
/// large. None for no gaps, a gap that is negative or not finite, or a rate that is not positive and finite.
pub fn exponential_gaps(gaps_s: &[f64], rate_per_s: f64) -> Option<GoodnessOfFit> {
    let possible = |gap: &f64| *gap >= 0.0 && gap.is_finite();
    if gaps_s.is_empty() || !gaps_s.iter().all(possible) || !(rate_per_s > 0.0 && rate_per_s.is_finite()) {
        return None;
    }
    let mut ascending: Vec<f64> = gaps_s.iter().map(|gap| gap * rate_per_s).collect();
    ascending.sort_by(f64::total_cmp);
    let count = ascending.len() as f64;
    let weighted: f64 = ascending
        .iter()
        .zip(ascending.iter().rev())
        .enumerate()
        .map(|(index, (low, high))| (2 * index + 1) as f64 * (ln_cdf(*low) - high))
        .sum();
    let statistic = -count - weighted / count;
    Some(GoodnessOfFit { statistic, p_value: 1.0 - cdf(count, statistic) })
}

/// ln P(X ≤ x) of the standard exponential; the logarithm of the other tail is simply −x.
fn ln_cdf(x: f64) -> f64 {
    // A single gap that was rounded to zero must not make the statistic infinite.
    (-(-x.max(f64::EPSILON)).exp_m1()).ln()
}

/// P(A² ≤ z) for `count` values: the limit distribution and the paper's correction for a finite sample.
fn cdf(count: f64, z: f64) -> f64 {
    let limit = limit_cdf(z);
    (limit + correction(count, limit)).clamp(0.0, 1.0)
}

/// The limit distribution: function `adinf` of the paper, within 2e-6.
fn limit_cdf(z: f64) -> f64 {
    if z <= 0.0 {
        0.0
    } else if z < 2.0 {
        let series = [2.00012, 0.247105, -0.0649821, 0.0347962, -0.0116720, 0.00168691];
        (-1.2337141 / z).exp() / z.sqrt() * polynomial(&series, z)
    } else {
        let series = [1.0776, -2.30695, 0.43424, -0.082433, 0.008056, -0.0003146];
        (-polynomial(&series, z).exp()).exp()
    }
}

/// What a finite sample adds to the limit distribution at `x`: function `errfix` of the paper.
fn correction(count: f64, x: f64) -> f64 {
    if x > 0.8 {
        return polynomial(&[-130.2137, 745.2337, -1705.091, 1950.646, -1116.360, 255.7844], x) / count;
    }
    let crossing = 0.01265 + 0.1757 / count;
    if x < crossing {
        let t = x / crossing;
        let shape = t.sqrt() * (1.0 - t) * (49.0 * t - 102.0);
        return shape * (0.0037 / (count * count) + 0.00078 / count + 0.00006) / count;
    }
    let t = (x - crossing) / (0.8 - crossing);
    let shape = polynomial(&[-0.00022633, 6.54034, -14.6538, 14.458, -8.259, 1.91864], t);
    shape * (0.04213 + 0.01365 / count) / count
}

/// c₀ + c₁ x + c₂ x² + …
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_distribution_has_the_published_critical_values() {
        // Stephens, JASA 69 (1974), table 1.0, case 0. He simulated them: the last is 0.02 below the exact
        // value.
        for (critical, level, tolerance) in [(1.933, 0.10, 5e-5), (2.492, 0.05, 5e-5), (3.857, 0.01, 3e-4)] {
            let tail = 1.0 - limit_cdf(critical);
            assert!((tail - level).abs() < tolerance, "{critical}: {tail} against {level}");
        }
        // Marsaglia & Marsaglia's own: 99 % at 3.878125.
        assert!((limit_cdf(3.878_125) - 0.99).abs() < 5e-6);
    }

    #[test]
    fn both_branches_of_the_limit_distribution_meet() {
        assert!((limit_cdf(2.0 - 1e-9) - limit_cdf(2.0)).abs() < 1e-5);
    }

    #[test]
    fn the_correction_vanishes_with_the_sample_size_and_at_both_ends() {
        assert!(correction(1e9, 0.5).abs() < 1e-9);
        assert!(correction(10.0, 0.0).abs() < 1e-12);
        assert!(correction(10.0, 1.0).abs() < 1e-3);
    }
}
