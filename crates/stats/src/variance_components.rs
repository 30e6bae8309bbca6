//! How much of a variance lies between groups, such as deployments, and how much within them: the one-way layout with random effects.
//!
//! Estimates by analysis of variance, with a negative variance between groups taken as zero and the rest then pooled; for groups of equal
//! size this is restricted maximum likelihood (Searle, Casella & McCulloch, "Variance Components", 1992, chapter 3). For unequal ones the
//! mean size is replaced by the usual n₀ (chapter 3, and Snedecor & Cochran, "Statistical Methods").

/// The variances of figures in groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VarianceComponents {
    /// Of the groups' true means.
    pub between: f64,
    /// Of the figures around the mean of their group.
    pub within: f64,
}

impl VarianceComponents {
    /// The standard error of the mean over so many groups with so many figures each.
    pub fn standard_error(&self, groups: f64, figures: f64) -> f64 {
        ((self.between + self.within / figures) / groups).sqrt()
    }
}

/// Estimates both variances. Empty groups are left out.
///
/// None with fewer than two groups, or without a group of two or more figures, or if a figure is not finite.
pub fn variance_components(groups: &[Vec<f64>]) -> Option<VarianceComponents> {
    let groups: Vec<&Vec<f64>> = groups.iter().filter(|group| !group.is_empty()).collect();
    let sizes: Vec<f64> = groups.iter().map(|group| group.len() as f64).collect();
    let (k, total) = (groups.len() as f64, sizes.iter().sum::<f64>());
    if groups.len() < 2 || total <= k || groups.iter().any(|group| group.iter().any(|x| !x.is_finite())) {
        return None;
    }
    let means: Vec<f64> =
        groups.iter().zip(&sizes).map(|(group, size)| group.iter().sum::<f64>() / size).collect();
    let grand = means.iter().zip(&sizes).map(|(mean, size)| mean * size).sum::<f64>() / total;
    let squares_within: f64 = groups
        .iter()
        .zip(&means)
        .flat_map(|(group, mean)| group.iter().map(move |x| (x - mean).powi(2)))
        .sum();
    let squares_between: f64 =
        means.iter().zip(&sizes).map(|(mean, size)| size * (mean - grand).powi(2)).sum();
    let within = squares_within / (total - k);
    let n0 = (total - sizes.iter().map(|size| size * size).sum::<f64>() / total) / (k - 1.0);
    let between = (squares_between / (k - 1.0) - within) / n0;
    Some(if between > 0.0 {
        VarianceComponents { between, within }
    } else {
        VarianceComponents { between: 0.0, within: (squares_within + squares_between) / (total - 1.0) }
    })
}
