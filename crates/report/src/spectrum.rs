//! The whole distribution of response times, on demand: the quantiles down, the cells of a load across.

use hdrhistogram::Histogram;
use loadline_model::result::{Cell, RunResult};

use crate::figures;
use crate::groups;

pub(crate) const HEADING: &str =
    "Response times by quantile, all requests of a cell together; compare by the table of differences:";

/// As far out as a service's own figures go; the last one is the largest.
const QUANTILES: [(f64, &str); 10] = [
    (0.5, "50 %"),
    (0.75, "75 %"),
    (0.9, "90 %"),
    (0.95, "95 %"),
    (0.99, "99 %"),
    (0.999, "99.9 %"),
    (0.9999, "99.99 %"),
    (0.99999, "99.999 %"),
    (0.999999, "99.9999 %"),
    (1.0, "100 %"),
];

/// Headings and rows, a table for each load. A quantile beyond which a cell has no request is left out of it.
pub(crate) fn tables(result: &RunResult) -> Vec<(Vec<String>, Vec<Vec<String>>)> {
    let cells: Vec<(&Cell, Histogram<u64>)> = result
        .cells
        .iter()
        .filter_map(|cell| Some((cell, cell.histograms.response_times()?)))
        .filter(|(_, times)| !times.is_empty())
        .collect();
    let loads = groups::unique(cells.iter().map(|(cell, _)| groups::load_name(cell)));
    let table = |load: &String| {
        let of_load: Vec<_> = cells.iter().filter(|(cell, _)| groups::load_name(cell) == *load).collect();
        let names = of_load.iter().map(|(cell, _)| cell.label.clone());
        let row = |(quantile, name): (f64, &str)| {
            let times = of_load.iter().map(|(_, times)| at(times, quantile).unwrap_or_default());
            [name.to_owned()].into_iter().chain(times).collect::<Vec<String>>()
        };
        let rows =
            QUANTILES.map(row).into_iter().filter(|row| row.iter().skip(1).any(|text| !text.is_empty()));
        ([load.clone()].into_iter().chain(names).collect(), rows.collect())
    };
    loads.iter().map(table).collect()
}

fn at(times: &Histogram<u64>, quantile: f64) -> Option<String> {
    let has_requests_beyond = quantile == 1.0 || times.len() as f64 * (1.0 - quantile) >= 1.0;
    has_requests_beyond.then(|| figures::time(times.value_at_quantile(quantile) as f64))
}
