//! What a capacity's number alone does not say.

use loadline_model::result::{CapacityFinding, Irregularity};

use super::Words;
use crate::figures;

impl Words for CapacityFinding {
    fn words(&self) -> String {
        let share = |share: f64| figures::unsigned_percent(share);
        match self {
            CapacityFinding::LimitedByGenerator { rate } => format!(
                "it carries all that the generator can send, {}: give the load more CPUs (--load-cpus) to see its own limit",
                figures::rate(*rate)
            ),
            CapacityFinding::CarriesNothing { rate } => {
                format!("it fails an objective even at {}: the objectives may be out of its reach at any rate", figures::rate(*rate))
            }
            CapacityFinding::CarriesAll { rate } => {
                format!("it carries all that was tried, up to {}: allow a higher rate (--most)", figures::rate(*rate))
            }
            CapacityFinding::TimeOver => {
                "the search ended before the interval was as narrow as asked for: give it more time (--within), or ask for less (--precision)".to_owned()
            }
            CapacityFinding::GaveUp { trials, lost } => format!(
                "the search gave up after {trials} trials and {lost} that the machine disturbed or that could not be sent, before the interval was as narrow as asked for: ask for less (--precision), or use a quieter machine"
            ),
            CapacityFinding::NoBound { lower } => format!(
                "no rate {} in most of its slices: the interval rests on slices at different rates alone",
                if *lower { "passed" } else { "failed" }
            ),
            CapacityFinding::NotOverloaded => {
                "it was not overloaded, so that nothing is known of what it does then: the time was over, or 1.5 times its capacity is more than --most allows or the generator can send".to_owned()
            }
            CapacityFinding::LessForLonger { failed, carries: Some(carries) } => format!(
                "for longer it carries {}: a slice five times as long failed at {}. Comparisons with others and `loadline decide` go by that; the capacity and its interval are those of shorter slices",
                figures::rate(*carries),
                figures::rate(*failed)
            ),
            CapacityFinding::LessForLonger { failed, carries: None } => format!(
                "slices five times as long failed from {} on, and none passed: what it carries for longer was not found, so that no difference to others is given and no cost",
                figures::rate(*failed)
            ),
            CapacityFinding::Disturbed { trials, of } => format!(
                "{trials} of {of} trials say nothing, because the machine paused meanwhile: on a quieter machine the search takes less time"
            ),
            CapacityFinding::LimitedByConnections { connections } => format!(
                "requests waited for one of {connections} connections while the service answered as fast as ever: more connections may carry more"
            ),
            CapacityFinding::Collapse { most, overloaded } => format!(
                "it collapses under overload: it answers {} then, and up to {} otherwise",
                figures::rate(*overloaded),
                figures::rate(*most)
            ),
            CapacityFinding::Sheds { share: refused, kind } => {
                format!("it sheds load: under overload {} of the requests are refused ({kind})", share(*refused))
            }
            CapacityFinding::Irregular(irregularity) => irregularity.words(),
        }
    }
}

impl Words for Irregularity {
    fn words(&self) -> String {
        match self {
            Irregularity::Inverted { passes, fails } => format!(
                "{} passes although {} fails: what limits it is not the rate alone",
                figures::rate(*passes),
                figures::rate(*fails)
            ),
            Irregularity::Hysteresis { rate } => format!(
                "after an overload it fails at {}, which it carried before: it does not come back by itself",
                figures::rate(*rate)
            ),
            Irregularity::WorseWithTime => {
                "the longer it is loaded, the less it carries: a leak, a queue that grows, or a budget that is used up".to_owned()
            }
            Irregularity::BetterWithTime => {
                "the longer it is loaded, the more it carries: it was not warm yet (--warmup)".to_owned()
            }
            Irregularity::Unsteady { from, to } => format!(
                "it has no single capacity: of slices at {} nine of ten pass, of those at {} one of ten",
                figures::rate(*from),
                figures::rate(*to)
            ),
        }
    }
}
