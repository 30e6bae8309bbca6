//! Histograms of times, all with the same bounds, so that any two can be merged.

use hdrhistogram::Histogram;

/// Longest time that a histogram holds, 1 h; what is longer is recorded as this.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Significant decimal digits kept of every time: 0.1 %.
const DIGITS: u8 = 3;

/// An empty histogram of times in ns, as all of loadline's are: 1 ns to 1 h, three digits.
pub fn new_histogram() -> Histogram<u64> {
    // The bounds are constants that fit the constructor's rules: low >= 1, high >= 2 low, digits <= 5.
    Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("constant bounds are valid")
}
