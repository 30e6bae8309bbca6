use std::time::Duration;

use loadline_engine::{Record, SliceSpec};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// Requests whose times vary, at random moments delayed by pauses of the load's CPU and by stalls of the service. Both delay the requests that
/// are due meanwhile until they are over.
#[derive(Clone, Copy, Default)]
pub struct RandomDelays {
    pub seed: u64,
    /// By how much the service is slower than others.
    pub slower: Duration,
    /// Length of pauses and how many there are in a second.
    pub pauses: (Duration, f64),
    /// Length of stalls and how many there are in a second.
    pub stalls: (Duration, f64),
}

impl RandomDelays {
    /// Those of a deployment that began at this time: its moments are others, and it is up to 1 µs slower.
    pub fn of_deployment(self, began: Duration) -> RandomDelays {
        let mut random = Pcg64::seed_from_u64(self.seed ^ began.as_nanos() as u64);
        let slower = self.slower + Duration::from_nanos(random.next_u64() % 1_000);
        RandomDelays { seed: random.next_u64(), slower, ..self }
    }

    /// What a drive of the service gathers, its requests coming one after the other.
    pub fn record(&self, drive: usize, slice: &SliceSpec) -> Record {
        let mut random = Pcg64::seed_from_u64(self.seed ^ ((drive as u64) << 32));
        let gap = slice.load.rate().expect("an open loop").mean_gap().as_nanos() as u64;
        let length = slice.duration.as_nanos() as u64;
        let pause = moment(&mut random, self.pauses, length);
        let stall = moment(&mut random, self.stalls, length);
        let mut record = Record::empty();
        if let Some((begin, end)) = pause {
            record.pauses.note(end - begin);
        }
        for due in (0..length).step_by(gap as usize) {
            let delay = |spell: Option<(u64, u64)>| {
                spell.filter(|(begin, end)| (*begin..*end).contains(&due)).map_or(0, |(_, end)| end - due)
            };
            let service_ns =
                50_000 + self.slower.as_nanos() as u64 + random.next_u64() % 20_000 + delay(stall);
            record.keep_lag(1_000 + delay(pause));
            record.keep(0, service_ns + 1_000 + delay(pause), service_ns);
        }
        (record.sent_in_time, record.answered_in_time) = (record.due, record.due);
        record.duration = slice.duration;
        record
    }
}

/// When a spell begins and ends, if there is one in the slice.
fn moment(random: &mut Pcg64, (spell, per_second): (Duration, f64), length: u64) -> Option<(u64, u64)> {
    let (chance, at) = (random.next_u64(), random.next_u64());
    let expected = per_second * length as f64 / 1e9;
    let begin = ((u128::from(at) * u128::from(length)) >> 64) as u64;
    ((chance as f64) < expected * u64::MAX as f64).then(|| (begin, begin + spell.as_nanos() as u64))
}
