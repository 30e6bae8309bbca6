//! How a service is started, a built-in, a command or a reference service, with what follows from it where nothing else is written.

use std::path::{Path, PathBuf};

use loadline_model::platform::Image;

use super::ServiceKeys;
use super::naming::short_name;
use super::placeholders;
use super::references::{self, Reference};
use crate::error::{Complaint, Problems, suggestion};
use crate::experiment::command::startable;
use crate::experiment::{images, strings};
use crate::machine::Machine;
use crate::node::Text;
use crate::options::Written;
use crate::{Service, Start};

/// What is asked of a service that says nothing about it.
pub(super) struct DefaultPaths {
    pub request: &'static str,
    pub ready: Option<&'static str>,
}

/// The built-in services by name.
pub(super) const BUILTINS: [(&str, DefaultPaths); 3] = [
    ("orders", DefaultPaths { request: "/api/orders", ready: Some("/healthz") }),
    ("hello", DefaultPaths { request: "/hello/42", ready: Some("/healthz") }),
    ("cpu", DefaultPaths { request: "/cpu?n=10", ready: Some("/healthz") }),
];

/// What `--service` can name here: the built-in services, and each reference service that was built, with each of its modes.
pub fn service_lines(machine: &Machine) -> Vec<String> {
    let builtin = BUILTINS.iter().map(|(name, _)| (*name).to_owned());
    builtin.chain(references::lines(&machine.services)).collect()
}

/// Whether a service of this name is a reference service that was built, and not a built-in one.
pub(crate) fn is_reference(name: &str, machine: &Machine) -> bool {
    BUILTINS.iter().all(|(builtin, _)| *builtin != name) && Reference::is_built(&machine.services, name)
}

/// Whether a service is a reference service, whose files are in the folder of all of them.
pub fn is_reference_service(service: &Service, machine: &Machine) -> bool {
    let folder = machine.services.canonicalize().ok();
    service.directory.as_ref().zip(folder).is_some_and(|(own, all)| own.starts_with(all))
}

pub(super) const OTHER: DefaultPaths = DefaultPaths { request: "/", ready: None };

pub(super) fn defaults(start: Option<&Start>) -> &'static DefaultPaths {
    let Some(Start::Builtin { name, .. }) = start else { return &OTHER };
    BUILTINS.iter().find(|(builtin, _)| builtin == name).map_or(&OTHER, |(_, defaults)| defaults)
}

/// How a service is started, with what follows from it where nothing else is written.
pub(super) struct Started {
    pub name: String,
    pub start: Option<Start>,
    pub image: Option<Image>,
    pub directory: Option<PathBuf>,
    pub env: Vec<(String, String)>,
    pub request: String,
    pub ready: Option<String>,
}

pub(super) fn started(
    written: &Written<ServiceKeys>,
    folder: Option<&Path>,
    machine: &Machine,
    problems: &mut Problems,
) -> Started {
    let keys = &written.value;
    let image = keys.image.as_ref().and_then(|image| images::image(image, problems));
    if let Some(name) = &keys.reference {
        return reference(name, image, written, machine, problems);
    }
    if let Some(mode) = &keys.mode {
        let complaint = Complaint::new("`mode` is for reference services only");
        problems.add(&mode.place, complaint.help("write `reference` beside it, or pass it to the command"));
    }
    let directory =
        keys.directory.as_ref().and_then(|text| text.read(problems, |text| existing_folder(folder, text)));
    let start = start(written, directory.as_deref(), machine, problems);
    let defaults = defaults(start.as_ref());
    Started {
        name: short_name(start.as_ref(), image.as_ref()),
        start,
        image,
        directory,
        env: Vec::new(),
        request: defaults.request.to_owned(),
        ready: defaults.ready.map(str::to_owned),
    }
}

/// A reference service, as it was built.
fn reference(
    name: &Text,
    image: Option<Image>,
    written: &Written<ServiceKeys>,
    machine: &Machine,
    problems: &mut Problems,
) -> Started {
    let keys = &written.value;
    for other in ["builtin", "command", "directory"] {
        if written.has(other) {
            let complaint = Complaint::new(format!("`{other}` and `reference` cannot both be given"));
            problems.add(written.place_of(other), complaint.help("split it into two services"));
        }
    }
    let found = name.read(problems, |text| Reference::find(&machine.services, text.trim()));
    let mode = found.as_ref().and_then(|found| {
        let asked = keys.mode.as_ref().map(|mode| mode.value.trim());
        let place = keys.mode.as_ref().map_or(&name.place, |mode| &mode.place);
        problems.note(place, found.mode(name.value.trim(), asked).map(str::to_owned))
    });
    let mode = mode.unwrap_or_default();
    let short = match &keys.mode {
        Some(mode) => format!("{} {}", name.value.trim(), mode.value.trim()),
        None => name.value.trim().to_owned(),
    };
    Started {
        name: short,
        image: image.or_else(|| Reference::image(&machine.services, name.value.trim())),
        request: references::request(&mode),
        ready: Some(references::READY.to_owned()),
        env: vec![(references::MODE.to_owned(), mode)],
        directory: found.as_ref().map(|found| found.directory.clone()),
        start: found.map(|found| Start::Command(found.command)),
    }
}

/// A folder that is there; relative to that of the file, if it is in one.
pub(super) fn existing_folder(of_file: Option<&Path>, text: &str) -> Result<PathBuf, Complaint> {
    let path = of_file.map_or_else(|| PathBuf::from(text.trim()), |folder| folder.join(text.trim()));
    match std::path::absolute(&path) {
        Ok(path) if path.is_dir() => Ok(path),
        _ => Err(Complaint::new(format!("there is no folder {}", path.display()))
            .help("a folder is relative to that of the experiment file")),
    }
}

fn start(
    written: &Written<ServiceKeys>,
    directory: Option<&Path>,
    machine: &Machine,
    problems: &mut Problems,
) -> Option<Start> {
    let keys = &written.value;
    if let (None, Some(args)) = (&keys.builtin, &keys.args) {
        let place = args.first().map_or(written.place_of("args"), |word| &word.place);
        let complaint = Complaint::new("`args` is for built-in services only");
        problems.add(place, complaint.help("put the arguments into `command`"));
    }
    match (&keys.builtin, &keys.command) {
        (Some(name), None) => builtin(name, written, machine, problems),
        (None, Some(words)) => {
            let program = words.first();
            let place = program.map_or(written.place_of("command"), |word| &word.place);
            let mut words = strings(words);
            // A path is relative to the folder that the program is started in.
            if let (Some(directory), Some(program)) = (directory, words.first_mut())
                && program.contains('/')
            {
                *program = directory.join(&*program).display().to_string();
            }
            for word in keys.command.iter().flatten() {
                problems.note(&word.place, placeholders::check(&word.value));
            }
            problems.note(place, startable(words.first().map_or("", String::as_str), &machine.path))?;
            Some(Start::Command(words))
        }
        (Some(_), Some(_)) => {
            let complaint = Complaint::new("a service is either built in or has a command, not both");
            problems.add(&written.place, complaint.help("split it into two services"));
            None
        }
        (None, None) => None,
    }
}

fn builtin(
    name: &str,
    written: &Written<ServiceKeys>,
    machine: &Machine,
    problems: &mut Problems,
) -> Option<Start> {
    if !BUILTINS.iter().any(|(known, _)| *known == name) {
        let known = BUILTINS.map(|(known, _)| known);
        let complaint = match name {
            "" => Complaint::new("the built-in service has no name"),
            _ => Complaint::new(format!("there is no built-in service `{name}`")),
        };
        let others = "start your own service with a command; `make services` builds the reference services";
        let help = format!("{} ({others})", suggestion(name, &known));
        problems.add(written.place_of("builtin"), complaint.help(help));
        return None;
    }
    let args = written.value.args.as_deref().map(strings).unwrap_or_default();
    let checked = (machine.check_builtin)(name, &args).map_err(|error| {
        Complaint::new(format!("`{name}` does not accept these arguments: {error}"))
            .help(format!("`loadline serve {name} --help` lists them"))
    });
    problems.note(written.place_of("args"), checked)?;
    Some(Start::Builtin { name: name.to_owned(), args })
}
