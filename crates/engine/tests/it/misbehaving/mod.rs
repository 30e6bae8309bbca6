//! A server that misbehaves towards some of its clients' requests or connections, as told, and counts how often it did.

pub mod http2;

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;

/// What the server does with a connection after a misbehaviour.
pub enum Then {
    /// Takes the next request.
    GoOn,
    /// Sends RST.
    Reset,
    /// Closes in order.
    Close,
    /// Ends its own side and reads on.
    HalfClose,
    /// Reads on and never answers again.
    Hold,
}

/// What happened at the server.
#[derive(Default)]
pub struct Counts {
    accepted: AtomicU64,
    requests: AtomicU64,
    misbehaved: AtomicU64,
}

pub struct Misbehaving {
    pub address: SocketAddr,
    counts: Arc<Counts>,
}

pub const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

impl Counts {
    /// Counts a misbehaviour; how many it makes.
    pub fn misbehave(&self) -> u64 {
        self.misbehaved.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Whether the request that just came is the `nth`, twice the `nth` and so on of all connections.
    pub fn is_nth_request(&self, nth: u64) -> bool {
        (self.requests.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(nth)
    }
}

impl Misbehaving {
    /// `serve` is given each connection, with its number from 0.
    pub fn serving(serve: impl Fn(TcpStream, u64, &Counts) + Send + Sync + 'static) -> Misbehaving {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let counts = Arc::new(Counts::default());
        let shared = Arc::new((serve, counts.clone()));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let number = shared.1.accepted.fetch_add(1, Ordering::Relaxed);
                // The client may be gone already.
                let _ = stream.set_nodelay(true);
                let shared = shared.clone();
                std::thread::spawn(move || (shared.0)(stream, number, &shared.1));
            }
        });
        Misbehaving { address, counts }
    }

    /// Every `nth` request, counted over all connections, meets `misbehave`; all others are answered.
    pub fn every(
        nth: u64,
        misbehave: impl Fn(&mut TcpStream) -> Then + Send + Sync + 'static,
    ) -> Misbehaving {
        Misbehaving::serving(move |mut stream, _, counts| {
            while read_request(&mut stream).is_some() {
                if counts.is_nth_request(nth) {
                    counts.misbehave();
                    match misbehave(&mut stream) {
                        Then::GoOn => continue,
                        then => return end(stream, then),
                    }
                }
                if stream.write_all(OK).is_err() {
                    return;
                }
            }
        })
    }

    /// Requests that came so far.
    pub fn requests(&self) -> u64 {
        self.counts.requests.load(Ordering::Relaxed)
    }

    /// Misbehaviours so far.
    pub fn misbehaved(&self) -> u64 {
        self.counts.misbehaved.load(Ordering::Relaxed)
    }
}

/// Ends a connection.
pub fn end(mut stream: TcpStream, then: Then) {
    match then {
        Then::Reset => set_socket_linger(&stream, Some(Duration::ZERO)).unwrap(),
        Then::HalfClose => {
            let _ = stream.shutdown(Shutdown::Write);
            discard(&mut stream);
        }
        Then::Hold => discard(&mut stream),
        Then::Close | Then::GoOn => {}
    }
}

/// Answers requests until the client goes.
pub fn answer_all(stream: &mut TcpStream) {
    while read_request(stream).is_some() && stream.write_all(OK).is_ok() {}
}

/// Reads whatever comes until the client goes.
pub fn discard(stream: &mut TcpStream) {
    let mut buffer = vec![0; 1 << 16];
    while stream.read(&mut buffer).is_ok_and(|count| count > 0) {}
}

/// Reads the head of one request; none when the client goes, or when nothing comes for as long as the stream's time-out says.
pub fn read_request(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut head = Vec::with_capacity(256);
    let mut byte = [0; 1];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            _ => return None,
        }
    }
    Some(head)
}

/// Writes a piece and lets it arrive before the next one.
pub fn write_piece(stream: &mut TcpStream, piece: &[u8]) -> bool {
    let written = stream.write_all(piece).is_ok();
    std::thread::sleep(Duration::from_millis(20));
    written
}

/// Writes the same again and again until the client has enough.
pub fn write_for_ever(stream: &mut TcpStream, piece: &[u8]) {
    let many = piece.repeat((64 * 1024 / piece.len()).max(1));
    while stream.write_all(&many).is_ok() {}
}
