//! A distribution as text: HdrHistogram's percentile table, as its Java and C versions print it and its plotter reads it.

use std::io::{self, Write};

use hdrhistogram::Histogram;
use loadline_model::new_histogram;
use loadline_model::result::load::LoadResult;

use crate::ReportError;

/// Lines for each halving of the distance to 100 %: what HdrHistogram's own tools ask for.
const TICKS_PER_HALF_DISTANCE: u32 = 5;

/// Nanoseconds in the unit of the values.
const MILLISECOND: f64 = 1e6;

/// The response times of a load as a `.hgrm` file: values in ms, to the ns.
///
/// # Errors
/// When `out` does not take it.
pub fn hgrm(result: &LoadResult, out: &mut dyn Write) -> Result<(), ReportError> {
    match &result.times.response {
        Some(times) => write_hgrm(times, out)?,
        None => write_hgrm(&new_histogram(), out)?,
    }
    Ok(out.flush()?)
}

fn write_hgrm(times: &Histogram<u64>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{:>12} {:>14} {:>10} {:>14}\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")?;
    for line in lines(times) {
        write!(out, "{:12.6} {:.12} {:10}", line.value_ms, line.quantile, line.count)?;
        // The last line would be a division by zero.
        if line.quantile < 1.0 {
            writeln!(out, " {:14.2}", 1.0 / (1.0 - line.quantile))?
        } else {
            writeln!(out)?
        }
    }
    write_footer(times, out)
}

/// The same as wrk2 prints it: values in ms, to the µs.
pub(super) fn write_wrk2(times: &Histogram<u64>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{:>12} {:>12} {:>12} {:>12}\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")?;
    for line in lines(times) {
        let inverse = 1.0 / (1.0 - line.quantile);
        writeln!(out, "{:12.3} {:12.6} {:12} {inverse:12.2}", line.value_ms, line.quantile, line.count)?;
    }
    write_footer(times, out)
}

struct Line {
    value_ms: f64,
    quantile: f64,
    /// Values up to and with this one.
    count: u64,
}

fn lines(times: &Histogram<u64>) -> impl Iterator<Item = Line> {
    times.iter_quantiles(TICKS_PER_HALF_DISTANCE).scan(0, |count, step| {
        *count += step.count_since_last_iteration();
        let value_ms = step.value_iterated_to() as f64 / MILLISECOND;
        Some(Line { value_ms, quantile: step.quantile_iterated_to(), count: *count })
    })
}

fn write_footer(times: &Histogram<u64>, out: &mut dyn Write) -> io::Result<()> {
    let ms = |ns: f64| ns / MILLISECOND;
    // As many as resolve twice the significant digits, as a power of two (HdrHistogram's AbstractHistogram.init).
    let sub_buckets = (2 * 10_u64.pow(u32::from(times.sigfig()))).next_power_of_two();
    writeln!(out, "#[Mean    = {:12.3}, StdDeviation   = {:12.3}]", ms(times.mean()), ms(times.stdev()))?;
    writeln!(out, "#[Max     = {:12.3}, Total count    = {:12}]", ms(times.max() as f64), times.len())?;
    writeln!(out, "#[Buckets = {:12}, SubBuckets     = {sub_buckets:12}]", times.buckets())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(
        write: impl Fn(&Histogram<u64>, &mut dyn Write) -> io::Result<()>,
        times: &Histogram<u64>,
    ) -> String {
        let mut out = Vec::new();
        write(times, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_table_counts_up_to_all_and_ends_at_the_maximum() {
        let mut times = new_histogram();
        (1..=1000).for_each(|us| times.record(us * 1000).unwrap());
        let hgrm = text(write_hgrm, &times);
        let rows: Vec<Vec<f64>> = hgrm
            .lines()
            .skip(2)
            .filter(|line| !line.starts_with('#'))
            .map(|line| line.split_whitespace().map(|word| word.parse().unwrap()).collect())
            .collect();
        assert!(rows.is_sorted_by_key(|row| row[0]) && rows.is_sorted_by_key(|row| row[2]), "{hgrm}");
        let median = rows.iter().find(|row| row[1] >= 0.5).unwrap();
        assert!((median[0] - 0.5).abs() < 0.001 && (median[3] - 2.0).abs() < 0.01, "{hgrm}");
        let last = rows.last().unwrap();
        assert_eq!((last.len(), last[1], last[2]), (3, 1.0, 1000.0), "{hgrm}");
        assert!(hgrm.contains("Total count    =         1000]"), "{hgrm}");
        assert!(hgrm.contains("SubBuckets     =         2048]"), "{hgrm}");
    }

    #[test]
    fn wrk2_s_table_ends_with_an_infinite_distance() {
        let mut times = new_histogram();
        times.record(1_500_000).unwrap();
        let table = text(write_wrk2, &times);
        let first = table.lines().nth(2).unwrap();
        assert_eq!(first, "       1.500     0.000000            1         1.00");
        assert!(table.contains("1          inf\n"), "{table}");
    }

    #[test]
    fn an_empty_histogram_is_a_table_without_rows() {
        let table = text(write_hgrm, &new_histogram());
        assert!(table.contains("Total count    =            0]"), "{table}");
    }
}
