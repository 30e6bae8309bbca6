//! A server that stands still for a stated time and notes when each answer left, so that what a client should have seen can be computed.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::time::{ClockId, clock_gettime};

/// The pace at which the server works off what gathered during the stall: longer than the turn-around of one connection, so that it
/// alone counts. A server that the machine kept from working catches up with it.
pub const PACE_NS: u64 = 60_000;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// CLOCK_MONOTONIC, ns: the engine's clock.
pub fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

pub struct Stalling {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    from: AtomicU64,
    until: AtomicU64,
    /// When each answer was written, in order.
    answered_at: Vec<AtomicU64>,
    answers: AtomicUsize,
}

impl Stalling {
    /// A server for so many connections, which can note so many answers. One thread serves them in turn, so that a stall is the same
    /// for all.
    pub fn start(connections: usize, most_answers: usize) -> Stalling {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            from: AtomicU64::new(u64::MAX),
            until: AtomicU64::new(u64::MAX),
            answered_at: (0..most_answers).map(|_| AtomicU64::new(0)).collect(),
            answers: AtomicUsize::new(0),
        });
        let served = shared.clone();
        std::thread::spawn(move || {
            let streams = listener.incoming().take(connections).map(Result::unwrap).collect();
            served.serve(streams);
        });
        Stalling { address, shared }
    }

    /// Says when nothing is answered.
    pub fn stall(&self, time: Range<u64>) {
        self.shared.until.store(time.end, Ordering::SeqCst);
        self.shared.from.store(time.start, Ordering::SeqCst);
    }

    /// When each answer was written, in order.
    pub fn answered_at(&self) -> Vec<u64> {
        let answers = self.shared.answers.load(Ordering::SeqCst);
        self.shared.answered_at[..answers].iter().map(|time| time.load(Ordering::SeqCst)).collect()
    }
}

impl Shared {
    /// Serves until a client goes.
    fn serve(&self, mut streams: Vec<TcpStream>) {
        let epoll = epoll::create(CreateFlags::CLOEXEC).unwrap();
        for (index, stream) in streams.iter().enumerate() {
            stream.set_nodelay(true).unwrap();
            epoll::add(&epoll, stream, EventData::new_u64(index as u64), EventFlags::IN).unwrap();
        }
        let mut buffer = [0; 1024];
        let mut events = Vec::with_capacity(streams.len());
        let mut free_at = 0;
        loop {
            events.clear();
            epoll::wait(&epoll, spare_capacity(&mut events), None).unwrap();
            for event in &events {
                let stream = &mut streams[event.data.u64() as usize];
                // The engine sends one small request at a time: one read is one request.
                if !stream.read(&mut buffer).is_ok_and(|count| count > 0) {
                    return;
                }
                let (time, until) = (now(), self.until.load(Ordering::SeqCst));
                if time >= self.from.load(Ordering::SeqCst) && time < until {
                    std::thread::sleep(Duration::from_nanos(until - time));
                    free_at = until;
                }
                free_at += PACE_NS;
                while now() < free_at {
                    std::hint::spin_loop();
                }
                // Noted before it is done, so that whoever was answered finds it noted.
                let place = self.answers.fetch_add(1, Ordering::SeqCst);
                self.answered_at[place].store(now(), Ordering::SeqCst);
                if stream.write_all(OK).is_err() {
                    return;
                }
            }
        }
    }
}
