//! The Universal Scalability Law (Gunther, "Guerrilla Capacity Planning", 2007): throughput over concurrency,
//! X(N) = λN ÷ (1 + σ(N − 1) + κN(N − 1)), with the throughput λ of one, contention σ for what only one does at a time, and crosstalk κ for
//! what all must agree on with all others. It describes a service; it does not search for what it carries.

/// A service as the law describes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usl {
    /// Throughput of one, λ.
    pub one: f64,
    /// Contention, σ.
    pub contention: f64,
    /// Crosstalk, κ.
    pub crosstalk: f64,
}

impl Usl {
    /// The law that fits throughputs best, by the squares of their relative errors: σ and κ are not below zero. `None` with fewer than four
    /// concurrencies, or where a throughput is none.
    pub fn fit(points: &[(f64, f64)]) -> Option<Usl> {
        let is_usable = |(n, x): &(f64, f64)| *n >= 1.0 && *x > 0.0 && n.is_finite() && x.is_finite();
        let mut concurrencies: Vec<f64> = points.iter().map(|(n, _)| *n).collect();
        concurrencies.sort_by(f64::total_cmp);
        concurrencies.dedup();
        if concurrencies.len() < LEAST_POINTS || !points.iter().all(is_usable) {
            return None;
        }
        // N ÷ X is linear in 1/λ, σ/λ and κ/λ; times X ÷ N, an error is a relative one.
        let row = |(n, x): &(f64, f64)| [1.0, n - 1.0, n * (n - 1.0)].map(|term| term * x / n);
        let rows: Vec<[f64; 3]> = points.iter().map(row).collect();
        let subsets: [&[usize]; 4] = [&[0, 1, 2], &[0, 1], &[0, 2], &[0]];
        let fits = subsets.iter().filter_map(|terms| least_squares(&rows, terms));
        let admissible = fits.filter(|fit| fit.iter().all(|term| *term >= 0.0) && fit[0] > 0.0);
        let best = admissible.min_by(|one, other| squares(&rows, one).total_cmp(&squares(&rows, other)))?;
        Some(Usl { one: 1.0 / best[0], contention: best[1] / best[0], crosstalk: best[2] / best[0] })
    }

    /// The throughput at a concurrency.
    pub fn throughput(&self, n: f64) -> f64 {
        self.one * n / (1.0 + self.contention * (n - 1.0) + self.crosstalk * n * (n - 1.0))
    }

    /// The concurrency with the most throughput; `None` where more always gives more.
    pub fn peak(&self) -> Option<f64> {
        (self.crosstalk > 0.0).then(|| ((1.0 - self.contention).max(0.0) / self.crosstalk).sqrt().max(1.0))
    }

    /// The largest relative error of a throughput.
    pub fn worst_error(&self, points: &[(f64, f64)]) -> f64 {
        points.iter().map(|(n, x)| (self.throughput(*n) / x - 1.0).abs()).fold(0.0, f64::max)
    }
}

/// Three parameters need more than three points to say whether they fit.
const LEAST_POINTS: usize = 4;

fn squares(rows: &[[f64; 3]], fit: &[f64; 3]) -> f64 {
    rows.iter()
        .map(|row| (1.0 - row.iter().zip(fit).map(|(term, factor)| term * factor).sum::<f64>()).powi(2))
        .sum()
}

/// The factors of these terms, for which the rows add up to one as nearly as they can; zero for the other terms.
fn least_squares(rows: &[[f64; 3]], terms: &[usize]) -> Option<[f64; 3]> {
    let count = terms.len();
    // The normal equations, with their right side as the last column.
    let mut equations: Vec<Vec<f64>> = terms
        .iter()
        .map(|i| {
            let left = terms.iter().map(|j| rows.iter().map(|row| row[*i] * row[*j]).sum());
            left.chain([rows.iter().map(|row| row[*i]).sum()]).collect()
        })
        .collect();
    for column in 0..count {
        let pivot = (column..count)
            .max_by(|one, other| equations[*one][column].abs().total_cmp(&equations[*other][column].abs()))?;
        equations.swap(column, pivot);
        if equations[column][column].abs() < f64::MIN_POSITIVE {
            return None;
        }
        let row = equations[column].clone();
        for (_, other) in equations.iter_mut().enumerate().filter(|(at, _)| *at != column) {
            let factor = other[column] / row[column];
            other.iter_mut().zip(&row).for_each(|(term, part)| *term -= factor * part);
        }
    }
    let mut found = [0.0; 3];
    for (row, term) in terms.iter().enumerate() {
        found[*term] = equations[row][count] / equations[row][row];
    }
    found.iter().all(|factor| factor.is_finite()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(law: Usl) -> Vec<(f64, f64)> {
        [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0].map(|n| (n, law.throughput(n))).into()
    }

    #[test]
    fn a_law_is_found_again_from_its_throughputs() {
        for (contention, crosstalk) in [(0.03, 0.0005), (0.2, 0.0), (0.0, 0.001), (0.0, 0.0)] {
            let law = Usl { one: 1_000.0, contention, crosstalk };
            let found = Usl::fit(&points(law)).unwrap();
            assert!((found.one / law.one - 1.0).abs() < 1e-6, "{found:?}");
            assert!(
                (found.contention - contention).abs() < 1e-6 && (found.crosstalk - crosstalk).abs() < 1e-8,
                "{found:?}"
            );
            assert!(found.worst_error(&points(law)) < 1e-6);
        }
    }

    #[test]
    fn the_peak_is_where_more_gives_less() {
        let law = Usl { one: 1_000.0, contention: 0.02, crosstalk: 0.0004 };
        let peak = law.peak().unwrap();
        assert!((peak - (0.98f64 / 0.0004).sqrt()).abs() < 1e-9);
        assert!(
            law.throughput(peak) > law.throughput(peak * 1.2)
                && law.throughput(peak) > law.throughput(peak / 1.2)
        );
        assert_eq!(Usl { crosstalk: 0.0, ..law }.peak(), None);
    }

    #[test]
    fn too_few_points_and_those_of_nothing_have_no_law() {
        assert_eq!(Usl::fit(&[(1.0, 10.0), (2.0, 19.0), (4.0, 35.0)]), None);
        assert_eq!(Usl::fit(&[(1.0, 10.0), (2.0, 0.0), (4.0, 35.0), (8.0, 60.0)]), None);
    }

    #[test]
    fn what_follows_no_law_has_a_large_error() {
        let steps = [(1.0, 100.0), (2.0, 200.0), (4.0, 50.0), (8.0, 400.0), (16.0, 30.0)];
        assert!(Usl::fit(&steps).unwrap().worst_error(&steps) > 0.3);
    }
}
