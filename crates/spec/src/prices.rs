//! What `loadline decide` reads: prices, and a load over a day.

use std::path::Path;

use loadline_model::decision::{DayProfile, PlatformPrices, Prices};
use loadline_model::load::{Rate, parse_rate_or_zero};
use loadline_model::platform::Limits;
use serde_json::json;

use crate::error::{Complaint, Place, Problems, SpecError};
use crate::experiment::limits;
use crate::kinds::{List, Scalar, count, parsed};
use crate::options::{Table, Written};
use crate::units::{parse_percentage, show_share};
use crate::yaml;

const HOURS: usize = 24;
const DEFAULT_HEADROOM: f64 = 0.3;

/// What is written of prices.
#[derive(Clone, Debug, PartialEq)]
struct PriceKeys {
    currency: String,
    headroom: f64,
    spare: u32,
    engineer_hour: f64,
    platforms: Vec<Written<PlatformKeys>>,
}

impl Default for PriceKeys {
    fn default() -> PriceKeys {
        let currency = "USD".to_owned();
        PriceKeys {
            currency,
            headroom: DEFAULT_HEADROOM,
            spare: 1,
            engineer_hour: 0.0,
            platforms: Vec::new(),
        }
    }
}

/// What is written of a platform.
#[derive(Clone, Debug, Default, PartialEq)]
struct PlatformKeys {
    name: String,
    cpu_hour: f64,
    gib_hour: f64,
    replica: Written<Limits>,
    cluster_hour: f64,
    engineer_hours: f64,
}

fn table() -> Table<PriceKeys> {
    Table::<PriceKeys>::new("Prices", "price file", "")
        .key("currency", parsed(|text| Ok(text.trim().to_owned())), "", |keys| &mut keys.currency)
        .key("headroom", share(), "", |keys| &mut keys.headroom)
        .key("spare", count::<u32>("the number of spare replicas", 0, 1_000), "", |keys| &mut keys.spare)
        .key("engineer_hour", price(), "", |keys| &mut keys.engineer_hour)
        .key("platforms", List { element: platform(), needs_one: true }, "", |keys| &mut keys.platforms)
        .required("write `platforms: [{name: host, cpu_hour: 0.03, gib_hour: 0.004}]`")
        .check(check)
}

/// What would be left out of the costs without a word.
fn check(prices: &Written<PriceKeys>, problems: &mut Problems) {
    let platforms = &prices.value.platforms;
    for (at, platform) in platforms.iter().enumerate() {
        let name = &platform.value.name;
        if platforms[..at].iter().any(|earlier| earlier.value.name == *name) {
            let complaint = Complaint::new(format!("the platform `{name}` is listed twice"));
            problems.add(platform.place_of("name"), complaint.help("remove one of them"));
        }
    }
    let has_hours = |platform: &&Written<PlatformKeys>| platform.has("engineer_hours");
    match (prices.has("engineer_hour"), platforms.iter().find(has_hours)) {
        // One that is misspelt is said to be.
        (false, Some(platform)) if !prices.has_unknown => {
            let complaint = Complaint::new("`engineer_hours` have no price");
            let help = "write what an engineer's hour costs beside `platforms`, `engineer_hour: 80`";
            problems.add(platform.place_of("engineer_hours"), complaint.help(help));
        }
        // Without any platform there was something else wrong with them.
        (true, None) if !platforms.is_empty() => {
            let complaint =
                Complaint::new("no platform has `engineer_hours`, which `engineer_hour` is the price of");
            let help = "write how many a platform takes in a month, `engineer_hours: 6`, or remove the price";
            problems.add(prices.place_of("engineer_hour"), complaint.help(help));
        }
        _ => {}
    }
}

fn platform() -> Table<PlatformKeys> {
    Table::<PlatformKeys>::new("PlatformPrices", "platform", "")
        .key("name", parsed(|text| Ok(text.trim().to_owned())), "", |keys| &mut keys.name)
        .required("write the platform's name as the run has it")
        .key("cpu_hour", price(), "", |keys| &mut keys.cpu_hour)
        .required("write what a CPU costs for an hour, `cpu_hour: 0.03`")
        .key("gib_hour", price(), "", |keys| &mut keys.gib_hour)
        .required("write what a GiB of memory costs for an hour, `gib_hour: 0.004`")
        .key("replica", limits::table(), "", |keys| &mut keys.replica)
        .key("cluster_hour", price(), "", |keys| &mut keys.cluster_hour)
        .key("engineer_hours", price(), "", |keys| &mut keys.engineer_hours)
}

/// An amount of zero or more.
fn price() -> Scalar<f64> {
    let parse = |text: &str| match text.trim().parse::<f64>() {
        Ok(amount) if amount.is_finite() && amount >= 0.0 => Ok(amount),
        Ok(amount) if amount < 0.0 => Err(Complaint::new(format!("`{}` is below zero", text.trim()))
            .help("write an amount of zero or more")),
        _ => Err(Complaint::new(format!("`{}` is not an amount", text.trim()))
            .help("write a number, without its currency: 0.031")),
    };
    Scalar::new(parse, f64::to_string, json!({ "type": "number", "minimum": 0 }))
}

fn share() -> Scalar<f64> {
    let parse = |text: &str| match parse_percentage(text)? {
        share if share < 1.0 => Ok(share),
        _ => Err(Complaint::new("a headroom of 100% leaves nothing for requests").help("write 30%")),
    };
    Scalar::new(parse, |share| show_share(*share), json!({ "type": "string" }))
}

/// Reads a price file.
///
/// # Errors
/// When the file cannot be read, is not YAML, a price is missing or below zero, a platform is there twice, or hours of engineers have no price.
pub fn prices_from_yaml_file(path: &Path) -> Result<Prices, SpecError> {
    let name = path.display().to_string();
    let bytes = yaml::contents(path, "price file")?;
    let text = yaml::text(&name, &bytes)?;
    let fail = |problems| SpecError::in_file(problems, &name, text);
    let tree = yaml::parse(text).map_err(|(place, complaint)| fail(vec![complaint.at(&place)]))?;
    let mut problems = Problems::default();
    let written = table().read_partly(tree, &mut problems);
    let PriceKeys { currency, headroom, spare, engineer_hour, platforms } =
        problems.finish(written).map_err(fail)?.value;
    let platform = |keys: Written<PlatformKeys>| {
        let PlatformKeys { name, cpu_hour, gib_hour, replica, cluster_hour, engineer_hours } = keys.value;
        PlatformPrices { name, cpu_hour, gib_hour, replica: replica.value, cluster_hour, engineer_hours }
    };
    let platforms = platforms.into_iter().map(platform).collect();
    Ok(Prices { currency, headroom, spare, engineer_hour, platforms })
}

/// Reads a load over a day: one rate for all hours, or a CSV file with 24 rows of hour and rate, `13,4200/min`.
///
/// # Errors
/// When it is neither, an hour is missing or there twice, a rate has no unit, or no hour has any load.
pub fn day_profile(text: &str) -> Result<DayProfile, SpecError> {
    if let Ok(rate) = text.parse::<Rate>() {
        return Ok(DayProfile { per_second: vec![rate.as_per_second(); HOURS] });
    }
    let path = Path::new(text);
    if !path.is_file() {
        let complaint = Complaint::new(format!("`{text}` is neither a rate nor a file"));
        let problem = complaint.help("write 5000/min, or name a CSV file").at(&Place::CommandLine);
        return Err(SpecError::without_text(vec![problem]));
    }
    let bytes = yaml::contents(path, "profile")?;
    let rows = yaml::text(text, &bytes)?;
    let fail = |complaint: Complaint| SpecError::in_file(vec![complaint.at(&Place::File)], text, "");
    let mut hours: Vec<Option<f64>> = vec![None; HOURS];
    for (number, row) in rows.lines().enumerate().filter(|(_, row)| !row.trim().is_empty()) {
        let refuse = |why: String| {
            fail(
                Complaint::new(format!("line {}: {why}", number + 1))
                    .help("a row is an hour and a rate: 13,4200/min"),
            )
        };
        let Some((hour, rate)) = row.split_once(',') else {
            return Err(refuse(format!("`{row}` has no comma")));
        };
        let Ok(hour) = hour.trim().parse::<usize>() else {
            // A heading.
            if number == 0 {
                continue;
            }
            return Err(refuse(format!("`{}` is no hour", hour.trim())));
        };
        let per_second = parse_rate_or_zero(rate.trim()).map_err(|error| refuse(error.to_string()))?;
        match hours.get_mut(hour) {
            Some(known @ None) => *known = Some(per_second),
            Some(Some(_)) => return Err(refuse(format!("hour {hour} is there twice"))),
            None => return Err(refuse(format!("a day has no hour {hour}"))),
        }
    }
    let missing: Vec<String> = hours
        .iter()
        .enumerate()
        .filter(|(_, rate)| rate.is_none())
        .map(|(hour, _)| hour.to_string())
        .collect();
    if !missing.is_empty() {
        let complaint = Complaint::new(format!("the profile has no rate for hour {}", missing.join(", ")));
        return Err(fail(complaint.help("write a row for each hour from 0 to 23")));
    }
    let per_second: Vec<f64> = hours.into_iter().flatten().collect();
    if per_second.iter().all(|rate| *rate == 0.0) {
        let complaint = Complaint::new("the profile has no load at any hour");
        return Err(fail(complaint.help("write a rate above 0 for one hour at least")));
    }
    Ok(DayProfile { per_second })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), text).expect("a file that can be written");
        file
    }

    /// What is wrong with a price file of these keys and platforms.
    fn wrong(keys: &str, platforms: &[&str]) -> Vec<String> {
        let platform =
            |keys: &&str| format!("  - {{cpu_hour: 1, gib_hour: 1, replica: {{cpu: 1}}, {keys}}}\n");
        let list: String = platforms.iter().map(platform).collect();
        let file = written(&format!("{keys}\nplatforms:\n{list}"));
        let read = prices_from_yaml_file(file.path());
        read.map_or_else(
            |error| error.problems().iter().map(|problem| problem.message.clone()).collect(),
            |_| Vec::new(),
        )
    }

    #[test]
    fn the_work_of_engineers_needs_both_its_hours_and_their_price() {
        let (with, without) = ("name: host, engineer_hours: 6", "name: pod");
        assert!(wrong("engineer_hour: 80", &[with, without]).is_empty());
        assert!(wrong("spare: 1", &[without]).is_empty());
        assert_eq!(wrong("spare: 1", &[without, with]), ["`engineer_hours` have no price"]);
        assert_eq!(
            wrong("engineer_hour: 80", &[without]),
            ["no platform has `engineer_hours`, which `engineer_hour` is the price of"]
        );
        assert_eq!(wrong("engineer_hur: 80", &[with]), ["unknown key `engineer_hur`"]);
    }

    #[test]
    fn a_platform_has_one_price() {
        assert_eq!(
            wrong("spare: 1", &["name: host", "name: pod", "name: host"]),
            ["the platform `host` is listed twice"]
        );
    }

    #[test]
    fn a_profile_may_have_idle_hours_but_not_throughout() {
        let day = |rate: fn(usize) -> &'static str| {
            let rows: String = (0..HOURS).map(|hour| format!("{hour},{}\n", rate(hour))).collect();
            let file = written(&rows);
            day_profile(file.path().to_str().expect("a plain path"))
        };
        let profile = day(|hour| if hour < 6 { "0/min" } else { "120/min" }).expect("a profile");
        assert_eq!(profile.per_second, [[0.0_f64; 6].as_slice(), &[2.0; 18]].concat());
        let refused = day(|_| "0/s").expect_err("no load");
        assert_eq!(refused.problems()[0].message, "the profile has no load at any hour");
    }
}
