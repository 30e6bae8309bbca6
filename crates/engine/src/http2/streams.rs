//! The streams of a connection: a fixed number of slots, each with its buffers, that one stream after another uses.

use super::frame::GREATEST_31_BIT;
use super::response::Response;

/// A slot and the stream in it.
#[derive(Debug, Default)]
pub struct Stream {
    /// Identifier; 0 while the slot is free.
    pub id: u32,
    pub response: Response,
    /// How many bytes of DATA the peer takes; settings can make it negative (RFC 9113, section 6.9.2).
    pub send_window: i64,
    /// The request's body as far as it waits for a window, and how much of that was sent since.
    pub body: Vec<u8>,
    pub body_sent: usize,
    /// How much of the window that we gave the peer is used.
    pub window_used: u32,
}

impl Stream {
    pub fn has_unsent_body(&self) -> bool {
        self.body_sent < self.body.len()
    }
}

/// What a frame's stream identifier stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A request under way.
    Slot(usize),
    /// A request that we gave up: frames that the peer sent before it knew are to be ignored.
    GivenUp,
    /// A request whose response was complete, or that the peer reset.
    Closed,
    /// No request yet, or a stream of the peer's, which it may not open.
    Idle,
}

/// All slots.
#[derive(Debug)]
pub struct Streams {
    slots: Vec<Stream>,
    free: Vec<usize>,
    /// Slot by stream identifier: where it was last put among those whose identifiers end in the same bits. An entry may be
    /// overwritten while its stream is still open, which is rare because identifiers follow each other.
    by_id: Vec<usize>,
    next_id: u32,
    /// The greatest identifier that we gave up. Every closed stream up to it counts as given up, so that no list is needed.
    given_up_to: u32,
}

impl Streams {
    pub fn new(count: usize) -> Streams {
        let mut streams = Streams {
            slots: (0..count).map(|_| Stream::default()).collect(),
            free: Vec::with_capacity(count),
            by_id: vec![0; (2 * count).next_power_of_two()],
            next_id: 1,
            given_up_to: 0,
        };
        streams.reset();
        streams
    }

    /// Frees every slot, for a new connection.
    pub fn reset(&mut self) {
        self.free.clear();
        self.free.extend((0..self.slots.len()).rev());
        for stream in &mut self.slots {
            stream.id = 0;
            stream.body.clear();
            stream.body_sent = 0;
        }
        self.next_id = 1;
        self.given_up_to = 0;
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn under_way(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// How many more identifiers there are: a client's are odd and have 31 bits (RFC 9113, section 5.1.1).
    pub fn ids_left(&self) -> usize {
        if self.next_id > GREATEST_31_BIT { 0 } else { ((GREATEST_31_BIT - self.next_id) / 2 + 1) as usize }
    }

    /// Opens the next stream. `None` when there is no slot or no identifier.
    pub fn open(&mut self, to_head: bool, send_window: u32) -> Option<usize> {
        if self.ids_left() == 0 {
            return None;
        }
        let slot = self.free.pop()?;
        let id = self.next_id;
        self.next_id += 2;
        let bucket = self.bucket(id);
        self.by_id[bucket] = slot;
        let stream = &mut self.slots[slot];
        stream.id = id;
        stream.response = Response::new(to_head);
        stream.send_window = i64::from(send_window);
        stream.window_used = 0;
        Some(slot)
    }

    /// Frees a slot. `given_up`: the peer does not know yet, and may go on sending.
    pub fn close(&mut self, slot: usize, given_up: bool) {
        let stream = &mut self.slots[slot];
        if given_up {
            self.given_up_to = self.given_up_to.max(stream.id);
        }
        stream.id = 0;
        stream.body.clear();
        stream.body_sent = 0;
        self.free.push(slot);
    }

    pub fn find(&self, id: u32) -> Found {
        if id >= self.next_id || id.is_multiple_of(2) {
            return Found::Idle;
        }
        let slot = self.by_id[self.bucket(id)];
        if self.slots[slot].id == id {
            return Found::Slot(slot);
        }
        match self.slots.iter().position(|stream| stream.id == id) {
            Some(slot) => Found::Slot(slot),
            None if id <= self.given_up_to => Found::GivenUp,
            None => Found::Closed,
        }
    }

    pub fn get(&mut self, slot: usize) -> &mut Stream {
        &mut self.slots[slot]
    }

    /// The slots in use with their streams.
    pub fn open_ones(&mut self) -> impl Iterator<Item = (usize, &mut Stream)> {
        self.slots.iter_mut().enumerate().filter(|(_, stream)| stream.id != 0)
    }

    fn bucket(&self, id: u32) -> usize {
        (id as usize >> 1) & (self.by_id.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_found_even_when_a_later_one_took_its_place_in_the_index() {
        let mut streams = Streams::new(3);
        let slow = streams.open(false, 0).unwrap();
        for _ in 0..100 {
            let id = streams.next_id;
            let slot = streams.open(false, 0).unwrap();
            assert_eq!(streams.find(id), Found::Slot(slot));
            assert_eq!(streams.find(1), Found::Slot(slow));
            streams.close(slot, false);
            assert_eq!(streams.find(id), Found::Closed);
        }
        assert_eq!(streams.under_way(), 1);
    }

    #[test]
    fn closed_streams_up_to_the_last_one_given_up_are_forgiven() {
        let mut streams = Streams::new(3);
        let slots: Vec<_> = (0..3).map(|_| streams.open(false, 0).unwrap()).collect();
        assert_eq!(streams.open(false, 0), None);
        streams.close(slots[0], false);
        assert_eq!(streams.find(1), Found::Closed);
        streams.close(slots[1], true);
        streams.close(slots[2], false);
        let found = [1, 3, 5].map(|id| streams.find(id));
        assert_eq!(found, [Found::GivenUp, Found::GivenUp, Found::Closed]);
        assert_eq!([0, 2, 7].map(|id| streams.find(id)), [Found::Idle; 3]);
    }

    #[test]
    fn identifiers_run_out_at_31_bits() {
        let mut streams = Streams::new(2);
        streams.next_id = GREATEST_31_BIT - 2;
        assert_eq!(streams.ids_left(), 2);
        assert!(streams.open(false, 0).is_some());
        assert!(streams.open(false, 0).is_some());
        assert_eq!(streams.ids_left(), 0);
        streams.close(0, false);
        assert_eq!(streams.open(false, 0), None);
        assert_eq!(streams.find(GREATEST_31_BIT), Found::Slot(1));
    }
}
