//! What wrk and wrk2 print, in their layout, for the scripts that read it.
//!
//! Widths, units and their rounding are those of `print_stats` and `print_units` in wrk.c and `format_units` in units.c (wrk 4.1.0).

use std::fmt::Write;
use std::time::Duration;

use hdrhistogram::Histogram;
use loadline_model::result::Spread;
use loadline_model::result::load::{LoadOptions, LoadResult};
use loadline_model::{ErrorKind, names_a_status, new_histogram};

use super::hgrm::write_wrk2;

/// A unit is left for the next larger one from this part of it on.
const STEP_UP: f64 = 0.85;

/// What to print beside the table.
#[derive(Clone, Copy, Debug)]
pub struct WrkOptions {
    /// Whether the distribution of latency is printed as well.
    pub latency: bool,
    /// Whether wrk2's distribution of service time is printed as well.
    pub uncorrected: bool,
}

/// The two lines before a load of this length.
pub fn wrk_head(options: &LoadOptions, duration: Duration) -> String {
    let LoadOptions { url, threads, connections, .. } = options;
    let duration = units(duration.as_secs_f64(), "s", &["m", "h"], 60.0, 0);
    format!("Running {duration} test @ {url}\n  {threads} threads and {connections} connections\n")
}

/// The lines after the load. `rates` are the responses a second of single load threads.
///
/// Where requests were due at a rate, latency is response time, as for wrk2.
pub fn wrk(result: &LoadResult, rates: &Spread, options: WrkOptions) -> String {
    let times = if result.options.closed { &result.times.service } else { &result.times.response };
    let latency = times.as_ref().map_or_else(Spread::default, |times| in_us(times.spread()));
    let mut text = format!("  Thread Stats{:>6}{:>11}{:>8}{:>12}\n", "Avg", "Stdev", "Max", "+/- Stdev");
    text += &row("Latency", &latency, time_us);
    text += &row("Req/Sec", rates, metric);
    if options.latency || options.uncorrected {
        text += &match result.options.closed {
            true => distribution(times.as_deref().unwrap_or(&new_histogram())),
            false => spectra(result, options.uncorrected),
        };
    }
    let runtime = time_us(result.duration_ns as f64 / 1e3);
    let (requests, bytes) = (result.counts.answered_in_time, result.counts.received_bytes as f64);
    // Writing to a string can't fail.
    let _ = writeln!(text, "  {requests} requests in {runtime}, {}B read", binary(bytes));
    text += &errors(result);
    let _ = writeln!(text, "Requests/sec: {:9.2}", result.answered_per_second);
    let _ = writeln!(text, "Transfer/sec: {:>10}B", binary(result.received_bytes_per_second));
    text
}

fn errors(result: &LoadResult) -> String {
    let of = |kind: ErrorKind| result.errors.get(kind.name()).copied().unwrap_or(0);
    let statuses = result.errors.iter().filter(|(kind, _)| names_a_status(kind)).map(|(_, count)| count);
    let statuses = statuses.sum::<u64>() + of(ErrorKind::Status);
    let (connect, timeout) = (of(ErrorKind::Connect), of(ErrorKind::Timeout));
    let read = of(ErrorKind::Reset) + of(ErrorKind::EarlyEnd) + of(ErrorKind::Malformed);
    let mut text = String::new();
    if connect + read + timeout > 0 {
        // A connection that breaks is seen when it is read from.
        let _ = writeln!(text, "  Socket errors: connect {connect}, read {read}, write 0, timeout {timeout}");
    }
    // Those of a closed loop's last requests come after its end, and are not among the requests that are printed.
    let status = statuses.min(result.counts.answered_in_time);
    if status > 0 {
        let _ = writeln!(text, "  Non-2xx or 3xx responses: {status}");
    }
    let unexpected = of(ErrorKind::Header) + of(ErrorKind::Body);
    if unexpected > 0 {
        let _ = writeln!(text, "  Unexpected headers or bodies: {unexpected}");
    }
    text
}

/// wrk2's distributions: latency, and with it the service time, which leaves out how late requests were begun.
fn spectra(result: &LoadResult, uncorrected: bool) -> String {
    let empty = new_histogram();
    let mut text = spectrum(result.times.response.as_deref().unwrap_or(&empty), "Recorded Latency");
    if uncorrected {
        let name = "Uncorrected Latency (measured without taking delayed starts into account)";
        let service = result.times.service.as_deref().unwrap_or(&empty);
        text += &format!("\n{}", spectrum(service, name));
    }
    text
}

/// wrk's four quantiles.
fn distribution(times: &Histogram<u64>) -> String {
    let mut text = "  Latency Distribution\n".to_owned();
    for percent in [50.0, 75.0, 90.0, 99.0] {
        let _ = writeln!(text, "{percent:7.0}%{}", column(&time_us(quantile_us(times, percent)), 10));
    }
    text
}

/// wrk2's eight quantiles and its table.
fn spectrum(times: &Histogram<u64>, name: &str) -> String {
    let mut text = format!("  Latency Distribution (HdrHistogram - {name})\n");
    for percent in [50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 99.999, 100.0] {
        let _ = writeln!(text, "{percent:7.3}%{}", column(&time_us(quantile_us(times, percent)), 10));
    }
    text += "\n  Detailed Percentile spectrum:\n";
    let mut table = Vec::new();
    // Writing to memory can't fail.
    let _ = write_wrk2(times, &mut table);
    text += &String::from_utf8_lossy(&table);
    text + &"-".repeat(58) + "\n"
}

fn quantile_us(times: &Histogram<u64>, percent: f64) -> f64 {
    times.value_at_quantile(percent / 100.0) as f64 / 1e3
}

fn in_us(ns: Spread) -> Spread {
    Spread { mean: ns.mean / 1e3, stdev: ns.stdev / 1e3, max: ns.max / 1e3, within: ns.within }
}

fn row(name: &str, spread: &Spread, show: impl Fn(f64) -> String) -> String {
    format!(
        "    {name:<10}{}{}{}{:8.2}%\n",
        column(&show(spread.mean), 8),
        column(&show(spread.stdev), 10),
        column(&show(spread.max), 9),
        spread.within * 100.0
    )
}

/// A figure in its column: the digits end at the same place whether its unit has two letters, one or none.
fn column(text: &str, width: usize) -> String {
    let letters = text.chars().rev().take(2).filter(char::is_ascii_alphabetic).count();
    let pad = 2 - letters;
    let digits: String = text.chars().take(width - pad).collect();
    format!("{digits:>width$}{:pad$}", "", width = width - pad)
}

fn time_us(us: f64) -> String {
    if us >= 1e6 {
        units(us / 1e6, "s", &["m", "h"], 60.0, 2)
    } else {
        units(us, "us", &["ms", "s"], 1000.0, 2)
    }
}

fn metric(number: f64) -> String {
    units(number, "", &["k", "M", "G", "T", "P"], 1000.0, 2)
}

fn binary(bytes: f64) -> String {
    units(bytes, "", &["K", "M", "G", "T", "P"], 1024.0, 2)
}

/// The last of `larger` is never reached, as in wrk.
fn units(mut amount: f64, base: &str, larger: &[&str], scale: f64, decimals: usize) -> String {
    let mut unit = base;
    for next in &larger[..larger.len() - 1] {
        if amount < scale * STEP_UP {
            break;
        }
        amount /= scale;
        unit = next;
    }
    format!("{amount:.decimals$}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_are_shown_as_wrk_shows_them() {
        for (us, text) in [
            (0.0, "0.00us"),
            (313.03, "313.03us"),
            (849.9, "849.90us"),
            (850.0, "0.85ms"),
            (2_010.0, "2.01ms"),
            (999_999.0, "1000.00ms"),
            (2_010_000.0, "2.01s"),
            (51e6, "0.85m"),
        ] {
            assert_eq!(time_us(us), text);
        }
        assert_eq!(binary(12.44 * 1024.0 * 1024.0), "12.44M");
        assert_eq!(binary(100.0), "100.00");
    }

    #[test]
    fn columns_are_those_of_wrk() {
        // Rows that wrk 4.1.0 printed.
        let latency = Spread { mean: 313.03, stdev: 359.02, max: 9040.0, within: 0.9926 };
        assert_eq!(row("Latency", &latency, time_us), "    Latency   313.03us  359.02us   9.04ms   99.26%\n");
        let rates = Spread { mean: 24_060.0, stdev: 630.33, max: 25_060.0, within: 0.6818 };
        assert_eq!(row("Req/Sec", &rates, metric), "    Req/Sec    24.06k   630.33    25.06k    68.18%\n");
        assert_eq!(format!("{:7.0}%{}", 50.0, column("285.00us", 10)), "     50%  285.00us");
    }
}
