//! Each request sent once, on a connection of its own, with all that comes back: to be looked at, not to be measured.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use loadline_model::TriedRequest;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::dial::Dialer;
use crate::expect::{Check, Expectation, Failed};
use crate::http1::{Part, Progress, ResponseParser};
use crate::http2::{Event, Http2, fields_as_lines};
use crate::mix::Mix;
use crate::options::Options;
use crate::resolver::look_up;
use crate::transport::{Received, Transport};

/// How much of a response is kept: its beginning.
const MOST_KEPT: usize = 64 << 10;
/// How soon an interruption is seen.
const STEP: Duration = Duration::from_millis(200);

/// Why nothing could be sent.
pub enum TryOutError {
    /// This thread could not be where the load is.
    Setup(io::Error),
    /// There was no connection.
    Connect(io::Error),
}

/// Sends each request of the mix. Blocks, and leaves the thread where the load is. That there is no connection for the first is an error; what
/// came of it is not lost if there is none for a later one.
pub fn all(options: &Options) -> Result<Vec<TriedRequest>, TryOutError> {
    (options.on_thread_start)().map_err(TryOutError::Setup)?;
    let mut tried = Vec::new();
    for request in 0..options.mix.len() {
        match Line::open(options) {
            Ok(line) => tried.push(one(options, request, line)),
            Err(error) if request == 0 => return Err(TryOutError::Connect(error)),
            Err(error) => tried.push(not_sent(options, request, &error)),
        }
    }
    Ok(tried)
}

fn not_sent(options: &Options, request: usize, error: &io::Error) -> TriedRequest {
    let (sent, response) = write(&options.mix, request, options.streams.is_some());
    TriedRequest {
        sent: response.shown(&options.mix, request, &sent),
        received: String::new(),
        left_out_bytes: 0,
        took_ns: 0,
        status: None,
        problem: Some(format!("it was not sent: {error}")),
    }
}

/// Sends a request over a connection of its own.
fn one(options: &Options, request: usize, mut line: Line<'_>) -> TriedRequest {
    let begun = Instant::now();
    let (sent, mut response) = write(&options.mix, request, options.streams.is_some());
    let mut seen = Seen { kept: Vec::new(), left_out: 0, check: options.expectation.new_check() };
    let outcome = line.exchange(&sent, &mut response, &mut seen, options.timeout);
    let took = begun.elapsed();
    let status = outcome.as_ref().ok().copied();
    let problem = match outcome {
        Ok(status) => seen.judge(status, &options.expectation).err(),
        Err(why) => Some(why),
    };
    TriedRequest {
        sent: response.shown(&options.mix, request, &sent),
        received: String::from_utf8_lossy(&seen.kept).into_owned(),
        left_out_bytes: seen.left_out,
        took_ns: took.as_nanos() as u64,
        status,
        problem,
    }
}

/// A request as its bytes, and what will understand the response.
fn write(mix: &Mix, request: usize, is_http2: bool) -> (Vec<u8>, Response) {
    let (mut scratch, to_head) = (Vec::new(), mix.is_head(request));
    if !is_http2 {
        let sent = mix.bytes(request, 0, &mut scratch).to_vec();
        return (sent, Response::Http1 { parser: ResponseParser::default(), to_head });
    }
    let (head, body) = mix.parts(request, 0, &mut scratch);
    let (mut http2, mut sent) = (Box::new(Http2::new(1)), Vec::new());
    http2.open(&mut sent);
    // A new connection takes one.
    let _ = http2.request(head, body, to_head, &mut sent);
    (sent, Response::Http2 { http2, has_body: false })
}

/// A connection, and until when it is waited for.
struct Line<'a> {
    transport: Transport,
    deadline: Instant,
    stop: &'a AtomicBool,
}

impl Line<'_> {
    fn open(options: &Options) -> io::Result<Line<'_>> {
        let deadline = Instant::now() + options.timeout;
        let dialer = Dialer::new(options.endpoint.clone(), options.timestamps);
        let found = dialer.name().map(|(host, port)| look_up(host, port, &mut None)).transpose()?;
        let mut line = Line { transport: dialer.dial(found)?, deadline, stop: &options.stop };
        line.wait_until_connected()?;
        while !line.transport.handshake()? {
            line.wait(PollFlags::IN)?;
        }
        Ok(line)
    }

    fn wait_until_connected(&mut self) -> io::Result<()> {
        loop {
            self.wait(PollFlags::OUT)?;
            if is_writable(&self.transport)? {
                return self.transport.connect_result();
            }
        }
    }

    /// Waits for this, or for room if something is left to be sent. It may return before, but not without end.
    fn wait(&mut self, wanted: PollFlags) -> io::Result<()> {
        self.check_time()?;
        // What the kernel tells of a transmission would be an event until it is read.
        self.transport.transmitted();
        let wanted = if self.transport.is_flushed() { wanted } else { wanted | PollFlags::OUT };
        let left = self.deadline.saturating_duration_since(Instant::now()).min(STEP);
        let left = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::new(&self.transport, wanted)], Some(&left)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn check_time(&self) -> io::Result<()> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        if Instant::now() >= self.deadline { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
    }

    /// Sends a request and takes the response. Its status, or why it did not come to its end.
    fn exchange(
        &mut self,
        request: &[u8],
        response: &mut Response,
        seen: &mut Seen,
        timeout: Duration,
    ) -> Result<u16, String> {
        let broke = |error: io::Error| match error.kind() {
            io::ErrorKind::TimedOut => format!("no complete response within {timeout:?}"),
            io::ErrorKind::Interrupted => "interrupted".to_owned(),
            _ => format!("the connection broke: {error}"),
        };
        let (mut buffer, mut reply) = (vec![0; MOST_KEPT], Vec::new());
        self.transport.send(request).map_err(broke)?;
        loop {
            self.check_time().map_err(broke)?;
            match self.transport.receive(&mut buffer).map_err(broke)? {
                Received::Bytes { count, .. } => {
                    reply.clear();
                    let status = response.take(&buffer[..count], seen, &mut reply)?;
                    if !reply.is_empty() {
                        self.transport.send(&reply).map_err(broke)?;
                    }
                    if let Some(status) = status {
                        return Ok(status);
                    }
                }
                Received::Nothing => {
                    self.transport.flush().and_then(|_| self.wait(PollFlags::IN)).map_err(broke)?;
                }
                Received::End => {
                    let early = "the service closed the connection before its response was complete";
                    return response.end().ok_or_else(|| early.to_owned());
                }
            }
        }
    }
}

/// Whether a handshake of TCP is over, well or not.
fn is_writable(transport: &Transport) -> io::Result<bool> {
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    Ok(poll(&mut [PollFd::new(transport, PollFlags::OUT)], Some(&at_once))? > 0)
}

/// What understands a response.
enum Response {
    Http1 {
        parser: ResponseParser,
        to_head: bool,
    },
    Http2 {
        http2: Box<Http2>,
        /// Whether its body has begun.
        has_body: bool,
    },
}

impl Response {
    /// Takes the next bytes; the status when the response is complete. `reply` is what the protocol answers to them.
    fn take(&mut self, bytes: &[u8], seen: &mut Seen, reply: &mut Vec<u8>) -> Result<Option<u16>, String> {
        match self {
            Response::Http1 { parser, to_head } => {
                seen.keep(bytes);
                let progress = parser.feed(bytes, *to_head, None, &mut |part| match part {
                    Part::Header { name, value } => seen.header(name, value),
                    Part::Body(bytes) => seen.body(bytes),
                });
                match progress.map_err(|error| error.to_string())? {
                    Progress::Partial => Ok(None),
                    Progress::Complete(response) if response.consumed == bytes.len() => {
                        Ok(Some(response.status))
                    }
                    Progress::Complete(_) => Err("more came than the response that was asked for".to_owned()),
                }
            }
            Response::Http2 { http2, has_body } => {
                let (mut complete, mut reset) = (None, None);
                let fed = http2.feed(bytes, reply, &mut |event| match event {
                    Event::Header { name, value, .. } => {
                        seen.keep(&[name, b": ", value, b"\n"].concat());
                        seen.header(name, value);
                    }
                    Event::Body { bytes, .. } => {
                        if !std::mem::replace(has_body, true) {
                            seen.keep(b"\n");
                        }
                        seen.keep(bytes);
                        seen.body(bytes);
                    }
                    Event::Complete { status, .. } => complete = Some(status),
                    Event::Reset { reason, .. } => reset = Some(reason),
                });
                if let Some(reason) = reset {
                    return Err(reason.to_string());
                }
                fed.map_err(|error| error.to_string())?;
                Ok(complete)
            }
        }
    }

    /// The peer closed its side: the status, if that ends the response.
    fn end(&mut self) -> Option<u16> {
        match self {
            Response::Http1 { parser, .. } => parser.end().map(|response| response.status),
            Response::Http2 { .. } => None,
        }
    }

    /// A request as a reader sees it.
    fn shown(&self, mix: &Mix, request: usize, sent: &[u8]) -> String {
        match self {
            Response::Http1 { .. } => String::from_utf8_lossy(sent).into_owned(),
            Response::Http2 { .. } => {
                let mut scratch = Vec::new();
                let (head, body) = mix.parts(request, 0, &mut scratch);
                format!("{}\n{}", fields_as_lines(head), String::from_utf8_lossy(body))
            }
        }
    }
}

/// What came of a response.
struct Seen {
    kept: Vec<u8>,
    left_out: u64,
    check: Option<Check>,
}

impl Seen {
    fn keep(&mut self, bytes: &[u8]) {
        let room = bytes.len().min(MOST_KEPT - self.kept.len());
        self.kept.extend_from_slice(&bytes[..room]);
        self.left_out += (bytes.len() - room) as u64;
    }

    fn header(&mut self, name: &[u8], value: &[u8]) {
        if let Some(check) = &mut self.check {
            check.header(name, value);
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        if let Some(check) = &mut self.check {
            check.body(bytes);
        }
    }

    /// Why a complete response would count as an error under load.
    fn judge(&mut self, status: u16, expectation: &Expectation) -> Result<(), String> {
        let verdict = match &mut self.check {
            Some(check) => check.finish(status),
            None => expectation.judge_status(status),
        };
        verdict.map_err(|failed| match failed {
            Failed::Status => format!("the status {status} is not what is expected"),
            Failed::Header => "a header is not as expected".to_owned(),
            Failed::Body => "the body is not as expected".to_owned(),
        })
    }
}
