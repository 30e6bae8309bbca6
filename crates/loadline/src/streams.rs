//! Standard output and stderr, which may be a pipe whose reader has left, or a file on a full disk.

use std::fmt::Display;
use std::io::{self, Write};

use anyhow::{Context, Result};
use loadline_model::printable;

/// Prints a text and a line's end to standard output.
pub fn print(text: impl Display) -> Result<()> {
    let mut out = stdout();
    writeln!(out, "{text}").and_then(|()| out.flush()).context("cannot write to standard output")
}

/// Prints a text and a line's end to stderr, with what others wrote in it made printable. If that fails, there is nowhere left to say so.
pub fn tell(text: impl Display) {
    let _ = writeln!(io::stderr(), "{}", printable(&text.to_string()));
}

/// The same of a text that brings its own colours and holds nothing of others that is not printable.
pub fn tell_coloured(text: impl Display) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Standard output; a reader that leaves (`| head`) has seen enough, and what it no longer reads is no error.
pub fn stdout() -> impl Write + 'static {
    UntilClosed(io::stdout())
}

struct UntilClosed<W>(W);

impl<W: Write> Write for UntilClosed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        unless_closed(self.0.write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        unless_closed(self.0.flush(), ())
    }
}

fn unless_closed<T>(outcome: io::Result<T>, all: T) -> io::Result<T> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(all),
        outcome => outcome,
    }
}
