//! The Mann–Kendall test: do successive figures tend to rise, or to fall?
//! H. B. Mann, Econometrica 13 (1945); M. G. Kendall, "Rank Correlation Methods" (1975).

/// The two-sided p-value of "the order of these figures is chance", from the exact distribution for every
/// length.
///
/// Equal figures count as neither rise nor fall; the distribution is the one without ties, which makes the
/// test less likely to find a trend among them, never more. 1 for fewer than two figures.
pub fn trend_p_value(figures: &[f64]) -> f64 {
    let mut balance = 0_i64;
    for (index, earlier) in figures.iter().enumerate() {
        for later in &figures[index + 1..] {
            balance += i64::from(later > earlier) - i64::from(later < earlier);
        }
    }
    let pairs = figures.len() * figures.len().saturating_sub(1) / 2;
    // So many pairs in the minority direction, or fewer, are at least as extreme as what was observed.
    let discordant = (pairs - balance.unsigned_abs() as usize) / 2;
    let tail: f64 = inversion_probabilities(figures.len()).iter().take(discordant + 1).sum();
    (2.0 * tail).min(1.0)
}

/// The probability of 0, 1, 2 … inversions in a random order of `count` figures (the Mahonian numbers over
/// n!).
fn inversion_probabilities(count: usize) -> Vec<f64> {
    let mut probabilities = vec![1.0];
    for inserted in 2..=count {
        // The newest figure is as likely to pass 0, 1 … inserted−1 of those already there.
        let mut next = vec![0.0; probabilities.len() + inserted - 1];
        for (inversions, probability) in probabilities.iter().enumerate() {
            for sum in &mut next[inversions..inversions + inserted] {
                *sum += probability / inserted as f64;
            }
        }
        probabilities = next;
    }
    probabilities
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail(count: usize, s: usize) -> f64 {
        let pairs = count * (count - 1) / 2;
        inversion_probabilities(count).iter().take((pairs - s) / 2 + 1).sum()
    }

    #[test]
    fn tail_probabilities_are_those_of_kendalls_table() {
        // Kendall 1975, appendix table 1; also Hollander & Wolfe 1973, table A.21.
        let table = [
            (4, 6, 0.042),
            (5, 8, 0.042),
            (8, 16, 0.031),
            (8, 18, 0.016),
            (8, 20, 0.0071),
            (10, 21, 0.036),
            (10, 23, 0.023),
        ];
        for (count, s, expected) in table {
            let exact = tail(count, s);
            assert!((exact - expected).abs() < 0.0006, "n = {count}, S = {s}: {exact} against {expected}");
        }
    }

    #[test]
    fn strictly_rising_and_strictly_falling_figures_get_the_smallest_p_value() {
        let rising: Vec<f64> = (0..8).map(f64::from).collect();
        let falling: Vec<f64> = rising.iter().rev().copied().collect();
        assert!((trend_p_value(&rising) - 2.0 / 40_320.0).abs() < 1e-12);
        assert_eq!(trend_p_value(&rising), trend_p_value(&falling));
    }

    #[test]
    fn equal_figures_and_too_few_figures_show_no_trend() {
        assert_eq!(trend_p_value(&[3.0; 8]), 1.0);
        assert_eq!(trend_p_value(&[3.0]), 1.0);
        assert_eq!(trend_p_value(&[]), 1.0);
    }
}
