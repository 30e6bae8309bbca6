//! Figures in the unit of their metric, such as the baseline's where a claim was published: `17ms`, `12ms..17ms`; of a rate `716/s`, of memory `545M`, of a count a plain number.

use loadline_model::experiment::{CAPACITY, CLAIM_COUNTS, ERRORS};
use loadline_model::metrics::Unit;

use crate::error::Complaint;
use crate::experiment::loads;
use crate::units::{parse_duration_ns, parse_size, show_duration_ns, show_size};

/// How figures of a metric are written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Figures {
    Times,
    Rates,
    Sizes,
    Counts,
}

impl From<Unit> for Figures {
    fn from(unit: Unit) -> Figures {
        match unit {
            Unit::Nanoseconds => Figures::Times,
            Unit::PerSecond => Figures::Rates,
            Unit::Bytes => Figures::Sizes,
            Unit::Count => Figures::Counts,
        }
    }
}

impl Figures {
    /// Those of a metric that claims or conditions may be about.
    pub fn of(metric: &str) -> Figures {
        match metric {
            "rate.achieved" | CAPACITY => Figures::Rates,
            "image.size" => Figures::Sizes,
            memory if memory.starts_with("memory.") => Figures::Sizes,
            count if count == ERRORS || CLAIM_COUNTS.contains(&count) => Figures::Counts,
            _ => Figures::Times,
        }
    }

    /// One of a metric whose unit is not known here, in that in which it is written.
    pub fn in_its_unit(text: &str) -> Result<(f64, Unit), Complaint> {
        let units = [Unit::Count, Unit::Nanoseconds, Unit::Bytes];
        let read = |unit: Unit| Some((Figures::from(unit).figure(text).ok()?, unit));
        units.into_iter().find_map(read).ok_or_else(|| {
            Complaint::new(format!("`{}` is no number, time or size", text.trim()))
                .help("write 2.5, 1ms or 10Mi")
        })
    }

    /// One that is written.
    pub fn figure(self, text: &str) -> Result<f64, Complaint> {
        match self {
            Figures::Times => parse_duration_ns(text),
            Figures::Rates => loads::rate(text).map(|rate| rate.as_per_second()),
            Figures::Sizes => parse_size(text).map(|bytes| bytes as f64),
            Figures::Counts => {
                text.trim().parse().ok().filter(|count| (0.0..f64::INFINITY).contains(count)).ok_or_else(
                    || Complaint::new(format!("`{}` is not a number", text.trim())).help("write 2.5"),
                )
            }
        }
    }

    /// How one is written.
    pub fn example(self) -> &'static str {
        match self {
            Figures::Times => "1ms",
            Figures::Rates => "100/s",
            Figures::Sizes => "10Mi",
            Figures::Counts => "0.5",
        }
    }

    fn parse(self, text: &str) -> Result<f64, Complaint> {
        let figure = self.figure(text)?;
        match figure > 0.0 && figure.is_finite() {
            true => Ok(figure),
            false => Err(Complaint::new("a published baseline is more than zero")
                .help("leave it out if it is not known")),
        }
    }

    fn show(self, figure: f64) -> String {
        match self {
            Figures::Times => show_duration_ns(figure),
            Figures::Rates => format!("{figure}/s"),
            Figures::Sizes => show_size(figure as u64),
            Figures::Counts => figure.to_string(),
        }
    }

    /// The least and the most of what is written.
    pub fn range(self, text: &str) -> Result<[f64; 2], Complaint> {
        let [least, most] = match text.split_once("..") {
            Some((least, most)) => [self.parse(least)?, self.parse(most)?],
            None => [self.parse(text)?; 2],
        };
        match least <= most {
            true => Ok([least, most]),
            false => Err(Complaint::new("the range is reversed").help("write the lower end first")),
        }
    }

    /// The text that [`Self::range`] reads as this.
    pub fn show_range(self, [least, most]: [f64; 2]) -> String {
        match least == most {
            true => self.show(least),
            false => format!("{}..{}", self.show(least), self.show(most)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn baselines_are_written_in_the_unit_of_their_metric_and_read_back() {
        for (metric, text, range) in [
            ("response.mean", "17ms", [17e6, 17e6]),
            ("response.p99", "21ms..27ms", [21e6, 27e6]),
            ("rate.achieved", "716/s", [716.0, 716.0]),
            ("softirqs", "2.5", [2.5, 2.5]),
            ("memory.peak", "64Mi..512Mi", [67_108_864.0, 536_870_912.0]),
            ("image.size", "12M", [12e6, 12e6]),
            ("start.answered", "2s", [2e9, 2e9]),
        ] {
            let figures = Figures::of(metric);
            assert_eq!(figures.range(text), Ok(range));
            assert_eq!(figures.show_range(range), text);
        }
        assert_eq!(Figures::Rates.range("60/min"), Ok([1.0, 1.0]));
    }

    #[test]
    fn a_figure_of_an_unknown_metric_says_its_unit_itself() {
        assert_eq!(Figures::in_its_unit("2.5"), Ok((2.5, Unit::Count)));
        assert_eq!(Figures::in_its_unit("3us"), Ok((3e3, Unit::Nanoseconds)));
        assert_eq!(Figures::in_its_unit("1Ki"), Ok((1024.0, Unit::Bytes)));
        assert!(Figures::in_its_unit("many").is_err() && Figures::in_its_unit("-1").is_err());
    }

    #[test]
    fn what_is_no_baseline_is_refused() {
        for (metric, text) in [
            ("response.mean", "17"),
            ("response.mean", "0ms"),
            ("response.mean", "3ms..2ms"),
            ("rate.achieved", "716"),
            ("softirqs", "many"),
            ("softirqs", "-1"),
            ("memory.peak", "545"),
        ] {
            assert!(Figures::of(metric).range(text).is_err(), "{metric}: {text}");
        }
    }
}
