//! The agent's side of a conversation up to its opening; what it is about then goes on.

use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use serde::Serialize;

use super::observer::Containers;
use super::{engine, observer};
use crate::frame::{self, FrameError};
use crate::protocol::{Answer, Greeting, Opening, PATIENCE};

/// How long somebody who is refused is listened to: nobody else is meanwhile.
const REFUSING: Duration = Duration::from_millis(500);

/// Has a conversation until the other side ends it.
pub fn hold(stream: &TcpStream, containers: &dyn Containers) {
    match converse(stream, containers) {
        Ok(()) | Err(FrameError::Ended) => {}
        Err(error) => tracing::warn!("connection closed: {error}"),
    }
}

/// Greets and says why there will be no conversation.
pub fn refuse(stream: &TcpStream, why: &str) {
    let refused = limit(stream, REFUSING).and_then(|()| greet(stream, Some(why)));
    if let Err(error) = refused {
        tracing::warn!("refused a connection ({why}), and could not say so: {error}");
    }
}

fn converse(stream: &TcpStream, containers: &dyn Containers) -> Result<(), FrameError> {
    // Somebody who connects and says nothing takes the place of another.
    limit(stream, PATIENCE)?;
    if !greet(stream, None)? {
        return Ok(());
    }
    let opening: Opening = frame::read(stream)?;
    // Between two slices there may be hours.
    stream.set_read_timeout(None)?;
    match opening {
        Opening::Engine(setup) => engine::converse(stream, *setup),
        Opening::Observer { container } => observer::converse(stream, containers, &container),
    }
}

fn limit(stream: &TcpStream, patience: Duration) -> Result<(), FrameError> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(patience))?;
    Ok(stream.set_write_timeout(Some(PATIENCE))?)
}

/// Exchanges greetings; `false` when the two don't fit.
fn greet(stream: &TcpStream, refused: Option<&str>) -> Result<bool, FrameError> {
    let theirs: Greeting = frame::read(stream)?;
    let ours = Greeting::ours();
    let fits = ours.fits(&theirs);
    frame::write(stream, &Greeting { refused: refused.map(str::to_owned), ..ours })?;
    Ok(fits)
}

/// Answers an ask.
pub fn answer<T: Serialize>(stream: impl Write, answer: Answer<T>) -> Result<(), FrameError> {
    frame::write(stream, &answer)
}

/// Lets everybody who reads from the stream find it ended.
pub fn end(stream: &TcpStream) {
    // It may have ended already.
    let _ = stream.shutdown(Shutdown::Both);
}
