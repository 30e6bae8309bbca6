//! Services: how each is started, what is asked of it, when it is ready, and what it is called.

use std::path::{Path, PathBuf};
use std::time::Duration;

use loadline_model::load::{ResponseCheck, ResponseCheckError};
use loadline_model::platform::{Image, ImageSource, Starts};

use super::choices::switch;
use super::command::startable;
use super::names::{name, unique};
use super::requests::requests;
use super::tls::tls;
use super::way_out;
use crate::draft::{Draft, ImageDraft, Located, ReadyDraft, ServiceDraft, Text};
use crate::error::{Complaint, Place, Problems, suggestion};
use crate::files::existing;
use crate::http;
use crate::machine::Machine;
use crate::units::{parse_count, parse_duration_within};
use crate::words::{join, place_of, words};
use crate::{Platform, Ready, Service, Start};

/// What is asked of a service that says nothing about it.
pub(super) struct DefaultPaths {
    pub request: &'static str,
    pub ready: Option<&'static str>,
}

/// What the platforms need a service to bring.
#[derive(Clone, Copy)]
pub(super) struct Needs {
    /// Something to start as a process.
    command: bool,
    /// Something to start in a container: an image, or a program that one is made of.
    image: bool,
}

impl Needs {
    pub(super) fn of(platforms: &[Platform]) -> Needs {
        let any =
            |starts| platforms.iter().any(|platform| platform.kind.capabilities(false).starts == starts);
        Needs { command: any(Starts::Command), image: any(Starts::Image) }
    }

    fn anything(self) -> bool {
        self.command || self.image
    }
}

/// The built-in services by name.
const BUILTINS: [(&str, DefaultPaths); 3] = [
    ("orders", DefaultPaths { request: "/api/orders", ready: Some("/healthz") }),
    ("hello", DefaultPaths { request: "/hello/42", ready: Some("/healthz") }),
    ("cpu", DefaultPaths { request: "/cpu?n=10", ready: Some("/healthz") }),
];

const OTHER: DefaultPaths = DefaultPaths { request: "/", ready: None };

/// Name of a service that isn't started by us and has none.
const UNNAMED: &str = "service";
/// How long a service may take to get ready if nothing is said.
const READY_WITHIN: Duration = Duration::from_secs(30);

/// The services as the draft has them under either key.
pub(super) fn drafts(draft: &Draft) -> Vec<&ServiceDraft> {
    let several = draft.services.iter().flat_map(|services| &services.value);
    draft.service.iter().chain(several).collect()
}

/// All services of the draft that are valid. `needs`: what the platforms have to be given.
pub(super) fn services(
    draft: &Draft,
    needs: Needs,
    machine: &Machine,
    problems: &mut Problems,
) -> Vec<Service> {
    let drafts = drafts(draft);
    if let (Some(_), Some(services)) = (&draft.service, &draft.services) {
        let complaint = Complaint::new("both `service` and `services` are there");
        problems.add(&services.place, complaint.help("put all of them into `services`"));
    }
    if let Some(services) = draft.services.as_ref().filter(|services| services.value.is_empty()) {
        let complaint = Complaint::new("the list of services is empty");
        problems.add(&services.place, complaint.help("write one, as in `- {builtin: orders}`"));
    } else if drafts.is_empty() {
        if needs.anything() {
            let help = way_out(
                &draft.place,
                "write `service: {builtin: orders}`, or your own `command`",
                "write --service orders, or --command with your own",
            );
            problems.add(&draft.place, Complaint::new("no service is given").help(help));
        }
        // Something that runs already needs no more description than this.
        return vec![unnamed()];
    }
    let before = problems.count();
    let folder = draft.folder.as_deref();
    let mut services: Vec<Service> =
        drafts.iter().filter_map(|draft| service(draft, (needs, folder), machine, problems)).collect();
    if problems.count() == before {
        name_apart(&mut services, &drafts);
        let places = drafts.iter().map(|draft| draft.name.as_ref().map_or(&draft.place, |name| &name.place));
        let names = services.iter().map(|service| service.name.as_str()).zip(places);
        let help = way_out(
            &draft.place,
            "give each a `name` of its own, or leave one out",
            "leave one out, or give it other arguments; the noise is shown by the twin",
        );
        unique("services", names, help, problems);
    }
    services
}

fn unnamed() -> Service {
    Service {
        name: UNNAMED.to_owned(),
        start: None,
        image: None,
        env: Vec::new(),
        port: None,
        requests: requests(None, &OTHER, &mut Problems::default()),
        feed: None,
        expect: Vec::new(),
        https: false,
        tls: None,
        ready: Ready { path: None, within: READY_WITHIN },
    }
}

fn service(
    draft: &ServiceDraft,
    (needs, folder): (Needs, Option<&Path>),
    machine: &Machine,
    problems: &mut Problems,
) -> Option<Service> {
    let before = problems.count();
    let image = draft.image.as_ref().and_then(|draft| image(draft, problems));
    let needs_start = needs.command || (needs.image && draft.image.is_none());
    let start = start(draft, needs_start, machine, problems);
    let defaults = match &start {
        Some(Start::Builtin { name, .. }) => {
            BUILTINS.iter().find(|(builtin, _)| builtin == name).map_or(&OTHER, |(_, defaults)| defaults)
        }
        _ => &OTHER,
    };
    let name = match &draft.name {
        Some(text) => text.read(problems, name)?,
        None => short_name(start.as_ref(), image.as_ref()),
    };
    let env = draft.env.as_deref().unwrap_or_default();
    let service = Service {
        name,
        env: env.iter().filter_map(|(name, value)| variable(name, value, problems)).collect(),
        port: draft.port.as_ref().and_then(|text| text.read(problems, port)),
        requests: requests(draft.requests.as_ref(), defaults, problems),
        feed: draft.feed.as_ref().and_then(|text| existing(folder, text, problems)),
        expect: expect(draft.expect.as_ref(), problems),
        https: draft.https.as_ref().and_then(|text| text.read(problems, switch)).unwrap_or(false),
        tls: draft.tls.as_ref().and_then(|draft| tls(draft, folder, problems)),
        ready: ready(draft.ready.as_ref(), defaults, problems),
        start,
        image,
    };
    (problems.count() == before).then_some(service)
}

fn start(
    draft: &ServiceDraft,
    needs_start: bool,
    machine: &Machine,
    problems: &mut Problems,
) -> Option<Start> {
    if let (None, Some(args)) = (&draft.builtin, &draft.args) {
        let complaint = Complaint::new("`args` belongs to a built-in service");
        problems.add(place_of(args, 0), complaint.help("put the arguments into `command`"));
    }
    match (&draft.builtin, &draft.command) {
        (Some(builtin), None) => self::builtin(builtin, draft, machine, problems),
        (None, Some(command)) => {
            let words = words(command, problems)?;
            let program = words.value.first().map_or("", String::as_str);
            problems.note(place_of(command, 0), startable(program, &machine.path))?;
            Some(Start::Command(words.value))
        }
        (Some(_), Some(_)) => {
            let complaint = Complaint::new("a service is built in or has a command, not both");
            problems.add(&draft.place, complaint.help("make two services of it"));
            None
        }
        (None, None) if needs_start && draft.image.is_some() => {
            let complaint =
                Complaint::new("an image starts in docker and kubernetes only, and this runs elsewhere too");
            problems.add(
                &draft.place,
                complaint.help("add the `command` that is started there, or leave those platforms out"),
            );
            None
        }
        (None, None) => {
            if needs_start {
                let help = way_out(
                    &draft.place,
                    "write `builtin: orders`, or `command` with your own",
                    "write --service orders, or --command with your own",
                );
                problems.add(&draft.place, Complaint::new("no way to start the service is given").help(help));
            }
            None
        }
    }
}

fn builtin(
    builtin: &Text,
    draft: &ServiceDraft,
    machine: &Machine,
    problems: &mut Problems,
) -> Option<Start> {
    let name = builtin.value.trim().to_owned();
    if !BUILTINS.iter().any(|(known, _)| *known == name) {
        let known = BUILTINS.map(|(known, _)| known);
        let complaint = match name.as_str() {
            "" => Complaint::new("the built-in service has no name"),
            _ => Complaint::new(format!("there is no built-in service `{name}`")),
        };
        let help = suggestion(&name, &known);
        problems.add(&builtin.place, complaint.help(format!("{help} (your own is started with a command)")));
        return None;
    }
    let args = match &draft.args {
        Some(args) => words(args, problems)?,
        None => Located { value: Vec::new(), place: builtin.place.clone() },
    };
    let checked = (machine.check_builtin)(&name, &args.value).map_err(|error| {
        Complaint::new(format!("`{name}` doesn't take these arguments: {error}"))
            .help(format!("loadline serve {name} --help names them"))
    });
    problems.note(&args.place, checked)?;
    Some(Start::Builtin { name, args: args.value })
}

fn image(draft: &ImageDraft, problems: &mut Problems) -> Option<Image> {
    let (name, archive, entrypoint) = match draft {
        ImageDraft::Name(name) => (Some(name), None, None),
        ImageDraft::Fields(fields) => {
            (fields.name.as_ref(), fields.archive.as_ref(), fields.entrypoint.as_ref())
        }
    };
    let source = match (name, archive) {
        (Some(name), None) => ImageSource::Name(name.read(problems, reference)?),
        (None, Some(archive)) => ImageSource::Archive(archive.read(problems, file)?),
        _ => {
            let complaint = Complaint::new("an image has a name or is an archive");
            let place = match draft {
                ImageDraft::Name(name) => &name.place,
                ImageDraft::Fields(fields) => &fields.place,
            };
            problems.add(place, complaint.help("write `image: nginx:1.27`, or `image: {archive: FILE}`"));
            return None;
        }
    };
    let entrypoint = match entrypoint {
        Some(words_written) => Some(words(words_written, problems)?.value),
        None => None,
    };
    Some(Image { source, entrypoint })
}

/// A reference of an image; registries know what else is wrong with it.
fn reference(text: &str) -> Result<String, Complaint> {
    let name = text.trim();
    match name.is_empty() || name.contains(char::is_whitespace) || name.starts_with('-') {
        true => Err(Complaint::new(format!("`{name}` is not the name of an image")).help("write nginx:1.27")),
        false => Ok(name.to_owned()),
    }
}

fn file(text: &str) -> Result<PathBuf, Complaint> {
    let path = PathBuf::from(text.trim());
    match path.is_file() {
        true => Ok(path),
        false => Err(Complaint::new(format!("there is no file {}", path.display()))
            .help("`loadline image -o FILE` or `docker save` writes one")),
    }
}

/// The built-in's name with its arguments, or the file name of the program or image.
fn short_name(start: Option<&Start>, image: Option<&Image>) -> String {
    match start {
        Some(Start::Builtin { name, args }) if args.is_empty() => name.clone(),
        Some(Start::Builtin { name, args }) => format!("{name} {}", join(args)),
        Some(Start::Command(words)) => {
            let program = words.first().map(Path::new).and_then(Path::file_name);
            program.map_or_else(|| UNNAMED.to_owned(), |name| name.to_string_lossy().into_owned())
        }
        None => image.map_or_else(|| UNNAMED.to_owned(), |image| file_name(&image.source)),
    }
}

fn file_name(image: &ImageSource) -> String {
    match image {
        ImageSource::Name(name) => name.rsplit('/').next().unwrap_or(name).to_owned(),
        ImageSource::Archive(file) | ImageSource::Program(file) => {
            file.file_name().unwrap_or_default().to_string_lossy().into_owned()
        }
    }
}

/// Names commands of the same program by their whole line, where no name was given.
fn name_apart(services: &mut [Service], drafts: &[&ServiceDraft]) {
    let names: Vec<String> = services.iter().map(|service| service.name.clone()).collect();
    for (service, draft) in services.iter_mut().zip(drafts) {
        if let (None, Some(Start::Command(words))) = (&draft.name, &service.start)
            && names.iter().filter(|name| **name == service.name).count() > 1
        {
            service.name = join(words);
        }
    }
}

fn variable(name: &Text, value: &Text, problems: &mut Problems) -> Option<(String, String)> {
    let complaint = if name.value.is_empty() || name.value.contains(['=', '\0']) {
        let message = format!("`{}` can't be the name of an environment variable", name.value);
        Complaint::new(message).help("write letters, digits and underscores")
    } else if ["HOST", "PORT"].contains(&name.value.as_str()) {
        Complaint::new(format!("{} is set by loadline, to where the service is to listen", name.value))
            .help("leave it out; a fixed port is given as `port`")
    } else if value.value.contains('\0') {
        Complaint::new(format!("the value of {} holds a zero byte", name.value))
            .help("no program can be given one")
    } else {
        return Some((name.value.clone(), value.value.clone()));
    };
    problems.add(&name.place, complaint);
    None
}

fn port(text: &str) -> Result<u16, Complaint> {
    let help = "leave it out if the service takes {port} or $PORT";
    let port = parse_count(text, "a port", 1, 65_535).map_err(|complaint| complaint.help(help))?;
    u16::try_from(port).map_err(|_| Complaint::new("the port is too large"))
}

fn expect(draft: Option<&Located<Vec<Text>>>, problems: &mut Problems) -> Vec<ResponseCheck> {
    let texts = draft.map_or(&[][..], |draft| &draft.value);
    let check = |text: &str| text.parse().map_err(|error: ResponseCheckError| Complaint::of(error));
    texts.iter().filter_map(|text| text.read(problems, check)).collect()
}

fn ready(draft: Option<&ReadyDraft>, defaults: &DefaultPaths, problems: &mut Problems) -> Ready {
    let http = draft.and_then(|draft| draft.http.as_ref());
    let within = draft.and_then(|draft| draft.within.as_ref());
    let within = within.and_then(|text| {
        text.read(problems, |text| {
            let (least, most) = (Duration::from_millis(100), Duration::from_secs(60 * 60));
            parse_duration_within(text, "the time to get ready", least, most)
        })
    });
    let path = match http {
        Some(text) => text.read(problems, http::path),
        None => defaults.ready.map(str::to_owned),
    };
    Ready { path, within: within.unwrap_or(READY_WITHIN) }
}

/// The place of a service's fixed port.
pub(super) fn port_place(draft: &ServiceDraft) -> &Place {
    draft.port.as_ref().map_or(&draft.place, |port| &port.place)
}
