//! What reading the clock costs, which the load engine does several times for each request.

use loadline_model::Machine;
use loadline_model::result::doctor::ClockReading;

use crate::now_ns;

/// Readings in a batch: long enough that the two around it don't matter.
const BATCH: u32 = 20_000;
/// The median of so many batches is not moved by a few pauses.
const BATCHES: usize = 15;

/// Reads the clock many times.
pub fn clock_reading(machine: &Machine) -> ClockReading {
    let available =
        std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/available_clocksource");
    let mut batches: Vec<u64> = (0..BATCHES).map(|_| batch_ns()).collect();
    batches.sort_unstable();
    ClockReading {
        source: machine.clocksource.clone(),
        alternatives: alternatives(&available.unwrap_or_default(), machine.clocksource.as_deref()),
        read_ns: batches[BATCHES / 2] as f64 / f64::from(BATCH),
    }
}

fn batch_ns() -> u64 {
    let begin = now_ns();
    for _ in 0..BATCH {
        std::hint::black_box(now_ns());
    }
    now_ns() - begin
}

fn alternatives(available: &str, current: Option<&str>) -> Vec<String> {
    available.split_ascii_whitespace().filter(|source| Some(*source) != current).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_takes_time() {
        let reading = clock_reading(&Machine::default());
        assert!(reading.read_ns > 0.0);
    }

    #[test]
    fn the_current_source_is_no_alternative() {
        assert_eq!(alternatives("kvm-clock tsc acpi_pm \n", Some("kvm-clock")), ["tsc", "acpi_pm"]);
        assert!(alternatives("", None).is_empty());
    }
}
