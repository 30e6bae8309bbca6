//! Servers for the tests: a thread per connection and one behaviour each.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub struct Server {
    pub address: SocketAddr,
    accepted: Arc<AtomicUsize>,
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

impl Server {
    fn start(serve: impl Fn(BufReader<TcpStream>) + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let accepted = Arc::new(AtomicUsize::new(0));
        let (count, serve) = (accepted.clone(), Arc::new(serve));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                count.fetch_add(1, Ordering::Relaxed);
                stream.set_nodelay(true).unwrap();
                let serve = serve.clone();
                std::thread::spawn(move || serve(BufReader::new(stream)));
            }
        });
        Server { address, accepted }
    }

    /// Connections accepted so far.
    pub fn connections(&self) -> usize {
        self.accepted.load(Ordering::Relaxed)
    }

    /// Answers every request with these bytes.
    pub fn answering(answer: &'static [u8]) -> Server {
        Server::start(
            move |mut stream| {
                while read_head(&mut stream).is_some() && stream.get_mut().write_all(answer).is_ok() {}
            },
        )
    }

    /// Answers one request of each connection, then closes it in order.
    pub fn answering_once(answer: &'static [u8]) -> Server {
        Server::start(move |mut stream| {
            if read_head(&mut stream).is_some() {
                let _ = stream.get_mut().write_all(answer);
                let _ = stream.get_mut().shutdown(Shutdown::Write);
                // Closing with unread input would reset; the client closes first.
                let _ = stream.read(&mut [0; 1]);
            }
        })
    }

    /// Answers after a while.
    pub fn delaying(delay: Duration) -> Server {
        Server::start(move |mut stream| {
            while read_head(&mut stream).is_some() {
                std::thread::sleep(delay);
                if stream.get_mut().write_all(OK).is_err() {
                    return;
                }
            }
        })
    }

    /// Answers nothing for `length` in every `every`, the first time after half of the time between.
    pub fn stalling(length: Duration, every: Duration) -> Server {
        let begun = Instant::now();
        let from = (every - length) / 2;
        Server::start(move |mut stream| {
            while read_head(&mut stream).is_some() {
                let phase = Duration::from_nanos((begun.elapsed().as_nanos() % every.as_nanos()) as u64);
                if phase >= from && phase < from + length {
                    std::thread::sleep(from + length - phase);
                }
                if stream.get_mut().write_all(OK).is_err() {
                    return;
                }
            }
        })
    }

    /// Takes requests and never answers.
    pub fn silent() -> Server {
        Server::start(|mut stream| while read_head(&mut stream).is_some() {})
    }

    /// Resets the connection when a request comes: closing with input unread makes the kernel send RST (RFC 1122, 4.2.2.13).
    pub fn resetting() -> Server {
        Server::start(|mut stream| {
            let _ = stream.get_mut().read(&mut [0; 1]);
        })
    }

    /// Reads bodies by their length, slowly at first so that the client's socket fills up, and answers.
    pub fn echoing_length() -> Server {
        Server::start(|mut stream| {
            while let Some(head) = read_head(&mut stream) {
                let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
                let mut left: usize = length.unwrap().trim().parse().unwrap();
                std::thread::sleep(Duration::from_millis(30));
                let mut buffer = vec![0; 1 << 16];
                while left > 0 {
                    let room = left.min(buffer.len());
                    match stream.read(&mut buffer[..room]) {
                        Ok(0) | Err(_) => return,
                        Ok(count) => left -= count,
                    }
                }
                if stream.get_mut().write_all(OK).is_err() {
                    return;
                }
            }
        })
    }
}

/// Reads up to the empty line.
fn read_head(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    Some(head)
}
