//! Cells that differ in one number alone. They are found in what they are, not in how an experiment writes them down: a `matrix` and platforms
//! that are listed one by one give the same.

use loadline_model::CellId;
use loadline_model::experiment::{Experiment, Platform, PlatformKind, Service, Start};
use loadline_model::load::{Load, LoadSpec, Rate};
use loadline_model::plan::Plan;

use crate::result::{Sweep, SweepPoint, Unit};

/// Two points are a difference, not a curve.
const FEWEST: usize = 3;

/// All of an experiment, each in the order of its first cell.
pub fn sweeps(experiment: &Experiment, plan: &Plan) -> Vec<Sweep> {
    let mut families: Vec<Family> = Vec::new();
    for cell in plan.cell_ids().filter(|id| !plan.site_of(*id).twin) {
        let setting = Setting::of(experiment, plan, cell);
        // A search finds the rate out.
        let numbers = setting.numbers().into_iter();
        for (number, value) in
            numbers.filter(|(number, _)| experiment.capacity.is_none() || *number != Number::Rate)
        {
            let rest = setting.without(&number);
            let point = SweepPoint { value, cell };
            match families.iter_mut().find(|family| family.number == number && family.rest == rest) {
                Some(family) => family.points.push(point),
                None => families.push(Family { number, rest, points: vec![point] }),
            }
        }
    }
    families.into_iter().filter_map(|family| family.sweep(experiment, plan)).collect()
}

/// Cells that differ in a number at most.
struct Family {
    number: Number,
    rest: Setting,
    points: Vec<SweepPoint>,
}

impl Family {
    fn sweep(mut self, experiment: &Experiment, plan: &Plan) -> Option<Sweep> {
        self.points.sort_by(|one, other| one.value.total_cmp(&other.value));
        let different = 1 + self.points.windows(2).filter(|pair| pair[0].value < pair[1].value).count();
        (different >= FEWEST).then(|| Sweep {
            over: self.number.key(),
            name: self.number.name(),
            unit: self.number.unit(),
            label: in_common(experiment, plan, &self.points),
            points: self.points,
        })
    }
}

/// A number of what is measured.
#[derive(Clone, Debug, PartialEq)]
enum Number {
    Cpus,
    Memory,
    Replicas,
    Services,
    Variable(String),
    /// Of the service's command line: its value follows it, or stands behind its `=`.
    Option(String),
    Rate,
    Connections,
}

impl Number {
    fn key(&self) -> String {
        match self {
            Number::Cpus => "limits.cpu".to_owned(),
            Number::Memory => "limits.memory".to_owned(),
            Number::Replicas => "replicas".to_owned(),
            Number::Services => "services".to_owned(),
            Number::Variable(name) => format!("env.{name}"),
            Number::Option(name) => name.clone(),
            Number::Rate => "rate".to_owned(),
            Number::Connections => "connections".to_owned(),
        }
    }

    fn name(&self) -> String {
        match self {
            Number::Cpus => "CPU limit".to_owned(),
            Number::Memory => "memory limit".to_owned(),
            Number::Variable(name) => name.clone(),
            other => other.key(),
        }
    }

    fn unit(&self) -> Unit {
        match self {
            Number::Memory => Unit::Bytes,
            Number::Rate => Unit::PerSecond,
            _ => Unit::Count,
        }
    }
}

/// All that sets a cell apart but names, with the limits and the environment that apply to it.
#[derive(Clone, PartialEq)]
struct Setting {
    service: Service,
    platform: Platform,
    load: LoadSpec,
}

impl Setting {
    fn of(experiment: &Experiment, plan: &Plan, cell: CellId) -> Setting {
        let site = plan.site_of(cell);
        let (service, platform) = (experiment.service(site.service), experiment.platform(site.platform));
        Setting {
            service: Service {
                name: String::new(),
                env: Vec::new(),
                limits: Default::default(),
                ..service.clone()
            },
            platform: Platform {
                env: experiment.env_of(site.service, site.platform),
                limits: experiment.limits_of(site.service, site.platform),
                cpus: platform.cpus.clone(),
                ..Platform::new("", platform.kind.clone())
            },
            load: LoadSpec { name: None, ..experiment.load(plan.load_of(cell)).clone() },
        }
    }

    fn numbers(&self) -> Vec<(Number, f64)> {
        let Setting { platform, load, .. } = self;
        let mut numbers = vec![(Number::Connections, load.connections as f64)];
        if let Load::Open { rate, .. } = &load.load {
            numbers.push((Number::Rate, rate.as_per_second()));
        }
        numbers.extend(platform.limits.cpus.map(|cpus| (Number::Cpus, cpus)));
        numbers.extend(platform.limits.memory_bytes.map(|bytes| (Number::Memory, bytes as f64)));
        if let PlatformKind::Kubernetes(options) = &platform.kind {
            numbers.push((Number::Replicas, f64::from(options.replicas)));
            numbers.push((Number::Services, f64::from(options.services)));
        }
        let variables = platform.env.iter();
        numbers.extend(
            variables.filter_map(|(name, value)| Some((Number::Variable(name.clone()), value.parse().ok()?))),
        );
        numbers.extend(options(self.words()).map(|(name, value)| (Number::Option(name.to_owned()), value)));
        numbers
    }

    /// The same with this number left open.
    fn without(&self, number: &Number) -> Setting {
        let mut rest = self.clone();
        let Setting { platform, load, .. } = &mut rest;
        match number {
            Number::Cpus => platform.limits.cpus = None,
            Number::Memory => platform.limits.memory_bytes = None,
            Number::Variable(name) => platform.env.retain(|(other, _)| other != name),
            Number::Option(name) => rest.words_mut().into_iter().for_each(|words| clear(words, name)),
            Number::Connections => load.connections = 0,
            Number::Rate => {
                if let (Load::Open { rate, .. }, Ok(any)) = (&mut load.load, Rate::per_second(1.0)) {
                    *rate = any;
                }
            }
            Number::Replicas | Number::Services => {
                if let PlatformKind::Kubernetes(options) = &mut platform.kind {
                    match number {
                        Number::Replicas => options.replicas = 0,
                        _ => options.services = 0,
                    }
                }
            }
        }
        rest
    }

    /// The command line of the service, as far as it is its author's.
    fn words(&self) -> &[String] {
        match &self.service.start {
            Some(Start::Builtin { args: words, .. } | Start::Command(words)) => words,
            None => &[],
        }
    }

    /// The same, and what starts it in a container.
    fn words_mut(&mut self) -> Vec<&mut Vec<String>> {
        let start = match &mut self.service.start {
            Some(Start::Builtin { args: words, .. } | Start::Command(words)) => Some(words),
            None => None,
        };
        let image = self.service.image.as_mut().and_then(|image| image.entrypoint.as_mut());
        start.into_iter().chain(image).collect()
    }
}

/// The options of a command line whose values are numbers: `--orders 12` or `--orders=12`.
fn options(words: &[String]) -> impl Iterator<Item = (&str, f64)> {
    words.iter().enumerate().filter(|(_, word)| word.starts_with('-')).filter_map(|(at, word)| {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, value),
            None => (word.as_str(), words.get(at + 1)?.as_str()),
        };
        Some((name, value.parse().ok()?))
    })
}

/// Empties the value of an option.
fn clear(words: &mut [String], option: &str) {
    for at in 0..words.len() {
        if words[at] == option && at + 1 < words.len() {
            words[at + 1].clear();
        } else if words[at].strip_prefix(option).is_some_and(|rest| rest.starts_with('=')) {
            words[at].truncate(option.len() + 1);
        }
    }
}

/// Service, platform and load, as far as all points have the same: `orders on host, 2000/s Poisson`.
fn in_common(experiment: &Experiment, plan: &Plan, points: &[SweepPoint]) -> String {
    let sites = || points.iter().map(|point| plan.site_of(point.cell));
    let service = shared(sites().map(|site| experiment.service(site.service).name.clone()));
    let platform = shared(sites().map(|site| experiment.platform(site.platform).name.clone()));
    let load = shared(points.iter().map(|point| experiment.load(plan.load_of(point.cell)).load.to_string()));
    // Where a search begins says nothing of what it found.
    let load = if experiment.capacity.is_some() { String::new() } else { load };
    let site =
        [service, platform].into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>().join(" on ");
    [site, load].into_iter().filter(|name| !name.is_empty()).collect::<Vec<_>>().join(", ")
}

/// The parts between commas that all texts have: a matrix adds its values to a name in this way.
fn shared(mut texts: impl Iterator<Item = String>) -> String {
    let Some(first) = texts.next() else { return String::new() };
    let mut parts: Vec<&str> = first.split(", ").collect();
    for text in texts {
        parts.retain(|part| text.split(", ").any(|other| other == *part));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_found_with_their_numbers() {
        let words = ["serve", "--orders", "12", "--delay=2.5", "--quiet", "--name", "4us"].map(str::to_owned);
        assert_eq!(options(&words).collect::<Vec<_>>(), [("--orders", 12.0), ("--delay", 2.5)]);
        let mut words = words.to_vec();
        clear(&mut words, "--orders");
        clear(&mut words, "--delay");
        assert_eq!(words.join(" "), "serve --orders  --delay= --quiet --name 4us");
    }
}
