//! A [`Record`] on the wire: every field of it by its name, times in ns, histograms as [`crate::times`] has them.
//! A field that the engine adds is missed here by the compiler, so that none is ever lost on the way.

use std::time::Duration;

use hdrhistogram::Histogram;
use loadline_engine::{Errors, Record};
use loadline_model::Slowest;
use loadline_model::pauses::Pauses;
use serde::{Deserialize, Serialize};

use crate::times;

/// A record that can be sent.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub struct Recorded(#[serde(with = "Fields")] pub Record);

#[derive(Serialize, Deserialize)]
#[serde(remote = "Record")]
struct Fields {
    #[serde(with = "times")]
    response: Histogram<u64>,
    #[serde(with = "times")]
    service: Histogram<u64>,
    #[serde(with = "times")]
    send_lag: Histogram<u64>,
    #[serde(with = "times")]
    wait: Histogram<u64>,
    #[serde(with = "times")]
    resolve: Histogram<u64>,
    #[serde(with = "times")]
    connect: Histogram<u64>,
    #[serde(with = "times")]
    handshake: Histogram<u64>,
    #[serde(with = "times::list")]
    by_request: Vec<Histogram<u64>>,
    slowest: Slowest,
    due: u64,
    sent_in_time: u64,
    answered: u64,
    answered_in_time: u64,
    waited: u64,
    errors: Errors,
    unsolicited: u64,
    reconnects: u64,
    received_bytes: u64,
    cpu_ns: u64,
    spun_ns: u64,
    pauses: Pauses,
    workers: u32,
    duration: Duration,
    started_ns: u64,
    stopped: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_engine::ErrorKind;
    use loadline_model::pauses::PauseSum;
    use proptest::prelude::*;

    fn histogram() -> impl Strategy<Value = Histogram<u64>> {
        prop::collection::vec((1u64..4_000_000_000_000, 1u64..1_000_000), 0..20).prop_map(|times| {
            let mut histogram = loadline_engine::new_histogram();
            times.into_iter().for_each(|(time, count)| histogram.saturating_record_n(time, count));
            histogram
        })
    }

    fn record() -> impl Strategy<Value = Record> {
        let histograms = prop::collection::vec(histogram(), 7..10);
        let counts = prop::array::uniform11(any::<u64>());
        let errors = prop::collection::vec(0..ErrorKind::ALL.len(), 0..20);
        let pauses = prop::array::uniform6(any::<u64>());
        let rest = (any::<u32>(), any::<Duration>(), any::<bool>(), pauses);
        (histograms, counts, errors, rest).prop_map(|(histograms, counts, failed, rest)| {
            let mut histograms = histograms.into_iter();
            let [response, service, send_lag, wait, resolve, connect, handshake] =
                std::array::from_fn(|_| histograms.next().unwrap());
            let mut errors = Errors::default();
            failed.into_iter().for_each(|kind| errors.count(ErrorKind::ALL[kind]));
            Record {
                response,
                service,
                send_lag,
                wait,
                resolve,
                connect,
                handshake,
                by_request: histograms.collect(),
                slowest: counts.iter().fold(Slowest::default(), |mut slowest, count| {
                    slowest.keep(count / 2, count / 3);
                    slowest
                }),
                due: counts[0],
                sent_in_time: counts[1],
                answered: counts[2],
                answered_in_time: counts[3],
                waited: counts[4],
                errors,
                unsolicited: counts[5],
                reconnects: counts[6],
                received_bytes: counts[7],
                cpu_ns: counts[8],
                spun_ns: counts[10],
                pauses: Pauses {
                    over_200us: PauseSum { count: rest.3[0], total_ns: rest.3[1] },
                    over_1ms: PauseSum { count: rest.3[2], total_ns: rest.3[3] },
                    over_10ms: PauseSum { count: rest.3[4], total_ns: rest.3[5] },
                },
                workers: rest.0,
                duration: rest.1,
                started_ns: counts[9],
                stopped: rest.2,
            }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_record_comes_back_as_it_was(record in record()) {
            let text = serde_json::to_string(&Recorded(record.clone())).unwrap();
            let Recorded(back) = serde_json::from_str(&text).unwrap();
            for (back, was) in [
                (&back.response, &record.response),
                (&back.service, &record.service),
                (&back.send_lag, &record.send_lag),
                (&back.wait, &record.wait),
                (&back.resolve, &record.resolve),
                (&back.connect, &record.connect),
                (&back.handshake, &record.handshake),
            ] {
                prop_assert_eq!(back, was);
            }
            prop_assert_eq!(&back.by_request, &record.by_request);
            prop_assert_eq!(without_times(back), without_times(record));
        }
    }

    /// All of a record but its histograms, as text.
    fn without_times(record: Record) -> String {
        let empty = Record::empty();
        format!(
            "{:?}",
            Record {
                response: empty.response,
                service: empty.service,
                send_lag: empty.send_lag,
                wait: empty.wait,
                resolve: empty.resolve,
                connect: empty.connect,
                handshake: empty.handshake,
                by_request: empty.by_request,
                ..record
            }
        )
    }
}
