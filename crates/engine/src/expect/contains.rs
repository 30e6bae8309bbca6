//! Whether a text occurs in a stream that comes in pieces: each piece is searched, and so is every seam between pieces.

use memchr::memmem::Finder;

/// The state of one search. It holds less than twice the length of the text.
#[derive(Debug)]
pub struct Contains {
    found: bool,
    /// The last bytes of what came, one fewer than the text has: what an occurrence over the seam begins with.
    tail: Vec<u8>,
}

impl Contains {
    pub fn new(finder: &Finder<'_>) -> Contains {
        Contains { found: false, tail: Vec::with_capacity(2 * finder.needle().len()) }
    }

    pub fn reset(&mut self) {
        self.found = false;
        self.tail.clear();
    }

    pub fn found(&self) -> bool {
        self.found
    }

    /// Bytes set aside.
    #[cfg(test)]
    pub fn capacity(&self) -> usize {
        self.tail.capacity()
    }

    /// Searches the next piece. It must be the same `finder` for all of a stream.
    pub fn take(&mut self, finder: &Finder<'_>, piece: &[u8]) {
        if self.found || piece.is_empty() {
            return;
        }
        let kept = finder.needle().len().saturating_sub(1);
        if !self.tail.is_empty() {
            self.tail.extend_from_slice(&piece[..piece.len().min(kept)]);
            self.found = finder.find(&self.tail).is_some();
        }
        self.found |= finder.find(piece).is_some();
        if piece.len() >= kept {
            self.tail.clear();
            self.tail.extend_from_slice(&piece[piece.len() - kept..]);
        } else if self.tail.is_empty() {
            self.tail.extend_from_slice(piece);
        } else {
            let surplus = self.tail.len().saturating_sub(kept);
            self.tail.drain(..surplus);
        }
    }
}
