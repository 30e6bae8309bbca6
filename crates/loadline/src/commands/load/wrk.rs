//! What wrk and wrk2 print, in their layout, for the scripts that read it.
//!
//! Widths, units and their rounding are those of `print_stats` and `print_units` in wrk.c and `format_units` in units.c (wrk 4.1.0).

use std::fmt::Write;
use std::time::Duration;

use hdrhistogram::Histogram;
use loadline_engine::{ErrorKind, Record};

use super::distribution::write_wrk2;

/// A unit is left for the next larger one from this part of it on.
const STEP_UP: f64 = 0.85;

/// The rates of single threads, sampled as the load goes on.
#[derive(Debug, Default)]
pub struct Samples(Vec<f64>);

/// What to print.
pub struct Summary<'a> {
    pub record: &'a Record,
    pub samples: &'a Samples,
    /// Whether requests were due at a rate: then latency is response time, as for wrk2.
    pub has_rate: bool,
    /// Whether the distribution of latency is printed as well.
    pub latency: bool,
    /// Whether wrk2's distribution of service time is printed as well.
    pub uncorrected: bool,
}

/// The two lines before the load.
pub fn head(url: &str, duration: Duration, threads: usize, connections: usize) -> String {
    let duration = units(duration.as_secs_f64(), "s", &["m", "h"], 60.0, 0);
    format!("Running {duration} test @ {url}\n  {threads} threads and {connections} connections\n")
}

impl Samples {
    /// Takes what all threads did in an interval.
    pub fn take(&mut self, record: &Record, interval: Duration) {
        let per_thread =
            record.answered_in_time as f64 / interval.as_secs_f64() / f64::from(record.workers.max(1));
        self.0.push(per_thread);
    }

    fn spread(&self) -> Spread {
        let count = self.0.len().max(1) as f64;
        let mean = self.0.iter().sum::<f64>() / count;
        let squares: f64 = self.0.iter().map(|rate| (rate - mean).powi(2)).sum();
        let stdev = if self.0.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
        let within = self.0.iter().filter(|rate| (*rate - mean).abs() <= stdev).count();
        let max = self.0.iter().copied().fold(0.0, f64::max);
        Spread { mean, stdev, max, within: within as f64 / count }
    }
}

impl Summary<'_> {
    /// The lines after the load.
    pub fn text(&self) -> String {
        let (record, latency) = (self.record, self.latency_times());
        let mut text = format!("  Thread Stats{:>6}{:>11}{:>8}{:>12}\n", "Avg", "Stdev", "Max", "+/- Stdev");
        text += &Spread::of(latency).row("Latency", time_us);
        text += &self
            .samples
            .spread()
            .row("Req/Sec", |rate| units(rate, "", &["k", "M", "G", "T", "P"], 1000.0, 2));
        if self.latency || self.uncorrected {
            text += &if self.has_rate { self.spectra() } else { distribution(latency) };
        }
        // A load that was stopped at once has no length.
        let seconds = record.duration.as_secs_f64().max(f64::MIN_POSITIVE);
        let bytes = record.received_bytes as f64;
        let (requests, runtime) = (record.answered_in_time, time_us(seconds * 1e6));
        // Writing to a string can't fail.
        let _ = writeln!(text, "  {requests} requests in {runtime}, {}B read", binary(bytes));
        text += &self.errors();
        let _ = writeln!(text, "Requests/sec: {:9.2}", requests as f64 / seconds);
        let _ = writeln!(text, "Transfer/sec: {:>10}B", binary(bytes / seconds));
        text
    }

    fn latency_times(&self) -> &Histogram<u64> {
        if self.has_rate { &self.record.response } else { &self.record.service }
    }

    fn errors(&self) -> String {
        let of = |kind| self.record.errors.of(kind);
        let (connect, timeout) = (of(ErrorKind::Connect), of(ErrorKind::Timeout));
        let read = of(ErrorKind::Reset) + of(ErrorKind::EarlyEnd) + of(ErrorKind::Malformed);
        let mut text = String::new();
        if connect + read + timeout > 0 {
            // A connection that breaks is seen when it is read from.
            let _ =
                writeln!(text, "  Socket errors: connect {connect}, read {read}, write 0, timeout {timeout}");
        }
        // Those of a closed loop's last requests come after its end, and are not among the requests that are printed.
        let status = of(ErrorKind::Status).min(self.record.answered_in_time);
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
    fn spectra(&self) -> String {
        let mut text = spectrum(&self.record.response, "Recorded Latency");
        if self.uncorrected {
            let name = "Uncorrected Latency (measured without taking delayed starts into account)";
            text += &format!("\n{}", spectrum(&self.record.service, name));
        }
        text
    }
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

/// The figures of one row; those of times in µs.
struct Spread {
    mean: f64,
    stdev: f64,
    max: f64,
    /// Share of the values within one standard deviation of the mean.
    within: f64,
}

impl Spread {
    fn of(times: &Histogram<u64>) -> Spread {
        let (mean, stdev) = (times.mean(), times.stdev());
        let within = times
            .iter_recorded()
            .filter(|step| (times.median_equivalent(step.value_iterated_to()) as f64 - mean).abs() <= stdev)
            .map(|step| step.count_at_value())
            .sum::<u64>();
        Spread {
            mean: mean / 1e3,
            stdev: stdev / 1e3,
            max: times.max() as f64 / 1e3,
            within: within as f64 / times.len().max(1) as f64,
        }
    }

    fn row(&self, name: &str, show: impl Fn(f64) -> String) -> String {
        format!(
            "    {name:<10}{}{}{}{:8.2}%\n",
            column(&show(self.mean), 8),
            column(&show(self.stdev), 10),
            column(&show(self.max), 9),
            self.within * 100.0
        )
    }
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
        assert_eq!(
            head("http://x/", Duration::from_secs(60), 2, 10),
            "Running 1m test @ http://x/\n  2 threads and 10 connections\n"
        );
    }

    #[test]
    fn columns_are_those_of_wrk() {
        // Rows that wrk 4.1.0 printed.
        let latency = Spread { mean: 313.03, stdev: 359.02, max: 9040.0, within: 0.9926 };
        assert_eq!(latency.row("Latency", time_us), "    Latency   313.03us  359.02us   9.04ms   99.26%\n");
        let rates = Spread { mean: 24_060.0, stdev: 630.33, max: 25_060.0, within: 0.6818 };
        let metric = |rate| units(rate, "", &["k", "M", "G", "T", "P"], 1000.0, 2);
        assert_eq!(rates.row("Req/Sec", metric), "    Req/Sec    24.06k   630.33    25.06k    68.18%\n");
        assert_eq!(format!("{:7.0}%{}", 50.0, column("285.00us", 10)), "     50%  285.00us");
    }

    #[test]
    fn nothing_measured_is_printed_without_a_panic() {
        let record = Record { duration: Duration::from_secs(1), ..Record::empty() };
        for has_rate in [false, true] {
            let samples = Samples::default();
            let summary =
                Summary { record: &record, samples: &samples, has_rate, latency: true, uncorrected: true };
            assert!(
                summary.text().contains("  0 requests in 1.00s, 0.00B read\nRequests/sec:      0.00\n"),
                "{}",
                summary.text()
            );
        }
    }
}
