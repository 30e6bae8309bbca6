//! Holm's step-down correction: keeps the chance of any false claim among several contrasts at α.
//! S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scand. J. Statist. 6 (1979).

/// The adjusted p-values, in the order of `p_values`; each is compared with α as if it stood alone.
///
/// The smallest is multiplied by their number, the next by one less, and so on; none may then be smaller than
/// one before it, nor exceed 1. A NaN (no test was possible) counts as 1.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut ascending: Vec<usize> = (0..p_values.len()).collect();
    ascending.sort_by(|&a, &b| p_values[a].min(1.0).total_cmp(&p_values[b].min(1.0)));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, &index) in ascending.iter().enumerate() {
        let hypotheses_left = (p_values.len() - rank) as f64;
        // `min` turns a NaN into 1.
        largest = largest.max((p_values[index] * hypotheses_left).min(1.0));
        adjusted[index] = largest;
    }
    adjusted
}
