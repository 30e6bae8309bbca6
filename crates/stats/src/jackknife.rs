//! The jackknife: how much a statistic varies, found by leaving out one unit at a time. It takes as many computations as there are units, where
//! [the bootstrap](mod@crate::bootstrap) takes thousands, and is rougher: good enough to weigh variances by.

/// The variance of a statistic of units that are given by how often each is taken (B. Efron, C. Stein, "The Jackknife Estimate of Variance",
/// Annals of Statistics 9 (1981)). NaN if it can't be computed without one of them.
pub fn jackknife_variance(units: usize, mut statistic: impl FnMut(&[u32]) -> f64) -> f64 {
    let mut counts = vec![1; units];
    let figures: Vec<f64> = (0..units)
        .map(|unit| {
            counts[unit] = 0;
            let figure = statistic(&counts);
            counts[unit] = 1;
            figure
        })
        .collect();
    let units = units as f64;
    let mean = figures.iter().sum::<f64>() / units;
    (units - 1.0) / units * figures.iter().map(|figure| (figure - mean).powi(2)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_mean_it_is_the_square_of_its_standard_error() {
        let figures = [3.0, 5.0, 8.0, 9.0];
        let mean = |counts: &[u32]| {
            let sum: f64 = figures.iter().zip(counts).map(|(figure, count)| figure * f64::from(*count)).sum();
            sum / f64::from(counts.iter().sum::<u32>())
        };
        // Of a mean of 6.25 the squared deviations add up to 22.75; over n(n − 1).
        assert!((jackknife_variance(4, mean) - 22.75 / 12.0).abs() < 1e-12);
    }
}
