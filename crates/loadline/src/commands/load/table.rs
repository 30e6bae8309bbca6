//! The result as a person reads it: what was asked for, what came of it, whether to believe it, and where the time went.

use std::fmt::Write;

use hdrhistogram::Histogram;
use loadline_engine::{ErrorKind, Load, Options, Record, Reuse};
use loadline_report::{count, time};
use loadline_spec::cpus::show_cpus;

use super::watchdog::Verdict;

/// Below this many a second, a rate has digits after the point.
const WHOLE_FROM: f64 = 100.0;

/// The line before the load: what will be done.
pub fn head(load: &Load, options: &Options) -> String {
    let connections = match options.connections {
        1 => "1 connection".to_owned(),
        connections => format!("{} connections", count(connections as u64)),
    };
    let protocol = match options.streams.map(|streams| streams.get()) {
        None => String::new(),
        Some(1) => ", HTTP/2".to_owned(),
        Some(streams) => format!(", HTTP/2 with {streams} streams each"),
    };
    let reuse = match options.reuse {
        Reuse::Always => String::new(),
        Reuse::Times(times) => format!(", opened anew after {} requests", count(times)),
        Reuse::Never => ", opened anew for each request".to_owned(),
    };
    let threads =
        if options.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", options.threads) };
    let cpus = match options.cpus.as_slice() {
        [] => String::new(),
        [cpu] => format!(" on CPU {cpu}"),
        cpus => format!(" on CPUs {}", show_cpus(cpus)),
    };
    format!("{load}, {connections}{protocol}{reuse}, {threads}{cpus}")
}

/// The result. `red` wraps a text in the colour of warnings, or doesn't.
pub fn result(load: &Load, record: &Record, verdict: &Verdict, red: impl Fn(&str) -> String) -> String {
    let mut text = String::new();
    for doubt in &verdict.doubts {
        // Writing to a string can't fail.
        let _ = writeln!(text, "  {} {}", red("not to be trusted:"), doubt.sentence());
    }
    if record.stopped {
        let _ = writeln!(text, "  interrupted after {:.1} s", record.duration.as_secs_f64());
    }
    let _ = writeln!(
        text,
        "  {} sent · {} answered · {}{} · {}/s",
        // Every request that was written has its send lag.
        count(record.send_lag.len()),
        count(record.answered),
        errors(record.errors.total()),
        by_kind(record),
        rate(record.answered_per_second())
    );
    let _ = writeln!(text, "  {:10}{:>10}{:>10}{:>10}{:>10}{:>10}", "", "p50", "p90", "p99", "p99.9", "max");
    text += &row("response", &record.response, "from the moment it was due");
    text += &row("service", &record.service, "from the moment it was sent");
    // In a closed loop nothing is due before its connection is free.
    if !load.is_closed() {
        text += &row("send lag", &record.send_lag, "the generator's own error");
    }
    if !record.wait.is_empty() {
        let meaning = format!("for a free connection ({} requests)", count(record.wait.len()));
        text += &row("waiting", &record.wait, &meaning);
    }
    // The connections that every load begins with are worth a row only when their handshakes are.
    if record.reconnects > 0 || !record.handshake.is_empty() {
        text += &row("connect", &record.connect, &handshakes("TCP", &record.connect));
    }
    if !record.handshake.is_empty() {
        text += &row("TLS", &record.handshake, &handshakes("TLS", &record.handshake));
    }
    if !record.resolve.is_empty() {
        let meaning = format!("looking up the name ({} times)", count(record.resolve.len()));
        text += &row("DNS", &record.resolve, &meaning);
    }
    text
}

fn errors(total: u64) -> String {
    if total == 1 { "1 error".to_owned() } else { format!("{} errors", count(total)) }
}

fn by_kind(record: &Record) -> String {
    let seen = ErrorKind::ALL.into_iter().filter(|kind| record.errors.of(*kind) > 0);
    let kinds: Vec<String> =
        seen.map(|kind| format!("{} {}", count(record.errors.of(kind)), words(kind))).collect();
    if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) }
}

fn words(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Connect => "not connected",
        ErrorKind::Timeout => "timed out",
        ErrorKind::Reset => "reset",
        ErrorKind::EarlyEnd => "ended early",
        ErrorKind::Malformed => "not HTTP",
        ErrorKind::Status => "unexpected status",
        ErrorKind::Header => "unexpected header",
        ErrorKind::Body => "unexpected body",
    }
}

fn handshakes(protocol: &str, times: &Histogram<u64>) -> String {
    match times.len() {
        1 => format!("one handshake of {protocol}"),
        many => format!("{} handshakes of {protocol}", count(many)),
    }
}

fn rate(per_second: f64) -> String {
    // A load that was stopped at once has no length.
    let per_second = if per_second.is_finite() { per_second } else { 0.0 };
    if per_second >= WHOLE_FROM { count(per_second.round() as u64) } else { format!("{per_second:.2}") }
}

fn row(name: &str, times: &Histogram<u64>, meaning: &str) -> String {
    let shown = |ns: u64| if times.is_empty() { "–".to_owned() } else { time(ns as f64) };
    let at = |quantile| shown(times.value_at_quantile(quantile));
    format!(
        "  {name:10}{:>10}{:>10}{:>10}{:>10}{:>10}    {meaning}\n",
        at(0.5),
        at(0.9),
        at(0.99),
        at(0.999),
        shown(times.max())
    )
}
