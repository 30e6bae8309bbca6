//! Everything that the load engine can do, from an experiment, against nginx, HAProxy and Caddy.

use std::collections::{BTreeMap, BTreeSet};

use loadline_analysis::result::{Cell, RunResult};

use crate::servers::caddy::Caddy;
use crate::servers::certificates::Certificates;
use crate::servers::haproxy::Haproxy;
use crate::servers::nginx::{Logged, Nginx};
use crate::servers::{free_port, local};
use crate::support::place::{Ended, Place};

/// One slice of each cell, as short as its load allows: neither figures nor gates matter here.
const PLAN: &str =
    "plan: {slice: 200ms, blocks: 1, deployments: 1, warmup: 1s, repeats: 0, interleave: slices}";

/// All loads that there are, with how many requests are due in a slice where that is known.
const LOADS: [(&str, Option<u64>); 10] = [
    ("rate: 100/s, arrivals: uniform", Some(20)),
    ("rate: '0/s..400/s@200ms', arrivals: uniform", Some(40)),
    ("rate: '100/s@100ms,300/s', arrivals: uniform", Some(40)),
    ("replay: times.txt", Some(5)),
    ("closed: true, connections: 2, think: '5ms:fixed'", None),
    ("rate: 101/s, arrivals: uniform, new_connections: true", None),
    ("rate: 102/s, arrivals: uniform, requests_per_connection: 3", None),
    ("rate: 100/s, arrivals: uniform, http2: true, streams: 4", Some(20)),
    ("rate: 100/s, arrivals: uniform, timestamps: kernel", Some(20)),
    ("rate: 100/s, arrivals: uniform, timeout: 5s", Some(20)),
];

const TIMES: &str = "# recorded\n0\n1ms\n1ms\n50ms\n0.19\n";

/// A folder with an experiment and the files that it names; the experiment is run from elsewhere.
struct Written {
    place: Place,
}

impl Written {
    /// `service` and `platforms` as in an experiment file.
    fn new(service: &str, platforms: &str, loads: &[&str]) -> Written {
        let place = Place::new();
        std::fs::create_dir(place.path("sub")).unwrap();
        let loads: String = loads.iter().map(|load| format!("  - {{{load}}}\n")).collect();
        place.write(
            "sub/experiment.yaml",
            &format!("service: {service}\nplatforms: [{platforms}]\nloads:\n{loads}{PLAN}\n"),
        );
        place.write("sub/times.txt", TIMES);
        place.write("sub/users.csv", "id\n17\n4\n");
        Written { place }
    }

    fn run(&self) -> Ended {
        self.place.run(["run", "sub/experiment.yaml", "--json", "-"])
    }

    fn measured(&self) -> RunResult {
        let ended = self.run();
        ended.assert_measured();
        ended.result()
    }
}

/// The `tls` of a service that trusts the tests' authority and shows `client` if it is given.
fn tls(certificates: &Certificates, ca: &str, client: Option<&str>) -> String {
    let identity = client.map_or_else(String::new, |client| {
        format!(
            ", cert: {}, key: {}",
            certificates.certificate(client).display(),
            certificates.key(client).display()
        )
    });
    format!("{{ca: {}{identity}}}", certificates.certificate(ca).display())
}

fn loads() -> Vec<&'static str> {
    LOADS.map(|(load, _)| load).to_vec()
}

/// Every load was offered to both cells as it is written, and answered as expected.
fn assert_all_loads_answered(result: &RunResult) {
    assert_eq!(result.cells.len(), 2 * LOADS.len(), "each load on the platform and its twin");
    let names: BTreeSet<String> = result.cells.iter().map(name).collect();
    assert_eq!(names.len(), LOADS.len(), "each load has a name of its own: {names:?}");
    for (cell, (load, due)) in result.cells.iter().zip(LOADS.iter().flat_map(|load| [load, load])) {
        assert!(cell.answered > 0 && cell.errors.is_empty(), "{load}: {:?}", cell.errors);
        for slice in result.slices.iter().filter(|slice| slice.cell == cell.id) {
            assert!(due.is_none_or(|due| slice.due == due), "{load}: {} were due", slice.due);
        }
    }
}

/// What tells the loads of a result apart.
fn name(cell: &Cell) -> String {
    let Cell { load, connections, new_connections, .. } = cell;
    format!(
        "{load} {connections} {new_connections} {:?} {:?} {} {:?}",
        cell.options.requests_per_connection,
        cell.options.http2_streams,
        cell.options.kernel_timestamps,
        cell.options.timeout_s
    )
}

/// nginx that says `ok` over TLS, to clients with a certificate alone.
fn nginx(certificates: &Certificates) -> (Nginx, String) {
    let port = free_port();
    let server = format!(
        "server {{ listen 127.0.0.1:{port} ssl http2; {} ssl_verify_client on; ssl_client_certificate {};
            location / {{ return 200 'ok'; }} }}",
        certificates.for_nginx("one"),
        certificates.certificate("ca").display()
    );
    (Nginx::start(&server, &[]), format!("{{external: 'https://127.0.0.1:{port}'}}"))
}

fn of<'a>(log: &'a [Logged], protocol: &'a str) -> impl Iterator<Item = &'a Logged> {
    log.iter().filter(move |request| request.protocol == protocol)
}

#[test]
fn nginx_gets_every_load_over_tls_from_a_client_with_a_certificate() {
    let certificates = Certificates::make();
    let (nginx, platform) = nginx(&certificates);
    let service = format!(
        "{{requests: ['/users/{{{{id}}}}'], feed: users.csv, expect: ['status=200', 'body=ok'], tls: {}}}",
        tls(&certificates, "ca", Some("client"))
    );
    let written = Written::new(&service, &platform, &loads());
    let result = written.measured();
    assert_all_loads_answered(&result);

    let answered: u64 = result.cells.iter().map(|cell| cell.answered).sum();
    let log = nginx.log(answered);
    assert!(log.iter().all(|request| request.client_subject == "CN=client"));
    assert!(log.iter().all(|request| ["/users/17", "/users/4"].contains(&request.path.as_str())));
    let of_http2: u64 = result
        .cells
        .iter()
        .filter(|cell| cell.options.http2_streams == Some(4))
        .map(|cell| cell.answered)
        .sum();
    assert!(of(&log, "HTTP/2.0").count() as u64 >= of_http2 && of_http2 > 0);
    assert!(of(&log, "HTTP/1.1").count() as u64 >= answered - of_http2);
    let mut requests: BTreeMap<u64, u64> = BTreeMap::new();
    of(&log, "HTTP/1.1").for_each(|request| *requests.entry(request.connection).or_default() += 1);
    let connections_with = |count: u64| requests.values().filter(|requests| **requests == count).count();
    let of_new: u64 = result.cells.iter().filter(|cell| cell.new_connections).map(|cell| cell.answered).sum();
    assert!(connections_with(1) as u64 >= of_new, "each of {of_new} requests had a connection of its own");
    assert!(connections_with(3) > 0, "a connection is closed after three requests: {requests:?}");

    // What is kept and written names the client's key and does not contain it.
    let pem = std::fs::read_to_string(certificates.key("client")).unwrap();
    let secret = pem.lines().nth(1).unwrap().as_bytes();
    let store = std::fs::read(written.place.path("loadline.db")).unwrap();
    let contains = |needle: &[u8]| store.windows(needle.len()).any(|window| window == needle);
    assert!(contains(b"client.key") && !contains(secret));
}

#[test]
fn haproxy_gets_every_load_over_tls() {
    let certificates = Certificates::make();
    let both = ["one.pem", "one.key"]
        .map(|name| std::fs::read_to_string(certificates.certificate("one").with_file_name(name)).unwrap());
    let pem = certificates.certificate("one").with_file_name("both.pem");
    std::fs::write(&pem, both.concat()).unwrap();
    let bind = format!("ssl crt {} alpn h2,http/1.1", pem.display());
    let haproxy =
        Haproxy::start(&bind, &["http-request return status 200 content-type text/plain string ok"]);
    let service = format!(
        "{{requests: ['/users/{{{{id}}}}'], feed: users.csv, expect: [body=ok, 'header:content-type~plain'], tls: {}}}",
        tls(&certificates, "ca", None)
    );
    let platform = format!("{{external: 'https://{}'}}", haproxy.address);
    assert_all_loads_answered(&Written::new(&service, &platform, &loads()).measured());
}

#[test]
fn caddy_gets_every_load_over_tls_and_answers_each_row_of_the_file() {
    let certificates = Certificates::make();
    let site = format!(
        "tls {} {}\n respond \"you are {{path}}\"",
        certificates.certificate("one").display(),
        certificates.key("one").display()
    );
    let caddy = Caddy::start("https", &site, &[]);
    let service = format!(
        "{{requests: ['/users/{{{{id}}}}'], feed: users.csv, expect: 'body~you are /users/', tls: {}}}",
        tls(&certificates, "ca", None)
    );
    let platform = format!("{{external: 'https://{}'}}", caddy.address);
    assert_all_loads_answered(&Written::new(&service, &platform, &loads()).measured());
}

#[test]
fn a_response_that_is_not_as_expected_is_an_error() {
    let haproxy = Haproxy::start("", &["http-request return status 200 content-type text/plain string ok"]);
    let platform = format!("{{external: 'http://{}'}}", haproxy.address);
    let written = Written::new("{expect: body=other}", &platform, &["rate: 100/s, arrivals: uniform"]);
    let ended = written.run();
    assert_eq!(ended.code, Some(3), "such a run is not to be trusted: {}", ended.stderr);
    for cell in &ended.result().cells {
        assert_eq!(cell.errors.get("body"), Some(&cell.answered), "{:?}", cell.errors);
    }
}

#[test]
fn a_client_without_its_certificate_gets_errors_and_an_unknown_authority_ends_the_run() {
    let certificates = Certificates::make();
    let (_nginx, platform) = nginx(&certificates);
    let with = |tls: String| {
        let service = format!("{{tls: {tls}, ready: {{within: 500ms}}}}");
        Written::new(&service, &platform, &["rate: 100/s, arrivals: uniform"]).run()
    };
    // nginx shakes hands with anybody and answers 400.
    let without = with(tls(&certificates, "ca", None));
    assert_eq!(without.code, Some(3), "{}", without.stderr);
    for cell in &without.result().cells {
        assert_eq!(cell.errors.get("GET /: 400"), Some(&cell.answered), "{:?}", cell.errors);
    }
    let distrusted = with(tls(&certificates, "stranger", Some("client")));
    assert_eq!(distrusted.code, Some(1), "{}", distrusted.stdout);
    assert!(distrusted.stderr.contains("UnknownIssuer"), "{}", distrusted.stderr);
}

#[test]
fn what_is_wrong_with_a_file_is_said_before_anything_is_started() {
    let certificates = Certificates::make();
    let refused = |service: &str, load: &str, change: &dyn Fn(&Place)| {
        let written = Written::new(service, "{external: 'https://127.0.0.1:1'}", &[load]);
        change(&written.place);
        let ended = written.run();
        assert_eq!(ended.code, Some(2), "{}{}", ended.stdout, ended.stderr);
        assert!(!written.place.path("loadline.db").exists(), "nothing is kept");
        ended.stderr
    };
    let rate = "rate: 100/s";
    let ragged = refused("{feed: users.csv}", rate, &|place| place.write("sub/users.csv", "id\n1,2\n"));
    assert!(ragged.contains("users.csv, line 2"), "{ragged}");
    let column = refused("{feed: users.csv, requests: ['/{{name}}']}", rate, &|_| {});
    assert!(column.contains("its columns are id"), "{column}");
    let swapped = format!(
        "{{tls: {{cert: {}, key: {}}}}}",
        certificates.certificate("one").display(),
        certificates.key("two").display()
    );
    let mismatch = refused(&swapped, rate, &|_| {});
    assert!(mismatch.contains("cannot set up TLS"), "{mismatch}");
    let late = refused("{}", "replay: times.txt", &|place| place.write("sub/times.txt", "0\n3\n"));
    assert!(late.contains("a slice of 200ms would play only a part of this load"), "{late}");
    let sorted = refused("{}", "replay: times.txt", &|place| place.write("sub/times.txt", "2\n1\n"));
    assert!(sorted.contains("times.txt, line 2"), "{sorted}");
}

#[test]
fn a_service_that_loadline_starts_may_speak_https() {
    let certificates = Certificates::make();
    let (place, port) = (Place::shared(), free_port());
    let folder = place.dir.path().display();
    place.write(
        "nginx.conf",
        &format!(
            "daemon off; master_process off; pid {folder}/nginx.pid;
            events {{}}
            http {{
                access_log {folder}/access.log;
                client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
                uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e;
                server {{ listen {port} ssl; {} location / {{ return 200 ok; }} }}
            }}",
            certificates.for_nginx("one")
        ),
    );
    let command =
        format!("command: [nginx, -p, '{folder}', -c, '{folder}/nginx.conf', -e, '{folder}/error.log']");
    place.write(
        "experiment.yaml",
        &format!(
            "service: {{{command}, port: {port}, https: true, tls: {{ca: {}, server_name: one.test}},
                expect: body=ok, ready: {{http: /}}}}
platforms: [host, pod]
loads: [{{rate: 100/s, new_connections: true}}]
plan: {{slice: 200ms, blocks: 1, deployments: 1, warmup: 1s, repeats: 0, isolation: exclusive}}
",
            certificates.certificate("ca").display()
        ),
    );
    let ended = place.run(["run", "experiment.yaml", "--json", "-"]);
    ended.assert_measured();
    let result = ended.result();
    assert_eq!(result.cells.len(), 3);
    for cell in &result.cells {
        assert!(cell.answered > 0 && cell.errors.is_empty(), "{}: {:?}", cell.label, cell.errors);
    }
}

#[test]
fn flags_ask_for_the_same() {
    let certificates = Certificates::make();
    let (nginx, _) = nginx(&certificates);
    let place = Place::new();
    place.write("users.csv", "id\n17\n");
    let url = url_of(&nginx);
    let [ca, cert] = ["ca", "client"].map(|name| certificates.certificate(name).display().to_string());
    let key = certificates.key("client").display().to_string();
    let ended = place.run([
        "compare",
        "--on",
        &url,
        "--rate",
        "100/s",
        "--closed",
        "--think",
        "5ms",
        "--http2",
        "--streams",
        "2",
        "--new-connections",
        "--request",
        "/users/{{id}}",
        "--feed",
        "users.csv",
        "--expect",
        "body=ok",
        "--timeout",
        "5s",
        "--ca",
        &ca,
        "--cert",
        &cert,
        "--key",
        &key,
        "--slice",
        "200ms",
        "--blocks",
        "1",
        "--deployments",
        "1",
        "--warmup",
        "1s",
        "--repeats",
        "0",
        "--json",
        "-",
    ]);
    ended.assert_measured();
    let result = ended.result();
    assert_eq!(result.cells.len(), 4, "two loads, each with a twin");
    for cell in &result.cells {
        assert!(cell.answered > 0 && cell.errors.is_empty(), "{}: {:?}", cell.load, cell.errors);
        assert_eq!(
            (cell.options.http2_streams, cell.new_connections, cell.options.timeout_s),
            (Some(2), true, Some(5.0))
        );
    }
    let answered = result.cells.iter().map(|cell| cell.answered).sum();
    assert!(nginx.log(answered).iter().all(|request| request.path == "/users/17"));
}

/// Where a server of [`nginx`] listens, as its configuration says.
fn url_of(nginx: &Nginx) -> String {
    let configuration = std::fs::read_to_string(nginx.path("nginx.conf")).unwrap();
    let (_, rest) = configuration.split_once("listen ").unwrap();
    let port = rest.split([':', ' ']).nth(1).unwrap();
    format!("https://{}", local(port.parse().unwrap()))
}
