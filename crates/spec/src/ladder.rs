//! The ladder of `loadline layers` as an experiment: rungs that each add one layer to the one below, all on nodes of their own.

mod rungs;

use loadline_model::PlatformId;
use loadline_model::platform::Layer;

use crate::error::{Complaint, Place, SpecError};
use crate::experiment;
use crate::flags::{self, Flags};
use crate::machine::Machine;
use crate::node::{Node, Shape};
use crate::{Experiment, Platform, PlatformKind};

pub use rungs::Part;

/// What a ladder is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LadderFlags {
    /// Service, load and plan. `on` is ignored; what is left out gets the defaults of a ladder.
    pub flags: Flags,
    /// Its parts; none means the same node and another node, or with `rungs` what is below these.
    pub parts: Vec<Part>,
    /// `--rung`, repeatable: layers of the user's choice, `cgroup+veth+rules=20000`.
    pub rungs: Vec<String>,
    /// `--profile`
    pub profile: bool,
}

/// A ladder that can be measured here.
pub struct Ladder {
    /// The experiment.
    pub experiment: Experiment,
    /// Rungs that are not available here and why, a sentence each.
    pub left_out: Vec<String>,
}

/// Makes a ladder of flags. `missing` says why layers are not available on this machine, if they are not.
///
/// # Errors
/// When the flags are not a valid experiment on this machine.
pub fn ladder(
    asked: &LadderFlags,
    machine: &Machine,
    missing: &dyn Fn(&[Layer]) -> Option<String>,
) -> Result<Ladder, SpecError> {
    let mut tree = flags::tree(&with_defaults(asked), machine).map_err(SpecError::without_text)?;
    let host = default_value("--on", "host");
    let own = asked.rungs.iter().map(|layers| flags::local("--rung", layers));
    flags::set_list(&mut tree, "platforms", "--rung", std::iter::once(host).chain(own).collect());
    if let Some(Node { shape: Shape::List(loads), .. }) = tree.get_mut("loads") {
        *loads = std::mem::take(loads).into_iter().flat_map(both_ways).collect();
    }
    if tree.get_mut("plan").is_none() {
        tree.set("plan", Node::map([], Place::CommandLine));
    }
    if let Some(plan) = tree.get_mut("plan") {
        plan.set("nodes", default_value("--nodes", "own"));
        if asked.profile {
            plan.set("profile", default_value("--profile", PROFILE));
        }
    }
    let mut experiment = experiment::experiment(tree, None, machine).map_err(SpecError::without_text)?;
    if experiment.services.len() > 1 {
        let complaint = Complaint::new("a ladder measures one service");
        return Err(refused(complaint.help("run `loadline layers` for each of them"), &Place::CommandLine));
    }
    let own = experiment.platforms.split_off(1);
    let mut left_out = Vec::new();
    let below: Vec<&[Layer]> = own.iter().map(layers_of).collect();
    experiment.platforms = rungs::platforms(&asked.parts, &below, missing, &mut left_out);
    for (platform, written) in own.into_iter().zip(&asked.rungs) {
        if let Some(why) = missing(layers_of(&platform)) {
            let complaint = Complaint::new(format!("this rung is not available here: {why}"));
            let place = Place::Flag { name: "--rung", value: written.clone() };
            return Err(refused(complaint.help("leave it out"), &place));
        }
        add_own(&mut experiment.platforms, platform);
    }
    // Something is always summed up: where the usual tops are missing, what was reached instead.
    if !experiment.platforms.iter().any(|platform| platform.top)
        && let Some(last) = experiment.platforms.last_mut()
    {
        last.top = last.above.is_some();
    }
    let services: Vec<&str> = experiment.services.iter().map(|service| service.name.as_str()).collect();
    let name = format!("{} · layers", services.join(" against "));
    // A service may be called by a whole command line, which is more than a title may have.
    experiment.name = experiment::name(&name).unwrap_or_else(|_| "layers".to_owned());
    // Platforms came and went since the flags were read.
    Ok(Ladder { experiment: experiment.with_every_cell(), left_out })
}

fn refused(complaint: Complaint, place: &Place) -> SpecError {
    SpecError::without_text(vec![complaint.at(place)])
}

/// Length of a profiled slice.
const PROFILE: &str = "300ms";

/// The flags with what a ladder needs filled in.
///
/// One connection with one request at a time, as fast as it is answered, shows a layer's cost five to ten times as sharply as Poisson
/// arrivals do in the same time: neither CPU falls asleep and no request waits for another (measured on a shared virtual machine:
/// p50 to ±0.35 µs in 8 s a cell, against ±2 µs at 2000/s). Slices are short because the machine's drift is what remains: the nearer two
/// of them are in time, the more of it they share. In the same time, slices of 12 ms showed a layer's median twice as sharply as those of 25 ms,
/// and its CPU 1.6 times; 2 ms beside each slice go into reading counters. The blocks may be in many deployments or few, which differ by less than their slices. None is measured again: a disturbance delays the one
/// request that is under way, and repeats took a third of the time. At a rate a slice is as long as its requests need.
fn with_defaults(asked: &LadderFlags) -> Flags {
    let flags = &asked.flags;
    let is_closed = flags.rates.is_empty();
    let services = if flags.services.is_empty() && flags.commands.is_empty() {
        vec!["orders".to_owned()]
    } else {
        flags.services.clone()
    };
    let flags = Flags { services, on: Vec::new(), closed: is_closed, ..flags.clone() };
    LADDER_DEFAULTS.iter().fold(flags, |flags, (name, closed, open)| {
        match if is_closed { closed } else { open } {
            Some(value) => flags.or(name, value),
            None => flags,
        }
    })
}

/// A flag with its default on a ladder: in a closed loop, and with a rate.
type LadderDefault = (&'static str, Option<&'static str>, Option<&'static str>);

const LADDER_DEFAULTS: [LadderDefault; 7] = [
    ("--connections", Some("1"), None),
    ("--slice", Some("12ms"), Some("100ms")),
    ("--blocks", Some("22"), Some("5")),
    ("--deployments", Some("27"), Some("18")),
    ("--within", Some("290s"), Some("290s")),
    ("--margin", Some("3%"), Some("3%")),
    ("--repeats", Some("0"), Some("1")),
];

/// The default of a flag on a ladder, for its help: `12ms, with a rate 100ms`.
pub fn ladder_default(flag: &str) -> Option<String> {
    let (_, closed, open) = LADDER_DEFAULTS.iter().find(|(name, ..)| *name == flag)?;
    match (closed, open) {
        (Some(closed), Some(open)) if closed != open => Some(format!("{closed}, with a rate {open}")),
        (Some(closed), _) => Some((*closed).to_owned()),
        (None, _) => None,
    }
}

/// Each load twice: over connections that are kept, and over a new one for each request, where connection tracking and NAT cost.
fn both_ways(load: Node) -> [Node; 2] {
    let mut with_new = load.clone();
    with_new.set("new_connections", Node::scalar("true", load.place.clone()));
    [load, with_new]
}

/// Adds a rung of the user's above the rung whose layers it has all and that has most of them.
fn add_own(platforms: &mut Vec<Platform>, mut rung: Platform) {
    let layers = layers_of(&rung).to_vec();
    if platforms.iter().any(|platform| layers_of(platform) == layers) {
        return;
    }
    let is_below = |platform: &&(usize, &Platform)| {
        let below = layers_of(platform.1);
        below.len() < layers.len() && below.iter().all(|layer| layers.contains(layer))
    };
    let numbered: Vec<(usize, &Platform)> = platforms.iter().enumerate().collect();
    let below = numbered.iter().filter(is_below).max_by_key(|(_, platform)| layers_of(platform).len());
    rung.above = below.map(|(index, _)| PlatformId(*index));
    // `cgroup+veth+rules` above `cgroup+veth` is the rung `rules`.
    let below = rung.above.map_or(&[][..], |id| layers_of(&platforms[id.0]));
    let added: Vec<String> =
        layers.iter().filter(|layer| !below.contains(layer)).map(ToString::to_string).collect();
    let short = added.join("+");
    if !platforms.iter().any(|platform| platform.name == short) {
        rung.name = short;
    }
    platforms.push(rung);
}

fn layers_of(platform: &Platform) -> &[Layer] {
    match &platform.kind {
        PlatformKind::Local(layers) => layers,
        _ => &[],
    }
}

fn default_value(name: &'static str, value: &str) -> Node {
    Node::scalar(value, Place::Flag { name, value: value.to_owned() })
}
