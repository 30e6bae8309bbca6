//! The scale that a difference is estimated on, and the way back to the unit of the figures.

use loadline_stats::Interval;

/// A scale of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// The figures themselves.
    Linear,
    /// Their logarithms: the difference is a ratio. What is far out in a tail varies in proportion to its size.
    Logarithmic,
}

impl Scale {
    /// A figure on this scale.
    pub fn of(self, figure: f64) -> f64 {
        match self {
            Scale::Linear => figure,
            Scale::Logarithmic => figure.ln(),
        }
    }

    /// The figure at a place on this scale.
    pub fn figure(self, place: f64) -> f64 {
        match self {
            Scale::Linear => place,
            Scale::Logarithmic => place.exp(),
        }
    }

    /// A difference on this scale from `baseline`, as a difference of figures.
    pub fn difference(self, distance: f64, baseline: f64) -> f64 {
        match self {
            Scale::Linear => distance,
            Scale::Logarithmic => baseline * distance.exp_m1(),
        }
    }

    /// The difference on this scale that a difference of figures from `baseline` is; a figure of zero or less is infinitely far down.
    pub fn distance(self, difference: f64, baseline: f64) -> f64 {
        match self {
            Scale::Linear => difference,
            Scale::Logarithmic => (difference / baseline).max(-1.0).ln_1p(),
        }
    }

    /// All differences on this scale that are, as differences of figures, within ± `margin` of `baseline`.
    pub fn margin(self, margin: f64, baseline: f64) -> Interval {
        Interval { low: self.distance(-margin, baseline), high: self.distance(margin, baseline) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_shown_as_a_difference_from_the_baseline() {
        let scale = Scale::Logarithmic;
        let distance = scale.of(300.0) - scale.of(200.0);
        assert!((scale.difference(distance, 200.0) - 100.0).abs() < 1e-9);
        assert!((scale.figure(scale.of(200.0)) - 200.0).abs() < 1e-9);
    }

    #[test]
    fn a_margin_is_the_same_differences_on_both_scales() {
        let Interval { low, high } = Scale::Logarithmic.margin(2.0, 200.0);
        let shown = [low, high].map(|end| Scale::Logarithmic.difference(end, 200.0));
        assert!((shown[0] + 2.0).abs() < 1e-9 && (shown[1] - 2.0).abs() < 1e-9, "{shown:?}");
        assert_eq!(Scale::Linear.margin(2.0, 200.0), Interval { low: -2.0, high: 2.0 });
        assert_eq!(Scale::Logarithmic.margin(300.0, 200.0).low, f64::NEG_INFINITY);
    }
}
