//! Values of a load, read alike from an experiment and from the flags of `loadline load`.

use std::time::Duration;

use loadline_model::load::{Think, ThinkDistribution, Timestamps};

use super::error::Complaint;
use super::units::{parse_duration_within, show_duration_briefly};

/// Most requests at once on a connection of HTTP/2: more than any service allows.
pub const MAX_STREAMS: u64 = 10_000;

/// Longest time that a user thinks.
const MAX_THINK: Duration = Duration::from_secs(24 * 3600);

/// Reads `100ms`, which is exponential, or `100ms:fixed`.
pub fn think(text: &str) -> Result<Think, Complaint> {
    let (mean, distribution) = match text.split_once(':') {
        None => (text, ThinkDistribution::Exponential),
        Some((mean, "fixed")) => (mean, ThinkDistribution::Constant),
        Some((_, other)) => {
            return Err(Complaint::new(format!("`{other}` is not a kind of think time"))
                .help("write 100ms, which is exponential, or 100ms:fixed"));
        }
    };
    let mean = parse_duration_within(mean, "a think time", Duration::from_nanos(1), MAX_THINK)?;
    Ok(Think { mean, distribution })
}

/// What [`think`] reads.
pub fn show_think(think: Think) -> String {
    let mean = show_duration_briefly(think.mean);
    match think.distribution {
        ThinkDistribution::Exponential => mean,
        ThinkDistribution::Constant => format!("{mean}:fixed"),
    }
}

/// Reads `user` or `kernel`.
pub fn timestamps(text: &str) -> Result<Timestamps, Complaint> {
    match text.trim() {
        "user" => Ok(Timestamps::User),
        "kernel" => Ok(Timestamps::Kernel),
        other => {
            Err(Complaint::new(format!("`{other}` is not a source of timestamps"))
                .help("write user or kernel"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn think_times_are_exponential_unless_they_are_fixed() {
        let mean = Duration::from_millis(100);
        let of = |distribution| Ok(Think { mean, distribution });
        assert_eq!(think("100ms"), of(ThinkDistribution::Exponential));
        assert_eq!(think("100ms:fixed"), of(ThinkDistribution::Constant));
        for text in ["100ms", "100ms:fixed"] {
            assert_eq!(show_think(think(text).unwrap()), text);
        }
        assert!(think("100ms:normal").is_err());
        assert!(think("100").is_err());
        assert!(think("0s").is_err());
    }
}
