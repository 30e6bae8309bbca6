//! The watchdog: whether the load was the one asked for, or the generator was late, starved or saturated itself.
//!
//! What other programs used of the machine can't be told from the service, which may run here as well. What they took from the
//! generator can: the time for which its threads were ready to run and did not.

use loadline_engine::{Load, Record};
use loadline_model::Observations;
use loadline_model::gates::{CpuUse, FOREIGN_SHARE, Gate, LOAD_BUSY_SHARE};
use loadline_model::metrics::RUN_QUEUE_WAIT;
use loadline_observe::{Observer, Snapshot, Subject, Wanted};
use loadline_report::Words;
use loadline_run::gates;

/// Watches from the moment it is made until it is asked.
pub struct Watchdog {
    observer: Observer,
    before: Snapshot,
}

/// What the watchdog saw.
#[derive(Clone, Debug)]
pub struct Verdict {
    pub doubts: Vec<Doubt>,
    /// Share of their time for which the load threads ran.
    pub busy_share: f64,
    /// Share of their time for which they were ready to run and did not; `None` if the kernel doesn't say.
    pub waiting_share: Option<f64>,
    /// Share of the machine's CPU time that the hypervisor took; `None` if the kernel doesn't say.
    pub stolen_share: Option<f64>,
}

/// A reason not to trust the figures.
#[derive(Clone, Debug)]
pub struct Doubt {
    pub gate: Gate,
    /// The figure and its bound.
    pub text: String,
}

impl Watchdog {
    /// Begins to watch. Best while no load runs: it reads a dozen small files.
    pub fn start() -> Watchdog {
        let subject = Subject { root_pids: vec![std::process::id()], cgroup: None };
        let mut observer = Observer::new(subject);
        Watchdog { before: observer.read(&Wanted::Everything), observer }
    }

    /// What is to be said of the load that has ended.
    pub fn judge(mut self, load: &Load, record: &Record) -> Verdict {
        let after = self.observer.read(&Wanted::Everything);
        let observed = self.observer.between(&self.before, &after);
        let cpu = CpuUse::of(&observed, None);
        let failures = gates::failures(load, record, cpu);
        let mut verdict = Verdict {
            doubts: failures
                .into_iter()
                .map(|failure| Doubt { gate: failure.gate(), text: failure.words() })
                .collect(),
            busy_share: busy_share(record),
            waiting_share: waiting_share(&observed, record),
            stolen_share: cpu.map(|cpu| cpu.steal_ns as f64 / cpu.capacity_ns.max(1) as f64),
        };
        verdict.doubt_competition(load.is_closed());
        verdict
    }
}

impl Verdict {
    /// Whether nothing speaks against the figures.
    pub fn is_trusted(&self) -> bool {
        self.doubts.is_empty()
    }

    fn doubt_competition(&mut self, is_closed: bool) {
        let Some(waiting) = self.waiting_share else { return };
        let has = |gate| self.doubts.iter().any(|doubt| doubt.gate == gate);
        let (busy_percent, waiting_percent) = (self.busy_share * 100.0, waiting * 100.0);
        if is_closed && self.busy_share + waiting > LOAD_BUSY_SHARE {
            if !has(Gate::Generator) {
                let text = format!(
                    "load threads {busy_percent:.0} % busy and {waiting_percent:.0} % waiting for a CPU, together more than \
                     {:.0} %",
                    LOAD_BUSY_SHARE * 100.0
                );
                self.doubts.push(Doubt { gate: Gate::Generator, text });
            }
        } else if waiting > FOREIGN_SHARE {
            let most = FOREIGN_SHARE * 100.0;
            let text = format!(
                "load threads waited for a CPU {waiting_percent:.0} % of the time, more than {most:.0} %"
            );
            self.doubts.push(Doubt { gate: Gate::ForeignCpu, text });
        }
    }
}

impl Doubt {
    /// What is to be doubted, in a clause; `None` where the figure says it.
    pub fn accusation(&self) -> Option<&'static str> {
        match self.gate {
            Gate::SendLag | Gate::Generator | Gate::Steal | Gate::ForeignCpu => {
                Some("the generator was the bottleneck")
            }
            Gate::Rate => Some("the service did not carry this load"),
            Gate::Errors | Gate::Stationary => None,
        }
    }

    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self.gate {
            Gate::SendLag => {
                "give the load a CPU of its own (--cpus), more threads (--threads), or a lower rate"
            }
            Gate::Generator => "give it more threads and CPUs (--threads 2 --cpus 0-1), or a rate (--rate)",
            Gate::Steal => "the hypervisor took CPU time away: load from a quieter or dedicated machine",
            Gate::ForeignCpu => {
                "other programs, or the service itself, used its CPUs: pin the load to others (--cpus), or stop them"
            }
            Gate::Rate => "ask for less, or open more connections (--connections)",
            Gate::Errors | Gate::Stationary => "look at what the service says of them",
        }
    }

    /// All of it in a sentence.
    pub fn sentence(&self) -> String {
        let figure = match self.accusation() {
            Some(accusation) => format!("{accusation}: {}", self.text),
            None => self.text.clone(),
        };
        format!("{figure}; {}", self.remedy())
    }
}

fn busy_share(record: &Record) -> f64 {
    share_of_threads(record, record.cpu_ns)
}

fn waiting_share(observed: &Observations, record: &Record) -> Option<f64> {
    observed.count(RUN_QUEUE_WAIT).map(|ns| share_of_threads(record, ns))
}

fn share_of_threads(record: &Record, ns: u64) -> f64 {
    let whole = record.duration.as_nanos() as f64 * f64::from(record.workers.max(1));
    if whole > 0.0 { ns as f64 / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(busy_share: f64, waiting_share: f64) -> Verdict {
        Verdict { doubts: Vec::new(), busy_share, waiting_share: Some(waiting_share), stolen_share: None }
    }

    fn gates_of(mut verdict: Verdict, is_closed: bool) -> Vec<Gate> {
        verdict.doubt_competition(is_closed);
        verdict.doubts.iter().map(|doubt| doubt.gate).collect()
    }

    #[test]
    fn a_closed_loop_that_always_wants_a_cpu_is_saturated() {
        assert_eq!(gates_of(verdict(0.60, 0.38), true), [Gate::Generator]);
        assert_eq!(gates_of(verdict(0.60, 0.20), true), [Gate::ForeignCpu]);
        assert_eq!(gates_of(verdict(0.60, 0.05), true), []);
    }

    #[test]
    fn an_open_loop_must_get_its_cpu_when_it_wants_it() {
        assert_eq!(gates_of(verdict(0.90, 0.08), false), []);
        assert_eq!(gates_of(verdict(0.10, 0.11), false), [Gate::ForeignCpu]);
    }

    #[test]
    fn saturation_is_said_once() {
        let mut saturated = verdict(0.99, 0.01);
        saturated.doubts.push(Doubt { gate: Gate::Generator, text: "load threads 99 % busy".to_owned() });
        assert_eq!(gates_of(saturated, true), [Gate::Generator]);
    }
}
