//! A rate over time: constant stretches, ramps and steps, written `1000/s..5000/s@30s,5000/s`.
//!
//! What a schedule needs of it is the [`Intensity`]: how many requests are due by a time, and its inverse.

mod intensity;
mod read;

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use intensity::{Intensity, Inverse};
pub use read::ProfileError;

use super::{Nanos, Rate, nanos};

/// A rate that changes with time, kept as it was written so that it can be printed back.
///
/// Segments are separated by commas: `2000/s@30s` is constant for 30 s, `1000/s..5000/s@30s` a straight ramp over 30 s,
/// `2000/s` constant until the end, and so only the last one. A single ramp without a time lasts as long as the load. When
/// the load lasts longer than the segments, the last rate goes on. A rate may be `0/s`, but not throughout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Profile {
    text: String,
    /// At least one, and only the last one without its time.
    segments: Vec<Segment>,
}

/// One stretch of a profile; the rates are equal unless it is a ramp.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Segment {
    /// Requests per second at its beginning.
    from: f64,
    /// Requests per second at its end.
    to: f64,
    /// How long it lasts; `None`: until the end of the load.
    lasts: Option<Nanos>,
}

impl Profile {
    /// The same rate from the beginning to the end.
    pub fn constant(rate: Rate) -> Profile {
        let per_second = rate.as_per_second();
        let segment = Segment { from: per_second, to: per_second, lasts: None };
        Profile { text: rate.to_string(), segments: vec![segment] }
    }

    /// The rate of a profile that was written as a rate and no more: `2000/s`.
    pub fn as_constant(&self) -> Option<Rate> {
        self.text.parse().ok()
    }

    /// How long its segments last together; `None` when the last one goes on until the end of the load.
    pub fn duration(&self) -> Option<Duration> {
        let total: Option<Nanos> = self.segments.iter().map(|segment| segment.lasts).sum();
        total.map(Duration::from_nanos)
    }

    /// How long its segments last that say so; a last one without a time follows.
    pub fn timed_duration(&self) -> Duration {
        Duration::from_nanos(self.segments.iter().filter_map(|segment| segment.lasts).sum())
    }

    /// The highest rate, requests per second.
    pub fn peak_per_second(&self) -> f64 {
        self.segments.iter().map(|segment| segment.from.max(segment.to)).fold(0.0, f64::max)
    }

    /// How many requests a load of this duration is expected to hold.
    pub fn expected(&self, duration: Duration) -> f64 {
        self.over(duration).count_by(nanos(duration) as f64)
    }

    /// Its intensity in a load of this duration.
    pub fn over(&self, duration: Duration) -> Intensity {
        let whole = nanos(duration);
        let stretch = |segment: &Segment| (segment.from, segment.to, segment.lasts.unwrap_or(whole) as f64);
        // The last rate goes on after the last segment, however that ended.
        let last = self.segments.last().map_or(0.0, |segment| segment.to);
        Intensity::new(self.segments.iter().map(stretch), last)
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<Profile> for String {
    fn from(profile: Profile) -> String {
        profile.text
    }
}

impl TryFrom<String> for Profile {
    type Error = ProfileError;

    fn try_from(text: String) -> Result<Profile, ProfileError> {
        text.parse()
    }
}
