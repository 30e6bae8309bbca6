//! An HTTP/1.1 service that reports by which connection a request came, which shows keep-alive from outside.

use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    thread,
};

use super::Outcome;

/// Answers each request with the caller's address, the number of its connection and the request's number on it, both from 1. A
/// connection ends when the client asks for it.
pub fn serve(host: &str, port: &str) -> Outcome {
    let listener = TcpListener::bind((host, port.parse()?))?;
    for connection in 1.. {
        let (stream, _) = listener.accept()?;
        thread::spawn(move || converse(&stream, connection));
    }
    Ok(())
}

fn converse(mut stream: &TcpStream, connection: u32) -> std::io::Result<()> {
    let caller = stream.peer_addr()?.ip();
    let mut lines = BufReader::new(stream).lines();
    for request in 1.. {
        let mut last = false;
        // Requests without a body end with an empty line.
        loop {
            let line = lines.next().ok_or(std::io::ErrorKind::UnexpectedEof)??;
            last |= line.eq_ignore_ascii_case("connection: close");
            if line.is_empty() {
                break;
            }
        }
        let body = format!("{caller} connection {connection} request {request}");
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())?;
        if last {
            break;
        }
    }
    Ok(())
}
