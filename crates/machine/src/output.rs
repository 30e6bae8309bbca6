//! The last output of a service: it is read all the time, so that the service never blocks on a full pipe, and the end
//! of it is kept to be shown when the service ends.

use std::{
    collections::VecDeque,
    io::{PipeReader, Read},
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::wait::{self, SHORT_INTERVAL};

/// Bytes kept of a service's output.
pub const TAIL_BYTES: usize = 64 * 1024;
/// How long to wait for the reader to receive what a service wrote just before it ended.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(200);

pub(crate) struct OutputTail {
    bytes: Arc<Mutex<VecDeque<u8>>>,
    reader: JoinHandle<()>,
}

impl OutputTail {
    /// Reads `pipe` on a thread of its own until its last writer is gone.
    pub fn follow(mut pipe: PipeReader) -> OutputTail {
        let bytes = Arc::new(Mutex::new(VecDeque::new()));
        let tail = Arc::clone(&bytes);
        let reader = thread::spawn(move || {
            let mut chunk = [0; 8192];
            while let Ok(length @ 1..) = pipe.read(&mut chunk) {
                let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
                tail.extend(&chunk[..length]);
                let surplus = tail.len().saturating_sub(TAIL_BYTES);
                tail.drain(..surplus);
            }
        });
        OutputTail { bytes, reader }
    }

    /// What has been kept so far.
    pub fn text(&self) -> String {
        let mut tail = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(tail.make_contiguous()).into_owned()
    }

    /// Waits for the end of the output, but not for long: a process that left its group may keep the pipe open for ever.
    pub fn wait_for_end(&self) {
        wait::until(DRAIN_TIMEOUT, SHORT_INTERVAL, || self.reader.is_finished().then_some(()));
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn only_the_end_of_a_long_output_is_kept() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let tail = OutputTail::follow(reader);
        writer.write_all(&vec![b'x'; 3 * TAIL_BYTES]).unwrap();
        writer.write_all(b"the end").unwrap();
        drop(writer);
        tail.reader.join().unwrap();
        let tail = OutputTail { bytes: tail.bytes, reader: thread::spawn(|| ()) };
        assert_eq!(tail.text().len(), TAIL_BYTES);
        assert!(tail.text().ends_with("xthe end"));
    }
}
