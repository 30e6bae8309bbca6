//! A run as measured on the wire: response times, rate and evenness, from the stamps of its exchanges.

use crate::exchange::Exchange;
use crate::spread::quantile;

/// Median and 99th percentile, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Deserialize)]
pub struct Quantiles {
    /// Median.
    pub p50_ns: f64,
    /// 99th percentile.
    pub p99_ns: f64,
}

impl Quantiles {
    fn of(mut times: Vec<u64>) -> Quantiles {
        times.sort_unstable();
        Quantiles { p50_ns: quantile(&times, 0.5) as f64, p99_ns: quantile(&times, 0.99) as f64 }
    }
}

/// A run as measured on the wire.
#[derive(Clone, Debug, PartialEq)]
pub struct Truth {
    /// Requests that left.
    pub requests: usize,
    /// From a request's leaving to its response's arrival.
    pub service: Quantiles,
    /// From the moment a request was due on an even schedule to its response's arrival.
    pub response: Quantiles,
    /// How long after its due moment on an even schedule a request left.
    pub lag: Quantiles,
    /// By how much the gap between two requests differs from the even one.
    pub gap_error: Quantiles,
    /// Gaps between requests, s.
    pub gaps_s: Vec<f64>,
    /// Requests a second, from the first one's leaving to the last one's.
    pub per_second: f64,
}

impl Truth {
    /// Of exchanges in the order in which their requests left, asked for at `rate_per_s`.
    /// The even schedule is aligned to the request that left earliest relative to it: the start of the tool's own
    /// schedule is not visible on the wire, so lag is understated by the smallest lag of all.
    pub fn of(exchanges: &[Exchange], rate_per_s: f64) -> Truth {
        let gap_ns = 1e9 / rate_per_s;
        let first = exchanges.first().map_or(0, |exchange| exchange.sent_ns);
        let late = |(index, exchange): (usize, &Exchange)| {
            (exchange.sent_ns - first) as f64 - (index as f64 * gap_ns).round()
        };
        let earliest = exchanges.iter().enumerate().map(late).fold(0.0, f64::min);
        let lags: Vec<u64> =
            exchanges.iter().enumerate().map(|each| (late(each) - earliest) as u64).collect();
        let took = |exchange: &Exchange| {
            exchange.answered_ns.map(|answered_ns| answered_ns.saturating_sub(exchange.sent_ns))
        };
        let responses =
            exchanges.iter().zip(&lags).filter_map(|(exchange, lag)| Some(took(exchange)? + lag)).collect();
        let gaps: Vec<u64> = exchanges.windows(2).map(|pair| pair[1].sent_ns - pair[0].sent_ns).collect();
        let span_ns: u64 = gaps.iter().sum();
        Truth {
            requests: exchanges.len(),
            service: Quantiles::of(exchanges.iter().filter_map(took).collect()),
            response: Quantiles::of(responses),
            lag: Quantiles::of(lags),
            gap_error: Quantiles::of(gaps.iter().map(|gap| (*gap as f64 - gap_ns).abs() as u64).collect()),
            gaps_s: gaps.iter().map(|gap| *gap as f64 / 1e9).collect(),
            per_second: if span_ns == 0 { 0.0 } else { gaps.len() as f64 * 1e9 / span_ns as f64 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thousand requests a millisecond apart, each late by 5 µs and every tenth by 25 µs, answered after 70 µs.
    fn run() -> Vec<Exchange> {
        (0..1000)
            .map(|index| {
                let sent_ns =
                    1_000_000_000 + index * 1_000_000 + if index % 10 == 9 { 25_000 } else { 5_000 };
                Exchange { sent_ns, answered_ns: Some(sent_ns + 70_000) }
            })
            .collect()
    }

    #[test]
    fn service_time_is_from_leaving_and_response_time_from_the_even_schedule() {
        let truth = Truth::of(&run(), 1000.0);
        assert_eq!(truth.requests, 1000);
        assert_eq!(truth.service, Quantiles { p50_ns: 70_000.0, p99_ns: 70_000.0 });
        assert_eq!(truth.lag, Quantiles { p50_ns: 0.0, p99_ns: 20_000.0 });
        assert_eq!(truth.response, Quantiles { p50_ns: 70_000.0, p99_ns: 90_000.0 });
        assert_eq!(truth.gap_error, Quantiles { p50_ns: 0.0, p99_ns: 20_000.0 });
        assert!((truth.per_second - 1000.0).abs() < 0.1);
    }

    #[test]
    fn a_tool_that_is_slower_than_asked_falls_ever_further_behind() {
        let truth = Truth::of(&run(), 2000.0);
        // The 500th request was due half as late as it left, and is one of the late ones.
        assert_eq!(truth.lag.p50_ns, 249_520_000.0);
    }

    #[test]
    fn a_late_first_request_is_not_what_the_others_are_held_against() {
        let mut late = run();
        late[0].sent_ns += 300_000;
        assert_eq!(Truth::of(&late, 1000.0).lag, Quantiles { p50_ns: 0.0, p99_ns: 20_000.0 });
    }

    #[test]
    fn requests_without_a_response_count_as_requests_only() {
        let mut run = run();
        run[500].answered_ns = None;
        let truth = Truth::of(&run, 1000.0);
        assert_eq!((truth.requests, truth.service.p50_ns), (1000, 70_000.0));
        assert_eq!(Truth::of(&[], 1000.0).requests, 0);
    }
}
