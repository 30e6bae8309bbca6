//! The bare epoll loop: writes a fixed request, reads as many bytes as the response has, and nothing else. What it costs is
//! the kernel's share, which only a generator that reads several responses after one wait can go below.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};

/// Events taken from the kernel at once.
const BATCH: usize = 256;

/// Longer than any response that it is meant for.
const BUFFER: usize = 16 * 1024;

/// Loads `address` in a closed loop and prints how many requests were answered in how many seconds.
pub fn run(address: SocketAddr, connections: usize, time: Duration) -> Result<()> {
    let request = format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let request = request.as_bytes();
    let length = response_length(address, request)?;
    let epoll = epoll::create(CreateFlags::CLOEXEC)?;
    let mut sockets = Vec::with_capacity(connections);
    for index in 0..connections {
        let socket = TcpStream::connect(address)?;
        socket.set_nodelay(true)?;
        socket.set_nonblocking(true)?;
        epoll::add(&epoll, &socket, EventData::new_u64(index as u64), EventFlags::IN)?;
        sockets.push((socket, 0));
    }
    let started = Instant::now();
    for (socket, _) in &mut sockets {
        socket.write_all(request)?;
    }
    let mut requests: u64 = 0;
    let mut buffer = [0; BUFFER];
    let mut events: Vec<Event> = Vec::with_capacity(BATCH);
    while started.elapsed() < time {
        events.clear();
        epoll::wait(&epoll, spare_capacity(&mut events), None)?;
        for event in &events {
            let (socket, received) = &mut sockets[event.data.u64() as usize];
            match socket.read(&mut buffer) {
                Ok(0) => anyhow::bail!("the server closed a connection"),
                Ok(bytes) => *received += bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
                Err(error) => return Err(error.into()),
            }
            if *received >= length {
                *received -= length;
                requests += 1;
                socket.write_all(request)?;
            }
        }
    }
    println!("{requests} requests\n{} seconds", started.elapsed().as_secs_f64());
    Ok(())
}

/// Head and body of the response, which must be the same every time.
fn response_length(address: SocketAddr, request: &[u8]) -> Result<usize> {
    let mut socket = TcpStream::connect(address).with_context(|| format!("cannot connect to {address}"))?;
    socket.write_all(request)?;
    let mut response = Vec::new();
    loop {
        let mut buffer = [0; BUFFER];
        let bytes = socket.read(&mut buffer)?;
        ensure!(bytes > 0, "the server closed the connection before the response was complete");
        response.extend_from_slice(&buffer[..bytes]);
        if let Some(length) = whole_length(&String::from_utf8_lossy(&response))
            && response.len() >= length
        {
            return Ok(length);
        }
    }
}

fn whole_length(start: &str) -> Option<usize> {
    let head = start.find("\r\n\r\n")? + 4;
    let body = start[..head].lines().find_map(|line| line.strip_prefix("Content-Length: "))?;
    Some(head + body.trim().parse::<usize>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_as_long_as_its_head_and_the_body_it_announces() {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 128\r\n\r\n";
        assert_eq!(whole_length(head), Some(head.len() + 128));
        assert_eq!(whole_length(&head[..30]), None);
    }
}
