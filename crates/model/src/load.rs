//! What load to offer: arrivals at a rate, along a profile or at given times, or a closed loop.

mod base64_bytes;
mod check;
mod connection_options;
mod contents;
mod description;
mod profile;
mod protocol;
mod rate;
mod replay;
mod request;
mod reuse;
mod spec;
mod time_text;
mod tls;

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use check::{ResponseCheck, ResponseCheckError, TextCheck};
pub use connection_options::ConnectionOptions;
pub use contents::FileContents;
pub use description::{LoadDescription, Traffic};
pub use profile::{Intensity, Inverse, Profile, ProfileError};
pub use protocol::{Protocol, Timestamps};
pub use rate::{Rate, RateError, RateUnit, parse_rate_or_zero};
pub use replay::{Replay, ReplayError, parse_replay};
pub use request::Request;
pub use reuse::Reuse;
pub use spec::{DEFAULT_TIMEOUT, LoadSpec};
pub use time_text::{SECOND, TimeError, parse_time, show_time};
pub use tls::{ClientIdentity, TlsOptions};

/// A moment or a span of time, ns.
pub type Nanos = u64;

/// A duration in ns; what does not fit 64 bits (584 years) is cut.
#[inline]
pub fn nanos(duration: Duration) -> Nanos {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// How requests arrive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// Requests are due at times of their own, whatever the service does (open loop).
    Open {
        /// Mean rate of arrivals.
        rate: Rate,
        /// How the gaps between arrivals are distributed.
        arrivals: Arrivals,
    },
    /// An open loop whose rate changes with time.
    Profile {
        /// The mean rate at each time.
        profile: Profile,
        /// How the gaps between arrivals are distributed.
        arrivals: Arrivals,
    },
    /// An open loop whose due times were written down.
    Replay(Replay),
    /// Each connection sends its next request once the last one is answered (closed loop).
    Closed {
        /// What passes between an answer and the next request of its connection; `None`: nothing.
        think: Option<Think>,
    },
}

impl Load {
    /// Whether each answer lets the next request go.
    pub fn is_closed(&self) -> bool {
        matches!(self, Load::Closed { .. })
    }

    /// The think time of a closed loop that has one.
    pub fn think(&self) -> Option<Think> {
        match self {
            Load::Closed { think } => *think,
            _ => None,
        }
    }

    /// The rate of an open loop that has one rate throughout.
    pub fn rate(&self) -> Option<Rate> {
        match self {
            Load::Open { rate, .. } => Some(*rate),
            Load::Profile { profile, .. } => profile.as_constant(),
            Load::Replay(_) | Load::Closed { .. } => None,
        }
    }

    /// The shortest slice that holds all of a load that changes with time: each slice plays its profile or replay from the start. Zero where
    /// the load is the same throughout.
    pub fn shortest_slice(&self) -> Duration {
        match self {
            Load::Profile { profile, .. } => profile.timed_duration(),
            Load::Replay(replay) => replay.duration(),
            Load::Open { .. } | Load::Closed { .. } => Duration::ZERO,
        }
    }

    /// What a slice of this length offers on average, as a load that any part of a slice has its share of: a profile or replay becomes an
    /// open loop at its mean rate, any other load stays what it is.
    ///
    /// # Errors
    /// When next to nothing is due in a slice.
    pub fn averaged(&self, slice: Duration) -> Result<Load, RateError> {
        let arrivals = match self {
            Load::Profile { arrivals, .. } => *arrivals,
            Load::Replay(_) => Arrivals::Poisson,
            Load::Open { .. } | Load::Closed { .. } => return Ok(self.clone()),
        };
        let per_second = self.expected(slice).unwrap_or_default() / slice.as_secs_f64();
        Ok(Load::Open { rate: Rate::per_second(per_second)?, arrivals })
    }

    /// How many requests are expected to be due in a slice of this duration; `None` in a closed loop.
    pub fn expected(&self, duration: Duration) -> Option<f64> {
        match self {
            Load::Open { rate, .. } => Some(rate.as_per_second() * duration.as_secs_f64()),
            Load::Profile { profile, .. } => Some(profile.expected(duration)),
            Load::Replay(replay) => Some(replay.count_before(duration) as f64),
            Load::Closed { .. } => None,
        }
    }
}

/// The arrival process of an open loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Exponential gaps: independent clients. The default, because that is what many users look like to a service.
    #[default]
    Poisson,
    /// Equal gaps.
    Uniform,
}

/// Think time of a closed loop: from an answer to the next request of the same connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Think {
    /// Its mean.
    pub mean: Duration,
    /// How it varies.
    pub distribution: ThinkDistribution,
}

/// How think times vary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThinkDistribution {
    /// Exponential: the classic closed model with a think station.
    #[default]
    Exponential,
    /// Always the mean.
    Constant,
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Load::Open { rate, arrivals } => write!(f, "{rate} {arrivals}"),
            Load::Profile { profile, arrivals } => write!(f, "{profile} {arrivals}"),
            Load::Replay(replay) => write!(f, "{replay}"),
            Load::Closed { think: None } => write!(f, "closed loop"),
            Load::Closed { think: Some(think) } => write!(f, "closed loop, {think}"),
        }
    }
}

impl fmt::Display for Arrivals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Arrivals::Poisson => "Poisson",
            Arrivals::Uniform => "uniform",
        })
    }
}

impl fmt::Display for Think {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mean = show_time(nanos(self.mean));
        match self.distribution {
            ThinkDistribution::Exponential => write!(f, "exponential think time, mean {mean}"),
            ThinkDistribution::Constant => write!(f, "think time of {mean}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_says_what_it_is() {
        let think = Think { mean: Duration::from_millis(1500), distribution: ThinkDistribution::Exponential };
        for (load, text) in [
            (Load::Open { rate: "90/min".parse().unwrap(), arrivals: Arrivals::Poisson }, "90/min Poisson"),
            (
                Load::Profile { profile: "1/s..2/s@3s".parse().unwrap(), arrivals: Arrivals::Uniform },
                "1/s..2/s@3s uniform",
            ),
            (Load::Closed { think: None }, "closed loop"),
            (Load::Closed { think: Some(think) }, "closed loop, exponential think time, mean 1500ms"),
        ] {
            assert_eq!(load.to_string(), text);
        }
    }

    #[test]
    fn a_load_that_changes_is_averaged_over_the_slice_that_holds_all_of_it() {
        let slice = Duration::from_secs(2);
        let profile = Load::Profile { profile: "0/s..20/s@2s".parse().unwrap(), arrivals: Arrivals::Uniform };
        let replay = Load::Replay(Replay::new("t".into(), vec![0, 1, 1_999_999_999]));
        for (load, per_second) in [(&profile, 10.0), (&replay, 1.5)] {
            assert_eq!(load.shortest_slice(), slice);
            assert_eq!(load.averaged(slice).unwrap().rate().unwrap().as_per_second(), per_second);
        }
        let closed = Load::Closed { think: None };
        assert_eq!(closed.averaged(slice).unwrap(), closed);
        assert!(Load::Replay(Replay::new("t".into(), Vec::new())).averaged(slice).is_err());
    }

    #[test]
    fn what_is_expected_of_a_load_is_its_rate_times_its_time() {
        let duration = Duration::from_secs(10);
        let open = Load::Open { rate: "90/min".parse().unwrap(), arrivals: Arrivals::Poisson };
        assert_eq!(open.expected(duration), Some(15.0));
        let profile = Load::Profile { profile: "10/s@2s,1/s".parse().unwrap(), arrivals: Arrivals::Uniform };
        assert_eq!(profile.expected(duration), Some(28.0));
        assert_eq!(Load::Closed { think: None }.expected(duration), None);
    }
}
