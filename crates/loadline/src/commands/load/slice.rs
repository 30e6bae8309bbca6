//! The load that the flags ask for: when requests are due, and how long.

use std::time::Duration;

use loadline_engine::{Arrivals, Load, Profile, Rate, SliceSpec, read_replay};
use loadline_spec::Complaint;
use loadline_spec::load::think;

use super::quantities::{number, time, wrk_time};
use super::reader::{Reader, complaint};
use crate::arguments::LoadArguments;

/// How long a load lasts that says nothing of it.
const USUAL_DURATION: Duration = Duration::from_secs(10);

/// Reads the load.
pub fn slice(arguments: &LoadArguments, reader: &mut Reader) -> Option<SliceSpec> {
    let load = load(arguments, reader);
    let strict = reader.read_if_given("--for", arguments.duration.as_ref(), time);
    let as_wrk = reader.read_if_given("-d", arguments.wrk_duration.as_ref(), wrk_time);
    let seed = reader.read("--seed", &arguments.seed, seed);
    let (load, duration) = (load?, strict?.or(as_wrk?));
    let duration = duration.unwrap_or_else(|| own_duration(&load));
    if load.expected(duration) == Some(0.0) {
        let first = Complaint::new("no request is due in this time").help("load for longer");
        reader.refuse("--for", arguments.duration.as_deref().unwrap_or_default(), first);
        return None;
    }
    Some(SliceSpec { load, duration, seed: seed?, offset: Duration::ZERO })
}

fn load(arguments: &LoadArguments, reader: &mut Reader) -> Option<Load> {
    if let Some(path) = &arguments.replay {
        return reader.file("--replay", path, read_replay).map(Load::Replay);
    }
    let arrivals = match &arguments.arrivals {
        Some(text) => reader.read("--arrivals", text, arrivals),
        None => Some(Arrivals::Uniform),
    };
    let think = reader.read_if_given("--think", arguments.think.as_ref(), think)?;
    let rate = reader.read_if_given("-R", arguments.wrk_rate.as_ref(), wrk_rate)?;
    if let Some(rate) = rate {
        return Some(Load::Open { rate, arrivals: arrivals? });
    }
    let Some(profile) = reader.read_if_given("--rate", arguments.rate.as_ref(), profile)? else {
        if let Some(arrivals) = &arguments.arrivals {
            let odd = Complaint::new("requests of a closed loop arrive when others are answered");
            reader.refuse("--arrivals", arrivals, odd.help("give a --rate, or leave it out"));
        }
        return Some(Load::Closed { think });
    };
    let arrivals = arrivals?;
    Some(match profile.as_constant() {
        Some(rate) => Load::Open { rate, arrivals },
        None => Load::Profile { profile, arrivals },
    })
}

/// As long as what it was made of says.
fn own_duration(load: &Load) -> Duration {
    match load {
        Load::Profile { profile, .. } => profile.duration().unwrap_or(USUAL_DURATION),
        Load::Replay(replay) => replay.duration(),
        Load::Open { .. } | Load::Closed { .. } => USUAL_DURATION,
    }
}

fn profile(text: &str) -> Result<Profile, Complaint> {
    // A rate alone is the usual case: what is wrong with it needs no word on segments.
    if !text.contains(['@', ',']) && !text.contains("..") {
        let rate = text.parse::<Rate>().map_err(|error| match text.trim().parse::<f64>() {
            Ok(_) => complaint(error).help(format!("or -R {}, as wrk2 has it", text.trim())),
            Err(_) => complaint(error),
        })?;
        return Ok(Profile::constant(rate));
    }
    text.parse().map_err(complaint)
}

/// wrk2's rate is a number of requests per second; a rate with its unit is one too.
fn wrk_rate(text: &str) -> Result<Rate, Complaint> {
    if text.contains('/') {
        return text.parse().map_err(complaint);
    }
    let per_second = number(text, "a rate", 1, Rate::MAX_PER_SECOND)?;
    Rate::per_second(per_second as f64).map_err(complaint)
}

fn arrivals(text: &str) -> Result<Arrivals, Complaint> {
    match text.trim() {
        "uniform" => Ok(Arrivals::Uniform),
        "poisson" => Ok(Arrivals::Poisson),
        other => {
            Err(Complaint::new(format!("`{other}` is not an arrival process"))
                .help("write uniform or poisson"))
        }
    }
}

fn seed(text: &str) -> Result<u64, Complaint> {
    number(text, "a seed", 0, u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_rate_is_refused_with_both_ways_out() {
        let complaint = profile("1000").unwrap_err();
        assert_eq!(complaint.message, "a rate needs its unit: write 1000/s or 1000/min");
        assert_eq!(complaint.help.as_deref(), Some("or -R 1000, as wrk2 has it"));
    }

    #[test]
    fn wrk2_s_rates_are_per_second() {
        for (text, per_second) in [("2000", 2000.0), ("2k", 2000.0), ("120/min", 2.0)] {
            assert_eq!(wrk_rate(text).unwrap().as_per_second(), per_second, "{text}");
        }
        for text in ["", "0", "fast", "1.5", "99M"] {
            assert!(wrk_rate(text).is_err(), "{text}");
        }
    }
}
