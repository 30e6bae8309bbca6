//! `loadline ui`: the runs of a store in a browser, and new ones started from it.
//!
//! What it serves is an API, documented as OpenAPI by the code that answers it ([`api`]), and pages that use nothing else: the app in `ui/`,
//! and the report of a run as `loadline report --html` writes it. Runs are measured by other processes of the same program
//! ([`process`]), one at a time ([`queue`]); this one reads what they say as they say it. What only the command line knows, it is given
//! ([`Program`]).
//!
//! A user of the server can start any program as the user that it runs as. So it answers only requests with its token, listens on a
//! loopback address unless told otherwise, and refuses what a page of another site asks for ([`access`]).

mod access;
mod api;
mod compared;
mod drafts;
mod failure;
mod formats;
mod history;
mod jobs;
mod kept;
mod listener;
mod live;
mod numbers;
mod pages;
mod process;
mod program;
mod queue;
mod reports;
mod runs;
mod stored;
mod streams;
mod sys;
mod try_out;
mod work;

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use access::Token;
pub use api::description;
pub use listener::{Certificate, WebError};
pub use program::{Draft, NoHistory, Offer, Program};

use axum::body::Bytes;
use rustix::process::Pid;

use access::Access;
use kept::Kept;
use queue::Queue;
use streams::Streams;

/// Reports that are kept. One of 10,000 slices has 10 MB.
const MOST_PAGES: usize = 8;
/// How often to check whether a process has ended.
const LOOKS_EVERY: Duration = Duration::from_millis(20);

/// What is served, and to whom.
pub struct Ui {
    /// The file with the runs; made if it is not there.
    pub store: PathBuf,
    /// Where to listen. Port 0 takes a free one.
    pub listen: SocketAddr,
    /// Names by which browsers may know this server, beside its address.
    pub names: Vec<String>,
    /// What a user must show.
    pub token: Token,
    /// To speak HTTPS with.
    pub certificate: Option<Certificate>,
    /// The rest of the command line.
    pub program: Arc<dyn Program>,
}

/// Listens, hands the address to `ready`, and answers until `stop` is set. A run that goes on then is stopped, as by Ctrl-C, and waited for.
///
/// # Errors
/// When nothing can listen there, the certificate is not one, or the store cannot be opened.
pub fn serve(ui: Ui, stop: &Arc<AtomicBool>, ready: impl FnOnce(&str)) -> Result<(), WebError> {
    drop(loadline_store::Store::create(&ui.store)?);
    let tls = ui.certificate.as_ref().map(Certificate::acceptor).transpose()?;
    let bound = |source| WebError::Listen { address: ui.listen, source };
    let listener = TcpListener::bind(ui.listen).map_err(bound)?;
    let address = listener.local_addr().map_err(bound)?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let access = Access::new(address, &ui.names, scheme, ui.token);
    ready(&access.url());
    let queue = Queue::start(ui.store.clone(), ui.program.clone());
    let tried: Arc<Mutex<Option<Pid>>> = Arc::default();
    let site = Site {
        store: ui.store,
        program: ui.program,
        summaries: Kept::at_most(usize::MAX),
        pages: Kept::at_most(MOST_PAGES),
        streams: Streams::default(),
        queue: queue.clone(),
        importing: Arc::default(),
        trying: Mutex::default(),
        tried: tried.clone(),
    };
    let served = listener::run(listener, tls, api::router(Arc::new(site), Arc::new(access)), stop);
    queue.end();
    end_tried(&tried);
    served
}

/// Interrupts what tries requests out, and waits until it has tidied up.
fn end_tried(tried: &Mutex<Option<Pid>>) {
    let running = || *tried.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pid) = running() {
        process::interrupt(pid);
    }
    while running().is_some() {
        std::thread::sleep(LOOKS_EVERY);
    }
}

/// What the answers are made of.
struct Site {
    store: PathBuf,
    program: Arc<dyn Program>,
    summaries: Kept<loadline_report::Summary>,
    pages: Kept<Bytes>,
    streams: Streams,
    queue: Arc<Queue>,
    /// Held while a store is taken in.
    importing: Arc<tokio::sync::Mutex<()>>,
    /// Held while requests are tried out.
    trying: Mutex<()>,
    /// The process that does so.
    tried: Arc<Mutex<Option<Pid>>>,
}

impl Site {
    /// Whether a run is being measured on this machine, by this server or by anybody else of this user.
    fn is_measuring(&self) -> bool {
        self.queue.is_measuring() || self.program.others_measure()
    }
}
