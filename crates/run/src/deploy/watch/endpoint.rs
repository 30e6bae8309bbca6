//! The metrics that a service shows itself, in Prometheus' text format: asked for before and after each slice, over a connection of its own
//! from where the client is. Counters, and the counts and sums of histograms and summaries, are added up over their labels.

mod exposition;

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use loadline_machine::Netns;
use loadline_model::Observations;
use loadline_model::metrics::{HigherIs, MetricDeclaration, OWN, Unit};
use loadline_model::runtime::{Runtime, Unseen};
use loadline_observe::{Probe, Target};
use serde::{Deserialize, Serialize};

use exposition::counters;

/// A service that is slower than this is not asked again in this run: it would hold up each slice.
const PATIENCE: Duration = Duration::from_secs(2);
/// More is not read: the rest of it would be of other metrics.
const LONGEST: u64 = 4 << 20;
/// More metrics than these are not kept, in the order of the alphabet.
const MOST_METRICS: usize = 300;

/// Where a service shows its metrics.
pub struct Endpoint {
    pub address: SocketAddr,
    pub authority: String,
    pub path: String,
    /// The namespace behind the wire, if it is asked from there.
    pub client: Option<Netns>,
}

/// Asks for the metrics of a service.
pub(super) struct EndpointProbe {
    endpoint: Endpoint,
    known: BTreeMap<String, Unit>,
    given_up: bool,
}

/// What a service showed, by the names of the metrics.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Reading(BTreeMap<String, Counter>);

/// A figure that only grows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Counter {
    value: f64,
    /// Whether it is a time, in ns.
    is_time: bool,
}

impl EndpointProbe {
    pub(super) fn new(endpoint: Endpoint) -> EndpointProbe {
        EndpointProbe { endpoint, known: BTreeMap::new(), given_up: false }
    }
}

impl Probe for EndpointProbe {
    type Reading = Reading;

    fn name(&self) -> &'static str {
        "endpoint"
    }

    fn metrics(&self) -> Vec<MetricDeclaration> {
        let declare = |(name, unit): (&String, &Unit)| {
            let metric =
                MetricDeclaration { name: name.clone().into(), ..MetricDeclaration::counter("", *unit) };
            match unit {
                // A count of something is only worth a line where somebody asks for it.
                Unit::Nanoseconds => {
                    metric.shown_as(format!("{} per request", &name[OWN.len()..]), HigherIs::Slower)
                }
                _ => metric,
            }
        };
        self.known.iter().map(declare).collect()
    }

    fn read(&mut self, _: &Target<'_>) -> Option<Reading> {
        if self.given_up {
            return None;
        }
        let begun = Instant::now();
        let text = self.endpoint.ask();
        self.given_up = begun.elapsed() >= PATIENCE;
        let reading = Reading::of(&text.ok()?);
        for (name, counter) in &reading.0 {
            let unit = if counter.is_time { Unit::Nanoseconds } else { Unit::Count };
            self.known.insert(name.clone(), unit);
        }
        Some(reading)
    }

    fn runtime(&mut self, _: &Target<'_>) -> Runtime {
        let why = match self.endpoint.ask() {
            Ok(text) if Reading::of(&text).0.is_empty() => {
                "no counter in Prometheus' text format is in the answer".to_owned()
            }
            Ok(_) => return Runtime::default(),
            Err(error) => error.to_string(),
        };
        let unseen = vec![Unseen::NoOwnMetrics { path: self.endpoint.path.clone(), why }];
        Runtime { unseen, ..Runtime::default() }
    }

    fn between(&self, before: &Reading, after: &Reading, seen: &mut Observations) {
        for (name, now) in &after.0 {
            // What was not there before began at zero; what went backwards began anew.
            let then = before.0.get(name).map_or(0.0, |then| then.value);
            if now.value >= then {
                seen.insert(name.clone(), now.value - then);
            }
        }
    }
}

impl Reading {
    fn of(text: &str) -> Reading {
        let counters = counters(text).into_iter().map(|(name, value)| {
            let is_time = name.contains("_seconds") && !name.ends_with("_count");
            let value = if is_time { value * 1e9 } else { value };
            (format!("{OWN}{name}"), Counter { value, is_time })
        });
        Reading(counters.take(MOST_METRICS).collect())
    }
}

impl Endpoint {
    fn ask(&self) -> io::Result<String> {
        match &self.client {
            Some(client) => client.run(|| Ok(self.ask_from_here())).map_err(io::Error::other)?,
            None => self.ask_from_here(),
        }
    }

    /// By HTTP/1.0, so that the body ends where the connection does and has no chunks (RFC 1945).
    fn ask_from_here(&self) -> io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&self.address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let Endpoint { path, authority, .. } = self;
        let request =
            format!("GET {path} HTTP/1.0\r\nHost: {authority}\r\nAccept: text/plain;version=0.0.4\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        let mut bytes = Vec::new();
        stream.take(LONGEST).read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        match head.split_ascii_whitespace().nth(1) {
            Some("200") => Ok(body.to_owned()),
            Some(status) => Err(io::Error::other(format!("its status is {status}"))),
            None => Err(io::Error::other("the answer is not HTTP")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe() -> EndpointProbe {
        EndpointProbe::new(Endpoint {
            address: SocketAddr::from(([127, 0, 0, 1], 1)),
            authority: String::new(),
            path: "/metrics".to_owned(),
            client: None,
        })
    }

    #[test]
    fn what_was_added_is_told_in_the_units_of_loadline() {
        let before =
            Reading::of("# TYPE fetch_seconds histogram\nfetch_seconds_sum 1.5\nfetch_seconds_count 3\n");
        let after =
            Reading::of("# TYPE fetch_seconds histogram\nfetch_seconds_sum 1.75\nfetch_seconds_count 5\n");
        let mut seen = Observations::default();
        probe().between(&before, &after, &mut seen);
        assert_eq!(seen.get("app.fetch_seconds_sum"), Some(0.25e9));
        assert_eq!(seen.get("app.fetch_seconds_count"), Some(2.0));
    }

    #[test]
    fn a_counter_that_began_anew_says_nothing_and_a_new_one_counts_from_zero() {
        let before = Reading::of("# TYPE a_total counter\na_total 9\n");
        let after = Reading::of("# TYPE a_total counter\na_total 2\n# TYPE b_total counter\nb_total 4\n");
        let mut seen = Observations::default();
        probe().between(&before, &after, &mut seen);
        assert_eq!((seen.get("app.a_total"), seen.get("app.b_total")), (None, Some(4.0)));
    }

    #[test]
    fn a_service_that_does_not_answer_shows_nothing() {
        assert!(probe().endpoint.ask().is_err());
    }
}
