//! A service that counts its connections and keeps what it hears.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Answers every request.
pub struct Watched {
    pub address: SocketAddr,
    open: Arc<AtomicUsize>,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Watched {
    pub fn start() -> Watched {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let watched = Watched { address, open: Arc::default(), heard: Arc::default() };
        let (open, heard) = (watched.open.clone(), watched.heard.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (open, heard) = (open.clone(), heard.clone());
                open.fetch_add(1, Ordering::SeqCst);
                std::thread::spawn(move || {
                    answer(BufReader::new(stream), &heard);
                    open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        watched
    }

    /// How many connections there are now.
    pub fn open(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }

    /// All requests up to now, whole.
    pub fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

/// Answers until the client leaves, in whatever way.
fn answer(mut stream: BufReader<TcpStream>, heard: &Mutex<Vec<String>>) {
    while let Some(request) = read_request(&mut stream) {
        heard.lock().unwrap().push(request);
        if stream.get_mut().write_all(OK).is_err() {
            return;
        }
    }
}

fn read_request(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut request = String::new();
    while !request.ends_with("\r\n\r\n") {
        if stream.read_line(&mut request).ok()? == 0 {
            return None;
        }
    }
    let length = request.lines().find_map(|line| line.strip_prefix("Content-Length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).ok()?;
    Some(request + &String::from_utf8(body).unwrap())
}
