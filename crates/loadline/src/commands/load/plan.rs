//! Everything that the flags ask for, read and checked before anything is connected to.

use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use loadline_engine::{
    ClientIdentity, DescriptionError, Endpoint, FileContents, LoadDescription, LoadSpec, Options, Protocol,
    Reuse, SliceSpec, Target, TlsError, TlsOptions, read_tls_files,
};
use loadline_spec::cpus::parse_cpus;
use loadline_spec::load::{MAX_STREAMS, timestamps};
use loadline_spec::url::{HttpUrl, parse_http_url};
use loadline_spec::{Complaint, SpecError};

use super::quantities::{number, wrk_time};
use super::reader::{Reader, complaint};
use super::{requests, slice};
use crate::arguments::LoadArguments;

/// As many connections as a process may have files at the most (proc_sys_fs(5), nr_open).
const MAX_CONNECTIONS: u64 = 1 << 20;

/// A load to drive.
pub struct Plan {
    pub slice: SliceSpec,
    /// The requests of the mix, each on a line: `GET /a`.
    pub requests: Vec<String>,
    /// Its target is the name until [`super::target::settle`] has looked it up.
    pub options: Options,
    /// Whether the name is looked up for every connection.
    pub resolve_each: bool,
    /// The network namespace to load from.
    pub netns: Option<PathBuf>,
}

impl Plan {
    /// Reads the flags; nothing is connected to or begun.
    ///
    /// # Errors
    /// With everything that is wrong with them.
    pub fn read(arguments: &LoadArguments, cpus: &[usize]) -> Result<Plan, SpecError> {
        let mut reader = Reader::default();
        refuse_script(arguments, &mut reader);
        let plan = read(arguments, cpus, &mut reader);
        reader.finish(plan)
    }
}

fn read(arguments: &LoadArguments, cpus: &[usize], reader: &mut Reader) -> Option<Plan> {
    let url = reader.read("URL", &arguments.url, parse_http_url);
    let slice = slice::slice(arguments, reader);
    let connections = reader.read("--connections", &arguments.connections, |text| {
        number(text, "a number of connections", 1, MAX_CONNECTIONS)
    });
    let threads =
        reader.read("--threads", &arguments.threads, |text| number(text, "a number of threads", 1, 1024));
    if let (Some(connections), Some(threads)) = (connections, threads)
        && connections < threads
    {
        let fewer = Complaint::new(format!("{connections} connections are less than {threads} threads"));
        reader.refuse(
            "--threads",
            &arguments.threads,
            fewer.help("every thread needs a connection of its own"),
        );
    }
    let pinned = reader.read_if_given("--cpus", arguments.cpus.as_ref(), |text| parse_cpus(text, cpus));
    let timeout = reader.read("--timeout", &arguments.timeout, wrk_time);
    let streams = reader.read_if_given("--streams", arguments.streams.as_ref(), |text| {
        number(text, "a number of streams", 1, MAX_STREAMS)
    });
    let streams = streams.map(|streams| streams.or(arguments.http2.then_some(1)));
    let reuse = reuse(arguments, reader);
    let timestamps = reader.read_if_given("--timestamps", arguments.timestamps.as_ref(), timestamps);
    let resolve_each = reader.read_if_given("--resolve", arguments.resolve.as_ref(), resolve_each);
    let source = reader.read_if_given("--source", arguments.source.as_ref(), address);
    let url = url?;
    let traffic = requests::traffic(arguments, &url, reader);
    let tls = tls(arguments, &url, reader);
    let endpoint = Endpoint {
        target: match &arguments.unix {
            Some(path) => Target::Unix(path.clone()),
            None => Target::Name(url.host.clone(), url.port),
        },
        authority: url.authority.clone(),
        // As the description has it.
        tls: None,
        source: source?,
        interface: arguments.interface.clone(),
    };
    let slice = slice?;
    let streams = streams?.and_then(|streams| NonZeroUsize::new(streams as usize));
    let mut description = LoadDescription {
        load: LoadSpec {
            name: None,
            load: slice.load.clone(),
            connections: connections? as usize,
            reuse: reuse?,
            protocol: streams.map_or(Protocol::Http1, |streams| Protocol::Http2 { streams }),
            timestamps: timestamps?.unwrap_or_default(),
            timeout: timeout?,
        },
        traffic: traffic?,
    };
    description.traffic.tls = tls?;
    let requests = description.traffic.requests.iter();
    let requests = requests.map(|request| format!("{} {}", request.method, request.path)).collect();
    let described = match Options::describing(&description, endpoint) {
        Ok(options) => options,
        Err(error) => {
            let (flag, value) = flag_of_error(arguments, &error);
            reader.refuse(flag, &value, complaint(error));
            return None;
        }
    };
    let (cpus, threads) = (pinned?.unwrap_or_default(), threads? as usize);
    let options = Options { threads, stay_awake: cpus.len() >= threads, cpus, ..described };
    let netns = arguments.netns.as_ref().map(|name| match name.contains('/') {
        true => PathBuf::from(name),
        // Where ip-netns(8) keeps them.
        false => PathBuf::from("/run/netns").join(name),
    });
    Some(Plan { slice, requests, options, resolve_each: resolve_each?.unwrap_or(false), netns })
}

fn refuse_script(arguments: &LoadArguments, reader: &mut Reader) {
    if let Some(script) = &arguments.script {
        let refused = Complaint::new("Lua scripts are not run");
        reader.refuse(
            "--script",
            &script.to_string_lossy(),
            refused.help(
                "instead of wrk.method, wrk.headers and wrk.body: --method, --header, --body; instead of request(): --request \
                 for a mix, --feed for data; instead of response(): --expect; instead of delay(): --think",
            ),
        );
    }
}

fn reuse(arguments: &LoadArguments, reader: &mut Reader) -> Option<Reuse> {
    let flag = "--requests-per-connection";
    let times = reader.read_if_given(flag, arguments.requests_per_connection.as_ref(), |text| {
        number(text, "a number of requests", 1, u64::MAX)
    })?;
    Some(match times {
        _ if arguments.new_connections => Reuse::Never,
        Some(1) => Reuse::Never,
        Some(times) => Reuse::Times(times),
        None => Reuse::Always,
    })
}

fn tls(
    arguments: &LoadArguments,
    url: &HttpUrl,
    reader: &mut Reader,
) -> Option<Option<TlsOptions<FileContents>>> {
    let files = [("--ca", &arguments.ca), ("--cert", &arguments.cert), ("--key", &arguments.key)];
    if !url.https {
        let switches = [("--insecure", arguments.insecure), ("--no-resumption", arguments.no_resumption)];
        let given =
            files.iter().filter_map(|(flag, path)| Some((*flag, path.as_ref()?.display().to_string())));
        let given = given.chain(arguments.sni.iter().map(|name| ("--sni", name.clone())));
        let given =
            given.chain(switches.iter().filter(|(_, on)| *on).map(|(flag, _)| (*flag, String::new())));
        for (flag, value) in given {
            let plain = Complaint::new("the URL is http://, which has no TLS");
            reader.refuse(flag, &value, plain.help("write https://, or leave the flag out"));
        }
        return Some(None);
    }
    let options = TlsOptions {
        ca: arguments.ca.clone(),
        identity: arguments
            .cert
            .clone()
            .zip(arguments.key.clone())
            .map(|(certificate, key)| ClientIdentity { certificate, key }),
        server_name: arguments.sni.clone(),
        insecure: arguments.insecure,
        no_resumption: arguments.no_resumption,
    };
    match read_tls_files(&options) {
        Ok(tls) => Some(Some(tls)),
        Err(error) => {
            let (flag, value) = flag_of_tls_error(arguments, &error);
            reader.refuse(flag, &value, complaint(error));
            None
        }
    }
}

/// The flag that an error in the description is about.
fn flag_of_error(arguments: &LoadArguments, error: &DescriptionError) -> (&'static str, String) {
    let shown = |path: &Option<PathBuf>| path.iter().map(|path| path.display().to_string()).collect();
    match error {
        DescriptionError::NoConnections => ("--connections", arguments.connections.clone()),
        DescriptionError::Tls(error) => flag_of_tls_error(arguments, error),
        DescriptionError::Feed(_) => ("--feed", shown(&arguments.feed)),
        // Which request it is about is said by its name in the complaint.
        DescriptionError::Mix(_) if arguments.request.is_empty() => ("URL", arguments.url.clone()),
        DescriptionError::Mix(_) => ("--request", arguments.request.join(" ")),
    }
}

fn flag_of_tls_error(arguments: &LoadArguments, error: &TlsError) -> (&'static str, String) {
    let files = [("--ca", &arguments.ca), ("--cert", &arguments.cert), ("--key", &arguments.key)];
    let about =
        |path: &Path| files.iter().find(|(_, file)| file.as_deref() == Some(path)).map(|(flag, _)| *flag);
    match error {
        TlsError::Read { path, .. } | TlsError::Pem { path, .. } | TlsError::Empty(path) => {
            (about(path).unwrap_or("--ca"), path.display().to_string())
        }
        TlsError::Name(name) if arguments.sni.is_some() => ("--sni", name.clone()),
        TlsError::Refused(_) if arguments.cert.is_some() => {
            ("--cert", arguments.cert.iter().map(|path| path.display().to_string()).collect())
        }
        _ => ("URL", arguments.url.clone()),
    }
}

fn resolve_each(text: &str) -> Result<bool, Complaint> {
    match text.trim() {
        "once" => Ok(false),
        "per-connection" => Ok(true),
        other => Err(Complaint::new(format!("`{other}` is not a time to look a name up"))
            .help("write once or per-connection")),
    }
}

fn address(text: &str) -> Result<IpAddr, Complaint> {
    text.trim().parse().map_err(|_| {
        Complaint::new(format!("`{}` is not an address", text.trim())).help("write 10.0.0.5 or fd00::5")
    })
}
