//! Services: how each is started, what is asked of it, when it is ready, and what it is called.

mod naming;
mod needs;
mod placeholders;
mod ready;
mod references;
mod runtimes;
mod start;

use std::path::Path;

use loadline_model::load::{ResponseCheck, ResponseCheckError};
use loadline_model::platform::Limits;
use serde_json::json;

use self::naming::{command_line, name_apart, short_name};
use self::needs::NeedKeys;
use self::ready::ReadyKeys;
use self::runtimes::{GoKeys, JvmKeys};
use self::start::{BUILTINS, OTHER, Started, defaults, started};

pub(crate) use self::start::is_reference;
pub use self::start::{is_reference_service, service_lines};
use super::images::{self, ImageKeys};
use super::matrix::MatrixKind;
use super::names::{name, unique};
use super::requests::{self, RequestKeys, requests};
use super::tls::{self, TlsKeys};
use super::{ExperimentKeys, TLS, WHAT, cpus, limits, texts, way_out};
use crate::error::{Complaint, Place, Problems};
use crate::files::existing;
use crate::http;
use crate::kinds::{CommandLine, List, OneOrMore, Pairs, Scalar, Word, count, parsed, switch, text, trimmed};
use crate::machine::Machine;
use crate::node::{Node, Text};
use crate::options::{Detail, Kind, Table, Written};
use crate::{Ready, RequestSpec, Service, Start};

/// Name of a service that is not started by us and has none.
const UNNAMED: &str = "service";

/// What is written of a service.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ServiceKeys {
    name: Option<String>,
    builtin: Option<String>,
    args: Option<Vec<Text>>,
    command: Option<Vec<Text>>,
    reference: Option<Text>,
    mode: Option<Text>,
    directory: Option<Text>,
    image: Option<Written<ImageKeys>>,
    env: Vec<(String, String)>,
    jvm: Option<Written<JvmKeys>>,
    go: Option<Written<GoKeys>>,
    metrics: Option<String>,
    needs: Option<Vec<Written<NeedKeys>>>,
    limits: Written<Limits>,
    cpus: Option<Vec<Text>>,
    port: Option<u16>,
    requests: Option<Vec<Written<RequestKeys>>>,
    headers: Vec<(String, String)>,
    body: Option<String>,
    feed: Option<String>,
    expect: Vec<Text>,
    https: bool,
    pub(super) tls: Option<Written<TlsKeys>>,
    ready: Written<ReadyKeys>,
    matrix: Option<()>,
}

pub(super) fn table() -> Table<ServiceKeys> {
    let description = "What is measured: how to start it, what to ask of it, how to tell that it is ready";
    let builtin = Scalar::new(
        |text| Ok(text.trim().to_owned()),
        String::clone,
        json!({ "enum": BUILTINS.map(|(name, _)| name) }),
    );
    Table::<ServiceKeys>::new("Service", "service", description)
        .key("name", parsed(name), "Name in tables", |service| &mut service.name)
        .default("the built-in's with its arguments, or the program's")
        .key(
            "builtin",
            builtin,
            "A service that comes with loadline. Write either `builtin` or `command`",
            |service| &mut service.builtin,
        )
        .key("args", CommandLine, "Arguments of the built-in service", |service| &mut service.args)
        .key(
            "command",
            CommandLine,
            "Program and arguments of your own service, started without a shell; `{host}` and `{port}` are replaced by the address to listen on",
            |service| &mut service.command,
        )
        .key(
            "reference",
            Word,
            "One of loadline's reference services, which `make services` builds: spring, quarkus, go-net-http, …",
            |service| &mut service.reference,
        )
        .key("mode", Word, "The thread model of a reference service: platform, virtual or reactive", |service| {
            &mut service.mode
        })
        .default("the first that it has")
        .key(
            "directory",
            Word,
            "The folder that the command is started in, and that its path is relative to. In a container it is the image's own",
            |service| &mut service.directory,
        )
        .flag("--directory", WHAT)
        .default("the working directory of loadline")
        .key(
            "image",
            images::kind(),
            "What a container platform starts: the name or the file of an image, or its parts. The image's own program gets the arguments of the command",
            |service| &mut service.image,
        )
        .default("made from the service's program, which must be statically linked")
        .key(
            "env",
            Pairs(variable),
            "Environment variables added to the inherited ones; `{host}`, `{port}`, `{limits.cpu}` and `{limits.memory}` are replaced",
            |service| &mut service.env,
        )
        .key("jvm", runtimes::jvm_table(), "How its JVM is started", |service| &mut service.jvm)
        .key("go", runtimes::go_table(), "How its Go runtime is set up", |service| &mut service.go)
        .key(
            "metrics",
            parsed(http::path).placeholder("PATH"),
            "A path of the service with metrics in Prometheus' text format, read before and after each slice",
            |service| &mut service.metrics,
        )
        .key(
            "needs",
            List { element: needs::table(), needs_one: false },
            "What is started before it, such as a broker or a database; {NAME.host} and {NAME.port} in its command and environment are replaced",
            |service| &mut service.needs,
        )
        .key("limits", limits::table(), "What this service may use", |service| &mut service.limits)
        .key("cpus", cpus::service_kind(), "CPUs that this service is pinned to: 0,2-3; all: it is not pinned", |service| {
            &mut service.cpus
        })
        .key(
            "port",
            count::<u16>("a port", 1, 65_535).help("leave it out if the service takes {port} or $PORT"),
            "The port of a service that listens on no other. Without it the service takes `{port}` or `$PORT`",
            |service| &mut service.port,
        )
        .key("requests", requests::kind(), "The request mix", |service| &mut service.requests)
        .key(
            "headers",
            Pairs(requests::header),
            "Headers of all requests; a request's own take the place of those with their name",
            |service| &mut service.headers,
        )
        .key(
            "body",
            text(),
            "Body of all requests with POST, PUT or PATCH that have none of their own. Where no request is written, it is posted",
            |service| &mut service.body,
        )
        .key(
            "feed",
            trimmed().placeholder("FILE"),
            "CSV file whose rows fill {{column}} in paths, headers and bodies, a row for each request",
            |service| &mut service.feed,
        )
        .flag("--feed", WHAT)
        .key(
            "expect",
            expect_kind(),
            "What a response must have, one check or several: status=2xx, header:NAME, header:NAME~TEXT, body=TEXT or body~TEXT",
            |service| &mut service.expect,
        )
        .key(
            "https",
            switch(),
            "The service speaks https where it is started. Of one that already runs, its URL says so",
            |service| &mut service.https,
        )
        .switch("--https", TLS, "true", "The service speaks https where it is started; of a URL its scheme says so")
        .key("tls", tls::table(), "What the client does where https is spoken", |service| &mut service.tls)
        .key(
            "ready",
            ready::table().flag_of("http", "--ready", WHAT),
            "When the service counts as ready",
            |service| &mut service.ready,
        )
        .key(
            "matrix",
            MatrixKind,
            "One service with each combination of these values: {env.GOMAXPROCS: [1, 4]}; `exclude` leaves some out",
            |service| &mut service.matrix,
        )
}

fn expect_kind() -> OneOrMore {
    let text = json!({ "type": "string" });
    // No check contains the end of a line.
    OneOrMore { alone: vec![text.clone()], element: text, separator: '\n', placeholder: "CHECK" }
}

fn expect(texts: &[Text], problems: &mut Problems) -> Vec<ResponseCheck> {
    let check = |text: &str| text.parse().map_err(|error: ResponseCheckError| Complaint::of(error));
    texts.iter().filter_map(|text| text.read(problems, check)).collect()
}

pub(super) fn variable(name: &Text, value: &Text, problems: &mut Problems) -> Option<(String, String)> {
    let complaint = if name.value.is_empty() || name.value.contains(['=', '\0']) {
        let message = format!("`{}` is not a valid name for an environment variable", name.value);
        Complaint::new(message).help("use letters, digits and underscores")
    } else if ["HOST", "PORT"].contains(&name.value.as_str()) {
        Complaint::new(format!("{} is set by loadline to the address to listen on", name.value))
            .help("leave it out; give a fixed port as `port`")
    } else if value.value.contains('\0') {
        Complaint::new(format!("the value of {} contains a zero byte", name.value))
            .help("remove it: no program can receive one")
    } else {
        problems.note(&value.place, placeholders::check(&value.value))?;
        return Some((name.value.clone(), value.value.clone()));
    };
    problems.add(&name.place, complaint);
    None
}

impl ServiceKeys {
    /// What is written of a service of an experiment.
    pub fn of(service: &Service, detail: Detail) -> ServiceKeys {
        let (builtin, args, command) = match &service.start {
            Some(Start::Builtin { name, args }) => (Some(name.clone()), Some(args), None),
            Some(Start::Command(words)) => (None, None, Some(texts(words))),
            None => (None, None, None),
        };
        let defaults = defaults(service.start.as_ref());
        let needed = |differs: bool| differs || detail == Detail::All;
        let is_usual_mix = service.requests == [requests::get(defaults.request)];
        let written = |request: &RequestSpec| Written::from(RequestKeys(request.clone()));
        ServiceKeys {
            name: Some(service.name.clone()),
            builtin,
            args: args.filter(|args| !args.is_empty()).map(|args| texts(args)),
            command,
            // A reference service is a command as any other once it is found.
            reference: None,
            mode: None,
            directory: service.directory.as_ref().map(|folder| shown(folder)),
            jvm: None,
            go: None,
            metrics: service.metrics.clone(),
            needs: (!service.needs.is_empty())
                .then(|| service.needs.iter().map(|need| NeedKeys::of(need).into()).collect()),
            image: service.image.as_ref().map(|image| ImageKeys::of(image).into()),
            env: service.env.clone(),
            limits: service.limits.into(),
            cpus: service.cpus.as_ref().map(cpus::words_of),
            port: service.port,
            // They are the requests' own once they are read.
            headers: Vec::new(),
            body: None,
            requests: needed(!is_usual_mix).then(|| service.requests.iter().map(written).collect()),
            feed: service.feed.as_ref().map(|feed| feed.display().to_string()),
            expect: texts(&service.expect.iter().map(ToString::to_string).collect::<Vec<_>>()),
            https: service.https,
            tls: service.tls.as_ref().map(|options| TlsKeys::of(options).into()),
            ready: Written::from(ReadyKeys {
                http: service.ready.path.clone().filter(|path| needed(Some(path.as_str()) != defaults.ready)),
                within: service.ready.within,
            }),
            matrix: None,
        }
    }

    /// The services of an experiment as they are written; none if there is but one that already runs and is not described.
    pub fn of_all(services: &[Service], detail: Detail) -> Vec<Written<ServiceKeys>> {
        if detail == Detail::Essential && services == [unnamed()] {
            return Vec::new();
        }
        let mut all: Vec<Written<ServiceKeys>> =
            services.iter().map(|service| ServiceKeys::of(service, detail).into()).collect();
        // A name is left out where it is the one that the service gets without it, beside the others.
        let mut named = services.to_vec();
        for (service, keys) in named.iter_mut().zip(&mut all) {
            let usual = short_name(service.start.as_ref(), service.image.as_ref());
            let line = command_line(service);
            if service.name == usual || line.is_some_and(|line| line == service.name) {
                keys.value.name = None;
                service.name = usual;
            }
        }
        name_apart(&mut named, &all.iter().collect::<Vec<_>>());
        for ((service, named), keys) in services.iter().zip(&named).zip(&mut all) {
            if service.name != named.name {
                keys.value.name = Some(service.name.clone());
            }
        }
        all
    }
}

/// A service as a file would describe it.
pub(crate) fn service_as_written(service: &Service) -> Node {
    table().write(&ServiceKeys::of(service, Detail::Essential).into(), Detail::Essential)
}

/// The services under either key.
pub(super) fn written(keys: &ExperimentKeys) -> Vec<&Written<ServiceKeys>> {
    keys.service.iter().chain(keys.services.iter().flatten()).collect()
}

/// All services that are valid.
pub(super) fn services(
    keys: &Written<ExperimentKeys>,
    machine: &Machine,
    problems: &mut Problems,
) -> Vec<Service> {
    if keys.has("service") && keys.has("services") {
        let complaint = Complaint::new("`service` and `services` cannot both be given");
        problems.add(keys.place_of("services"), complaint.help("put them all into `services`"));
    }
    let written = written(&keys.value);
    if keys.value.services.as_ref().is_some_and(Vec::is_empty) {
        let complaint = Complaint::new("the list of services is empty");
        problems.add(keys.place_of("services"), complaint.help("write one, as in `- {builtin: orders}`"));
    }
    if written.is_empty() {
        // Something that runs already needs no more description than this.
        return vec![unnamed()];
    }
    let (before, folder) = (problems.count(), keys.value.folder.as_deref());
    let mut services: Vec<Service> =
        written.iter().filter_map(|written| service(written, folder, machine, problems)).collect();
    if problems.count() == before {
        name_apart(&mut services, &written);
        let places = written.iter().map(|written| written.place_of("name"));
        let names = services.iter().map(|service| service.name.as_str()).zip(places);
        let help = way_out(
            &keys.place,
            "give each a `name` of its own, or leave one out",
            "leave one out, or give it other arguments; to see the noise, keep the twin",
        );
        unique("services", names, help, problems);
    }
    services
}

/// Puts a service with each request in the place of a service with several: `shop GET /cart`. Of what such a request carries, a mix says
/// nothing.
pub(super) fn separate_requests(keys: &mut ExperimentKeys, services: &[Service]) {
    let separate = |(written, service): (&Written<ServiceKeys>, &Service)| -> Vec<Written<ServiceKeys>> {
        let requests = written.value.requests.iter().flatten().zip(&service.requests);
        let one = |(request, spec): (&Written<RequestKeys>, &RequestSpec)| {
            let mut one = written.clone();
            one.value.name = Some(format!("{} {} {}", service.name, spec.method, spec.path));
            one.value.requests = Some(vec![request.clone()]);
            one
        };
        if service.requests.len() > 1 { requests.map(one).collect() } else { vec![written.clone()] }
    };
    let all = written(keys).into_iter().zip(services).flat_map(separate).collect();
    (keys.service, keys.services) = (None, Some(all));
}

fn unnamed() -> Service {
    Service {
        name: UNNAMED.to_owned(),
        start: None,
        image: None,
        directory: None,
        env: Vec::new(),
        metrics: None,
        needs: Vec::new(),
        limits: Limits::default(),
        cpus: None,
        port: None,
        requests: vec![requests::get(OTHER.request)],
        feed: None,
        expect: Vec::new(),
        https: false,
        tls: None,
        ready: Ready { path: None, within: ReadyKeys::default().within },
    }
}

fn service(
    written: &Written<ServiceKeys>,
    folder: Option<&Path>,
    machine: &Machine,
    problems: &mut Problems,
) -> Option<Service> {
    let before = problems.count();
    let keys = &written.value;
    let Started { name, start, image, directory, mut env, request, ready } =
        started(written, folder, machine, problems);
    env.extend(runtimes::environment(keys.jvm.as_ref(), keys.go.as_ref(), &keys.env, problems));
    env.extend(keys.env.iter().cloned());
    let needs = needs::needs(keys.needs.as_deref().unwrap_or_default(), folder, machine, problems);
    let known: Vec<&str> = needs.iter().filter(|need| !need.proxy).map(|need| need.name.as_str()).collect();
    let words = keys.command.iter().chain(&keys.args).flatten();
    words.for_each(|word| needs::check_addresses(&word.value, needs::SERVICE, &known, &word.place, problems));
    keys.env.iter().for_each(|(_, value)| {
        needs::check_addresses(value, needs::SERVICE, &known, written.place_of("env"), problems)
    });
    let ReadyKeys { http, within } = &keys.ready.value;
    let default = requests::default(&request, keys.body.is_some());
    let ready = http.clone().or(ready);
    if needs.iter().any(|need| need.proxy) {
        if ready.is_none() {
            let complaint = Complaint::new("a proxy accepts connections before its service is ready");
            problems.add(&written.place, complaint.help("say how to tell: `ready: {http: /healthz}`"));
        }
        if keys.https {
            let complaint = Complaint::new("`https` of a service with a proxy could mean either of the two");
            problems
                .add(written.place_of("https"), complaint.help("leave `https` out: both speak plain HTTP"));
        }
    }
    let service = Service {
        name: keys.name.clone().unwrap_or(name),
        env,
        directory,
        metrics: keys.metrics.clone(),
        needs,
        limits: keys.limits.value,
        cpus: keys
            .cpus
            .as_ref()
            .and_then(|words| cpus::service_cpus(words, written.place_of("cpus"), machine, problems)),
        port: keys.port,
        requests: requests(keys.requests.as_deref(), &default, written.place_of("requests"), problems)
            .into_iter()
            .map(|request| requests::with_common(request, &keys.headers, keys.body.as_deref()))
            .collect(),
        feed: keys.feed.as_ref().and_then(|feed| existing(folder, feed, written.place_of("feed"), problems)),
        expect: expect(&keys.expect, problems),
        https: keys.https,
        tls: keys.tls.as_ref().and_then(|written| tls::tls(written, folder, problems)),
        ready: Ready { path: ready, within: *within },
        start,
        image,
    };
    (problems.count() == before).then_some(service)
}

fn shown(path: &Path) -> Text {
    Text { value: path.display().to_string(), place: Place::File }
}

/// The place of a service's fixed port.
pub(super) fn port_place(written: &Written<ServiceKeys>) -> &Place {
    written.place_of("port")
}

/// The places of its needs' fixed ports, in their order.
pub(super) fn need_places(written: &ServiceKeys) -> impl Iterator<Item = &Place> {
    written.needs.iter().flatten().map(|need| need.place_of("port"))
}
