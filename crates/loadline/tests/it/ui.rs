//! `loadline ui`: whom it answers, what it does with too much, and the runs that it starts.

use std::fs::Permissions;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use loadline_model::plan::Plan;
use loadline_model::rows::NewRun;
use loadline_spec::{Machine, from_yaml};
use loadline_store::Store;
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, setrlimit};
use serde_json::{Value, json};

use crate::docker::Harbour;
use crate::support::leftovers;
use crate::support::place::Place;
use crate::support::programs;
use crate::support::served::{Answer, Served, answer, peak_memory_kib};
use crate::support::wait_for;

/// A run of a minute, which is stopped.
const LONG: &str = "
service: {builtin: orders}
platforms: [host]
loads: [{rate: 200/s}]
plan: {deployments: 1, blocks: 600, slice: 100ms, warmup: 1s}
";

/// A run that is over at once.
const SHORT: [&str; 10] =
    ["--slice", "100ms", "--blocks", "4", "--deployments", "2", "--warmup", "1s", "--repeats", "0"];

fn job(served: &Served, yaml: &str) -> Value {
    let answer = served.ask("POST /api/jobs", json!({ "yaml": yaml }).to_string());
    assert_eq!(answer.status, 201, "{answer:?}");
    serde_json::from_str(&answer.body).expect("JSON")
}

#[test]
fn only_who_has_the_token_is_answered_and_only_by_its_own_name() {
    let place = Place::cleaning();
    let served = Served::start(&place);
    let (host, bearer, cookie) = (served.host(), served.bearer(), served.cookie());
    let port = served.address.port();
    let origin = format!("Origin: http://127.0.0.1:{port}");
    let other = |line: &str| line.to_owned();
    for (request, lines, status) in [
        ("GET /", vec![host.clone()], 401),
        ("GET /api/runs", vec![host.clone(), other("Authorization: Bearer stale-stale-stale-1")], 401),
        ("GET /api/runs", vec![host.clone(), format!("Cookie: loadline-{port}=stale")], 401),
        ("GET /?token=wrong", vec![host.clone()], 401),
        ("GET /app.js", vec![host.clone()], 401),
        ("GET /api/runs", vec![host.clone(), bearer.clone()], 200),
        ("GET /api/runs", vec![host.clone(), cookie.clone()], 200),
        ("GET /api/runs", vec![format!("Host: localhost:{port}"), cookie.clone()], 200),
        // A name of somebody else that resolves to this address.
        ("GET /api/runs", vec![other("Host: evil.example"), bearer.clone()], 421),
        ("GET /api/runs", vec![format!("Host: evil.example:{port}"), cookie.clone()], 421),
        ("GET /?token=wrong", vec![other("Host: evil.example")], 421),
        // A form of another site, whose request brings the cookie in a browser that does not heed SameSite.
        ("POST /api/jobs", vec![host.clone(), cookie.clone(), other("Origin: http://evil.example")], 403),
        ("POST /api/jobs", vec![host.clone(), cookie.clone(), other("Origin: null")], 403),
        ("POST /api/jobs", vec![host.clone(), cookie.clone()], 403),
        ("DELETE /api/runs/1", vec![host.clone(), bearer.clone(), other("Origin: http://evil.example")], 403),
        ("DELETE /api/runs/1", vec![host.clone(), cookie.clone(), origin.clone()], 404),
        ("DELETE /api/runs/1", vec![host.clone(), bearer.clone()], 404),
        // What is no path of it is nothing.
        ("GET /../../etc/passwd", vec![host.clone(), bearer.clone()], 404),
        ("GET /runs/..%2f..%2fetc%2fpasswd", vec![host.clone(), bearer.clone()], 404),
        ("GET /api/runs/1/export?format=../../etc/passwd", vec![host.clone(), bearer.clone()], 400),
        ("GET /runs/999999999999999999999", vec![host.clone(), bearer.clone()], 404),
    ] {
        let answer = served.ask_with(request, &lines, "");
        assert_eq!(answer.status, status, "{request} {lines:?}: {answer:?}");
        assert!(answer.head.contains("content-security-policy: "), "{request}: {}", answer.head);
    }
    // The token comes into a browser as a cookie, and stays in no address; least of all in that of another host.
    for (path, to) in [("/", "/"), ("/runs/3?a=b&", "/runs/3?a=b"), ("//evil.example/", "/evil.example/")] {
        let joined = if path.contains('?') { "" } else { "?" };
        let answer = served.ask_with(
            &format!("GET {path}{joined}token={}", served.token),
            std::slice::from_ref(&host),
            "",
        );
        assert_eq!(answer.status, 303, "{path}: {answer:?}");
        assert!(answer.head.contains(&format!("location: {to}\r\n")), "{path}: {}", answer.head);
        assert!(answer.head.contains("; HttpOnly; SameSite=Strict"), "{}", answer.head);
    }
}

#[test]
fn too_much_is_refused_and_the_server_stays_up() {
    let place = Place::cleaning();
    let served = Served::start(&place);
    let memory = || peak_memory_kib(served.server.id());
    let before = memory();

    // A body that says that it has a gigabyte, and one that does not say it.
    for (length, chunked) in [("Content-Length: 1073741824", false), ("Transfer-Encoding: chunked", true)] {
        let (host, bearer) = (served.host(), served.bearer());
        let head = format!(
            "POST /api/drafts HTTP/1.1\r\n{host}\r\n{bearer}\r\nContent-Type: application/json\r\n{length}\r\n\r\n"
        );
        let mut stream = served.connect();
        stream.write_all(head.as_bytes()).expect("a head");
        let refused = write_a_gigabyte(stream, chunked);
        assert_eq!(refused.status, 413, "{length}: {refused:?}");
    }
    let grown = memory() - before;
    assert!(grown < 64 << 10, "{grown} KiB more than before");
    let refused = served.ask("POST /api/drafts", json!({ "yaml": "x".repeat(3 << 20) }).to_string());
    assert_eq!(refused.status, 413, "{refused:?}");

    // Streams that nobody reads, and requests that never end.
    job(&served, LONG);
    let mut streams = Vec::new();
    for number in 0..10_000 {
        // Where the kernel's queue of connections is full, the next one is tried.
        let Ok(mut stream) = TcpStream::connect_timeout(&served.address, Duration::from_millis(5)) else {
            continue;
        };
        let path = if number % 2 == 0 { "/api/jobs/1/events" } else { "/api/runs" };
        let end = if number % 3 == 0 { "" } else { "\r\n" };
        let request = format!("GET {path} HTTP/1.1\r\n{}\r\n{}\r\n{end}", served.host(), served.bearer());
        let _ = stream.write_all(request.as_bytes());
        streams.push(stream);
    }
    assert!(streams.len() > 200, "only {} connections were had", streams.len());
    drop(streams);
    wait_for("an answer", || (served.get("/api/runs").status == 200).then_some(()));
    let grown = memory() - before;
    assert!(grown < 200 << 10, "{grown} KiB more than before");
    assert_eq!(served.ask("POST /api/jobs/1/stop", "").status, 202);
    served.server.send(Signal::TERM);
    assert_eq!(served.server.wait().code, Some(0));
}

#[test]
fn a_store_that_is_too_large_is_refused_and_nothing_of_it_stays() {
    let place = Place::cleaning();
    std::fs::create_dir(place.path("temporary")).expect("a folder");
    let mut command = place.command(["ui", "--listen", "127.0.0.1:0"]);
    command.env("TMPDIR", place.path("temporary"));
    let served = Served::start_command(&place, command);
    let import = |length: &str| {
        let (host, bearer) = (served.host(), served.bearer());
        let head = format!(
            "POST /api/import HTTP/1.1\r\n{host}\r\n{bearer}\r\nConnection: close\r\n{length}\r\n\r\n"
        );
        let mut stream = served.connect();
        stream.write_all(head.as_bytes()).expect("a head");
        stream
    };
    // Refused before it is sent.
    let declared = answer(import(&format!("Content-Length: {}", (256 << 20) + 1)));
    assert_eq!(declared.status, 413, "{declared:?}");
    let mut stream = import("Transfer-Encoding: chunked");
    let chunk = [b"100000\r\n", &vec![b'x'; 1 << 20][..], b"\r\n"].concat();
    for _ in 0..256 {
        stream.write_all(&chunk).expect("so much is taken");
    }
    stream.write_all(b"1\r\nx\r\n").expect("it is read");
    let chunked = answer(stream);
    assert_eq!(chunked.status, 413, "{chunked:?}");
    assert!(chunked.body.contains("256 MB: import it with `loadline store import`"), "{chunked:?}");
    assert_eq!(std::fs::read_dir(place.path("temporary")).expect("a folder").count(), 0);
}

#[test]
fn a_run_is_the_same_in_the_store_that_it_is_imported_into() {
    let place = Place::cleaning();
    place.run(["compare", "--on", "host"].into_iter().chain(SHORT)).assert_measured();
    let served = Served::start(&place);
    let (run, store) = (served.json("/api/runs/1"), served.download("/api/runs/1/export?format=store"));
    drop(served);
    let other = Served::start_with(&place, &["--listen", "127.0.0.1:0", "--store", "other.db"]);
    for answer in [r#"{"runs":[1],"were_here":[]}"#, r#"{"runs":[1],"were_here":[1]}"#] {
        let imported = other.ask("POST /api/import", &store);
        assert_eq!((imported.status, imported.body.as_str()), (200, answer));
    }
    assert_eq!(other.json("/api/runs/1"), run);
}

/// Stores a run without figures.
fn store_run(store: &Store, name: &str) -> i64 {
    let yaml = format!("name: {name}\n{LONG}");
    let experiment = from_yaml("experiment.yaml", yaml.as_bytes(), &Machine::this(&|_, _| Ok(())));
    let experiment = experiment.unwrap_or_else(|error| panic!("{}", error.render(false)));
    let run = NewRun {
        label: "3fa9c1",
        version: "0.1.0",
        command_line: &[],
        experiment: &experiment,
        plan: &Plan::new(&experiment),
        machine: &loadline_model::Machine::default(),
        service_cpus: &[],
        load_cpus: &[],
        metrics: &[],
    };
    store.begin_run(&run).expect("a run")
}

#[test]
fn runs_beyond_the_newest_thousand_are_found_and_those_of_other_processes_are_listed_at_once() {
    let place = Place::cleaning();
    let store = Store::create(&place.path("loadline.db")).expect("a store");
    for number in 1..=1_100 {
        store_run(&store, &format!("nightly {number:04}"));
    }
    store.set_tags(3, &["Release".to_owned()]).expect("a run");
    let served = Served::start(&place);
    let ids = |asked: &str| -> Vec<i64> {
        let listed = served.json(&format!("/api/runs{asked}"));
        listed.as_array().expect("a list").iter().filter_map(|run| run["id"].as_i64()).collect()
    };
    let newest: Vec<i64> = (101..=1_100).rev().collect();
    assert_eq!(ids(""), newest);
    assert_eq!(ids("?match=NIGHTLY"), newest);
    assert_eq!(ids("?match=nightly%200007"), [7]);
    assert_eq!(ids("?match=release"), [3]);
    assert_eq!(ids("?match=weekly"), [0; 0]);
    // This process is another than the server's.
    let late = store_run(&store, "late");
    assert_eq!(ids("")[0], late);
    assert_eq!(ids("?match=late"), [late]);
}

#[test]
fn ten_thousand_event_streams_hold_up_nobody() {
    let place = Place::cleaning();
    let served = Served::start(&place);
    let memory = || peak_memory_kib(served.server.id());
    let before = memory();
    job(&served, LONG);
    let request =
        format!("GET /api/jobs/1/events HTTP/1.1\r\n{}\r\n{}\r\n\r\n", served.host(), served.bearer());
    let status = |stream: &mut TcpStream| {
        let mut line = [0; b"HTTP/1.1 200".len()];
        stream.read_exact(&mut line).expect("an answer");
        String::from_utf8_lossy(&line[9..]).into_owned()
    };
    // As many at once as a process may have files as a rule, with some left.
    for _ in 0..20 {
        let mut streams: Vec<TcpStream> = (0..500).map(|_| served.connect()).collect();
        for stream in &mut streams {
            stream.write_all(request.as_bytes()).expect("it is read");
        }
        let told: Vec<String> = streams.iter_mut().map(status).collect();
        let followed = told.iter().filter(|status| *status == "200").count();
        let refused = told.iter().filter(|status| *status == "503").count();
        assert!((1..=100).contains(&followed) && followed + refused == 500, "{followed} and {refused}");
        // While all of them are open.
        assert_eq!(served.get("/api/runs").status, 200);
    }
    let grown = memory() - before;
    assert!(grown < 200 << 10, "{grown} KiB more than before");
    assert_eq!(served.ask("POST /api/jobs/1/stop", "").status, 202);
    served.server.send(Signal::TERM);
    assert_eq!(served.server.wait().code, Some(0));
}

#[test]
fn clients_that_say_nothing_keep_nobody_out_for_ever() {
    let place = Place::cleaning();
    let served = Served::start(&place);
    // More than the server holds at once; each is a file of this process as well.
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).expect("up to the hard limit");
    let silent = |number: u32| {
        let mut stream = served.connect();
        let said: &[u8] = match number % 10 {
            0 => b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            1 => b"PRI *",
            _ => b"",
        };
        stream.write_all(said).expect("it listens");
        stream
    };
    let held: Vec<TcpStream> = (0..1_200).map(silent).collect();
    // It waits until their time is over.
    assert_eq!(served.get("/api/runs").status, 200);
    drop(held);
}

/// Writes until the server stops reading; returns its answer, which can be read even after a reset.
fn write_a_gigabyte(mut stream: TcpStream, chunked: bool) -> Answer {
    let block = vec![b'x'; 1 << 20];
    for _ in 0..1024 {
        let frame = if chunked { [b"100000\r\n", &block[..], b"\r\n"].concat() } else { block.clone() };
        if stream.write_all(&frame).is_err() {
            return answer(stream);
        }
    }
    panic!("a gigabyte was taken");
}

/// The slices that server-sent events tell of.
fn slices_of(events: &str) -> Vec<Value> {
    let list = |rest: &str| -> Vec<Value> {
        serde_json::from_str(rest.lines().next().expect("a line")).expect("JSON")
    };
    events.split("event: slices\ndata: ").skip(1).flat_map(list).collect()
}

#[test]
fn a_run_is_watched_and_stopped_and_the_next_one_waits_for_it() {
    let place = Place::cleaning();
    let served = Served::start(&place);
    let (first, second) = (job(&served, LONG), job(&served, LONG));
    assert_eq!((&first["job"], &second["job"]), (&json!(1), &json!(2)));
    assert_eq!((&second["state"], &second["before"]), (&json!("waiting"), &json!(1)));
    // Two windows, whose browsers have other cookies besides.
    let watchers = ["other=1", "other=2"].map(|other| {
        let (host, cookie) = (served.host(), served.cookie().replace("other=1", other));
        let mut stream = served.connect();
        let head =
            format!("GET /api/jobs/1/events HTTP/1.1\r\nConnection: close\r\n{host}\r\n{cookie}\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("a request");
        stream
    });

    let mut slices = 0;
    served.follow("/api/jobs/1/events", |event, data| {
        slices += if event == "slices" { data.as_array().expect("a list").len() } else { 0 };
        slices > 20 && event == "status"
    });
    let status = served.json("/api/jobs/1");
    assert_eq!(status["state"], "running", "{status}");
    assert!(status["live"]["cells"][0]["p50_ns"].as_f64().is_some_and(|p50| p50 > 0.0), "{status}");
    assert!(status["live"]["seconds_left"].as_f64().is_some_and(|left| left > 5.0), "{status}");
    let listed = served.json("/api/runs");
    assert_eq!((&listed[0]["id"], &listed[0]["measured_now"]), (&json!(1), &json!(true)), "{listed}");
    assert_eq!(served.ask("DELETE /api/runs/1", "").status, 409, "what is being measured stays");

    assert_eq!(served.ask("POST /api/jobs/1/stop", "").status, 202);
    let ended = served.follow("/api/jobs/1/events", |_, data| data["state"] == "ended");
    assert_eq!(ended["code"], 130, "{ended}");
    let [one, other] = watchers.map(|stream| slices_of(&answer(stream).body));
    assert!(one.len() >= slices, "{} of {slices}", one.len());
    assert_eq!(one, other);
    served.follow("/api/jobs/2/events", |event, _| event == "slices");
    assert_eq!(served.ask("POST /api/jobs/2/stop", "").status, 202);
    served.follow("/api/jobs/2/events", |_, data| data["state"] == "ended");
    // A stop holds at whatever moment it comes, before the run's process is there as well.
    for number in 3..8 {
        job(&served, LONG);
        assert_eq!(served.ask(&format!("POST /api/jobs/{number}/stop"), "").status, 202);
        let ended = served.follow(&format!("/api/jobs/{number}/events"), |_, data| data["state"] == "ended");
        assert_ne!(ended["code"], 0, "{ended}");
    }
    // A stream ends with its run; a client would otherwise wait for ever, and this one for a minute.
    let begun = Instant::now();
    let stream = served.get("/api/jobs/1/events");
    assert!(stream.body.contains("\"state\":\"ended\""), "{stream:?}");
    assert!(begun.elapsed() < Duration::from_secs(30), "it took {:?}", begun.elapsed());
    let kept = served.json("/api/runs/1");
    assert_eq!(kept["run"]["state"], "interrupted");
    assert!(kept["slices"].as_array().is_some_and(|kept| kept.len() >= slices), "{slices} were seen");
}

#[test]
fn the_space_of_a_deleted_run_is_given_back_unless_one_is_measured() {
    let place = Place::cleaning();
    for _ in 0..2 {
        place.run(["compare", "--on", "host"].into_iter().chain(SHORT)).assert_measured();
    }
    let served = Served::start(&place);
    job(&served, LONG);
    served.follow("/api/jobs/1/events", |event, _| event == "slices");
    assert_eq!(served.ask("DELETE /api/runs/1", "").status, 204);
    assert!(place.store().free_pages() > 0, "the store was written anew beside a run");
    assert_eq!(served.ask("POST /api/jobs/1/stop", "").status, 202);
    served.follow("/api/jobs/1/events", |_, data| data["state"] == "ended");
    assert_eq!(served.ask("DELETE /api/runs/2", "").status, 204);
    assert_eq!(place.store().free_pages(), 0);
}

#[test]
fn a_run_that_the_command_line_measures_is_not_deleted() {
    let place = Place::cleaning();
    let served = Served::start(&place);
    place.write("long.yaml", LONG);
    let run = place.start(["run", "long.yaml"]);
    place.wait_for_rows("slice", 1);
    assert_eq!(served.json("/api/runs")[0]["measured_now"], json!(true));
    let refused = served.ask("DELETE /api/runs/1", "");
    assert_eq!(refused.status, 409, "{refused:?}");
    assert!(refused.body.contains("run 1 is being measured"), "{refused:?}");
    run.send(Signal::INT);
    assert_eq!(run.wait().code, Some(130));
    assert_eq!(served.json("/api/runs")[0]["measured_now"], json!(false));
    assert_eq!(served.ask("DELETE /api/runs/1", "").status, 204);
}

#[test]
fn the_run_of_a_killed_server_ends_and_nothing_of_it_stays() {
    let place = Place::cleaning();
    let served = Served::start(&place);
    job(&served, &LONG.replace("[host]", "[host, pod]"));
    served.follow("/api/jobs/1/events", |event, _| event == "slices");
    served.server.send(Signal::KILL);
    assert_eq!(served.server.wait().code, None);
    let label = place.store().label();
    wait_for("the end of its run", || (place.store().state() == "interrupted").then_some(()));
    let served = Served::start(&place);
    leftovers::assert_none(&label);
    let listed = served.json("/api/runs");
    assert_eq!(
        (&listed[0]["state"], &listed[0]["measured_now"]),
        (&json!("interrupted"), &json!(false)),
        "{listed}"
    );
}

/// The run that a server started.
fn run_of(server: u32) -> Pid {
    let parent = |pid: i32| -> Option<u32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // After the name, which is in parentheses, come state and parent (proc_pid_stat(5)).
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    };
    let entries = std::fs::read_dir("/proc").expect("/proc");
    let mut pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let tells_events = |pid: i32| {
        std::fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.contains("--events"))
    };
    let run = pids.find(|pid| parent(*pid) == Some(server) && tells_events(*pid));
    run.and_then(Pid::from_raw).expect("a run")
}

#[test]
fn a_run_that_was_killed_with_its_server_is_shown_as_interrupted() {
    let place = Place::cleaning();
    let served = Served::start(&place);
    job(&served, &LONG.replace("[host]", "[host, pod]"));
    served.follow("/api/jobs/1/events", |event, _| event == "slices");
    let run = run_of(served.server.id());
    // So that it does not end by itself when its server does.
    kill_process(run, Signal::STOP).expect("the run is alive");
    served.server.send(Signal::KILL);
    assert_eq!(served.server.wait().code, None);
    kill_process(run, Signal::KILL).expect("the run is alive");
    // The kernel releases its locks when its last thread has ended, reaped or not; its first may have ended before.
    let process = format!("/proc/{}", run.as_raw_pid());
    let stat = || std::fs::read_to_string(format!("{process}/stat"));
    let threads = || std::fs::read_dir(format!("{process}/task")).map_or(0, Iterator::count);
    let has_ended = || stat().map_or(true, |stat| stat.contains(") Z ") && threads() <= 1);
    wait_for("the end of its run", || has_ended().then_some(()));
    assert_eq!(place.store().state(), "unfinished");
    let label = place.store().label();
    let served = Served::start(&place);
    leftovers::assert_none(&label);
    assert_eq!(served.json("/api/runs")[0]["state"], "interrupted");
    let slices = served.json("/api/runs/1")["slices"].as_array().map(Vec::len);
    assert!(slices > Some(0), "what it measured is shown");
}

#[test]
fn what_it_says_of_runs_is_what_the_command_line_says() {
    let place = Place::cleaning();
    for (number, name) in [("1", "one"), ("2", "other"), ("3", "third")] {
        place.run(["compare", "--on", "host", "--on", "pod"].into_iter().chain(SHORT)).assert_measured();
        assert_eq!(place.run(["store", "rename", number, name]).code, Some(0));
    }
    let served = Served::start(&place);
    let printed = |arguments: &[&str]| -> Value {
        serde_json::from_str(&place.run(arguments.iter().copied()).stdout).expect("JSON")
    };
    assert_eq!(served.json("/api/runs/2"), printed(&["report", "2", "--json", "-"]));
    assert_eq!(served.json("/api/compare?before=1&after=2"), printed(&["compare", "1", "2", "--json", "-"]));
    assert_eq!(
        served.json("/api/compare?before=1&after=2,3"),
        printed(&["compare", "1", "2", "3", "--json", "-"])
    );
    assert_eq!(
        served.json("/api/history?metric=mean&match=T"),
        printed(&["history", "mean", "--match", "t", "--json", "-"])
    );
    let unknown = served.get("/api/history?metric=speed");
    assert_eq!(unknown.status, 422, "{unknown:?}");
    assert!(unknown.body.contains("speed"), "{unknown:?}");
    for (after, status, why) in [
        ("2,x", 400, "runs are numbers with commas between them, not '2,x'"),
        ("2,2", 422, "run 2 cannot be compared with itself"),
    ] {
        let refused = served.get(&format!("/api/compare?before=1&after={after}"));
        assert_eq!(refused.status, status, "{refused:?}");
        assert!(refused.body.contains(why), "{refused:?}");
    }
    for format in ["json", "csv", "csv-summary", "markdown", "html", "hlog", "junit"] {
        let flag = format!("--{format}");
        let written = |runs: &[&str]| place.run([runs, &[flag.as_str(), "-"]].concat()).stdout;
        let exported =
            |of: &str| String::from_utf8(served.download(&format!("{of}format={format}"))).expect("text");
        assert!(exported("/api/runs/1/export?") == written(&["report", "1"]), "{format} of a run");
        let compared = exported("/api/compare/export?before=1&after=2,3&");
        assert!(compared == written(&["compare", "1", "2", "3"]), "{format} of a comparison");
    }
    let again = served.get("/api/runs/1/export?format=experiment").body;
    place.write("again.yaml", &again);
    assert!(place.run(["plan", "again.yaml"]).stdout.starts_with(&again), "{again}");
    for format in ["experiment", "store"] {
        let refused = served.get(&format!("/api/compare/export?before=1&after=2&format={format}"));
        assert_eq!(refused.status, 422, "{refused:?}");
    }
    let listed = place.run(["report", "--list"]).stdout.replace("\n ", "");
    for sentence in served.json("/api/runs/2/summary")["outcome"].as_array().expect("a list") {
        let words = sentence.as_str().expect("text").split_whitespace().collect::<Vec<_>>().join(" ");
        let listed = listed.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(listed.contains(&words), "{words}\n{listed}");
    }
    for (path, title, exports) in [
        ("/runs/2", "loadline: other", "/api/runs/2/export?"),
        ("/compare?before=1&after=2", "loadline: ", "/api/compare/export?before=1&amp;after=2&amp;"),
    ] {
        let page = served.get(path);
        assert!(page.body.contains(&format!("<title>{title}")), "{path}: {}", page.body);
        assert!(page.body.contains("<a href=\"/\">All runs</a>"), "{path}");
        assert!(page.body.contains(&format!("{exports}format=csv\">CSV</a>")), "{path}");
    }

    // Names, tags, copies and their end.
    let renamed = served.ask("PATCH /api/runs/2", json!({ "name": "<b>", "tags": ["nightly"] }).to_string());
    assert_eq!(renamed.status, 204, "{renamed:?}");
    assert!(served.get("/runs/2").body.contains("<title>loadline: &lt;b&gt;</title>"));
    assert_eq!(served.json("/api/runs?match=NIGHT").as_array().map(Vec::len), Some(1));
    assert_eq!(served.ask("PATCH /api/runs/2", json!({ "name": " " }).to_string()).status, 422);
    assert_eq!(served.ask("DELETE /api/runs/1", "").status, 204);
    assert_eq!(served.get("/api/runs/1").status, 404);
    assert_eq!(served.get("/api/compare?before=1&after=2").status, 404);
    assert_eq!(served.ask("POST /api/import", "this is no store").status, 422);
}

#[test]
fn a_store_that_cannot_be_read_is_not_the_mistake_of_who_asks() {
    let place = Place::cleaning();
    let served = Served::start(&place);
    place.write("loadline.db", "this is no store");
    let broken = served.get("/api/history?metric=p50");
    assert_eq!(broken.status, 500, "{broken:?}");
    assert!(broken.body.contains("it is not a store of loadline"), "{broken:?}");
    let unknown = served.get("/api/history?metric=speed");
    assert_eq!(unknown.status, 422, "{unknown:?}");
}

#[test]
fn what_is_typed_is_answered_as_the_command_line_would() {
    let place = Place::cleaning();
    let served = Served::start(&place);
    let draft = |asked: Value| served.ask("POST /api/drafts", asked.to_string());
    let wrong = draft(json!({ "yaml": "platforms: [hots]\n" }));
    assert_eq!(wrong.status, 422, "{wrong:?}");
    place.write("experiment.yaml", "platforms: [hots]\n");
    let printed = place.run(["plan", "experiment.yaml"]);
    let said: Value = serde_json::from_str(&wrong.body).expect("JSON");
    assert_eq!(said["error"].as_str().map(str::trim), Some(printed.stderr.trim()));
    let flags = json!({ "flags": ["--on", "host", "--rate", "500/s", "--seed", "7"] });
    let drafted: Value = serde_json::from_str(&draft(flags).body).expect("JSON");
    let printed = place.run(["plan", "--on", "host", "--rate", "500/s", "--seed", "7"]).stdout;
    assert!(printed.starts_with(drafted["yaml"].as_str().expect("YAML")), "{drafted}\n{printed}");
    assert!(drafted["seconds"][1].as_f64() >= drafted["seconds"][0].as_f64(), "{drafted}");
    let again = draft(json!({ "yaml": drafted["yaml"] }));
    assert_eq!(again.status, 200, "{again:?}");
    let search = json!({ "flags": ["--on", "host", "--rate", "100/s", "--objective", "p99 <= 20ms"] });
    let drafted: Value = serde_json::from_str(&draft(search).body).expect("JSON");
    let yaml = drafted["yaml"].as_str().unwrap_or_else(|| panic!("{drafted}"));
    assert!(yaml.contains("p99 <= 20ms"), "{yaml}");
    place.write("search.yaml", yaml);
    assert!(place.run(["plan", "search.yaml"]).stdout.starts_with(yaml), "{yaml}");
    std::fs::create_dir_all(place.path("target/services")).expect("a folder");
    place.write(
        "target/services/quick.json",
        r#"{"modes": ["platform", "virtual"], "directory": "target/services", "command": ["./quick"]}"#,
    );
    let services = served.json("/api/services");
    assert_eq!(services, json!(["orders", "hello", "cpu", "quick platform", "quick virtual"]));
    let offers = served.json("/api/platforms");
    let names: Vec<&str> =
        offers.as_array().expect("a list").iter().filter_map(|offer| offer["name"].as_str()).collect();
    assert_eq!(names, ["host", "container", "pod", "docker", "kubernetes"]);
    assert_eq!(offers[0]["missing"], Value::Null, "{offers}");
    // Whether there is a daemon is up to the machine.
    assert!(offers[3]["missing"].as_str().is_none_or(|why| why.contains("Docker")), "{offers}");
    let wide = place.run(["ui", "--listen", "0.0.0.0:0"]);
    assert_eq!(wide.code, Some(2), "{}", wide.stderr);
    assert!(wide.stderr.contains("--plain-http"), "{}", wide.stderr);
}

/// A service with requests and an environment of its own, and limits that are common to all, measured at once.
const SHOP: &str = "
env: {BOTH: common, COMMON: common}
limits: {cpu: 1, memory: 512Mi}
service: {name: shop, command: 'python3 shop.py {host} {port}', env: {BOTH: own}, requests: [/orders]}
platforms: [host]
loads: [{rate: 200/s}]
plan: {deployments: 2, blocks: 2, slice: 200ms, warmup: 1s, repeats: 0}
";

#[test]
fn a_service_of_a_stored_run_is_measured_elsewhere_as_it_was_there() {
    let place = Place::cleaning();
    let served = Served::start(&place);
    let stored = || served.json("/api/services/stored");
    assert_eq!(stored(), json!([]));
    place.write("shop.py", programs::MORTAL);
    place.write("shop.yaml", SHOP);
    for _ in 0..2 {
        place.run(["run", "shop.yaml"]).assert_measured();
    }
    // What is built in has a name, and is not offered twice.
    place.run(["compare", "--on", "host"].into_iter().chain(SHORT)).assert_measured();
    let about = "python3 shop.py {host} {port}";
    assert_eq!(stored(), json!([{ "run": 2, "service": "shop", "about": about }]));

    let draft = |run: u32, service: &str, flags: &[&str]| {
        let asked = json!({ "stored": { "run": run, "service": service, "flags": flags } });
        served.ask("POST /api/drafts", asked.to_string())
    };
    // Python's server keeps five connections waiting.
    let on = ["--on", "host", "--on", "pod", "--rate", "300/s", "--connections", "4"];
    let flags = [&on[..], &SHORT[..]].concat();
    let drafted = draft(1, "shop", &flags);
    assert_eq!(drafted.status, 200, "{drafted:?}");
    let drafted: Value = serde_json::from_str(&drafted.body).expect("JSON");
    let yaml = drafted["yaml"].as_str().expect("YAML");
    let limits = "limits: {cpu: 1, memory: 512Mi}";
    for part in ["name: shop", "shop.py", "BOTH: own", "COMMON: common", limits, "/orders", "pod", "300/s"] {
        assert!(yaml.contains(part), "no {part} in {yaml}");
    }
    assert!(!yaml.contains("BOTH: common") && !yaml.contains("orders ·"), "{yaml}");
    place.write("elsewhere.yaml", yaml);
    assert!(place.run(["plan", "elsewhere.yaml"]).stdout.starts_with(yaml), "{yaml}");
    ended_as_measured(&served, &job(&served, yaml));
    let result = served.json("/api/runs/4");
    let platforms: Vec<&str> = result["cells"]
        .as_array()
        .expect("cells")
        .iter()
        .filter_map(|cell| cell["platform"].as_str())
        .collect();
    assert!(platforms.contains(&"pod"), "{platforms:?}");

    // What else is asked for takes the place of what its run says, and searches as well.
    let other = draft(2, "shop", &["--on", "host", "--request", "/status", "--objective", "p99 <= 20ms"]);
    assert_eq!(other.status, 200, "{other:?}");
    assert!(
        other.body.contains("/status")
            && !other.body.contains("/orders")
            && other.body.contains("p99 <= 20ms"),
        "{other:?}"
    );
    let limited = draft(2, "shop", &["--on", "host", "--limit-cpu", "0.5", "--header", "X-One: 1"]);
    assert_eq!(limited.status, 200, "{limited:?}");
    let limited: Value = serde_json::from_str(&limited.body).expect("JSON");
    let yaml = limited["yaml"].as_str().expect("YAML");
    for part in ["limits: {cpu: 0.5}", "limits: {memory: 512Mi}", "X-One", "/orders"] {
        assert!(yaml.contains(part), "no {part} in {yaml}");
    }
    // The service is the run's.
    for naming in [["--service", "orders"], ["--command", "server"], ["--vary", "a=1,2"]] {
        let refused = draft(2, "shop", &[&["--on", "host"][..], &naming].concat());
        assert_eq!(refused.status, 422, "{refused:?}");
        let said = &refused.body;
        assert!(said.contains(naming[0]) && said.contains("`shop` is what is measured"), "{said}");
    }
    let without = draft(1, "shops", &["--on", "host"]);
    assert_eq!(without.status, 422, "{without:?}");
    assert!(without.body.contains("run 1 has no service `shops`"), "{without:?}");
    assert_eq!(draft(9, "shop", &["--on", "host"]).status, 404);
    // Its command is looked for again.
    let gone = SHOP.replace("python3 shop.py", "./gone");
    place.write("gone", "#!/bin/sh\nexec python3 shop.py \"$@\"\n");
    std::fs::set_permissions(place.path("gone"), Permissions::from_mode(0o755)).expect("a program");
    place.write("gone.yaml", &gone);
    place.run(["run", "gone.yaml"]).assert_measured();
    std::fs::remove_file(place.path("gone")).expect("it was there");
    let refused = draft(5, "shop", &["--on", "host"]);
    assert_eq!(refused.status, 422, "{refused:?}");
    assert!(refused.body.contains("./gone"), "{refused:?}");
}

/// Follows a job to its end. Whether its gates held is up to the machine.
fn ended_as_measured(served: &Served, job: &Value) {
    let events = format!("/api/jobs/{}/events", job["job"]);
    let ended = served.follow(&events, |_, data| data["state"] == "ended");
    assert!(ended["code"] == 0 || ended["code"] == 3, "{ended}");
}

#[test]
fn each_kind_of_service_that_the_form_has_is_measured() {
    let harbour = Harbour::cleaning();
    let place = &harbour.place;
    place.write("shop.py", programs::MORTAL);
    let built = place.run(["image", "-o", "orders.tar", "orders"]);
    assert_eq!(built.code, Some(0), "{}", built.stderr);
    let running = [programs::Served::start(&["orders"]), programs::Served::start(&["orders"])];
    let urls = [running[0].url(""), running[1].url("")];
    let served = Served::start_command(place, harbour.command(["ui", "--listen", "127.0.0.1:0"]));
    // The flags are those of `ui/src/app/wishes.ts`.
    let kinds: [(&str, &[&str], &str); 4] = [
        ("built in", &["--service", "orders --delay 200us", "--on", "host"], "orders --delay 200us"),
        ("a command", &["--command", "python3 shop.py {host} {port}", "--on", "host"], "python3"),
        (
            "an image",
            &["--image", "./orders.tar", "--request", "/api/orders", "--on", "docker"],
            "orders.tar",
        ),
        ("URLs", &["--on", &urls[0], "--on", &urls[1], "--request", "/api/orders"], "service"),
    ];
    for (number, (kind, flags, service)) in (1..).zip(kinds) {
        let flags = [flags, &["--rate", "200/s"], &SHORT].concat();
        let drafted = served.ask("POST /api/drafts", json!({ "flags": flags }).to_string());
        assert_eq!(drafted.status, 200, "{kind}: {drafted:?}");
        let drafted: Value = serde_json::from_str(&drafted.body).expect("JSON");
        ended_as_measured(&served, &job(&served, drafted["yaml"].as_str().expect("YAML")));
        let result = served.json(&format!("/api/runs/{number}"));
        let cells = result["cells"].as_array().expect("cells");
        assert!(!cells.is_empty(), "{kind}: {result}");
        for cell in cells {
            assert_eq!(cell["service"], service, "{kind}");
            assert!(cell["answered"].as_u64() > Some(0), "{kind}: {cell}");
            assert_eq!(cell["errors"], json!({}), "{kind}: {cell}");
        }
    }
    served.server.send(Signal::TERM);
    assert_eq!(served.server.wait().code, Some(0));
}

#[test]
fn requests_are_tried_out_unless_a_run_is_measured() {
    let place = Place::cleaning();
    let served = Served::start(&place);
    let try_out = |yaml: &str| served.ask("POST /api/tries", json!({ "yaml": yaml }).to_string());
    let shown = try_out(LONG);
    assert_eq!(shown.status, 200, "{shown:?}");
    assert!(shown.head.contains("content-type: text/plain"), "{}", shown.head);
    assert!(
        shown.body.contains("orders on host: 200 after ")
            && shown.body.contains("> GET /api/orders HTTP/1.1"),
        "{shown:?}"
    );
    let unexpected = try_out(&LONG.replace("orders}", "orders, requests: [/no/such/path]}"));
    assert_eq!(unexpected.status, 200, "{unexpected:?}");
    assert!(unexpected.body.contains("the status 404 is not what is expected"), "{unexpected:?}");
    assert_eq!(try_out("platforms: [hots]\n").status, 422);
    let failed = try_out(
        "services: [{name: gone, command: [/bin/false]}]\nplatforms: [host]\nloads: [{rate: 200/s}]\n",
    );
    assert_eq!(failed.status, 422, "{failed:?}");
    assert_eq!(served.json("/api/runs"), json!([]), "nothing is stored");

    job(&served, LONG);
    served.follow("/api/jobs/1/events", |event, _| event == "slices");
    let refused = try_out(LONG);
    assert_eq!(refused.status, 409, "{refused:?}");
    assert_eq!(served.ask("POST /api/jobs/1/stop", "").status, 202);
}
