//! What the app shows, as JSON: the result, but its slices by columns, because the same thousand keys a thousand times would make a page of
//! megabytes; and what the result holds encoded, or not at all: distributions and stacks.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use loadline_model::CellId;
use loadline_model::profile::CallTree;
use loadline_model::result::{RunResult, Slice};
use loadline_model::{SparseHistogram, printable};
use serde::Serialize;
use serde_json::{Map, Value};

use super::Evidence;
use crate::ReportError;
use crate::words::worded;

/// Points of a curve for each halving of the distance to 100 %.
const TICKS_PER_HALF_DISTANCE: u32 = 8;
/// Bins of a histogram, and of a slice in the heat map, for each doubling of the time.
const BINS_PER_DOUBLING: u32 = 8;
const HEAT_BINS_PER_DOUBLING: u32 = 4;
/// The response times over time get coarser where they would make the JSON longer than this, in bytes: a page is to stay below a megabyte.
const MOST_WITH_HEAT: usize = 820_000;
/// With fewer columns they would show little; so many are worth a page that is longer.
const FEWEST_COLUMNS: usize = 64;
/// Digits of a slice's fractions, and of the differences in blocks: more than are ever shown.
const SLICE_DIGITS: usize = 7;
const BLOCK_DIGITS: usize = 5;

/// All of it.
#[derive(Serialize)]
struct Document<'a> {
    /// The result without its slices and encoded histograms.
    result: Value,
    slices: Columns,
    distributions: Vec<Distribution>,
    #[serde(skip_serializing_if = "Option::is_none")]
    heat: Option<Heat>,
    profiles: Vec<StackedProfile<'a>>,
}

/// Slices by columns: `response/p50` is `p50` in `response` of each slice.
#[derive(Serialize)]
struct Columns {
    length: usize,
    columns: BTreeMap<String, SliceColumn>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum SliceColumn {
    /// A single one holds for all slices.
    Values(Vec<Value>),
    /// The same as this column has: of few requests the slowest is many a quantile.
    As(String),
}

/// How the times of a cell are distributed.
#[derive(Serialize)]
struct Distribution {
    cell: CellId,
    /// `response` or `service`.
    of: &'static str,
    /// Quantiles below 1, each with the time that so many did not exceed, ns. Between two with the same time it is the same.
    quantiles: Vec<(f64, u64)>,
    bins: Bins,
}

/// Counts in bins of equal width on a logarithmic scale: bin `i` reaches from 2^((first + i) / per_doubling) ns to the next.
#[derive(Serialize)]
struct Bins {
    per_doubling: u32,
    first: u32,
    counts: Vec<u64>,
}

/// The response times of the slices that count, over time.
#[derive(Serialize)]
struct Heat {
    per_doubling: u32,
    /// The last column of a cell may have fewer.
    slices_per_column: usize,
    /// By cell, in the order of measurement.
    cells: Vec<Vec<Column>>,
}

/// One or several slices: the first bin, and from there on the most requests that one of them has in each.
type Column = (u32, Vec<u64>);

#[derive(Serialize)]
struct StackedProfile<'a> {
    cell: CellId,
    requests: u64,
    stacks: &'a CallTree,
}

/// The JSON, in which nothing ends the script that holds it.
pub(super) fn document(result: &RunResult, evidence: &Evidence) -> Result<String, ReportError> {
    let mut worded = worded(result);
    let slices = columns(&std::mem::take(&mut worded.slices))?;
    for cell in &mut worded.cells {
        // They stand in `distributions`, where nothing must be decoded.
        let histograms = &mut cell.histograms;
        for encoded in [&mut histograms.response, &mut histograms.service, &mut histograms.send_lag] {
            encoded.clear();
        }
        // Nothing shows the courses of the warm-ups.
        cell.deployments.iter_mut().for_each(|deployment| deployment.warmup_service_p50_ns.clear());
    }
    // Nor what twins are compared with, block by block.
    worded
        .noise
        .iter_mut()
        .flat_map(|contrast| &mut contrast.rows)
        .for_each(|row| row.block_differences.clear());
    let mut document = Document {
        result: with_short_blocks(serde_json::to_value(&worded)?),
        slices,
        distributions: distributions(result),
        heat: None,
        profiles: evidence
            .profiles
            .iter()
            .map(|profile| StackedProfile {
                cell: profile.cell,
                requests: profile.requests,
                stacks: &profile.stacks,
            })
            .collect(),
    };
    let room = MOST_WITH_HEAT.saturating_sub(written(&document)?.len());
    document.heat = heat(result, &evidence.response_times, room)?;
    written(&document)
}

fn written(document: &Document<'_>) -> Result<String, ReportError> {
    let plain = spelt_out(serde_json::to_value(document)?);
    Ok(serde_json::to_string(&plain)?.replace('<', "\\u003c"))
}

/// The same with the texts of others as every report shows them.
fn spelt_out(value: Value) -> Value {
    match value {
        Value::String(text) => printable(&text).into(),
        Value::Array(values) => values.into_iter().map(spelt_out).collect(),
        Value::Object(fields) => {
            let field = |(key, value): (String, Value)| (printable(&key).into_owned(), spelt_out(value));
            Value::Object(fields.into_iter().map(field).collect())
        }
        other => other,
    }
}

/// The result with few digits of the differences in its blocks.
fn with_short_blocks(value: Value) -> Value {
    match value {
        Value::Array(values) => values.into_iter().map(with_short_blocks).collect(),
        Value::Object(fields) => {
            let field = |(key, value): (String, Value)| match key.as_str() {
                "block_differences" => (key, short(value, BLOCK_DIGITS)),
                _ => (key, with_short_blocks(value)),
            };
            Value::Object(fields.into_iter().map(field).collect())
        }
        other => other,
    }
}

/// Fractions with so many digits, and without a point if none is behind it; whole numbers as they are.
fn short(value: Value, digits: usize) -> Value {
    match value {
        Value::Array(values) => values.into_iter().map(|value| short(value, digits)).collect(),
        Value::Number(number) if number.is_f64() => {
            let after = digits - 1;
            let short = number.as_f64().and_then(|value| format!("{value:.after$e}").parse::<f64>().ok());
            match short {
                Some(whole) if whole.fract() == 0.0 && whole.abs() < 1e15 => Value::from(whole as i64),
                Some(short) => Value::from(short),
                None => Value::Number(number),
            }
        }
        other => other,
    }
}

fn columns(slices: &[Slice]) -> Result<Columns, ReportError> {
    let mut columns: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (at, slice) in slices.iter().enumerate() {
        let Value::Object(fields) = serde_json::to_value(slice)? else { continue };
        enter(&mut columns, at, "", fields);
    }
    for column in columns.values_mut() {
        column.resize(slices.len(), Value::Null);
        if column.iter().all(|value| *value == column[0]) {
            column.truncate(1);
        }
    }
    let mut written: BTreeMap<String, SliceColumn> = BTreeMap::new();
    for (path, values) in columns {
        let is_same = |column: &SliceColumn| matches!(column, SliceColumn::Values(known) if *known == values);
        let same = written.iter().find(|(_, column)| values.len() > 1 && is_same(column));
        let column = match same {
            Some((known, _)) => SliceColumn::As(known.clone()),
            None => SliceColumn::Values(values),
        };
        written.insert(path, column);
    }
    Ok(Columns { length: slices.len(), columns: written })
}

/// Enters the fields of a slice, and those of what they hold; kinds of errors are no columns.
fn enter(columns: &mut BTreeMap<String, Vec<Value>>, at: usize, path: &str, fields: Map<String, Value>) {
    for (key, value) in fields {
        let path = format!("{path}{}", key.replace('~', "~0").replace('/', "~1"));
        match value {
            Value::Object(fields) if path != "errors" => enter(columns, at, &format!("{path}/"), fields),
            value => {
                let column = columns.entry(path).or_default();
                column.resize(at, Value::Null);
                column.push(short(value, SLICE_DIGITS));
            }
        }
    }
}

fn distributions(result: &RunResult) -> Vec<Distribution> {
    let of_cell = |cell: &loadline_model::result::Cell| {
        let times =
            [("response", cell.histograms.response_times()), ("service", cell.histograms.service_times())];
        let id = cell.id;
        times.into_iter().filter_map(move |(of, times)| {
            let times = times.filter(|times| !times.is_empty())?;
            let bins = binned(&SparseHistogram::from(&times), BINS_PER_DOUBLING);
            Some(Distribution { cell: id, of, quantiles: quantiles(&times), bins })
        })
    };
    result.cells.iter().flat_map(of_cell).collect()
}

fn quantiles(times: &Histogram<u64>) -> Vec<(f64, u64)> {
    let steps = times
        .iter_quantiles(TICKS_PER_HALF_DISTANCE)
        .map(|step| (step.quantile_iterated_to(), step.value_iterated_to()))
        // The step before has the largest value already, and 1 has no place on a logarithmic axis.
        .filter(|(quantile, _)| *quantile < 1.0);
    let mut points: Vec<(f64, u64)> = Vec::new();
    for step in steps {
        // Of steps to the same value the first and the last: without the last, all but the first would seem to have a larger one.
        let is_longer =
            points.len() > 1 && points[points.len() - 2..].iter().all(|(_, value)| *value == step.1);
        if is_longer {
            points.pop();
        }
        points.push(step);
    }
    points
}

fn binned(times: &SparseHistogram, per_doubling: u32) -> Bins {
    let bin = |value: u64| ((value.max(1) as f64).log2() * f64::from(per_doubling)).floor() as u32;
    let first = bin(times.min());
    let mut counts: Vec<u64> = Vec::new();
    for (value, count) in times.iter() {
        let at = (bin(value) - first) as usize;
        counts.resize(counts.len().max(at + 1), 0);
        counts[at] += count;
    }
    Bins { per_doubling, first, counts }
}

/// What is known of the slices, if it is known of all: a column each, or as many neighbours in a column as it takes to fit into so many bytes.
fn heat(
    result: &RunResult,
    response_times: &[SparseHistogram],
    room: usize,
) -> Result<Option<Heat>, ReportError> {
    if response_times.is_empty() || response_times.len() != result.slices.len() {
        return Ok(None);
    }
    let mut cells: Vec<Vec<Column>> = vec![Vec::new(); result.cells.len()];
    for (slice, times) in result.slices.iter().zip(response_times).filter(|(slice, _)| slice.counted) {
        if let Some(columns) = cells.get_mut(slice.cell.0) {
            columns.push(column(times));
        }
    }
    let mut slices_per_column = 1;
    while serde_json::to_string(&cells)?.len() > room
        && cells.iter().any(|columns| columns.len() > FEWEST_COLUMNS)
    {
        cells = cells.iter().map(|columns| halved(columns)).collect();
        slices_per_column *= 2;
    }
    Ok(Some(Heat { per_doubling: HEAT_BINS_PER_DOUBLING, slices_per_column, cells }))
}

fn column(times: &SparseHistogram) -> Column {
    if times.is_empty() {
        return (0, Vec::new());
    }
    let bins = binned(times, HEAT_BINS_PER_DOUBLING);
    (bins.first, bins.counts)
}

/// Two neighbours in each column. A mean would hide the one slow request that one looks for.
fn halved(columns: &[Column]) -> Vec<Column> {
    columns.chunks(2).filter_map(|pair| pair.iter().cloned().reduce(most)).collect()
}

fn most(one: Column, other: Column) -> Column {
    if one.1.is_empty() || other.1.is_empty() {
        return if one.1.is_empty() { other } else { one };
    }
    let first = one.0.min(other.0);
    let end = |(first, counts): &Column| *first as usize + counts.len();
    let mut counts = vec![0; end(&one).max(end(&other)) - first as usize];
    for (begin, of) in [one, other] {
        for (at, count) in of.into_iter().enumerate() {
            let most = &mut counts[(begin - first) as usize + at];
            *most = count.max(*most);
        }
    }
    (first, counts)
}

#[cfg(test)]
mod tests {
    use loadline_model::new_histogram;

    use super::*;

    #[test]
    fn bins_hold_every_value_where_it_belongs() {
        let mut times = SparseHistogram::default();
        times.record_n(1_000, 3);
        times.record_n(1_000_000, 2);
        let bins = binned(&times, 8);
        assert_eq!(bins.counts.iter().sum::<u64>(), 5);
        assert_eq!((bins.first, bins.counts[0], bins.counts.last()), (79, 3, Some(&2)));
    }

    #[test]
    fn columns_of_two_slices_have_the_most_of_either() {
        let lone = (30, vec![1]);
        let columns = [(10, vec![5, 2]), (11, vec![7, 1]), (0, vec![]), lone.clone(), (9, vec![3])];
        assert_eq!(halved(&columns), [(10, vec![5, 7, 1]), lone.clone(), (9, vec![3])]);
        let once_more = halved(&halved(&columns));
        assert_eq!(once_more[0].1.last(), Some(&1), "the only slow request is still there");
        assert_eq!(once_more.len(), 2);
    }

    #[test]
    fn a_curve_ends_at_the_largest_value() {
        let mut times = new_histogram();
        (1..=1000).for_each(|us| times.record(us * 1000).unwrap());
        let points = quantiles(&times);
        assert_eq!(points.last().map(|(_, value)| *value), Some(times.value_at_quantile(1.0)));
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1));
    }

    #[test]
    fn a_curve_is_level_where_many_quantiles_have_the_same_time() {
        let mut times = new_histogram();
        for (us, count) in [(50, 30), (100, 60), (900, 10)] {
            times.record_n(us * 1000, count).unwrap();
        }
        let [fast, usual, slow] = [50_000, 100_000, 900_000].map(|ns| times.highest_equivalent(ns));
        let points = quantiles(&times);
        let level = [(0.0, fast), (0.25, fast), (0.3125, usual), (0.898_437_5, usual), (0.906_25, slow)];
        assert_eq!(points, level);
        assert!(points[1..].iter().all(|(quantile, ns)| times.value_at_quantile(*quantile) == *ns));
    }

    #[test]
    fn a_column_has_a_value_or_nothing_for_each_slice() {
        let mut columns: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        let fields = |text: &str| serde_json::from_str::<Map<String, Value>>(text).unwrap();
        enter(&mut columns, 0, "", fields(r#"{"a": 1, "errors": {"x": 1}, "o": {"b/c": 2}}"#));
        enter(&mut columns, 1, "", fields(r#"{"a": 1, "errors": {}, "o": {"d": 3}}"#));
        let shown = serde_json::to_string(&columns).unwrap();
        assert_eq!(shown, r#"{"a":[1,1],"errors":[{"x":1},{}],"o/b~1c":[2],"o/d":[null,3]}"#);
    }
}
