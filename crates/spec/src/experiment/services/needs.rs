//! What a service needs beside it: `needs: [{name: nats, command: nats-server -a {host} -p {port}}]`.

use std::path::Path;

use loadline_model::experiment::{Need, PROXIED};
use loadline_model::platform::Limits;

use super::placeholders;
use super::ready::{self, ReadyKeys};
use super::start::existing_folder;
use super::{shown, variable};
use crate::error::{Complaint, Place, Problems, suggestion};
use crate::experiment::command::startable;
use crate::experiment::images::{self, ImageKeys};
use crate::experiment::{limits, strings, texts};
use crate::kinds::{CommandLine, Pairs, Word, count, parsed, switch};
use crate::machine::Machine;
use crate::node::Text;
use crate::options::{Table, Written};
use crate::{Ready, Start};

/// What is written of a need.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct NeedKeys {
    name: String,
    command: Option<Vec<Text>>,
    image: Option<Written<ImageKeys>>,
    directory: Option<Text>,
    env: Vec<(String, String)>,
    limits: Written<Limits>,
    port: Option<u16>,
    shared: bool,
    proxy: bool,
    ready: Written<ReadyKeys>,
}

pub(super) fn table() -> Table<NeedKeys> {
    Table::<NeedKeys>::new("Need", "need", "A program that a service needs: started before it, or in front of it")
        .key("name", parsed(word), "What the service calls it: its address is {NAME.host} and {NAME.port}", |need| {
            &mut need.name
        })
        .required("write `name: nats`")
        .key(
            "command",
            CommandLine,
            "Program and arguments where there are processes; `{host}` and `{port}` are replaced by the address to listen on",
            |need| &mut need.command,
        )
        .key("image", images::kind(), "What a container platform starts", |need| &mut need.image)
        .default("made from the program, which must be statically linked")
        .key("directory", Word, "The folder that the command is started in", |need| &mut need.directory)
        .key("env", Pairs(variable), "Environment variables", |need| &mut need.env)
        .key("limits", limits::table(), "What it may use", |need| &mut need.limits)
        .key("port", count::<u16>("a port", 1, 65_535), "The port of a program that listens on no other", |need| {
            &mut need.port
        })
        .key(
            "shared",
            switch(),
            "One for all services and platforms, a process of this machine; otherwise each service has its own, on its platform",
            |need| &mut need.shared,
        )
        .key(
            "proxy",
            switch(),
            "Requests go to it, and it passes them on to the service at `{service.host}` and `{service.port}`; it is started after the service",
            |need| &mut need.proxy,
        )
        .key("ready", ready::table(), "When it counts as ready", |need| &mut need.ready)
}

/// A name that can stand in a placeholder.
fn word(text: &str) -> Result<String, Complaint> {
    let name = text.trim();
    let is_word = !name.is_empty() && name.chars().all(|next| next.is_ascii_lowercase());
    match is_word && !["limits", PROXIED].contains(&name) {
        true => Ok(name.to_owned()),
        false => Err(Complaint::new(format!("`{name}` cannot be the name of a need")).help(
            "write small letters, but neither `limits` nor `service`, which mean something else: nats",
        )),
    }
}

impl NeedKeys {
    /// What is written of a need of an experiment.
    pub fn of(need: &Need) -> NeedKeys {
        let command = match &need.start {
            Some(Start::Command(words)) => Some(texts(words)),
            _ => None,
        };
        NeedKeys {
            name: need.name.clone(),
            command,
            image: need.image.as_ref().map(|image| ImageKeys::of(image).into()),
            directory: need.directory.as_ref().map(|folder| shown(folder)),
            env: need.env.clone(),
            limits: need.limits.into(),
            port: need.port,
            shared: need.shared,
            proxy: need.proxy,
            ready: ReadyKeys { http: need.ready.path.clone(), within: need.ready.within }.into(),
        }
    }
}

/// The needs of a service that are valid.
pub(super) fn needs(
    written: &[Written<NeedKeys>],
    folder: Option<&Path>,
    machine: &Machine,
    problems: &mut Problems,
) -> Vec<Need> {
    let mut needs: Vec<Need> = Vec::new();
    for written in written {
        let Some(need) = need(written, folder, machine, problems) else { continue };
        if needs.iter().any(|other| other.name == need.name) {
            let complaint = Complaint::new(format!("two needs are called `{}`", need.name));
            problems.add(written.place_of("name"), complaint.help("give each a name of its own"));
        }
        if need.proxy && needs.iter().any(|other| other.proxy) {
            let complaint = Complaint::new("a service has one proxy in front of it".to_owned());
            problems.add(written.place_of("proxy"), complaint.help("leave `proxy` out of one of the two"));
        }
        needs.push(need);
    }
    for written in written.iter().filter(|written| written.value.proxy) {
        let keys = &written.value;
        let others = needs.iter().map(|need| need.name.as_str()).filter(|name| *name != keys.name);
        let known: Vec<&str> = others.chain([PROXIED]).collect();
        let words = keys.command.iter().flatten();
        words.for_each(|word| check_addresses(&word.value, PROXY, &known, &word.place, problems));
        keys.env
            .iter()
            .for_each(|(_, value)| check_addresses(value, PROXY, &known, written.place_of("env"), problems));
    }
    needs
}

fn need(
    written: &Written<NeedKeys>,
    folder: Option<&Path>,
    machine: &Machine,
    problems: &mut Problems,
) -> Option<Need> {
    let before = problems.count();
    let keys = &written.value;
    let directory =
        keys.directory.as_ref().and_then(|text| text.read(problems, |text| existing_folder(folder, text)));
    let start = keys.command.as_ref().and_then(|words| {
        let place = words.first().map_or(&written.place, |word| &word.place);
        for word in words {
            problems.note(&word.place, placeholders::check(&word.value));
        }
        let mut words = strings(words);
        // A path is relative to the folder that the program is started in.
        if let (Some(directory), Some(program)) = (&directory, words.first_mut())
            && program.contains('/')
        {
            *program = directory.join(&*program).display().to_string();
        }
        problems.note(place, startable(words.first().map_or("", String::as_str), &machine.path))?;
        Some(Start::Command(words))
    });
    if keys.command.is_none() && (keys.image.is_none() || keys.shared) {
        let complaint = Complaint::new(format!("`{}` has no command", keys.name));
        problems.add(&written.place, complaint.help("write `command: nats-server -a {host} -p {port}`"));
    }
    if keys.proxy && keys.shared {
        let complaint = Complaint::new(format!("the proxy `{}` cannot be shared", keys.name));
        problems.add(
            written.place_of("shared"),
            complaint.help("it is in front of one service: leave `shared` out"),
        );
    }
    let need = Need {
        name: keys.name.clone(),
        start,
        image: keys.image.as_ref().and_then(|image| images::image(image, problems)),
        directory,
        env: keys.env.clone(),
        limits: keys.limits.value,
        port: keys.port,
        shared: keys.shared,
        proxy: keys.proxy,
        ready: Ready { path: keys.ready.value.http.clone(), within: keys.ready.value.within },
    };
    (problems.count() == before).then_some(need)
}

/// How the complaint about an address begins, by who cannot have it.
pub(super) const SERVICE: &str = "the service does not need";
const PROXY: &str = "the proxy does not reach";

/// Refuses an address of something that is not among what is known: `{natz.host}`.
pub(super) fn check_addresses(text: &str, who: &str, known: &[&str], place: &Place, problems: &mut Problems) {
    for (at, _) in text.match_indices('{') {
        let Some((inside, _)) = text[at + 1..].split_once('}') else { continue };
        let Some((name, of)) = inside.split_once('.') else { continue };
        let is_address = ["host", "port"].contains(&of) && name.chars().all(|next| next.is_ascii_lowercase());
        if is_address && !known.contains(&name) {
            let complaint = Complaint::new(format!("{who} `{name}`"));
            let help = match known.is_empty() && name != PROXIED {
                true => format!("write `needs: [{{name: {name}, command: …}}]`"),
                false => suggestion(name, known),
            };
            problems.add(place, complaint.help(help));
        }
    }
}
