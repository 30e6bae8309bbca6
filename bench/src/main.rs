//! loadline beside other load generators: the same server, the same requests, one after the other in many short rounds.
//!
//! What a generator costs is taken from the kernel's accounts of its process, and what it should have reported from the
//! kernel's timestamps of its packets: no contestant is asked about itself, but to be compared with that.

mod arguments;
mod bare;
mod child;
mod contestant;
mod exchange;
mod machine;
mod memory;
mod place;
mod rate;
mod recording;
mod results;
mod saturation;
mod server;
mod spread;
mod sys;
mod tap;
mod truth;
mod turns;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Parser;

use arguments::{Arguments, BenchArguments, Command, Part};
use contestant::{Bare, Contestant, Hey, K6, Loadline, Oha, Programs, Vegeta, Wrk};
use machine::Machine;
use place::Place;
use results::Results;
use server::Server;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    match arguments.command {
        Some(Command::Bare { address, connections, seconds }) => {
            bare::run(address, connections, Duration::from_secs_f64(seconds))
        }
        None => bench(&arguments.bench),
    }
}

fn bench(arguments: &BenchArguments) -> Result<()> {
    let this = std::env::current_exe().context("cannot find the path of this program")?;
    let release = this.parent().unwrap_or(Path::new("."));
    // target/PLATFORM/release, as .cargo/config.toml names the platform.
    let target = release.ancestors().nth(2).unwrap_or(Path::new("."));
    let programs = Programs {
        loadline: arguments.loadline.clone().unwrap_or_else(|| release.join("loadline")),
        peers: arguments.peers.clone().unwrap_or_else(|| target.join("peers")),
    };
    // Children run in a folder of their own.
    let programs = Programs {
        loadline: std::path::absolute(programs.loadline)?,
        peers: std::path::absolute(programs.peers)?,
    };
    let criterion = arguments.criterion.clone().unwrap_or_else(|| target.join("criterion"));
    let machine = Machine::describe();

    let place = Place::prepare()?;
    let server = Server::start(&place)?;
    let loadlines = Loadline::variants(&programs.loadline, place.generator_cpu);
    let bare = Bare { program: this };
    let (oha, k6, vegeta) = (Oha(&programs), K6(&programs), Vegeta(&programs));
    let ours = loadlines.iter().map(|loadline| loadline as &dyn Contestant);
    let theirs: [&dyn Contestant; 6] = [&Wrk, &bare, &oha, &Hey, &vegeta, &k6];
    let contestants: Vec<&dyn Contestant> = ours.chain(theirs).collect();

    let effort = arguments.effort();
    let mut results = Results {
        machine,
        contestants: contestants.iter().map(|each| (each.name().to_owned(), each.version())).collect(),
        effort,
        saturation: Vec::new(),
        fixed: Vec::new(),
        poisson: None,
        memory: None,
        recording_ns: recording::read(&criterion)?,
    };
    // A file is written after each part: what was measured is not lost with what comes after it.
    let to_file = arguments.output != Path::new("-");
    let keep = |results: &Results| if to_file { results.write(&arguments.output) } else { Ok(()) };
    if arguments.wants(Part::Saturation) {
        results.saturation = saturation::measure(&contestants, &place, &server, effort)?;
        keep(&results)?;
    }
    if arguments.wants(Part::Rate) {
        results.fixed = rate::measure(&contestants, &place, effort)?;
        results.poisson = rate::poisson(contestants[0], &place, effort)?;
        keep(&results)?;
    }
    if arguments.wants(Part::Memory) {
        results.memory = Some(memory::measure(contestants[0], &place, &server, effort)?);
    }
    results.write(&arguments.output)
}
