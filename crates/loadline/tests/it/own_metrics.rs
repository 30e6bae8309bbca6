//! The metrics that a service shows itself, read before and after each slice.

use loadline_model::result::RunResult;

use crate::support::leftovers;
use crate::support::place::Place;

/// Counts its requests, and the time that they took, in Prometheus' text format.
const COUNTING: &str = r##"
import http.server, sys, threading, time

counted, seconds, lock = 0, 0.0, threading.Lock()

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    def do_GET(self):
        global counted, seconds
        begun = time.perf_counter()
        body = b"ok"
        if self.path == "/metrics":
            with lock:
                text = f"# TYPE orders counter\norders_total {counted}\n# TYPE order_seconds summary\norder_seconds_sum {seconds}\norder_seconds_count {counted}\n"
            body = text.encode()
        else:
            time.sleep(0.001)
            with lock:
                counted += 1
                seconds += time.perf_counter() - begun
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass

http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
"##;

fn measured(place: &Place, metrics: &str) -> RunResult {
    place.write("counting.py", COUNTING);
    place.write(
        "experiment.yaml",
        &format!(
            "service: {{command: 'python3 counting.py {{host}} {{port}}', metrics: {metrics}}}\n\
            platforms: [host, pod]\n\
            loads: [{{rate: 100/s, connections: 4}}]\n\
            plan: {{slice: 500ms, blocks: 2, deployments: 2, warmup: 1s, repeats: 0, twin: false}}\n"
        ),
    );
    let ended = place.run(["run", "experiment.yaml", "--json", "-"]);
    ended.assert_measured();
    leftovers::assert_none(&place.store().label());
    ended.result()
}

#[test]
fn what_a_service_counts_is_what_it_was_sent() {
    let result = measured(&Place::shared(), "/metrics");
    assert_eq!(result.slices.len(), 8);
    for slice in &result.slices {
        assert_eq!(slice.observations.count("app.orders_total"), Some(slice.answered), "{slice:?}");
    }
    for cell in &result.cells {
        let took = cell.figures.iter().find(|figure| figure.metric == "app.order_seconds_sum");
        let took = took.unwrap_or_else(|| panic!("{}: {:?}", cell.label, cell.figures)).value;
        let p90 = cell.figures.iter().find(|figure| figure.metric == "response.p90").expect("p90").value;
        assert!((1e6..10.0 * p90).contains(&took), "{took} ns a request");
    }
}

#[test]
fn a_path_without_metrics_is_said_and_the_rest_is_measured() {
    let result = measured(&Place::shared(), "/nothing");
    assert_eq!(result.slices.len(), 8);
    for slice in &result.slices {
        assert_eq!(slice.observations.get("app.orders_total"), None, "{slice:?}");
    }
    assert_eq!(result.runtimes.len(), result.cells.len());
    for runtime in &result.runtimes {
        assert!(runtime.unseen[0].text.contains("no metrics of its own at /nothing"), "{runtime:?}");
    }
}
