//! What a service needs beside it: started first, reached by its address, counted apart, gone with it.

use loadline_analysis::result::RunResult;

use crate::support::leftovers;
use crate::support::place::Place;

/// Asks what it needs for each request.
const FRONT: &str = "
import http.server, os, urllib.request

class Front(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        body = urllib.request.urlopen(os.environ['BACK']).read()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *words): pass

http.server.ThreadingHTTPServer((os.environ['HOST'], int(os.environ['PORT'])), Front).serve_forever()
";

fn experiment(need: &str) -> String {
    format!(
        "
name: needs
service:
  name: front
  command: python3 front.py
  env: {{BACK: 'http://{{back.host}}:{{back.port}}/hello/42'}}
  requests: [GET /]
  needs:
    - {{name: back, {need}}}
platforms: [host, {{name: again, host: }}]
loads: [{{rate: 40/s}}]
plan: {{slice: 500ms, blocks: 1, deployments: 2, warmup: 1s, repeats: 0, twin: false}}
"
    )
}

fn run(place: &Place, need: &str) -> crate::support::place::Ended {
    place.write("front.py", FRONT);
    place.write("needs.yaml", &experiment(need));
    let ended = place.run(["run", "needs.yaml", "--json", "-"]);
    leftovers::assert_none(&place.store().label());
    ended
}

fn assert_answered(result: &RunResult) {
    for cell in &result.cells {
        assert!(cell.answered > 0 && cell.errors.is_empty(), "{}: {:?}", cell.label, cell.errors);
        let of_needs = cell.figures.iter().find(|figure| figure.metric == "cpu.needs");
        assert!(
            of_needs.is_some_and(|figure| figure.value > 0.0),
            "{}: what it needs used no CPU time",
            cell.label
        );
    }
}

#[test]
fn each_service_has_its_own_of_what_it_needs() {
    let place = Place::shared();
    let program = crate::support::PROGRAM;
    let ended = run(&place, &format!("command: '{program} serve hello --listen {{host}}:{{port}}'"));
    ended.assert_measured();
    assert_answered(&ended.result());
}

#[test]
fn what_is_shared_is_started_once_and_ends_with_the_run() {
    let place = Place::shared();
    place.write(
        "once.sh",
        &format!(
            "#!/bin/sh\necho started >> starts\nexec {} serve hello --listen $HOST:$PORT\n",
            crate::support::PROGRAM
        ),
    );
    let ended = run(&place, "command: sh once.sh, shared: true");
    ended.assert_measured();
    let result = ended.result();
    assert!(
        result.cells.iter().all(|cell| cell.answered > 0 && cell.errors.is_empty()),
        "{:?}",
        result.cells
    );
    let starts = std::fs::read_to_string(place.path("starts")).expect("it was started");
    assert_eq!(starts.lines().count(), 1, "two platforms and two deployments share one");
}

#[test]
fn what_ends_or_never_listens_is_named() {
    let place = Place::shared();
    let ended = run(&place, "command: sh -c 'echo no such topic; exit 3'");
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("back") && ended.stderr.contains("no such topic"), "{}", ended.stderr);
    let ended = run(&place, "command: sleep 1000, within: 500ms");
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains("back did not accept a connection at"), "{}", ended.stderr);
}

#[test]
fn an_address_of_what_is_not_needed_is_refused() {
    let place = Place::new();
    place.write("front.py", FRONT);
    place.write("needs.yaml", &experiment("command: sleep 1").replace("{back.port}", "{bakc.port}"));
    let ended = place.run(["plan", "needs.yaml"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
    assert!(
        ended.stderr.contains("the service does not need `bakc`")
            && ended.stderr.contains("did you mean `back`?"),
        "{}",
        ended.stderr
    );
}
