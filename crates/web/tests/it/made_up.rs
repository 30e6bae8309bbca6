//! A command line that is made up, the server before it, and a client.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::Duration;

use loadline_model::experiment::{Experiment, Service};
use loadline_model::result::history::{HISTORY_SCHEMA, History};
use loadline_store::Store;
use loadline_web::{Draft, NoHistory, Offer, Program, Token, Ui, serve};

/// Longest wait for anything: far more than it takes, so that a loaded machine fails no test.
pub const PATIENCE: Duration = Duration::from_secs(120);
const TOKEN: &str = "a-token-of-the-tests-own";

/// Says what is asked of it. Its experiment files are scripts of the shell.
struct MadeUp {
    tell: Sender<&'static str>,
    others: Arc<AtomicBool>,
}

impl MadeUp {
    fn tell(&self, what: &'static str) {
        // A test that has ended listens no longer.
        let _ = self.tell.send(what);
    }
}

impl Program for MadeUp {
    fn services(&self) -> Vec<String> {
        Vec::new()
    }

    fn is_reference(&self, _service: &Service) -> bool {
        false
    }

    fn platforms(&self) -> Vec<Offer> {
        self.tell("platforms are asked");
        Vec::new()
    }

    fn known_platforms(&self) -> Vec<Offer> {
        self.tell("platforms are remembered");
        Vec::new()
    }

    fn draft(&self, yaml: &str) -> Result<Draft, String> {
        Ok(Draft {
            name: "a script".to_owned(),
            yaml: yaml.to_owned(),
            plan: String::new(),
            seconds: [0.0, 0.0],
        })
    }

    fn draft_of_flags(&self, _flags: &[String]) -> Result<Draft, String> {
        Err("there are no flags".to_owned())
    }

    fn draft_of_service(&self, _service: &Service, _flags: &[String]) -> Result<Draft, String> {
        Err("there is no service".to_owned())
    }

    fn yaml(&self, _experiment: &Experiment) -> String {
        String::new()
    }

    /// One that goes on until it is stopped, unless the metric is the policy of the thread that makes it.
    fn history(
        &self,
        _store: &Path,
        metric: &str,
        _text: &str,
        stop: &AtomicBool,
    ) -> Result<History, NoHistory> {
        let metric = if metric == "policy" {
            policy()
        } else {
            self.tell("a history has begun");
            while !stop.load(Ordering::Relaxed) {
                sleep(Duration::from_millis(5));
            }
            self.tell("a history was stopped");
            metric.to_owned()
        };
        Ok(History {
            schema: HISTORY_SCHEMA.to_owned(),
            metric,
            least_points: 0,
            series: Vec::new(),
            left_out: Vec::new(),
        })
    }

    fn alive(&self) -> Vec<String> {
        Vec::new()
    }

    fn others_measure(&self) -> bool {
        self.others.load(Ordering::Relaxed)
    }

    fn shrink(&self, _store: &Store) {}

    fn run(&self, _store: &Path) -> Command {
        Command::new("sh")
    }

    fn try_out(&self) -> Command {
        Command::new("sh")
    }
}

/// The number of this thread's scheduling policy.
fn policy() -> String {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("this thread");
    // Its field 41; field 3 comes after the name, which is in parentheses (proc_pid_stat(5)).
    let (_, fields) = stat.rsplit_once(')').expect("a name");
    fields.split_whitespace().nth(41 - 3).expect("a policy").to_owned()
}

/// A server, until it is dropped.
pub struct Server {
    /// What is asked of the command line.
    pub told: Receiver<&'static str>,
    /// Whether others measure on this machine.
    pub others: Arc<AtomicBool>,
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    serving: Option<JoinHandle<()>>,
    _folder: tempfile::TempDir,
}

impl Server {
    pub fn start() -> Server {
        let (tell, told) = channel();
        let others = Arc::new(AtomicBool::new(false));
        let folder = tempfile::tempdir().expect("a folder");
        let ui = Ui {
            store: folder.path().join("loadline.db"),
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            names: Vec::new(),
            token: Token::chosen(TOKEN).expect("a token"),
            certificate: None,
            program: Arc::new(MadeUp { tell, others: others.clone() }),
        };
        let stop = Arc::new(AtomicBool::new(false));
        let (ready, url) = channel();
        let of_thread = stop.clone();
        let serving = spawn(move || {
            let listens = |url: &str| ready.send(url.to_owned()).expect("the test waits for it");
            serve(ui, &of_thread, listens).expect("it serves");
        });
        let url: String = url.recv_timeout(PATIENCE).expect("an address");
        let host = url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).expect("a URL").0;
        let address = host.parse().expect("an address");
        Server { told, others, address, stop, serving: Some(serving), _folder: folder }
    }

    /// Asks `METHOD PATH`, on a connection that ends with the answer.
    pub fn send(&self, request: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
        let (host, length) = (self.address, body.len());
        let head = format!(
            "{request} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).expect("it reads");
        stream
    }

    /// The body of the answer.
    pub fn ask(&self, request: &str, body: &str) -> String {
        let mut answer = String::new();
        self.send(request, body).read_to_string(&mut answer).expect("an answer");
        let (_, body) =
            answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("this is no answer: {answer}"));
        body.to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // One that panicked has said so.
        let _ = self.serving.take().map(JoinHandle::join);
    }
}
