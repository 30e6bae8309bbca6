//! HdrHistogram's V2 encoding, read without the 33,000 buckets of the whole histogram: a header of 40 bytes, then numbers as zig-zag LEB128,
//! a count for each bucket in ascending order, or, where negative, how many empty buckets come next
//! (<https://github.com/HdrHistogram/HdrHistogram>, `AbstractHistogram.fillBufferFromCountsArray`). A store of 10,000 slices is read in half of
//! the time.

use std::sync::OnceLock;

use crate::histogram::{bounds, encode_histogram};

const HEADER: usize = 40;
/// Where the header says how many bytes come after it; the rest of it is the same for all of our histograms.
const LENGTH: std::ops::Range<usize> = 4..8;
/// Bytes of a number at most; the last one has eight bits.
const LONGEST: usize = 9;

/// The lowest value of each bucket that holds any, and how many. `None` if it is none of our histograms, which the library can say better why.
pub fn buckets(bytes: &[u8]) -> Option<Vec<(u64, u64)>> {
    let (header, rest) = bytes.split_at_checked(HEADER)?;
    let (length, ours) = (u32::from_be_bytes(header[LENGTH].try_into().ok()?), header_of_ours());
    if header[..LENGTH.start] != ours[..LENGTH.start] || header[LENGTH.end..] != ours[LENGTH.end..] {
        return None;
    }
    let (mut numbers, mut index, mut buckets) = (rest.get(..length as usize)?, 0_usize, Vec::new());
    while !numbers.is_empty() {
        let number = number(&mut numbers)?;
        if number > 0 {
            buckets.push((*lowest_values().get(index)?, number.unsigned_abs()));
        }
        let passed = if number < 0 { usize::try_from(number.unsigned_abs()).ok()? } else { 1 };
        index = index.checked_add(passed).filter(|index| *index <= lowest_values().len())?;
    }
    let fits = buckets.iter().try_fold(0_u64, |sum, (_, count)| sum.checked_add(*count)).is_some();
    fits.then_some(buckets)
}

/// Takes a number from the front.
fn number(bytes: &mut &[u8]) -> Option<i64> {
    let mut encoded = 0;
    for at in 0..LONGEST {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let is_last = at + 1 == LONGEST;
        let bits = if is_last { *byte } else { byte & 0x7f };
        encoded |= u64::from(bits) << (7 * at);
        if is_last || byte & 0x80 == 0 {
            break;
        }
    }
    Some((encoded >> 1) as i64 ^ -((encoded & 1) as i64))
}

fn header_of_ours() -> &'static [u8] {
    static OURS: OnceLock<Vec<u8>> = OnceLock::new();
    OURS.get_or_init(|| encode_histogram(bounds())[..HEADER].to_vec())
}

/// The lowest value of each bucket, in ascending order.
fn lowest_values() -> &'static [u64] {
    static LOWEST: OnceLock<Vec<u64>> = OnceLock::new();
    LOWEST.get_or_init(|| {
        bounds().iter_all().map(|step| bounds().lowest_equivalent(step.value_iterated_to())).collect()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::histogram::{decode_histogram, new_histogram};
    use crate::sparse_histogram::SparseHistogram;

    /// What the library makes of it.
    fn expected(bytes: &[u8]) -> Option<Vec<(u64, u64)>> {
        decode_histogram(bytes).ok().map(|whole| SparseHistogram::from(&whole).buckets)
    }

    #[test]
    fn counts_and_times_of_any_size_are_those_that_the_library_reads() {
        let mut whole = new_histogram();
        assert_eq!(buckets(&encode_histogram(&whole)), Some(Vec::new()));
        for (value, count) in
            [(0, 1), (1, 63), (2_047, 64), (2_048, 8_192), (1 << 30, 1 << 56), (whole.high(), 3)]
        {
            whole.record_n(value, count).unwrap();
            let bytes = encode_histogram(&whole);
            assert_eq!(buckets(&bytes), expected(&bytes), "{value}");
            assert_eq!(buckets(&bytes).map(|buckets| buckets.len()), Some(whole.iter_recorded().count()));
        }
    }

    #[test]
    fn runs_of_empty_buckets_that_nothing_has_so_many_of_are_refused() {
        let mut bytes = encode_histogram(&new_histogram())[..HEADER].to_vec();
        // −2⁶³ and −(2⁶³ − 1), and one bucket more.
        bytes.extend([[0xff; 9].as_slice(), &[0xfd], &[0xff; 8], &[0]].concat());
        let length = (bytes.len() - HEADER) as u32;
        bytes[LENGTH].copy_from_slice(&length.to_be_bytes());
        assert_eq!(buckets(&bytes), None);
    }

    proptest! {
        #[test]
        fn whatever_is_read_is_what_the_library_reads(
            times in prop::collection::vec((0u64..4_000_000_000_000, 1u64..1_000_000), 0..50),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
            cut in any::<prop::sample::Index>(),
            is_cut in any::<bool>(),
        ) {
            let mut whole = new_histogram();
            times.iter().for_each(|(time, count)| whole.saturating_record_n(*time, *count));
            let mut bytes = encode_histogram(&whole);
            prop_assert_eq!(buckets(&bytes), expected(&bytes));
            changes.iter().for_each(|(at, byte)| *at.get_mut(&mut bytes) = *byte);
            if is_cut {
                bytes.truncate(cut.index(bytes.len()));
            }
            if let Some(found) = buckets(&bytes) {
                prop_assert_eq!(Some(found), expected(&bytes));
            }
        }
    }
}
