//! Histograms of times, all with the same bounds, so that any two can be merged.

use std::sync::OnceLock;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{DeserializeError, Deserializer, Serializer, V2Serializer};

/// Longest time that a histogram holds, 1 h; what is longer is recorded as this.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Significant decimal digits kept of every time: 0.1 %.
const DIGITS: u8 = 3;

/// An empty histogram of times in ns, as all of loadline's are: 1 ns to 1 h, three digits.
pub fn new_histogram() -> Histogram<u64> {
    // The bounds are constants that fit the constructor's rules: low >= 1, high >= 2 low, digits <= 5.
    Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("constant bounds are valid")
}

/// An empty histogram, for its bounds and those of its buckets.
pub(crate) fn bounds() -> &'static Histogram<u64> {
    static BOUNDS: OnceLock<Histogram<u64>> = OnceLock::new();
    BOUNDS.get_or_init(new_histogram)
}

/// HdrHistogram's V2 encoding, uncompressed: runs of zero counts are short in it already.
pub fn encode_histogram(histogram: &Histogram<u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    // The only errors are those of the writer, and a Vec has none, and of counts beyond 63 bits.
    V2Serializer::new().serialize(histogram, &mut bytes).expect("histograms serialise to memory");
    bytes
}

/// Reads what [`encode_histogram`] wrote.
///
/// # Errors
/// When it is no histogram, or one with other bounds.
pub fn decode_histogram(mut bytes: &[u8]) -> Result<Histogram<u64>, HistogramError> {
    let histogram: Histogram<u64> =
        Deserializer::new().deserialize(&mut bytes).map_err(HistogramError::Encoding)?;
    let of = |histogram: &Histogram<u64>| (histogram.low(), histogram.high(), histogram.sigfig());
    if of(&histogram) == of(bounds()) { Ok(histogram) } else { Err(HistogramError::Bounds) }
}

/// Why bytes are no histogram of loadline's.
#[derive(Debug, thiserror::Error)]
pub enum HistogramError {
    /// They are none at all.
    #[error("not a histogram: {0}")]
    Encoding(DeserializeError),
    /// It can't be merged with others.
    #[error("a histogram with other bounds than loadline's")]
    Bounds,
}

/// A histogram in a document: base64 of what [`encode_histogram`] makes of it.
pub(crate) mod as_text {
    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;
    use hdrhistogram::Histogram;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{decode_histogram, encode_histogram};

    pub fn serialize<S: Serializer>(histogram: &Histogram<u64>, serializer: S) -> Result<S::Ok, S::Error> {
        BASE64_STANDARD.encode(encode_histogram(histogram)).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Histogram<u64>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = BASE64_STANDARD.decode(text).map_err(D::Error::custom)?;
        decode_histogram(&bytes).map_err(D::Error::custom)
    }
}
