//! Where the wall time of a run went, in a sentence.

use loadline_model::TimeSpent;
use loadline_model::result::RunResult;

use crate::figures::spell_duration;

/// Parts with a smaller share are left out, except measuring.
const LEAST_SHARE: f64 = 0.005;

/// `Time: 52 s: 81 % measuring, 9 % starting services, 6 % warming up, 4 % other`
pub(crate) fn time_spent(result: &RunResult) -> Option<String> {
    let spent = result.run.time_spent.filter(|spent| spent.total_s > 0.0)?;
    let share = |seconds: f64| seconds / spent.total_s;
    let mut parts = parts(&spent);
    parts.sort_by(|left, right| right.0.total_cmp(&left.0));
    let measuring = (spent.measuring_s, "measuring");
    let shown = parts.into_iter().filter(|(seconds, _)| share(*seconds) >= LEAST_SHARE);
    let shown: Vec<String> = std::iter::once(measuring)
        .chain(shown)
        .map(|(seconds, what)| format!("{:.0} % {what}", 100.0 * share(seconds)))
        .collect();
    Some(format!("Time: {}: {}.", spell_duration(spent.total_s), shown.join(", ")))
}

/// All parts but the measuring.
fn parts(spent: &TimeSpent) -> Vec<(f64, &'static str)> {
    vec![
        (spent.starting_s, "starting services"),
        (spent.ready_s, "waiting until they answer"),
        (spent.warming_up_s, "warming up"),
        (spent.repeating_s, "repeating slices"),
        (spent.waiting_s, "waiting for a quieter machine"),
        (spent.profiling_s, "profiling and watching tails"),
        (spent.counters_s, "reading counters"),
        (spent.storing_s, "storing"),
        (spent.stopping_s, "stopping services"),
        (spent.other_s(), "other"),
    ]
}
