//! Spearman's rank correlation: whether two series rise and fall together, however skewed they are.
//! Spearman, "The Proof and Measurement of Association between Two Things", Am. J. Psychology 15 (1904).

/// The ranks of figures from 1, equal ones sharing the mean of theirs.
pub fn ranks(figures: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..figures.len()).collect();
    order.sort_by(|one, other| figures[*one].total_cmp(&figures[*other]));
    let mut ranks = vec![0.0; figures.len()];
    let mut below = 0;
    for equal in order.chunk_by(|one, other| figures[*one] == figures[*other]) {
        let rank = below as f64 + (equal.len() as f64 + 1.0) / 2.0;
        equal.iter().for_each(|index| ranks[*index] = rank);
        below += equal.len();
    }
    ranks
}

/// The correlation of pairs of ranks, each with the rank's mean and variance over its whole series, of which the pairs may be any part.
///
/// None without pairs, or when a series has no variance.
pub fn correlation_of_ranks(
    one: &[f64],
    other: &[f64],
    pairs: impl IntoIterator<Item = (usize, usize)>,
) -> Option<f64> {
    let (one, other) = (Standard::of(one)?, Standard::of(other)?);
    let (sum, count) = pairs.into_iter().fold((0.0, 0_usize), |(sum, count), (left, right)| {
        (sum + one.score(left) * other.score(right), count + 1)
    });
    (count > 0).then(|| sum / count as f64)
}

/// A series in units of its standard deviation.
struct Standard<'a> {
    figures: &'a [f64],
    mean: f64,
    deviation: f64,
}

impl Standard<'_> {
    fn of(figures: &[f64]) -> Option<Standard<'_>> {
        let count = figures.len() as f64;
        let mean = figures.iter().sum::<f64>() / count;
        let deviation = (figures.iter().map(|figure| (figure - mean).powi(2)).sum::<f64>() / count).sqrt();
        (deviation > 0.0).then_some(Standard { figures, mean, deviation })
    }

    fn score(&self, index: usize) -> f64 {
        (self.figures[index] - self.mean) / self.deviation
    }
}
