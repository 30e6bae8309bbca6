//! The cumulative intensity of a profile, Λ(t), and its inverse. A process of rate 1 mapped through the inverse has the
//! profile's rate at every time (time rescaling: Gerhardt and Nelson, Transforming renewal processes for simulation of
//! nonstationary arrival processes, INFORMS Journal on Computing 21(4), 2009).

use std::sync::Arc;

/// How many requests are due by each time, and by when each is due. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Intensity {
    /// In order of time; the last one goes on for ever.
    pieces: Arc<[Piece]>,
}

/// One stretch of constant rate or constant slope.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start_ns: f64,
    lasts_ns: f64,
    /// Λ at its start and at its end.
    start_count: f64,
    end_count: f64,
    /// Requests per second at its start.
    per_second: f64,
    /// 1 / rate where that is constant, so that a due time costs no division.
    gap_ns: f64,
    /// By how much the rate changes in a second.
    slope: f64,
}

impl Piece {
    fn new(start_ns: f64, start_count: f64, from: f64, to: f64, lasts_ns: f64) -> Piece {
        let seconds = lasts_ns / 1e9;
        // 0 × ∞ is no number: a rate of 0 that goes on for ever gathers nothing.
        let gathered = if from + to == 0.0 { 0.0 } else { (from + to) / 2.0 * seconds };
        Piece {
            start_ns,
            lasts_ns,
            start_count,
            end_count: start_count + gathered,
            per_second: from,
            gap_ns: 1e9 / from,
            slope: if from == to { 0.0 } else { (to - from) / seconds },
        }
    }

    fn count_by(&self, time_ns: f64) -> f64 {
        let seconds = (time_ns - self.start_ns).min(self.lasts_ns) / 1e9;
        self.start_count + (self.per_second + self.slope / 2.0 * seconds) * seconds
    }

    /// The time at which Λ goes beyond `count`, which lies within the piece.
    #[inline]
    fn time_of(&self, count: f64) -> f64 {
        let beyond = count - self.start_count;
        if self.slope == 0.0 {
            return self.start_ns + beyond * self.gap_ns;
        }
        // The root of r·t + s·t²/2 = n in the form 2n / (r + √(r² + 2sn)), which never subtracts two like numbers; below
        // zero the radicand is only by rounding, at the end of a ramp down to zero.
        let radicand = self.per_second * self.per_second + 2.0 * self.slope * beyond;
        let denominator = self.per_second + radicand.max(0.0).sqrt();
        let seconds = if denominator > 0.0 { 2.0 * beyond / denominator } else { 0.0 };
        self.start_ns + (seconds * 1e9).min(self.lasts_ns)
    }
}

impl Intensity {
    /// A constant rate, requests per second.
    pub fn constant(per_second: f64) -> Intensity {
        Intensity::new(std::iter::empty(), per_second)
    }

    /// Stretches of (rate at the start, rate at the end, length in ns), and the rate that goes on after them; per second.
    pub(super) fn new(stretches: impl Iterator<Item = (f64, f64, f64)>, last: f64) -> Intensity {
        let (mut time_ns, mut count) = (0.0, 0.0);
        let mut pieces = Vec::new();
        for (from, to, lasts_ns) in stretches.filter(|(_, _, lasts_ns)| *lasts_ns > 0.0) {
            let piece = Piece::new(time_ns, count, from, to, lasts_ns);
            (time_ns, count) = (time_ns + lasts_ns, piece.end_count);
            pieces.push(piece);
        }
        pieces.push(Piece::new(time_ns, count, last, last, f64::INFINITY));
        Intensity { pieces: pieces.into() }
    }

    /// Requests due by `time_ns` after the start, as the mean of a Poisson process: Λ(t).
    pub fn count_by(&self, time_ns: f64) -> f64 {
        let after = self.pieces.partition_point(|piece| piece.start_ns <= time_ns);
        if after == 0 { 0.0 } else { self.pieces[after - 1].count_by(time_ns) }
    }

    /// The time at which Λ goes beyond `count`, ns: the start of a request where `count` have gone before. `None`: never.
    pub fn time_of(&self, count: f64) -> Option<f64> {
        let index = self.pieces.partition_point(|piece| piece.end_count <= count);
        self.pieces.get(index).map(|piece| piece.time_of(count))
    }

    /// The inverse for counts that are asked for in ascending order.
    pub fn inverse(&self) -> Inverse {
        Inverse { current: self.pieces[0], pieces: self.pieces.clone(), index: 0 }
    }
}

/// [`Intensity::time_of`] for ascending counts: it stays in the piece that the last one lay in.
#[derive(Clone, Debug)]
pub struct Inverse {
    current: Piece,
    pieces: Arc<[Piece]>,
    index: usize,
}

impl Inverse {
    /// [`Intensity::time_of`], for a count that is no smaller than the last one.
    #[inline]
    pub fn time_of(&mut self, count: f64) -> Option<f64> {
        while count >= self.current.end_count {
            self.index += 1;
            self.current = *self.pieces.get(self.index)?;
        }
        Some(self.current.time_of(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Profile;
    use proptest::prelude::*;
    use std::time::Duration;

    const SECOND: f64 = 1e9;

    fn intensity(text: &str, seconds: u64) -> Intensity {
        text.parse::<Profile>().unwrap().over(Duration::from_secs(seconds))
    }

    #[test]
    fn a_ramp_gathers_its_mean_rate() {
        let ramp = intensity("1000/s..5000/s@30s", 60);
        assert_eq!(ramp.count_by(30.0 * SECOND), 90_000.0);
        assert_eq!(ramp.count_by(15.0 * SECOND), 30_000.0);
        // Afterwards the last rate goes on.
        assert_eq!(ramp.count_by(40.0 * SECOND), 140_000.0);
        assert_eq!(ramp.time_of(30_000.0), Some(15.0 * SECOND));
        assert_eq!(ramp.time_of(140_000.0), Some(40.0 * SECOND));
    }

    #[test]
    fn a_ramp_alone_takes_the_whole_load() {
        assert_eq!(intensity("0/s..100/s", 20).count_by(20.0 * SECOND), 1000.0);
        assert_eq!("0/s..100/s".parse::<Profile>().unwrap().expected(Duration::from_secs(4)), 200.0);
    }

    #[test]
    fn a_ramp_from_zero_and_one_to_zero_mirror_each_other() {
        let (up, down) = (intensity("0/s..100/s@2s", 2), intensity("100/s..0/s@2s", 2));
        for count in [0.0, 0.5, 25.0, 99.0, 99.999] {
            let (early, late) = (up.time_of(count).unwrap(), down.time_of(100.0 - count - 1e-9));
            let late = late.unwrap();
            assert!((early + late - 2.0 * SECOND).abs() < 0.02 * SECOND, "{count}: {early} {late}");
        }
        assert_eq!(up.time_of(25.0), Some(1.0 * SECOND));
        assert_eq!(down.time_of(100.0), None, "after a ramp to zero nothing is due");
    }

    #[test]
    fn a_pause_has_nothing_due() {
        let pause = intensity("10/s@1s,0/s@1s,10/s@1s", 3);
        assert_eq!(pause.count_by(1.5 * SECOND), 10.0);
        assert!(pause.time_of(9.999).unwrap() < SECOND);
        assert_eq!(pause.time_of(10.0), Some(2.0 * SECOND));
    }

    #[test]
    fn a_nearly_flat_ramp_loses_no_digits() {
        // The textbook form (−r + √(r² + 2sn)) / s has no digit right here.
        let ramp = intensity("1000000/s..1000000.000001/s@3600s", 3600);
        let time = ramp.time_of(1e6).unwrap();
        assert!((time - SECOND).abs() < 1.0, "{time}");
    }

    fn segment() -> impl Strategy<Value = String> {
        (0u32..10_000, 0u32..10_000, 1u32..5_000, any::<bool>()).prop_map(|(from, to, ms, ramp)| {
            if ramp { format!("{from}/s..{to}/s@{ms}ms") } else { format!("{from}/s@{ms}ms") }
        })
    }

    proptest! {
        #[test]
        fn the_inverse_undoes_the_cumulative_intensity(
            segments in prop::collection::vec(segment(), 1..6), share in 0.0f64..1.0,
        ) {
            let Ok(profile) = segments.join(",").parse::<Profile>() else { return Ok(()) };
            let duration = profile.duration().unwrap();
            let intensity = profile.over(duration);
            let count = share * profile.expected(duration);
            let time = intensity.time_of(count).unwrap();
            prop_assert!((intensity.count_by(time) - count).abs() <= 1e-6, "{profile}: {count} at {time}");
        }

        #[test]
        fn going_on_from_the_last_count_gives_the_same_times(segments in prop::collection::vec(segment(), 1..6)) {
            let Ok(profile) = segments.join(",").parse::<Profile>() else { return Ok(()) };
            let intensity = profile.over(Duration::from_secs(20));
            let mut inverse = intensity.inverse();
            let mut last = 0.0;
            for count in (0..2000).map(|step| f64::from(step) * 7.3) {
                let time = inverse.time_of(count);
                prop_assert_eq!(time, intensity.time_of(count));
                prop_assert!(time.is_none_or(|time| time >= last));
                last = time.unwrap_or(last);
            }
        }
    }
}
