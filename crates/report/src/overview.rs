//! Many comparisons in a few small tables, one per metric that matters: loads down, platforms across, in each cell the difference with its
//! interval and the sign of its verdict. Under a single load the platforms stand down and the metrics across.

use loadline_model::metrics::SERVICE_CPU;
use loadline_model::result::{Cell, Contrast, Row, RunResult};

use crate::figures::{self, NO_FIGURE, Scale};
use crate::groups::{self, Group};
use crate::shown::{RestsOn, Shown};
use crate::verdict::{bracketed, sign, tone_of};

/// More comparisons than this have an overview.
const MOST_IN_FULL: usize = 3;
/// The metrics that have a table. Where the rate is fixed, what is achieved says nothing.
const METRICS: [&str; 3] = [groups::HEADLINE, "response.p99", SERVICE_CPU];
pub(crate) const OF_CLOSED_LOOPS: &str = "rate.achieved";

/// Where the rest is.
pub(crate) const MORE: &str =
    "All metrics, profiles, starts, and each cell on its own with Student's t: loadline report --full.";

/// A table of the overview.
pub(crate) struct Grid {
    /// What stands above it; nothing where the headings say all.
    pub title: String,
    /// Above the columns: a name, the baseline, and what is compared with it.
    pub headings: Vec<String>,
    /// The first cell is a name, the second the baseline's figure.
    pub rows: Vec<Vec<Shown>>,
    /// Columns at the left that a part of the table repeats.
    pub fixed: usize,
}

/// Whether there are so many comparisons that their full tables hide what matters.
pub(crate) fn is_needed(result: &RunResult) -> bool {
    result.ladders.is_empty() && result.contrasts.len() > MOST_IN_FULL
}

/// What the cells mean.
pub(crate) fn legend(result: &RunResult) -> String {
    let interval = figures::interval_name(result);
    let untrusted = if result.trust.trusted { "" } else { " In parentheses: not to be trusted." };
    format!(
        "± the longer arm of the {interval}. ▲ slower, costlier or more; ▼ faster, cheaper or fewer; = equivalent; ? unresolved; \
         {NO_FIGURE} no claim can be made.{untrusted}"
    )
}

/// The tables.
pub(crate) fn grids(result: &RunResult) -> Vec<Grid> {
    let groups = groups::groups(result);
    let baselines = groups::unique(groups.iter().map(|group| group.baseline.label.as_str()));
    let mut grids = Vec::new();
    for baseline in &baselines {
        let family: Vec<&Group<'_>> =
            groups.iter().filter(|group| group.baseline.label == *baseline).collect();
        match family[..] {
            [group] => grids.push(by_candidate(result, group)),
            _ => grids.extend(metrics(&family).filter_map(|metric| by_load(result, &family, metric))),
        }
    }
    grids
}

fn metrics<'a>(family: &[&Group<'a>]) -> impl Iterator<Item = &'static str> {
    let closed = family.iter().any(|group| group.baseline.rate_per_second.is_none());
    METRICS.into_iter().chain(closed.then_some(OF_CLOSED_LOOPS))
}

/// The row of a contrast, if there is one.
type Compared<'a> = Option<(&'a Contrast, &'a Row)>;

/// One metric, loads down, candidates across.
fn by_load<'a>(result: &RunResult, family: &[&Group<'a>], metric: &str) -> Option<Grid> {
    let candidates = groups::unique(
        family.iter().flat_map(|group| &group.contrasts).map(|(candidate, _)| candidate.label.as_str()),
    );
    let rows_of = |group: &Group<'a>| {
        let with_row = |label: &&str| {
            let (_, contrast) = *group.contrasts.iter().find(|(candidate, _)| candidate.label == **label)?;
            Some((contrast, groups::row_of(contrast, metric)?))
        };
        candidates.iter().map(with_row).collect::<Vec<Compared<'a>>>()
    };
    let table: Vec<(&Cell, Vec<Compared<'_>>)> = family
        .iter()
        .map(|group| (group.baseline, rows_of(group)))
        .filter(|(_, rows)| rows.iter().any(Option::is_some))
        .collect();
    let all: Vec<&Row> =
        table.iter().flat_map(|(_, rows)| rows.iter().flatten()).map(|(_, row)| *row).collect();
    let first = all.first()?;
    let scale = scale_of(&all)?;
    let baseline = &family.first()?.baseline.label;
    let title = match scale.unit() {
        "" => format!("{}, differences from {baseline}", first.label.trim()),
        unit => format!("{}, differences from {baseline} in {unit}", first.label.trim()),
    };
    let rows = table.iter().map(|(cell, rows)| {
        let scale = scale.with_digits_of(rows.iter().flatten().map(|(_, row)| *row));
        let name = Shown::plain(groups::short_load_name(result, cell));
        let first = rows.iter().flatten().next();
        let figure = first.map(|(contrast, row)| baseline_figure(result, contrast, row)).unwrap_or_default();
        let compared = rows.iter().map(|found| {
            found.map(|(contrast, row)| shown(result, contrast, row, &scale)).unwrap_or_default()
        });
        [name, figure].into_iter().chain(compared).collect()
    });
    let headings = [String::new(), baseline.clone()];
    Some(Grid {
        title,
        headings: headings.into_iter().chain(candidates.iter().map(|label| (*label).to_owned())).collect(),
        rows: rows.collect(),
        fixed: 2,
    })
}

/// One load, candidates down, metrics across.
fn by_candidate(result: &RunResult, group: &Group<'_>) -> Grid {
    let columns: Vec<(Vec<Compared<'_>>, Scale)> = metrics(&[group])
        .filter_map(|metric| {
            let contrasts = group.contrasts.iter().map(|(_, contrast)| *contrast);
            let rows: Vec<Compared<'_>> =
                contrasts.map(|contrast| Some((contrast, groups::row_of(contrast, metric)?))).collect();
            let present: Vec<&Row> = rows.iter().flatten().map(|(_, row)| *row).collect();
            let scale = scale_of(&present)?.with_digits_of(present);
            Some((rows, scale))
        })
        .collect();
    let heading = |(rows, scale): &(Vec<Compared<'_>>, Scale)| {
        let label = rows.iter().flatten().next().map(|(_, row)| row.label.trim()).unwrap_or_default();
        match scale.unit() {
            "" => label.to_owned(),
            unit => format!("{label} {unit}"),
        }
    };
    let first = columns.iter().map(|(rows, _)| {
        let first = rows.iter().flatten().next();
        first.map(|(contrast, row)| baseline_figure(result, contrast, row)).unwrap_or_default()
    });
    let first = std::iter::once(Shown::plain(group.baseline.label.as_str())).chain(first).collect();
    let others = group.contrasts.iter().enumerate().map(|(at, (candidate, _))| {
        let cells = columns.iter().map(|(rows, scale)| {
            rows[at].map(|(contrast, row)| shown(result, contrast, row, scale)).unwrap_or_default()
        });
        std::iter::once(Shown::plain(candidate.label.as_str())).chain(cells).collect()
    });
    Grid {
        title: format!("{}, differences from {}", groups::load_name(group.baseline), group.baseline.label),
        headings: std::iter::once(String::new()).chain(columns.iter().map(heading)).collect(),
        rows: std::iter::once(first).chain(others).collect(),
        fixed: 1,
    }
}

/// How the comparisons ended: `At the median, of 30 comparisons: 8 slower (most: …), 1 equivalent, 21 unresolved.`
pub(crate) fn summary(result: &RunResult) -> Option<String> {
    let rows: Vec<(&Contrast, &Row)> = result
        .contrasts
        .iter()
        .filter_map(|contrast| Some((contrast, groups::row_of(contrast, groups::HEADLINE)?)))
        .collect();
    if rows.is_empty() {
        return None;
    }
    let (rows, untrusted): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(_, row)| row.trusted);
    if rows.is_empty() {
        return Some("Not to be trusted: the figures stand below without a verdict.".to_owned());
    }
    let part = |(of, word)| {
        let found: Vec<_> = rows.iter().filter(|(_, row)| sign(row.verdict) == of).copied().collect();
        let most = match of {
            "▲" | "▼" => most(result, &found).map(|most| format!(" (most: {most})")),
            _ => None,
        };
        (!found.is_empty()).then(|| format!("{} {word}{}", found.len(), most.unwrap_or_default()))
    };
    let parts = [("▲", "slower"), ("▼", "faster"), ("=", "equivalent"), ("?", "unresolved")];
    let others = (!untrusted.is_empty()).then(|| format!("{} not to be trusted", untrusted.len()));
    let parts: Vec<String> = parts.into_iter().filter_map(part).chain(others).collect();
    let comparisons = rows.len() + untrusted.len();
    Some(format!("At the median, of {comparisons} comparisons: {}.", parts.join(", ")))
}

/// The comparison with the largest share: `other node at 2000/s +50 µs, at least +26 µs`.
fn most(result: &RunResult, found: &[(&Contrast, &Row)]) -> Option<String> {
    let share = |row: &Row| row.relative.unwrap_or_default().abs();
    let (contrast, row) = found.iter().max_by(|left, right| share(left.1).total_cmp(&share(right.1)))?;
    let (candidate, baseline) = (result.cell(contrast.candidate)?, result.cell(contrast.baseline)?);
    let name = groups::contrast_name(result, candidate, baseline);
    let scale = Scale::of(row.unit, &[row.difference]).with_digits_of([*row]);
    let least =
        row.interval.map(|ends| format!(", at least {}", scale.difference(figures::nearer_zero(ends))));
    Some(format!("{name} {}{}", scale.difference(row.difference), least.unwrap_or_default()))
}

/// `+4.1 ±0.6 ▲`
fn shown(result: &RunResult, contrast: &Contrast, row: &Row, scale: &Scale) -> Shown {
    let Some(ends) = row.interval else { return Shown::plain(NO_FIGURE) };
    let spread = scale.spread(row.difference, Some(ends));
    let text = format!("{spread} {}", bracketed(sign(row.verdict), row.trusted));
    Shown { text, tone: tone_of(row), rests_on: RestsOn::row(result, contrast, row) }
}

/// That of the comparison, in which twins are part of the baseline.
fn baseline_figure(result: &RunResult, contrast: &Contrast, row: &Row) -> Shown {
    let text = Scale::of(row.unit, &[row.baseline]).figure(row.baseline);
    Shown::plain(text).on(RestsOn::row(result, contrast, row))
}

/// The unit in which the differences of all these rows of a metric read best.
fn scale_of(rows: &[&Row]) -> Option<Scale> {
    let unit = rows.first()?.unit;
    let largest = rows.iter().map(|row| row.difference.abs()).fold(0.0, f64::max);
    let narrowest = rows.iter().filter_map(|row| half_width(row)).fold(f64::INFINITY, f64::min);
    Some(Scale::of(unit, &[largest, narrowest]))
}

fn half_width(row: &Row) -> Option<f64> {
    row.interval.map(|[low, high]| (high - low) / 2.0).filter(|half| *half > 0.0)
}

impl Scale {
    /// As many digits in differences as the narrowest interval of these rows is worth.
    fn with_digits_of<'a>(self, rows: impl IntoIterator<Item = &'a Row>) -> Scale {
        let narrowest = rows.into_iter().filter_map(half_width).min_by(f64::total_cmp);
        self.with_digits_for(narrowest.unwrap_or_default())
    }
}
