//! Quantiles and spreads of plain numbers.

/// The smallest value that at least the share `q` of all values does not exceed (nearest rank); 0 for no values.
///
/// `ascending` must be in ascending order.
pub fn quantile(ascending: &[u64], q: f64) -> u64 {
    let rank = (q * ascending.len() as f64).ceil() as usize;
    ascending.get(rank.saturating_sub(1)).copied().unwrap_or(0)
}

/// The middle of some rounds, and how far they lie apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Middle value, or the mean of both middle ones.
    pub median: f64,
    /// Smallest.
    pub low: f64,
    /// Largest.
    pub high: f64,
}

impl Spread {
    /// `None` for no values.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Spread> {
        let mut ascending: Vec<f64> = values.into_iter().collect();
        ascending.sort_by(f64::total_cmp);
        let (low, high) = (*ascending.first()?, *ascending.last()?);
        let middle = ascending.len() / 2;
        let median = if ascending.len() % 2 == 1 {
            ascending[middle]
        } else {
            (ascending[middle - 1] + ascending[middle]) / 2.0
        };
        Some(Spread { median, low, high })
    }

    /// Of the ratios of two series, round by round: what both rounds had in common cancels.
    pub fn of_ratios(series: &[f64], reference: &[f64]) -> Option<Spread> {
        Spread::of(series.iter().zip(reference).map(|(value, reference)| value / reference))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quantiles_are_values_by_nearest_rank() {
        let values: Vec<u64> = (1..=200).collect();
        assert_eq!([0.0, 0.5, 0.99, 0.995, 1.0].map(|q| quantile(&values, q)), [1, 100, 198, 199, 200]);
        assert_eq!(quantile(&[], 0.5), 0);
    }

    #[test]
    fn an_even_number_of_rounds_has_its_median_between_the_middle_ones() {
        assert_eq!(Spread::of([4.0, 1.0, 3.0, 2.0]), Some(Spread { median: 2.5, low: 1.0, high: 4.0 }));
        assert_eq!(Spread::of([]), None);
    }

    #[test]
    fn a_drift_that_both_series_share_leaves_their_ratio_alone() {
        let ratio = Spread::of_ratios(&[2.0, 4.0, 8.0], &[4.0, 8.0, 16.0]);
        assert_eq!(ratio, Some(Spread { median: 0.5, low: 0.5, high: 0.5 }));
    }

    proptest! {
        #[test]
        fn at_least_the_share_asked_for_lies_at_or_below_a_quantile(
            mut values in prop::collection::vec(0u64..1000, 1..300), q in 0.0f64..=1.0
        ) {
            values.sort_unstable();
            let found = quantile(&values, q);
            let below = values.iter().filter(|value| **value < found).count() as f64;
            let up_to = values.iter().filter(|value| **value <= found).count() as f64;
            let asked = q * values.len() as f64;
            prop_assert!(up_to >= asked && (below < asked || q == 0.0));
        }
    }
}
