//! Whether one figure carries so much of what varies that neither a mean nor its standard error means much.
//! The ratio of the largest square to the sum of squares vanishes as figures become more exactly if their variance is finite (Embrechts,
//! Klüppelberg & Mikosch, "Modelling Extremal Events", 1997, section 6.2.6). With few figures it is large by chance: it must also be what
//! Grubbs's test calls an outlier (Technometrics 11 (1969)), at [`LEVEL`].

use crate::t_quantile;

/// Level of the test for an outlier: it seldom finds one among normal figures.
const LEVEL: f64 = 0.001;

/// The figure that carries the most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dominant {
    /// Its index.
    pub index: usize,
    /// Its share of the sum of squared deviations from the mean.
    pub share: f64,
}

/// The figure whose squared deviation from the mean is more than `most` of the sum of all, and more than chance explains; none with fewer than
/// four figures, or if they don't vary.
pub fn dominant(figures: &[f64], most: f64) -> Option<Dominant> {
    let count = figures.len() as f64;
    if count < 4.0 {
        return None;
    }
    let mean = figures.iter().sum::<f64>() / count;
    let squares = || figures.iter().map(|figure| (figure - mean).powi(2));
    let total: f64 = squares().sum();
    let (index, largest) = squares().enumerate().max_by(|left, right| left.1.total_cmp(&right.1))?;
    let share = largest / total;
    (share > most.max(largest_by_chance(count, LEVEL))).then_some(Dominant { index, share })
}

/// Grubbs's critical value as a share of the sum of squares.
fn largest_by_chance(count: f64, level: f64) -> f64 {
    let t = t_quantile(1.0 - level / (2.0 * count), count - 2.0);
    (count - 1.0) / count * t * t / (count - 2.0 + t * t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_is_grubbs_critical_value() {
        // The two-sided critical values at 5 %, as they are widely tabulated.
        for (count, critical) in [(8.0_f64, 2.126_f64), (24.0, 2.802)] {
            let found = (largest_by_chance(count, 0.05) * (count - 1.0)).sqrt();
            assert!((found - critical).abs() < 0.002, "{count}: {found} against {critical}");
        }
    }

    #[test]
    fn one_figure_far_off_is_dominant_and_one_of_many_alike_is_not() {
        let mut figures: Vec<f64> = (0..24).map(|index| f64::from(index % 5)).collect();
        assert_eq!(dominant(&figures, 0.25), None);
        figures[7] = 100.0;
        let found = dominant(&figures, 0.25).expect("a dominant figure");
        assert!(found.index == 7 && found.share > 0.95, "{found:?}");
    }

    #[test]
    fn few_figures_and_equal_ones_have_none() {
        assert_eq!(dominant(&[0.0, 0.0, 100.0], 0.25), None);
        assert_eq!(dominant(&[1.0; 8], 0.25), None);
    }
}
