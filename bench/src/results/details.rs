//! The tables behind the answer, each with what one must know to read it.

use crate::contestant::Since;
use crate::memory::{Memory, Opened};
use crate::rate::{CONNECTIONS, Fixed, Poisson, Row, Run};
use crate::results::table::{megabytes, signed_spread, spread, table};
use crate::saturation::{REFERENCE, Saturation};
use crate::spread::Spread;

pub fn saturation(tables: &[Saturation]) -> String {
    if tables.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "## Closed loop at full speed\n\nCPU time is user and system time of the generator's whole process, its start included, \
         over the requests that the server counted. Ratios are to {REFERENCE} in the same round. The bare epoll loop writes \
         a fixed request and reads as many bytes as the response has: only a generator that reads \
         several responses after one wait can go below it.\n\n"
    );
    for each in tables {
        let reference = each.row(REFERENCE);
        let rows = each.rows.iter().map(|row| {
            let ratio =
                |of: &[f64], to: Option<&[f64]>| spread(to.and_then(|to| Spread::of_ratios(of, to)), 1.0, 3);
            let count = |values: &[f64]| Spread::of(values.iter().copied());
            let note = if row.miscounts > 0 {
                format!("{}: its count is not the server's in {} rounds", row.name, row.miscounts)
            } else {
                row.name.clone()
            };
            vec![
                note,
                spread(count(&row.cpu_ns), 1e3, 2),
                ratio(&row.cpu_ns, reference.map(|row| row.cpu_ns.as_slice())),
                spread(count(&row.per_second), 1.0, 0),
                ratio(&row.per_second, reference.map(|row| row.per_second.as_slice())),
            ]
        });
        let head = ["", "CPU µs a request", "ratio", "requests a second", "ratio"];
        text += &format!("### {} connections\n\n{}\n", each.connections, table(&head, rows));
    }
    text
}

pub fn fixed(tables: &[Fixed]) -> String {
    if tables.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "## Fixed rates\n\n{CONNECTIONS} connections, an even schedule. The truth is taken from the kernel's own timestamps of the \
         very same requests: a packet socket on the loopback device with SO_TIMESTAMPING, from the request's leaving to the \
         arrival of the response's last segment. An error is what the generator reports less the truth of that run. \
         Response times count from the moment a request was due and contain the generator's own lag; service times count \
         from its sending.\n\n\
         Gap: by how much the time between two requests differs from the even one. Lag on the wire: how long after its place \
         on an even schedule a request left, with the schedule aligned to the earliest. Rate: requests that left as a share \
         of those asked for; and a second, from the first one's leaving to the last one's. wrk knows no rate and is left out. \
         hey's rate is one of each connection, its times have steps of 100 µs. oha, hey, k6 and vegeta connect while they \
         measure.\n\n"
    );
    for each in tables {
        let seconds = each.time.as_secs_f64();
        text += &format!("### {}/s, {seconds} s a run\n\n", each.rate);
        let head = ["", "reports", "true p50 µs", "error µs", "true p99 µs", "error µs"];
        text += &table(&head, each.rows.iter().flat_map(exactness));
        text += "\nOf what counts from the moment a request was due, against the arrival of the response since its place on the \
                 even schedule:\n\n";
        text += &table(&head, each.rows.iter().filter_map(from_due));
        text += "\n";
        let head =
            ["", "rate %", "rate /s", "gap, p99 µs", "lag on the wire, p99 µs", "own send lag, p99 µs"];
        text += &table(&head, each.rows.iter().map(rate));
        text += "\n";
        for row in &each.rows {
            let untrusted = row.runs.iter().filter(|run| run.account.distrusts_itself).count();
            if untrusted > 0 {
                text += &format!(
                    "{} said itself of {untrusted} runs that they are not to be trusted.\n\n",
                    row.name
                );
            }
        }
    }
    text
}

fn over(row: &Row, figure: impl Fn(&Run) -> Option<f64>) -> Option<Spread> {
    Spread::of(row.runs.iter().filter_map(figure))
}

fn exactness(row: &Row) -> Vec<Vec<String>> {
    let kinds = [(Since::Due, "response time"), (Since::Sent, "service time")];
    let reported =
        kinds.into_iter().filter(|(since, _)| over(row, |run| Some(run.errors(*since)?.p50_ns)).is_some());
    let rows = reported.map(|(since, reports)| {
        vec![
            row.name.clone(),
            reports.to_owned(),
            spread(over(row, |run| Some(run.truth.service.p50_ns)), 1e3, 1),
            signed_spread(over(row, |run| Some(run.errors(since)?.p50_ns)), 1e3, 1),
            spread(over(row, |run| Some(run.truth.service.p99_ns)), 1e3, 1),
            signed_spread(over(row, |run| Some(run.errors(since)?.p99_ns)), 1e3, 1),
        ]
    });
    rows.collect()
}

fn from_due(row: &Row) -> Option<Vec<String>> {
    let p50 = over(row, |run| Some(run.errors_from_due(Since::Due)?.p50_ns));
    p50?;
    Some(vec![
        row.name.clone(),
        "response time".to_owned(),
        spread(over(row, |run| Some(run.truth.response.p50_ns)), 1e3, 1),
        signed_spread(p50, 1e3, 1),
        spread(over(row, |run| Some(run.truth.response.p99_ns)), 1e3, 1),
        signed_spread(over(row, |run| Some(run.errors_from_due(Since::Due)?.p99_ns)), 1e3, 1),
    ])
}

fn rate(row: &Row) -> Vec<String> {
    vec![
        row.name.clone(),
        spread(over(row, |run| Some(run.achieved)), 0.01, 2),
        spread(over(row, |run| Some(run.truth.per_second)), 1.0, 1),
        spread(over(row, |run| Some(run.truth.gap_error.p99_ns)), 1e3, 1),
        spread(over(row, |run| Some(run.truth.lag.p99_ns)), 1e3, 1),
        spread(over(row, |run| Some(run.account.send_lag?.p99_ns)), 1e3, 1),
    ]
}

pub fn poisson(poisson: Option<&Poisson>) -> String {
    let Some(poisson) = poisson else { return String::new() };
    let rows = poisson.rounds.iter().enumerate().map(|(index, (gaps, fit))| {
        vec![
            format!("{}", index + 1),
            format!("{gaps}"),
            format!("{:.3}", fit.statistic),
            format!("{:.3}", fit.p_value),
        ]
    });
    format!(
        "## Poisson arrivals\n\nGaps between requests as they left, at {}/s: the test of Anderson and Darling that they are exponential with \
         the rate asked for. A² reaches 2.49 by chance in 5 % of samples, 3.86 in 1 %. Each round has a seed of its own.\n\n{}\n",
        poisson.rate,
        table(&["round", "gaps", "A²", "p"], rows)
    )
}

pub fn memory(memory: Option<&Memory>) -> String {
    let Some(memory) = memory else { return String::new() };
    let row = |opened: &Opened| {
        vec![
            format!("{}", opened.asked),
            format!("{}", opened.seen),
            megabytes(opened.peak_bytes),
            opened.complaint.clone().unwrap_or_else(|| "no error".to_owned()),
        ]
    };
    let rows = [&memory.connections].into_iter().chain(&memory.most).chain([&memory.many]).map(row);
    format!(
        "## Memory\n\nLargest resident set (VmHWM), and the connections that the server saw open at once. A process may open {} files \
         here.\n\n{}\nAt 20000/s the resident set was {} after 2 s and {} after {:.1} s.\n\n",
        memory.files,
        table(&["connections asked for", "open", "memory", "result"], rows),
        megabytes(memory.flat.settled_bytes),
        megabytes(memory.flat.last_bytes),
        memory.flat.time.as_secs_f64()
    )
}
