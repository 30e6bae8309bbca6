//! A linear axis across a drawing of any width: places on it are percentages, so that it need not be drawn again when the page gets narrower.

/// Steps between ticks, of ten.
const STEPS: [f64; 4] = [1.0, 2.0, 5.0, 10.0];
/// Ticks that a narrow page has room for.
const MOST_TICKS: f64 = 4.0;
/// Room left beyond the outermost figure, as a share of all.
const ROOM: f64 = 0.04;

/// The part of the number line that is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    step: f64,
}

impl Axis {
    /// One that holds these values, and zero.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Axis {
        let (low, high) = values
            .into_iter()
            .filter(|value| value.is_finite())
            .fold((0.0f64, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = if low == high { (-1.0, 1.0) } else { (low, high) };
        let room = (high - low) * ROOM;
        let (low, high) = (low - room, high + room);
        let least = (high - low) / MOST_TICKS;
        let power = 10f64.powf(least.log10().floor());
        let steps = STEPS.map(|step| step * power);
        let at = steps.iter().position(|step| *step >= least).unwrap_or(STEPS.len() - 1);
        // Zero alone would be no scale.
        let at = if steps[at] > high.max(-low) { at.saturating_sub(1) } else { at };
        Axis { low, high, step: steps[at] }
    }

    /// `42.5%`: where a value stands; what lies beyond an end stands at that end.
    pub fn place(&self, value: f64) -> String {
        format!("{:.2}%", self.share(value))
    }

    /// `12.5%`: how far two values are apart.
    pub fn distance(&self, from: f64, to: f64) -> String {
        format!("{:.2}%", self.share(to) - self.share(from))
    }

    fn share(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0) * 100.0
    }

    /// Whether a value lies beyond the lower end, and beyond the upper one.
    pub fn is_beyond(&self, value: f64) -> [bool; 2] {
        [value < self.low, value > self.high]
    }

    /// Round values, zero among them.
    pub fn ticks(&self) -> Vec<f64> {
        let (first, last) = ((self.low / self.step).ceil() as i64, (self.high / self.step).floor() as i64);
        (first..=last).map(|index| index as f64 * self.step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few_and_hold_zero() {
        for (values, ticks) in [
            (vec![3.5, 4.7], vec![0.0, 2.0, 4.0]),
            (vec![-0.9, 0.5], vec![-0.5, 0.0, 0.5]),
            (vec![-38.0, 12.0], vec![-40.0, -20.0, 0.0]),
            (vec![-4.0, 4.0], vec![-4.0, -2.0, 0.0, 2.0, 4.0]),
            (vec![], vec![-1.0, 0.0, 1.0]),
            (vec![f64::NAN, f64::INFINITY, 2.0], vec![0.0, 1.0, 2.0]),
        ] {
            assert_eq!(Axis::of(values.clone()).ticks(), ticks, "{values:?}");
        }
    }

    #[test]
    fn what_lies_beyond_stands_at_the_end_and_is_known() {
        let axis = Axis::of([0.0, 10.0]);
        assert_eq!((axis.place(100.0), axis.place(-100.0)), ("100.00%".to_owned(), "0.00%".to_owned()));
        assert_eq!((axis.is_beyond(100.0), axis.is_beyond(5.0)), ([false, true], [false, false]));
        assert_eq!(axis.place(5.0), "50.00%");
    }
}
