//! All that a load engine can do to a service, in one serialisable value: `loadline load`, experiments and agents have it from here.

use serde::{Deserialize, Serialize};

use super::{FileContents, LoadSpec, Request, ResponseCheck, TlsOptions};

/// What an engine is to do to a service: when requests are due, over which connections, what they say, and what is expected of the
/// responses. Where the service is, and on which CPUs the engine runs, is not part of it.
///
/// Serialised, it carries the due times of a replay and the contents of its files, among them a client's private key: it is for an engine
/// on another machine, and never for a store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadDescription {
    /// When, and over which connections.
    #[serde(with = "with_due_times")]
    pub load: LoadSpec,
    /// What.
    pub traffic: Traffic,
}

/// What is sent to a service and expected of it, under whatever load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Traffic {
    /// The request mix; each is sent in proportion to its weight.
    pub requests: Vec<Request>,
    /// CSV whose rows fill the requests' placeholders.
    pub feed: Option<FileContents>,
    /// What a response must be; none of them: a status from 200 to 299.
    pub expect: Vec<ResponseCheck>,
    /// TLS, unless the service speaks plain text.
    pub tls: Option<TlsOptions<FileContents>>,
}

impl Traffic {
    /// These requests, without anything else.
    pub fn of(requests: Vec<Request>) -> Traffic {
        Traffic { requests, feed: None, expect: Vec::new(), tls: None }
    }
}

/// A load together with the due times of its replay, which what is stored of a load leaves out.
mod with_due_times {
    use std::borrow::Cow;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::load::{Load, LoadSpec, Nanos};

    #[derive(Serialize, Deserialize)]
    struct Shape<'a> {
        spec: Cow<'a, LoadSpec>,
        /// From each due time to the next, the first from 0: shorter than the times, and never descending.
        due_gaps_ns: Option<Vec<Nanos>>,
    }

    pub fn serialize<S: Serializer>(load: &LoadSpec, serializer: S) -> Result<S::Ok, S::Error> {
        let due_gaps_ns = match &load.load {
            Load::Replay(replay) => {
                let times = replay.times();
                let before = std::iter::once(&0).chain(times.iter());
                Some(times.iter().zip(before).map(|(time, before)| time - before).collect())
            }
            _ => None,
        };
        Shape { spec: Cow::Borrowed(load), due_gaps_ns }.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LoadSpec, D::Error> {
        let Shape { spec, due_gaps_ns } = Shape::deserialize(deserializer)?;
        let mut spec = spec.into_owned();
        if let Load::Replay(replay) = &mut spec.load {
            let mut last: Nanos = 0;
            let mut times = Vec::new();
            for gap in due_gaps_ns.unwrap_or_default() {
                last = last.checked_add(gap).ok_or_else(|| D::Error::custom("a due time is too late"))?;
                times.push(last);
            }
            *replay = replay
                .with_times(times)
                .ok_or_else(|| D::Error::custom("the number of due times is not that of the replay"))?;
        }
        Ok(spec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{ClientIdentity, Load, Replay};

    fn file(path: &str, text: &str) -> FileContents {
        FileContents { path: path.into(), bytes: text.as_bytes().into() }
    }

    fn description(times: Vec<u64>) -> LoadDescription {
        let replay = Replay::new("times.txt".into(), times);
        let traffic = Traffic {
            feed: Some(file("users.csv", "id\n1\n")),
            expect: vec!["body~ok".parse().unwrap()],
            tls: Some(TlsOptions {
                identity: Some(ClientIdentity {
                    certificate: file("client.pem", "PUBLIC"),
                    key: file("client.key", "SECRET"),
                }),
                ..TlsOptions::default()
            }),
            ..Traffic::of(vec![Request { body: vec![0, 255], ..Request::get("/") }])
        };
        LoadDescription { load: LoadSpec::new(Load::Replay(replay), 2), traffic }
    }

    #[test]
    fn it_travels_whole() {
        let sent = description(vec![0, 5, 5, 1_000_000_000]);
        let text = serde_json::to_string(&sent).unwrap();
        let received: LoadDescription = serde_json::from_str(&text).unwrap();
        assert_eq!(received, sent);
        let Load::Replay(replay) = received.load.load else { panic!() };
        assert_eq!(*replay.times(), [0, 5, 5, 1_000_000_000]);
    }

    #[test]
    fn due_times_that_are_not_all_there_are_refused() {
        let text = serde_json::to_string(&description(vec![1, 2])).unwrap();
        for wrong in ["[1]", "[1,1,1]", "null", "[1,18446744073709551615]"] {
            let text = text.replace("\"due_gaps_ns\":[1,1]", &format!("\"due_gaps_ns\":{wrong}"));
            assert!(text.contains(wrong), "{text}");
            assert!(serde_json::from_str::<LoadDescription>(&text).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_private_key_is_not_printed() {
        let printed = format!("{:?}", description(Vec::new()));
        assert!(printed.contains("client.key (6 bytes)") && !printed.contains("SECRET"), "{printed}");
    }
}
