//! The ladder of `loadline layers` as an experiment: rungs that each add one layer to the one below, all on nodes of their own.

mod rungs;

use loadline_model::PlatformId;
use loadline_model::platform::Layer;

use super::draft::{KindDraft, LoadDraft, Located, PlatformDraft, Text};
use super::error::{Complaint, Place, Problems, SpecError};
use super::flags::{self, Flags};
use super::machine::Machine;
use super::{Experiment, Platform, PlatformKind, validate};

pub use rungs::Part;

/// What a ladder is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LadderFlags {
    /// Service, load and plan. `on` is not looked at; what is left out gets the defaults of a ladder.
    pub flags: Flags,
    /// Its parts; none stands for the same node and another, or beside `rungs` for what is below these.
    pub parts: Vec<Part>,
    /// `--rung`, repeatable: layers of one's own, `cgroup+veth+rules=20000`.
    pub rungs: Vec<String>,
    /// `--profile`
    pub profile: bool,
}

/// A ladder that can be measured here.
pub struct Ladder {
    /// The experiment.
    pub experiment: Experiment,
    /// Rungs that can't be had here and why, a sentence each.
    pub left_out: Vec<String>,
}

/// Makes a ladder of flags. `missing` says why layers can't be had on this machine, if they can't.
///
/// # Errors
/// When the flags aren't a valid experiment on this machine.
pub fn ladder(
    asked: &LadderFlags,
    machine: &Machine,
    missing: &dyn Fn(&[Layer]) -> Option<String>,
) -> Result<Ladder, SpecError> {
    let mut problems = Problems::default();
    let mut draft = flags::draft(&with_defaults(asked), &mut problems);
    let host = PlatformDraft::of(KindDraft::Word(default_text("--on", "host")), Place::CommandLine);
    let own = asked.rungs.iter().map(|layers| flags::local("--rung", layers));
    draft.platforms = flags::several("--rung", std::iter::once(host).chain(own).collect());
    draft.loads = draft.loads.map(|loads| Located { value: both_ways(loads.value), ..loads });
    if let Some(plan) = &mut draft.plan {
        plan.nodes = Some(default_text("--nodes", "own"));
        plan.profile = asked.profile.then(|| default_text("--profile", PROFILE));
    }
    let mut experiment = problems
        .finish(Some(draft))
        .and_then(|draft| validate::experiment(&draft, machine))
        .map_err(SpecError::without_text)?;
    if experiment.services.len() > 1 {
        let mut problems = Problems::default();
        let complaint = Complaint::new("a ladder is climbed by one service");
        problems.add(&Place::CommandLine, complaint.help("run `loadline layers` for each of them"));
        problems.finish(None::<()>).map_err(SpecError::without_text)?;
    }
    let own = experiment.platforms.split_off(1);
    let mut left_out = Vec::new();
    let below: Vec<&[Layer]> = own.iter().map(layers_of).collect();
    experiment.platforms = rungs::platforms(&asked.parts, &below, missing, &mut left_out);
    for (platform, written) in own.into_iter().zip(&asked.rungs) {
        if let Some(why) = missing(layers_of(&platform)) {
            let mut problems = Problems::default();
            let complaint = Complaint::new(format!("this rung can't be had here: {why}"));
            problems
                .add(&Place::Flag { name: "--rung", value: written.clone() }, complaint.help("leave it out"));
            problems.finish(None::<()>).map_err(SpecError::without_text)?;
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
    experiment.name = format!("{} · layers", services.join(" against "));
    // Platforms came and went since the flags were read.
    Ok(Ladder { experiment: experiment.with_every_cell(), left_out })
}

/// Length of a profiled slice.
const PROFILE: &str = "300ms";

/// The flags with what a ladder needs filled in.
///
/// One connection with one request at a time, as fast as it is answered, tells a layer's cost five to ten times as sharply as Poisson
/// arrivals do in the same time: neither CPU falls asleep and no request waits for another (measured on a shared virtual machine:
/// p50 to ±0.35 µs in 8 s a cell, against ±2 µs at 2000/s). Slices are short because the machine's drift is what remains (in the same
/// time, slices of 25 ms told a layer's CPU a tenth more sharply than those of 100 ms, with new connections a quarter), deployments
/// many because they differ by more than their slices. At a rate a slice is as long as its requests need.
fn with_defaults(asked: &LadderFlags) -> Flags {
    let or = |given: &Option<String>, default: &str| given.clone().or_else(|| Some(default.to_owned()));
    let flags = &asked.flags;
    let is_closed = flags.rates.is_empty();
    let [slice, blocks, deployments] = if is_closed { ["25ms", "7", "54"] } else { ["100ms", "5", "27"] };
    let services = if flags.services.is_empty() && flags.commands.is_empty() {
        vec!["orders".to_owned()]
    } else {
        flags.services.clone()
    };
    Flags {
        services,
        on: Vec::new(),
        closed: is_closed,
        connections: if is_closed { or(&flags.connections, "1") } else { flags.connections.clone() },
        slice: or(&flags.slice, slice),
        blocks: or(&flags.blocks, blocks),
        deployments: or(&flags.deployments, deployments),
        within: or(&flags.within, "9min"),
        margin: or(&flags.margin, "3%"),
        repeats: or(&flags.repeats, "1"),
        ..flags.clone()
    }
}

/// Each load twice: over connections that are kept, and over a new one for each request, where connection tracking and NAT cost.
fn both_ways(loads: Vec<LoadDraft>) -> Vec<LoadDraft> {
    let anew = |load: &LoadDraft| LoadDraft {
        new_connections: Some(Located { value: "true".to_owned(), place: load.place.clone() }),
        ..load.clone()
    };
    loads.into_iter().flat_map(|load| [load.clone(), anew(&load)]).collect()
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

fn default_text(name: &'static str, value: &str) -> Text {
    Located { value: value.to_owned(), place: Place::Flag { name, value: value.to_owned() } }
}
