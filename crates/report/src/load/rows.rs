//! What table and Markdown of a load have in common: its head, its sentences and its rows of times.

use loadline_model::result::Distribution;
use loadline_model::result::load::{LoadDoubt, LoadOptions, LoadResult, Protocol};
use loadline_model::{ErrorKind, counted_in_words, names_a_status};

use crate::figures::{NO_FIGURE, count, cpu_list, time};
use crate::words::{Words, said};

/// Headings of the quantiles, and after them of the largest.
pub(super) const HEADINGS: [&str; 5] = ["p50", "p90", "p99", "p99.9", "max"];

/// Below this many a second, a rate has digits after the point.
const WHOLE_FROM: f64 = 100.0;

/// What will be done, in a line: the load, connections, threads, CPUs.
pub fn head(options: &LoadOptions) -> String {
    let connections = number(options.connections as u64, "connection");
    let protocol = match (options.protocol, options.streams) {
        (Protocol::Http1, _) => String::new(),
        (Protocol::Http2, 1) => ", HTTP/2".to_owned(),
        (Protocol::Http2, streams) => format!(", HTTP/2 with {streams} streams each"),
    };
    let reuse = match options.requests_per_connection {
        None => String::new(),
        Some(1) => ", a new one for each request".to_owned(),
        Some(requests) => format!(", a new one after {}", number(requests, "request")),
    };
    let threads = number(options.threads as u64, "thread");
    let cpus = match options.cpus.as_slice() {
        [] => String::new(),
        [cpu] => format!(" on CPU {cpu}"),
        cpus => format!(" on CPUs {}", cpu_list(cpus)),
    };
    format!("{}, {connections}{protocol}{reuse}, {threads}{cpus}", options.load)
}

/// Why the figures are not to be trusted, a sentence for each reason.
pub fn distrust(result: &LoadResult) -> Vec<String> {
    result.trust.doubts.iter().map(sentence).collect()
}

fn sentence(doubt: &LoadDoubt) -> String {
    let (figure, remedy) = (said(&doubt.text), said(&doubt.remedy));
    match &doubt.accusation {
        Some(accusation) => format!("{}: {figure}; {remedy}", said(accusation)),
        None => format!("{figure}; {remedy}"),
    }
}

/// How it ended, if not as planned.
pub(super) fn ended(result: &LoadResult) -> Option<String> {
    let seconds = result.duration_ns as f64 / 1e9;
    result.interrupted.then(|| format!("interrupted after {seconds:.1} s"))
}

/// How many requests were sent and what became of them.
pub(super) fn counts(result: &LoadResult) -> String {
    let counts = &result.counts;
    let errors = number(counts.errors, "error");
    let known = ErrorKind::ALL.into_iter();
    let known = known.filter_map(|kind| Some((kind, result.errors.get(kind.name())?)));
    let known = known.map(|(kind, errors)| format!("{} {}", count(*errors), kind.words()));
    let statuses = result.errors.iter().filter(|(kind, _)| names_a_status(kind));
    let statuses = statuses.map(|(kind, errors)| counted_in_words(kind, *errors));
    let kinds: Vec<String> = statuses.chain(known).collect();
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    let rate = rate(result.answered_per_second);
    format!("{} sent · {} answered · {errors}{kinds} · {rate}/s", count(counts.sent), count(counts.answered))
}

fn rate(per_second: f64) -> String {
    if per_second >= WHOLE_FROM { count(per_second.round() as u64) } else { format!("{per_second:.2}") }
}

/// A row of times.
pub(super) struct Row {
    pub name: &'static str,
    /// Under [`HEADINGS`].
    pub figures: [String; 5],
    pub meaning: String,
}

/// The rows of times: those that every load has, and those that it has something to say of.
pub(super) fn rows(result: &LoadResult) -> Vec<Row> {
    let times = &result.times;
    let mut rows = vec![
        row("response", times.response.as_ref(), "from the moment it was due".to_owned()),
        row("service", times.service.as_ref(), "from the moment it was sent".to_owned()),
    ];
    // In a closed loop nothing is due before its connection is free.
    if !result.options.closed {
        rows.push(row("send lag", times.send_lag.as_ref(), "the generator's own error".to_owned()));
    }
    let mut seen = |name, times: Option<&Distribution>, meaning: &dyn Fn(u64) -> String| {
        rows.extend(times.map(|times| row(name, Some(times), meaning(times.len()))));
    };
    seen("waiting", times.wait.as_ref(), &|requests| {
        format!("for a free connection ({})", number(requests, "request"))
    });
    // The connections that every load begins with are worth a row only when their handshakes are.
    if result.counts.connections_opened > 0 || times.tls_handshake.is_some() {
        seen("connect", times.connect.as_ref(), &|times| handshakes("TCP", times));
    }
    seen("TLS", times.tls_handshake.as_ref(), &|times| handshakes("TLS", times));
    seen("DNS", times.resolve.as_ref(), &|lookups| {
        let times = if lookups == 1 { "once".to_owned() } else { number(lookups, "time") };
        format!("looking up the name ({times})")
    });
    rows
}

fn handshakes(protocol: &str, handshakes: u64) -> String {
    format!("{} of {protocol}", number(handshakes, "handshake"))
}

/// `1 thread`, `1,200 threads`
fn number(number: u64, what: &str) -> String {
    format!("{} {what}{}", count(number), if number == 1 { "" } else { "s" })
}

fn row(name: &'static str, times: Option<&Distribution>, meaning: String) -> Row {
    let figures = match times {
        Some(times) => {
            let at = |quantile| time(times.value_at_quantile(quantile) as f64);
            [at(0.5), at(0.9), at(0.99), at(0.999), time(times.max() as f64)]
        }
        None => HEADINGS.map(|_| NO_FIGURE.to_owned()),
    };
    Row { name, figures, meaning }
}
