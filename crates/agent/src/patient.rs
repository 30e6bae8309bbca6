//! Waiting for an answer, but not for ever: until a deadline, and with an eye on Ctrl-C.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::stream::Stream;

/// How often the stop flag is looked at.
const GLANCE: Duration = Duration::from_millis(50);

/// Reads from a stream until a deadline.
pub struct Patient<'a> {
    pub stream: &'a mut dyn Stream,
    pub deadline: Instant,
    /// A flag, and the frame that is sent once when it is set.
    pub stop: Option<(&'a AtomicBool, Vec<u8>)>,
}

impl Patient<'_> {
    /// Tells the other side when the flag has been set.
    fn heed_stop(&mut self) -> io::Result<()> {
        match self.stop.take_if(|(flag, _)| flag.load(Ordering::Relaxed)) {
            Some((_, frame)) => self.stream.write_all(&frame),
            None => Ok(()),
        }
    }
}

impl Read for Patient<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.heed_stop()?;
            let left = self.deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.stream.limit_reads(if self.stop.is_some() { left.min(GLANCE) } else { left })?;
            match self.stream.read(buffer) {
                Err(error) if is_time_out(&error) || error.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }
}

/// Whether a limit on waiting has been reached; which of the two a socket says depends on the platform.
pub fn is_time_out(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    fn patient(stream: &mut UnixStream, patience: Duration) -> Patient<'_> {
        Patient { stream, deadline: Instant::now() + patience, stop: None }
    }

    #[test]
    fn nobody_who_is_silent_is_waited_for_without_end() {
        let (mut ours, _theirs) = UnixStream::pair().unwrap();
        let error = patient(&mut ours, Duration::from_millis(20)).read(&mut [0; 1]).unwrap_err();
        assert!(is_time_out(&error), "{error}");
    }

    #[test]
    fn a_byte_now_and_then_does_not_put_the_deadline_off() {
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        let dripping = std::thread::spawn(move || {
            while theirs.write_all(b".").is_ok() {
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let error = patient(&mut ours, Duration::from_millis(50)).read_exact(&mut [0; 100_000]).unwrap_err();
        assert!(is_time_out(&error), "{error}");
        drop(ours);
        dripping.join().unwrap();
    }

    #[test]
    fn a_stop_is_told_once_and_the_answer_still_waited_for() {
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        let answering = std::thread::spawn(move || {
            let mut told = [0; 4];
            theirs.read_exact(&mut told).unwrap();
            theirs.write_all(b"answer").unwrap();
            let mut rest = Vec::new();
            theirs.read_to_end(&mut rest).unwrap();
            (told, rest)
        });
        let flag = AtomicBool::new(false);
        let mut patient = patient(&mut ours, Duration::from_secs(60));
        patient.stop = Some((&flag, b"stop".to_vec()));
        let mut answer = [0; 6];
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(20));
                flag.store(true, Ordering::Relaxed);
            });
            patient.read_exact(&mut answer).unwrap();
        });
        drop(ours);
        assert_eq!(&answer, b"answer");
        assert_eq!(answering.join().unwrap(), (*b"stop", Vec::new()));
    }
}
