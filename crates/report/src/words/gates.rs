//! Gates: how one failed, what to do about it, and its figure over a run.

use loadline_model::counted_in_words;
use loadline_model::gates::{Gate, GateFailure, Late, Suspect};
use loadline_model::result::GateFigure;
use loadline_model::result::load::LoadRemedy;

use super::Words;

/// What to do when a gate fails.
pub fn remedy(gate: Gate) -> &'static str {
    match gate {
        Gate::Rate => "the service can't carry this rate: ask for less, or open more connections",
        Gate::Generator => {
            "the load threads were the bottleneck: give them more CPUs (--load-cpus), or ask for a fixed rate"
        }
        Gate::SendLag => {
            "requests were sent late: give the load a CPU of its own (--load-cpus), ask for a lower rate, or measure on a quieter machine"
        }
        Gate::Pauses => {
            "the load's CPUs stood still: measure on a quieter machine, stop programs with real-time priority, or measure in shorter slices (--slice), some of which will be undisturbed"
        }
        Gate::Errors => "requests failed: look at the service's output and at the requests",
        Gate::Steal => {
            "the hypervisor took CPU time away: measure on a quieter or dedicated machine, or in shorter slices (--slice), some of which will be undisturbed"
        }
        Gate::ForeignCpu => {
            "other programs used the CPUs: stop them, or measure on another machine, or in shorter slices (--slice), some of which will be undisturbed"
        }
        Gate::Stationary => "the service was still getting faster or slower: give it a longer --warmup",
    }
}

/// Of a gate it is the remedy that is said.
impl Words for Gate {
    fn words(&self) -> String {
        remedy(*self).to_owned()
    }
}

impl Words for LoadRemedy {
    fn words(&self) -> String {
        let remedy = match self.0 {
            Gate::Rate => "ask for less, or open more connections (--connections)",
            Gate::Generator => {
                "give it more threads and CPUs (--threads 2 --cpus 0-1), or ask for a fixed rate (--rate)"
            }
            Gate::SendLag => {
                "give the load a CPU of its own (--cpus) or more threads (--threads), or ask for a lower rate"
            }
            Gate::Pauses => {
                "its CPUs stood still: stop programs with real-time priority, or use others (--cpus)"
            }
            Gate::Steal => {
                "the hypervisor took CPU time away: drive the load from a quieter or dedicated machine"
            }
            Gate::ForeignCpu => {
                "other programs, or the service itself, used its CPUs: pin the load to others (--cpus), or stop them"
            }
            Gate::Errors | Gate::Stationary => "look at the service's output and at the requests",
        };
        remedy.to_owned()
    }
}

impl Words for Suspect {
    fn words(&self) -> String {
        let accusation = match self {
            Suspect::Generator => "the generator was the bottleneck",
            Suspect::Service => "the service did not carry this load",
        };
        accusation.to_owned()
    }
}

impl Words for GateFailure {
    fn words(&self) -> String {
        let beyond = |what: &str, share: f64, most: f64| {
            // A whole bound without a decimal.
            let most = (most * 1_000.0).round() / 10.0;
            format!("{what} {:.1} %, more than {most} %", share * 100.0)
        };
        match self {
            GateFailure::NotSent { share, least, asked, .. } => {
                let asked = asked.rate().map_or_else(|| asked.to_string(), |rate| rate.to_string());
                let (share, least) = (share * 100.0, least * 100.0);
                format!("{share:.1} % of {asked} was sent in time, less than {least:.1} %")
            }
            GateFailure::Late(Late { p99_us, bound_us }) => {
                format!("send lag p99 {p99_us:.0} µs, more than {bound_us:.0} µs")
            }
            GateFailure::Paused { ms_per_second, most } => {
                format!("load CPUs paused {ms_per_second:.1} ms per second, more than {most:.0} ms")
            }
            GateFailure::LoadBusy { share, most } => {
                format!("load threads {:.0} % busy, more than {:.0} %", share * 100.0, most * 100.0)
            }
            GateFailure::LoadSaturated { busy_share, waiting_share, most } => {
                let percent = |share: &f64| share * 100.0;
                let (busy, waiting, most) = (percent(busy_share), percent(waiting_share), percent(most));
                format!(
                    "load threads {busy:.0} % busy and {waiting:.0} % waiting for a CPU, together more than {most:.0} %"
                )
            }
            GateFailure::LoadWaited { share, most } => {
                let (share, most) = (share * 100.0, most * 100.0);
                format!("load threads waited for a CPU {share:.0} % of the time, more than {most:.0} %")
            }
            GateFailure::Failed { failed, due, kinds } => {
                let kinds: Vec<String> =
                    kinds.iter().map(|(kind, count)| counted_in_words(kind, *count)).collect();
                format!("{failed} of {due} requests failed: {}", kinds.join(", "))
            }
            GateFailure::Stolen { share, most } => beyond("stolen CPU", *share, *most),
            GateFailure::Foreign { share, most } => beyond("other programs", *share, *most),
            GateFailure::Taken { ms_per_second, most } => format!(
                "other programs ran on the service's CPUs for {ms_per_second:.1} ms per second, more than {most:.0} ms"
            ),
            GateFailure::Text { text, .. } => text.clone(),
        }
    }
}

impl Words for GateFigure {
    fn words(&self) -> String {
        let percent = |share: &Option<f64>| match share {
            Some(share) => format!("{:.1} %", share * 100.0),
            None => "unknown".to_owned(),
        };
        match self {
            GateFigure::Sent { share } => format!("rate {:.2} %", share * 100.0),
            GateFigure::SendLag { p99_ns } => format!("send lag p99 {:.0} µs", *p99_ns as f64 / 1e3),
            GateFigure::Paused { ms_per_second: None } => "pauses unknown".to_owned(),
            GateFigure::Paused { ms_per_second: Some(ms) } => format!("pauses {ms:.1} ms/s"),
            GateFigure::Generator => "generator with time to spare".to_owned(),
            GateFigure::Errors { count } => format!("errors {count}"),
            GateFigure::Stolen { share } => format!("stolen CPU {}", percent(share)),
            GateFigure::Foreign { share } => format!("other programs {}", percent(share)),
            GateFigure::Stationary { failed: 0, .. } => "stationary".to_owned(),
            GateFigure::Stationary { failed, warm_ups } => {
                format!("stationary ({failed} of {warm_ups} warm-ups ended at their limit)")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use loadline_model::load::{Arrivals, Load};

    use super::*;

    #[test]
    fn a_failure_says_its_figure_and_its_bound() {
        let asked = Load::Open { rate: "100/min".parse().unwrap(), arrivals: Arrivals::Poisson };
        let kinds = [("status".to_owned(), 2), ("timeout".to_owned(), 5)].into();
        for (failure, words) in [
            (
                GateFailure::NotSent { gate: Gate::Rate, share: 0.9512, least: 0.999, asked },
                "95.1 % of 100/min was sent in time, less than 99.9 %",
            ),
            (
                GateFailure::Late(Late { p99_us: 240.4, bound_us: 100.0 }),
                "send lag p99 240 µs, more than 100 µs",
            ),
            (
                GateFailure::Paused { ms_per_second: 31.42, most: 10.0 },
                "load CPUs paused 31.4 ms per second, more than 10 ms",
            ),
            (GateFailure::LoadBusy { share: 0.98, most: 0.95 }, "load threads 98 % busy, more than 95 %"),
            (
                GateFailure::LoadSaturated { busy_share: 0.6, waiting_share: 0.38, most: 0.95 },
                "load threads 60 % busy and 38 % waiting for a CPU, together more than 95 %",
            ),
            (
                GateFailure::LoadWaited { share: 0.114, most: 0.1 },
                "load threads waited for a CPU 11 % of the time, more than 10 %",
            ),
            (
                GateFailure::Failed { failed: 7, due: 20, kinds },
                "7 of 20 requests failed: 2 status, 5 timeout",
            ),
            (GateFailure::Stolen { share: 0.031, most: 0.02 }, "stolen CPU 3.1 %, more than 2 %"),
            (GateFailure::Foreign { share: 0.25, most: 0.1 }, "other programs 25.0 %, more than 10 %"),
        ] {
            assert_eq!(failure.words(), words);
        }
    }

    #[test]
    fn a_figure_that_is_not_known_says_so() {
        assert_eq!(GateFigure::Foreign { share: None }.words(), "other programs unknown");
        assert_eq!(GateFigure::Stolen { share: Some(0.0124) }.words(), "stolen CPU 1.2 %");
        assert_eq!(GateFigure::Sent { share: 1.0 }.words(), "rate 100.00 %");
    }
}
