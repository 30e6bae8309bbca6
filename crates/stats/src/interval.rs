//! A closed interval for one figure, in that figure's own unit.
//! Every interval of this crate is of this type, whatever method made it.

/// All values from `low` to `high`, both included. An end may be infinite: nothing is known on that side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end, at least `low`.
    pub high: f64,
}

impl Interval {
    /// The interval from `centre - half_width` to `centre + half_width`.
    pub fn around(centre: f64, half_width: f64) -> Self {
        Self { low: centre - half_width, high: centre + half_width }
    }

    /// Whether `value` lies in the interval or on one of its ends.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Half the distance between the ends: the "±" of a figure.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }
}
