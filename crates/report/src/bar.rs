//! A difference and its interval as a line of characters, drawn against zero and the margin.

use loadline_model::result::Row;

/// Columns of a bar that stands alone in its row; zero stands in the middle.
pub(crate) const WIDE: usize = 29;
/// Columns of one among several.
pub(crate) const NARROW: usize = 19;
/// Where the difference is.
pub(crate) const POINT: char = '●';
/// What the characters mean.
pub(crate) const LEGEND: &str =
    "Bars: ● difference, ├─┤ its interval, │ zero, ┊ margin; each row has a scale of its own.";

/// The scale of bars that can be compared by eye.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bars {
    /// What the ends of a bar stand for, ±, in the unit of the rows.
    reach: f64,
    width: usize,
}

impl Bars {
    /// A scale that holds these rows of one metric with their intervals and margins, in bars of so many columns.
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a Row>, width: usize) -> Bars {
        let sizes = rows.into_iter().flat_map(|row| {
            let [low, high] = row.interval.unwrap_or_default();
            [row.difference, low, high, row.margin].map(f64::abs)
        });
        Bars { reach: sizes.filter(|size| size.is_finite()).fold(0.0, f64::max), width }
    }

    /// The row as a bar; empty where it has no interval, or nothing differs from zero.
    pub fn draw(self, row: &Row) -> String {
        let Some([low, high]) = row.interval.filter(|_| self.reach > 0.0) else { return String::new() };
        let half = (self.width / 2) as f64;
        let column = |value: f64| (half + (value / self.reach).clamp(-1.0, 1.0) * half).round() as usize;
        let mut line = vec![' '; self.width];
        line[column(-row.margin)] = '┊';
        line[column(row.margin)] = '┊';
        let (left, right) = (column(low), column(high));
        line[left..=right].fill('─');
        let zero = column(0.0);
        line[zero] = if (left..=right).contains(&zero) { '┼' } else { '│' };
        if left < right {
            line[left] = '├';
            line[right] = '┤';
        }
        line[column(row.difference)] = POINT;
        line.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_model::result::{Unit, Verdict};

    fn row(difference: f64, interval: Option<[f64; 2]>) -> Row {
        Row {
            bound: None,
            first_attempts: None,
            p_equivalent: None,
            metric: "response.p50".to_owned(),
            label: "response p50".to_owned(),
            primary: true,
            unit: Unit::Nanoseconds,
            baseline: 100.0,
            candidate: 100.0 + difference,
            difference,
            relative: None,
            interval,
            degrees_of_freedom: None,
            p_holm: None,
            margin: 1.0,
            resolution: None,
            verdict: Verdict::Unresolved,
            trusted: true,
            note: None,
            block_differences: Vec::new(),
        }
    }

    fn drawn(difference: f64, interval: [f64; 2]) -> String {
        let row = row(difference, Some(interval));
        Bars::of([&row], WIDE).draw(&row)
    }

    #[test]
    fn an_interval_stands_where_its_ends_are() {
        assert_eq!(drawn(5.0, [3.0, 7.0]), "            ┊ │ ┊   ├───●───┤");
        assert_eq!(drawn(-5.0, [-7.0, -3.0]), "├───●───┤   ┊ │ ┊            ");
        assert_eq!(drawn(0.5, [-3.5, 4.5]), "   ├──────────┼─●───────────┤");
        assert_eq!(drawn(0.1, [-0.2, 0.4]), "┊          ├──┼●────┤       ┊");
    }

    #[test]
    fn a_narrow_interval_is_a_point() {
        assert_eq!(drawn(100.0, [99.9, 100.1]), "              │             ●");
        assert_eq!(drawn(0.0, [0.0, 0.0]), "┊             ●             ┊");
    }

    #[test]
    fn rows_that_share_a_scale_can_be_compared() {
        let (near, far) = (row(2.0, Some([1.0, 3.0])), row(8.0, Some([6.0, 10.0])));
        let bars = Bars::of([&near, &far], WIDE);
        assert_eq!(
            (bars.draw(&near), bars.draw(&far)),
            ("             ┊│├─●┤          ".to_owned(), "             ┊│┊      ├──●──┤".to_owned())
        );
    }

    #[test]
    fn without_an_interval_nothing_is_drawn() {
        let row = row(3.0, None);
        assert_eq!(Bars::of([&row], WIDE).draw(&row), "");
    }
}
