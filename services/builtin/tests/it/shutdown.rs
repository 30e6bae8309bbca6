//! A service ends promptly on SIGTERM, even while a connection is open and a long computation runs.
//! It has a process of its own because the signal goes to the whole process.

use std::error::Error;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use loadline_services::{Builtin, Options, serve};
use rustix::process::{Signal, getpid, kill_process};

fn get(stream: &mut TcpStream, path: &str) -> std::io::Result<()> {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: service\r\n\r\n").as_bytes())
}

#[test]
fn sigterm_ends_a_busy_service_at_once() -> Result<(), Box<dyn Error>> {
    // The port is released before the service binds it; nothing else in this process needs one.
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let service = std::thread::spawn(move || serve(address, Builtin::Cpu, Options::default()));

    let given_up_at = Instant::now() + Duration::from_secs(20);
    let mut client = loop {
        match TcpStream::connect(address) {
            Ok(stream) => break stream,
            Err(error) if Instant::now() > given_up_at => return Err(error.into()),
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    get(&mut client, "/healthz")?;
    let mut answer = [0; 12];
    client.read_exact(&mut answer)?;
    assert_eq!(&answer, b"HTTP/1.1 200");
    get(&mut TcpStream::connect(address)?, "/cpu?n=45")?;

    let taken = serve(address, Builtin::Cpu, Options::default());
    assert!(taken.is_err_and(|e| e.to_string().contains(&address.to_string())), "the port is in use");

    kill_process(getpid(), Signal::TERM)?;
    service.join().map_err(|_| "the service panicked")??;
    assert!(TcpStream::connect(address).is_err(), "nothing listens any more");
    Ok(())
}
