//! `loadline load`: the engine alone, against a URL.

use std::net::ToSocketAddrs;
use std::time::Duration;

use anyhow::{Context, Result};
use hdrhistogram::Histogram;
use loadline_engine::{
    Arrivals, Endpoint, Engine, ErrorKind, Load, Mix, Options, Rate, Record, Request, SliceSpec,
};
use loadline_experiment::gates;
use loadline_experiment::spec::units::parse_duration;

use crate::arguments::LoadArguments;
use crate::exit::{Exit, UsageError};
use crate::interrupt;

pub fn load(arguments: &LoadArguments) -> Result<Exit> {
    let (endpoint, path) = target(&arguments.url)?;
    let slice = slice(arguments)?;
    let mix =
        Mix::new(&[request(arguments, path)?], &endpoint).map_err(|error| UsageError(error.to_string()))?;
    let threads = count("--threads", &arguments.threads, 1024)?;
    let options = Options {
        connections: count("--connections", &arguments.connections, 65_535)?,
        threads,
        cpus: cpus(arguments.cpus.as_deref())?,
        timeout: duration("--timeout", &arguments.timeout)?,
        stop: interrupt::stop_flag()?,
        ..Options::new(endpoint, mix)
    };
    if options.connections < threads {
        return Err(UsageError(format!(
            "--connections {} is less than --threads {threads}: every thread needs one",
            options.connections
        ))
        .into());
    }
    println!("{}, {} connections, {}", slice.load, options.connections, placement(&options));
    let record = Engine::start(&options)?.drive(slice.clone())?;
    print(&record);
    let late = gates::failures(&slice.load, &record, None);
    for failure in &late {
        println!("  not to be trusted: {}; {}", failure.text, failure.gate.remedy());
    }
    Ok(match (record.stopped, late.is_empty()) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Done,
        (false, false) => Exit::Untrusted,
    })
}

fn target(url: &str) -> Result<(Endpoint, String)> {
    let parsed = url::Url::parse(url)
        .map_err(|error| UsageError(format!("`{url}` is no URL: {error}; write http://HOST:PORT/PATH")))?;
    if parsed.scheme() != "http" {
        return Err(UsageError(format!("`{url}`: only http:// is known to this version")).into());
    }
    let (host, port) = (parsed.host_str().unwrap_or_default(), parsed.port().unwrap_or(80));
    let address = (host.trim_matches(['[', ']']), port)
        .to_socket_addrs()
        .ok()
        .and_then(|mut addresses| addresses.next())
        .ok_or_else(|| UsageError(format!("`{host}` has no address: check the name")))?;
    let authority = match parsed.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    };
    let path = match parsed.query() {
        Some(query) => format!("{}?{query}", parsed.path()),
        None => parsed.path().to_owned(),
    };
    Ok((Endpoint { authority, ..Endpoint::from(address) }, path))
}

fn slice(arguments: &LoadArguments) -> Result<SliceSpec> {
    let load = match &arguments.rate {
        None => Load::Closed { think: None },
        Some(rate) => Load::Open {
            rate: rate.parse::<Rate>().map_err(|error| UsageError(format!("--rate: {error}")))?,
            arrivals: match arguments.arrivals.as_str() {
                "uniform" => Arrivals::Uniform,
                "poisson" => Arrivals::Poisson,
                other => {
                    return Err(UsageError(format!("--arrivals {other}: write uniform or poisson")).into());
                }
            },
        },
    };
    Ok(SliceSpec {
        load,
        duration: duration("--for", &arguments.duration)?,
        seed: arguments.seed,
        offset: Duration::ZERO,
    })
}

fn request(arguments: &LoadArguments, path: String) -> Result<Request> {
    let mut headers = Vec::new();
    for line in &arguments.header {
        let (name, value) = line
            .split_once(':')
            .ok_or_else(|| UsageError(format!("--header '{line}': write 'Name: value'")))?;
        headers.push((name.trim().to_owned(), value.trim().to_owned()));
    }
    Ok(Request {
        method: arguments.method.clone(),
        path,
        headers,
        body: arguments.body.clone().into_bytes(),
        weight: 1,
    })
}

fn duration(flag: &str, text: &str) -> Result<Duration> {
    match parse_duration(text) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        Ok(_) => Err(UsageError(format!("{flag} {text}: must be longer than nothing")).into()),
        Err(complaint) => Err(UsageError(format!("{flag} {text}: {complaint}")).into()),
    }
}

fn count(flag: &str, text: &str, most: usize) -> Result<usize> {
    match text.parse() {
        Ok(count) if (1..=most).contains(&count) => Ok(count),
        _ => Err(UsageError(format!("{flag} {text}: write a number from 1 to {most}")).into()),
    }
}

fn cpus(text: Option<&str>) -> Result<Vec<usize>> {
    let parse =
        |part: &str| part.trim().parse::<usize>().ok().filter(|cpu| *cpu < rustix::thread::CpuSet::MAX_CPU);
    let list: Option<Vec<usize>> = text.map_or(Some(Vec::new()), |text| text.split(',').map(parse).collect());
    let list = list.with_context(|| format!("--cpus {}: write numbers, 0,2", text.unwrap_or_default()));
    Ok(list.map_err(|error| UsageError(error.to_string()))?)
}

fn placement(options: &Options) -> String {
    let threads =
        if options.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", options.threads) };
    match options.cpus.as_slice() {
        [] => threads,
        cpus => {
            let cpus: Vec<String> = cpus.iter().map(usize::to_string).collect();
            format!("{threads} on CPU {}", cpus.join(", "))
        }
    }
}

fn print(record: &Record) {
    println!(
        "  {} due · {} answered · {} errors{} · {:.0}/s",
        record.due,
        record.answered,
        record.errors.total(),
        by_kind(record),
        record.answered_per_second()
    );
    println!("  {:10} {:>9} {:>9} {:>9} {:>9} {:>9}", "", "p50", "p90", "p99", "p99.9", "max");
    row("response", &record.response, "from the moment it was due");
    row("service", &record.service, "from the moment it was sent");
    row("send lag", &record.send_lag, "the generator's own error");
}

fn by_kind(record: &Record) -> String {
    let kinds: Vec<String> = ErrorKind::ALL
        .into_iter()
        .filter(|kind| record.errors.of(*kind) > 0)
        .map(|kind| format!("{} {}", record.errors.of(kind), kind.name()))
        .collect();
    if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) }
}

fn row(name: &str, times: &Histogram<u64>, meaning: &str) {
    let at = |quantile| loadline_report::time(times.value_at_quantile(quantile) as f64);
    let max = loadline_report::time(times.max() as f64);
    println!(
        "  {name:10} {:>9} {:>9} {:>9} {:>9} {max:>9}    {meaning}",
        at(0.5),
        at(0.9),
        at(0.99),
        at(0.999)
    );
}
