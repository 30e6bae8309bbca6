//! Numbers as people read them. The figures of one row share a unit, so that a difference can be checked by eye.

use loadline_model::platform::Limits;
use loadline_model::result::{RunResult, Unit};

/// Digits that a figure shows at least.
const SIGNIFICANT_DIGITS: usize = 3;
/// Digits after the point that nothing exceeds.
const MAX_DECIMALS: usize = 6;
/// Digits that a difference may show beyond those of the figures it comes from.
const EXTRA_DECIMALS: usize = 2;
/// A figure below this share of the row's unit makes the row use the next smaller unit.
const SMALLEST_IN_UNIT: f64 = 0.01;
/// Stands for a figure that is not a number, and for one that cannot be given.
pub(crate) const NO_FIGURE: &str = "–";

/// The unit that a group of figures is shown in, and the digits after the point of their differences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    suffix: &'static str,
    divisor: f64,
    grouped: bool,
    difference_decimals: usize,
}

impl Scale {
    /// The unit in which the largest of `figures` reads best, unless the smallest would all but vanish in it.
    pub fn of(unit: Unit, figures: &[f64]) -> Scale {
        let (steps, grouped): (&[(&str, f64)], bool) = match unit {
            Unit::Nanoseconds => (&[(" ns", 1.0), (" µs", 1e3), (" ms", 1e6), (" s", 1e9)], true),
            Unit::Bytes => {
                (&[(" B", 1.0), (" KiB", 1024.0), (" MiB", 1_048_576.0), (" GiB", 1_073_741_824.0)], true)
            }
            Unit::Count => (&[("", 1.0)], true),
            // A rate is shown as it is asked for: 2000/s.
            Unit::PerSecond => (&[("/s", 1.0)], false),
        };
        let sizes: Vec<f64> = figures
            .iter()
            .map(|figure| figure.abs())
            .filter(|size| *size > 0.0 && size.is_finite())
            .collect();
        let largest = sizes.iter().copied().fold(0.0, f64::max);
        let smallest = sizes.iter().copied().fold(f64::INFINITY, f64::min);
        // What rounds up to 1000 of a unit is shown as 1 of the next.
        let mut step = steps.iter().rposition(|(_, size)| largest >= size * 0.9995).unwrap_or(0);
        while step > 0 && smallest < steps[step].1 * SMALLEST_IN_UNIT {
            step -= 1;
        }
        let (suffix, divisor) = steps[step];
        Scale { grouped, ..Scale::in_unit(suffix, divisor, figures) }
    }

    /// A given unit: `divisor` of the figures' own make one of it.
    pub fn in_unit(suffix: &'static str, divisor: f64, figures: &[f64]) -> Scale {
        let sizes = figures.iter().map(|figure| figure.abs()).filter(|size| size.is_finite());
        let difference_decimals = decimals(sizes.fold(0.0, f64::max) / divisor, SIGNIFICANT_DIGITS);
        Scale { suffix, divisor, grouped: true, difference_decimals }
    }

    /// The same unit, with as many digits in differences as an uncertainty of ± `half_width` is worth.
    pub fn with_uncertainty(mut self, half_width: f64) -> Scale {
        let deserved = uncertainty_decimals(half_width / self.divisor);
        let most = self.difference_decimals + EXTRA_DECIMALS;
        self.difference_decimals = self.difference_decimals.max(deserved).min(most);
        self
    }

    /// The same unit, with the digits in differences that an uncertainty of ± `half_width` is worth and no others.
    pub fn with_digits_for(mut self, half_width: f64) -> Scale {
        self.difference_decimals = uncertainty_decimals(half_width / self.divisor);
        self
    }

    /// Name of the unit, `µs`; empty for counts.
    pub fn unit(&self) -> &'static str {
        self.suffix.trim_start()
    }

    /// `61.2 µs`
    pub fn figure(&self, value: f64) -> String {
        let shown = value / self.divisor;
        self.with_unit(self.digits(shown, decimals(shown, SIGNIFICANT_DIGITS)))
    }

    /// `+4.1 µs`
    pub fn difference(&self, value: f64) -> String {
        self.with_unit(self.bare_difference(value))
    }

    /// `+4.1`
    pub fn bare_difference(&self, value: f64) -> String {
        let text = self.digits(value / self.divisor, self.difference_decimals);
        let visible = text.contains(|digit| matches!(digit, '1'..='9'));
        if value > 0.0 && visible { format!("+{text}") } else { text }
    }

    /// `+4.1 ±0.6`: a difference and the longer arm of its interval.
    pub fn spread(&self, difference: f64, interval: Option<[f64; 2]>) -> String {
        let shown = self.bare_difference(difference);
        match interval {
            Some([low, high]) => {
                format!("{shown} {}", self.bare_margin((high - difference).max(difference - low)))
            }
            None => shown,
        }
    }

    /// `[+3.5, +4.7]`
    pub fn bare_interval(&self, [low, high]: [f64; 2]) -> String {
        format!("[{}, {}]", self.bare_difference(low), self.bare_difference(high))
    }

    /// `±0.6 µs`
    pub fn margin(&self, size: f64) -> String {
        self.with_unit(self.bare_margin(size))
    }

    /// `±0.6`
    pub fn bare_margin(&self, size: f64) -> String {
        format!("±{}", self.digits(size.abs() / self.divisor, self.difference_decimals))
    }

    /// `[60.1, 62.3] µs`, for figures rather than differences, so without signs.
    pub fn range(&self, [low, high]: [f64; 2]) -> String {
        let [low, high] = [low / self.divisor, high / self.divisor];
        let decimals = decimals(low.abs().max(high.abs()), SIGNIFICANT_DIGITS);
        self.with_unit(format!("[{}, {}]", self.digits(low, decimals), self.digits(high, decimals)))
    }

    /// `0.8 µs`: a size with the digits that an uncertainty is worth.
    pub fn uncertainty(&self, size: f64) -> String {
        let shown = size.abs() / self.divisor;
        self.with_unit(self.digits(shown, uncertainty_decimals(shown)))
    }

    fn with_unit(&self, digits: String) -> String {
        if digits == "0" || digits == NO_FIGURE { digits } else { digits + self.suffix }
    }

    fn digits(&self, value: f64, decimals: usize) -> String {
        let text = plain(value, decimals);
        if self.grouped { with_separators(&text) } else { text }
    }
}

/// The end of an interval that lies nearer to zero; zero if that lies within.
pub(crate) fn nearer_zero([low, high]: [f64; 2]) -> f64 {
    if low > 0.0 {
        low
    } else if high < 0.0 {
        high
    } else {
        0.0
    }
}

/// A signed share: `+6.7 %`, `−11 %`, `0 %`.
pub(crate) fn percent(share: f64) -> String {
    let text = unsigned_percent(share);
    if share < 0.0 && text.contains(|digit| matches!(digit, '1'..='9')) {
        format!("−{text}")
    } else if share > 0.0 && text.contains(|digit| matches!(digit, '1'..='9')) {
        format!("+{text}")
    } else {
        text
    }
}

/// `[+4.1, +8.2] %`
pub(crate) fn percent_range(ends: [f64; 2]) -> String {
    let [low, high] = ends.map(|end| percent(end).trim_end_matches(" %").to_owned());
    format!("[{low}, {high}] %")
}

/// A share without its sign: `1 %`, `0.5 %`.
pub(crate) fn unsigned_percent(share: f64) -> String {
    let percent = share.abs() * 100.0;
    if !percent.is_finite() {
        return NO_FIGURE.to_owned();
    }
    // 9.96 % would otherwise be shown as 10.0 %, beside 10 %.
    let text = plain(percent, if percent >= 9.95 { 0 } else { 1 });
    format!("{} %", with_separators(text.strip_suffix(".0").unwrap_or(&text)))
}

/// A confidence with as many digits as it has, four at most: `95 %`, `97.5 %`, `99.58 %`.
pub(crate) fn confidence(share: f64) -> String {
    let text = format!("{:.2}", share * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// A p-value: `0.032`, `< 0.001`.
pub(crate) fn probability(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { plain(p, if p < 0.1 { 3 } else { 2 }) }
}

/// A time in the unit that suits it, to three digits: `71.2 µs`.
pub(crate) fn time(ns: f64) -> String {
    Scale::of(Unit::Nanoseconds, &[ns]).figure(ns)
}

/// A rate to three digits: `908/s`.
pub(crate) fn rate(per_second: f64) -> String {
    Scale::of(Unit::PerSecond, &[per_second]).figure(per_second)
}

/// A whole number: `200,000`.
pub(crate) fn count(number: u64) -> String {
    with_separators(&number.to_string())
}

/// A length of time in a person's words: `40 seconds`, `9 minutes`, `2.5 hours`.
pub(crate) fn spell_duration(seconds: f64) -> String {
    let (number, word) = match seconds {
        s if s < 90.0 => (plain(s.max(1.0), 0), "second"),
        s if s < 5400.0 => (plain(s / 60.0, 0), "minute"),
        s if s < 36_000.0 => (plain(s / 3600.0, 1), "hour"),
        s => (plain(s / 3600.0, 0), "hour"),
    };
    let plural = if number == "1" { "" } else { "s" };
    format!("{} {word}{plural}", with_separators(number.strip_suffix(".0").unwrap_or(&number)))
}

/// CPU numbers as the kernel lists them (`man 7 cpuset`, list format): `0-2,5`.
pub(crate) fn cpu_list(cpus: &[usize]) -> String {
    let mut sorted = cpus.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted
        .chunk_by(|one, next| one + 1 == *next)
        .map(|range| match range {
            [first, .., last] => format!("{first}-{last}"),
            _ => range.iter().map(usize::to_string).collect(),
        })
        .collect::<Vec<_>>()
        .join(",")
}

/// `512 MiB`
pub(crate) fn memory(bytes: u64) -> String {
    Scale::of(Unit::Bytes, &[bytes as f64]).figure(bytes as f64)
}

/// `0.3 CPUs and 512 MiB`; `None` where nothing is limited.
pub(crate) fn limits(limits: Limits) -> Option<String> {
    let cpus = limits.cpus.map(|cpus| format!("{cpus} CPU{}", if cpus == 1.0 { "" } else { "s" }));
    let limits: Vec<String> = cpus.into_iter().chain(limits.memory_bytes.map(memory)).collect();
    (!limits.is_empty()).then(|| limits.join(" and "))
}

/// Digits after the point that show `digits` significant ones, after rounding (9.996 becomes 10.0).
fn decimals(value: f64, digits: usize) -> usize {
    match exponent(value, digits) {
        Some(exponent) => usize::try_from(digits as i32 - 1 - exponent).unwrap_or(0).min(MAX_DECIMALS),
        None => 0,
    }
}

/// Digits after the point that an uncertainty is worth: one significant digit, two when the first is a 1
/// (at most two are advised by JCGM 100:2008, "GUM", section 7.2.6).
fn uncertainty_decimals(half_width: f64) -> usize {
    let Some(exponent) = exponent(half_width, 1) else { return 0 };
    let leading = (half_width.abs() / 10f64.powi(exponent)).round();
    decimals(half_width, if leading > 1.0 { 1 } else { 2 })
}

/// Power of ten of the first of `digits` significant digits, after rounding; none for zero.
fn exponent(value: f64, digits: usize) -> Option<i32> {
    if value == 0.0 || !value.is_finite() {
        return None;
    }
    format!("{:.*e}", digits.saturating_sub(1), value)
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok())
}

/// Fixed digits with a proper minus sign; zero is `0`, what rounds to zero has no sign.
fn plain(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return NO_FIGURE.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let size = format!("{:.*}", decimals, value.abs());
    if value < 0.0 && size.contains(|digit| matches!(digit, '1'..='9')) { format!("−{size}") } else { size }
}

/// Commas between groups of three digits before the point.
pub(crate) fn with_separators(text: &str) -> String {
    let start = text.find(|digit: char| digit.is_ascii_digit()).unwrap_or(text.len());
    let end = text.find('.').unwrap_or(text.len()).max(start);
    let whole = &text[start..end];
    let mut grouped = text[..start].to_owned();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + &text[end..]
}

/// `95 % interval`
pub(crate) fn interval_name(result: &RunResult) -> String {
    format!("{} interval", confidence(result.plan.confidence))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn figures_show_three_significant_digits_in_one_unit() {
        for (unit, figures, shown) in [
            (Unit::Nanoseconds, [61_234.0, 65_301.0], ["61.2 µs", "65.3 µs"]),
            (Unit::Nanoseconds, [212_400.0, 219_000.0], ["212 µs", "219 µs"]),
            (Unit::Nanoseconds, [999_700.0, 12.0], ["1,000 µs", "0.0120 µs"]),
            (Unit::Nanoseconds, [999_700.0, 999_000.0], ["1.00 ms", "0.999 ms"]),
            (Unit::Nanoseconds, [1_900_000.0, 850_000.0], ["1.90 ms", "0.850 ms"]),
            (Unit::Nanoseconds, [500_000.0, 1.2e9], ["0.500 ms", "1,200 ms"]),
            (Unit::Nanoseconds, [0.0, 700.0], ["0", "700 ns"]),
            (Unit::Nanoseconds, [9.996e3, 1e3], ["10.0 µs", "1.00 µs"]),
            (Unit::Nanoseconds, [2.5e12, 2.5e9], ["2,500 s", "2.50 s"]),
            (Unit::Count, [4.0, 6.0], ["4.00", "6.00"]),
            (Unit::Count, [1_234_567.0, 0.0123], ["1,234,567", "0.0123"]),
            (Unit::PerSecond, [1999.6, 2000.0], ["2000/s", "2000/s"]),
            (Unit::PerSecond, [1.667, 16.67], ["1.67/s", "16.7/s"]),
            (Unit::Bytes, [12_582_912.0, 13_000_000.0], ["12.0 MiB", "12.4 MiB"]),
            (Unit::Bytes, [2048.0, 100.0], ["2.00 KiB", "0.0977 KiB"]),
            (Unit::Nanoseconds, [f64::NAN, 700.0], ["–", "700 ns"]),
        ] {
            let scale = Scale::of(unit, &figures);
            assert_eq!(figures.map(|figure| scale.figure(figure)), shown, "{figures:?}");
        }
    }

    #[test]
    fn differences_are_signed_and_as_fine_as_their_uncertainty() {
        for (figures, difference, interval, shown) in [
            ([61_200.0, 65_300.0], 4_100.0, [3_500.0, 4_700.0], "+4.1 µs [+3.5, +4.7]"),
            ([212_000.0, 219_000.0], 7_000.0, [-6_000.0, 20_000.0], "+7 µs [−6, +20]"),
            ([61_200.0, 61_150.0], -50.0, [-180.0, 80.0], "−0.05 µs [−0.18, +0.08]"),
            ([61_200.0, 61_201.0], 1.0, [0.0, 2.0], "+0.001 µs [0, +0.002]"),
            ([61_200.0, 61_200.0], 0.0, [-40_000.0, 40_000.0], "0 [−40.0, +40.0]"),
            ([61_200.0, 61_199.0], -1.0, [-400.0, 400.0], "0.0 µs [−0.4, +0.4]"),
            ([1.9e6, 1.7e6], -2e5, [-9e5, 5e5], "−0.20 ms [−0.90, +0.50]"),
        ] {
            let scale =
                Scale::of(Unit::Nanoseconds, &figures).with_uncertainty((interval[1] - interval[0]) / 2.0);
            let text = format!("{} {}", scale.difference(difference), scale.bare_interval(interval));
            assert_eq!(text, shown);
        }
    }

    #[test]
    fn margins_and_ranges_have_no_sign() {
        let scale = Scale::of(Unit::Nanoseconds, &[61_200.0]);
        assert_eq!(scale.margin(612.0), "±0.6 µs");
        assert_eq!(scale.range([60_000.0, 62_340.0]), "[60.0, 62.3] µs");
        assert_eq!(
            [140.0, 812.0, 960.0, 15_300.0, 0.0].map(|size| scale.uncertainty(size)),
            ["0.14 µs", "0.8 µs", "0.96 µs", "15 µs", "0"]
        );
    }

    #[test]
    fn shares_are_percentages() {
        for (share, signed, unsigned) in [
            (0.067, "+6.7 %", "6.7 %"),
            (-0.112, "−11 %", "11 %"),
            (0.0, "0 %", "0 %"),
            (0.000_2, "0 %", "0 %"),
            (0.01, "+1 %", "1 %"),
            (0.099_6, "+10 %", "10 %"),
            (12.5, "+1,250 %", "1,250 %"),
        ] {
            assert_eq!((percent(share).as_str(), unsigned_percent(share).as_str()), (signed, unsigned));
        }
    }

    #[test]
    fn durations_are_spelt_in_the_unit_that_suits_them() {
        for (seconds, text) in [
            (0.2, "1 second"),
            (40.4, "40 seconds"),
            (540.0, "9 minutes"),
            (5_400.0, "1.5 hours"),
            (7_200.0, "2 hours"),
            (4e6, "1,111 hours"),
        ] {
            assert_eq!(spell_duration(seconds), text);
        }
    }

    #[test]
    fn counts_and_cpus_read_as_they_are_usually_written() {
        assert_eq!([0, 999, 1_000, 200_000].map(count), ["0", "999", "1,000", "200,000"]);
        assert_eq!(cpu_list(&[5, 0, 1, 2]), "0-2,5");
        assert_eq!(cpu_list(&[]), "");
        assert_eq!(
            [0.0, 0.000_99, 0.032, 0.5, 1.0].map(probability),
            ["< 0.001", "< 0.001", "0.032", "0.50", "1.00"]
        );
    }

    proptest! {
        #[test]
        fn a_figure_read_back_is_within_its_rounding(value in 1e-3f64..1e12) {
            let scale = Scale::of(Unit::Nanoseconds, &[value]);
            let text = scale.figure(value);
            let digits: String = text.chars().filter(|c| c.is_ascii_digit() || *c == '.').collect();
            let read: f64 = digits.parse().expect("digits");
            prop_assert!((read * scale.divisor / value - 1.0).abs() <= 0.005_001, "{value} as {text}");
        }
    }
}
