//! How many units a difference rests on, where it depends on a part of what they hold: requests beyond a quantile, of which a few deployments
//! may have most. An error that is estimated from few has fewer degrees of freedom than there are units.

/// The number of units that would make one side's share as uneven as it is, where `other` is the share of what it is compared with. What both
/// hold in the same units cancels in their difference, so only what they don't have in common counts. Between 1 and the number of units.
///
/// The unevenness of shares pᵢ is Simpson's index Σpᵢ², estimated by Σn(n − 1) ÷ N(N − 1), whose expectation does not depend on how many were
/// counted (E. H. Simpson, "Measurement of Diversity", Nature 163 (1949)); 1/n for n units with the same share. Less what is common, Σpᵢqᵢ, and
/// with the 1/n that is nobody's, it is the inverse of the effective number.
pub fn effective_units(counts: &[f64], other: &[f64]) -> f64 {
    let units = counts.len() as f64;
    let (total, total_of_other): (f64, f64) = (counts.iter().sum(), other.iter().sum());
    if total <= 1.0 || total_of_other == 0.0 {
        return units;
    }
    let own = counts.iter().map(|count| count * (count - 1.0)).sum::<f64>() / (total * (total - 1.0));
    let common =
        counts.iter().zip(other).map(|(one, other)| one * other).sum::<f64>() / (total * total_of_other);
    1.0 / (1.0 / units + (own - common).max(0.0)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_that_hold_the_same_count_whole() {
        assert_eq!(effective_units(&[1_000.0; 8], &[1_000.0; 8]), 8.0);
        assert_eq!(effective_units(&[0.0; 8], &[5.0; 8]), 8.0);
        assert_eq!(effective_units(&[5.0; 8], &[0.0; 8]), 8.0);
    }

    #[test]
    fn what_one_side_has_in_few_units_rests_on_them() {
        let even = [500.0; 4];
        assert!((effective_units(&[500.0, 500.0, 0.0, 0.0], &even) - 2.0).abs() < 0.01);
        assert_eq!(effective_units(&[0.0, 500.0, 0.0, 0.0], &even), 1.0);
        assert_eq!(effective_units(&even, &[0.0, 500.0, 0.0, 0.0]), 4.0);
    }

    #[test]
    fn what_both_sides_have_in_the_same_units_cancels() {
        let loud = [900.0, 50.0, 50.0, 50.0];
        assert!(effective_units(&loud, &loud) > 3.99);
        assert!(effective_units(&loud, &[50.0, 900.0, 50.0, 50.0]) < 1.2);
    }

    #[test]
    fn few_requests_are_not_taken_for_units_that_differ() {
        // What chance puts into eight units that hold as much, 1 on average. By their plain shares they would be 4.
        assert_eq!(effective_units(&[2.0, 0.0, 1.0, 1.0, 3.0, 0.0, 1.0, 0.0], &[1.0; 8]).round(), 7.0);
    }
}
