//! Histograms as text: HdrHistogram's V2 encoding, uncompressed, in base64. For serde's `with`.
//!
//! The decoder of the library believes the bounds and the length that the bytes name, so these are checked first.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{
    DeserializeError, Deserializer as Decoder, Serializer as Encoder, V2SerializeError, V2Serializer,
};
use serde::{Deserialize, Deserializer, Serializer, de, ser};

/// Cookie, length of the counts, offset, digits (four bytes each), lowest and highest value, ratio (eight each)
/// (HdrHistogram's `AbstractHistogram.encodeIntoByteBuffer`).
const HEADER_BYTES: usize = 40;

/// Where in the header the length of the counts stands, the only part that differs between our histograms.
const LENGTH: std::ops::Range<usize> = 4..8;

/// A run of 2⁶³ zeros, which the decoder can't negate; no count of ours comes near to holding it by chance.
const ENDLESS_RUN: [u8; 9] = [0xff; 9];

/// Why bytes are no histogram of ours.
#[derive(Debug, thiserror::Error)]
enum Unfit {
    #[error("a histogram with different bounds, or a truncated one")]
    Header,
    #[error("a histogram with a run of zeros longer than the histogram itself")]
    Endless,
    #[error("cannot encode a histogram: {0}")]
    Encode(#[from] V2SerializeError),
    #[error("cannot decode a histogram: {0}")]
    Decode(#[from] DeserializeError),
}

pub fn serialize<S: Serializer>(histogram: &Histogram<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    let bytes = encode(histogram).map_err(ser::Error::custom)?;
    serializer.serialize_str(&BASE64_STANDARD.encode(bytes))
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Histogram<u64>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let bytes = BASE64_STANDARD.decode(text).map_err(de::Error::custom)?;
    decode(&bytes).map_err(de::Error::custom)
}

/// Several of them, for serde's `with`.
pub mod list {
    use hdrhistogram::Histogram;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize)]
    #[serde(transparent)]
    struct Borrowed<'a>(#[serde(serialize_with = "super::serialize")] &'a Histogram<u64>);

    #[derive(Deserialize)]
    #[serde(transparent)]
    struct Owned(#[serde(deserialize_with = "super::deserialize")] Histogram<u64>);

    pub fn serialize<S: Serializer>(histograms: &[Histogram<u64>], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(histograms.iter().map(Borrowed))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Histogram<u64>>, D::Error> {
        let owned = Vec::<Owned>::deserialize(deserializer)?;
        Ok(owned.into_iter().map(|Owned(histogram)| histogram).collect())
    }
}

fn encode(histogram: &Histogram<u64>) -> Result<Vec<u8>, Unfit> {
    let mut bytes = Vec::new();
    V2Serializer::new().serialize(histogram, &mut bytes)?;
    Ok(bytes)
}

fn decode(mut bytes: &[u8]) -> Result<Histogram<u64>, Unfit> {
    let ours = encode(&loadline_engine::new_histogram())?;
    let Some((header, counts)) = bytes.split_at_checked(HEADER_BYTES) else { return Err(Unfit::Header) };
    let length = u32::try_from(counts.len()).map_err(|_| Unfit::Header)?;
    let mut expected = ours[..HEADER_BYTES].to_vec();
    expected[LENGTH].copy_from_slice(&length.to_be_bytes());
    if header != expected {
        return Err(Unfit::Header);
    }
    if counts.windows(ENDLESS_RUN.len()).any(|window| window == ENDLESS_RUN) {
        return Err(Unfit::Endless);
    }
    Ok(Decoder::new().deserialize(&mut bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_endless_run_of_zeros_is_refused() {
        let mut bytes = encode(&loadline_engine::new_histogram()).unwrap();
        bytes.truncate(HEADER_BYTES);
        bytes.extend(ENDLESS_RUN);
        bytes[LENGTH].copy_from_slice(&9_u32.to_be_bytes());
        assert!(matches!(decode(&bytes), Err(Unfit::Endless)));
    }

    #[test]
    fn a_histogram_of_other_bounds_is_refused() {
        let other = Histogram::<u64>::new_with_bounds(1, 1000, 3).unwrap();
        assert!(matches!(decode(&encode(&other).unwrap()), Err(Unfit::Header)));
    }

    proptest! {
        #[test]
        fn any_counts_are_read_without_a_panic(counts in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut bytes = encode(&loadline_engine::new_histogram()).unwrap();
            bytes.truncate(HEADER_BYTES);
            bytes[LENGTH].copy_from_slice(&(counts.len() as u32).to_be_bytes());
            bytes.extend(counts);
            let _ = decode(&bytes);
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(decode(&bytes).is_err());
        }

        #[test]
        fn a_histogram_comes_back_as_it_was(
            times in prop::collection::vec((1u64..4_000_000_000_000, 1u64..1 << 40), 0..100),
        ) {
            let mut histogram = loadline_engine::new_histogram();
            for (time, count) in times {
                histogram.saturating_record_n(time, count);
            }
            let back = decode(&encode(&histogram).unwrap()).unwrap();
            prop_assert_eq!(&back, &histogram);
            prop_assert_eq!((back.min(), back.max(), back.len()), (histogram.min(), histogram.max(), histogram.len()));
        }
    }
}
