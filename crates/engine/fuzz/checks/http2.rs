//! Any bytes, cut anywhere: the connection must not panic, must not depend on the cut, and must say nothing about a slot that has
//! no request under way, also while requests are cancelled and begun between the pieces.

use loadline_engine::http2::{Event, Http2, ProtocolError, StreamError, encode_head};

const SLOTS: usize = 4;
/// More than the first windows hold.
static BODY: [u8; 70_000] = [b'b'; 70_000];

#[derive(Debug, PartialEq)]
enum Seen {
    Header(usize, Vec<u8>, Vec<u8>),
    Body(usize, Vec<u8>),
    Complete(usize, u16),
    Reset(usize, StreamError),
}

struct Client {
    http2: Http2,
    under_way: [bool; SLOTS],
    seen: Vec<Seen>,
    out: Vec<u8>,
}

impl Client {
    fn new(input_is_first: bool) -> Client {
        let mut client =
            Client { http2: Http2::new(SLOTS), under_way: [false; SLOTS], seen: Vec::new(), out: Vec::new() };
        client.http2.open(&mut client.out);
        if !input_is_first {
            // Most inputs would end at the first frame otherwise.
            client.feed(b"\0\0\0\x04\0\0\0\0\0").unwrap();
        }
        for kind in 0..SLOTS {
            client.request(kind);
        }
        client
    }

    fn request(&mut self, kind: usize) {
        let (method, body) =
            [("GET", &[][..]), ("HEAD", &[]), ("POST", &BODY), ("PUT", b"short")][kind % SLOTS];
        let head = encode_head(method, "http", "host", "/", &[], Some(body.len()));
        let capacity = self.http2.capacity();
        let slot = self.http2.request(&head, body, method == "HEAD", &mut self.out);
        assert_eq!(slot.is_some(), capacity > 0);
        if let Some(slot) = slot {
            assert!(!self.under_way[slot], "a slot is given twice");
            self.under_way[slot] = true;
        }
    }

    fn cancel(&mut self, slot: usize) {
        self.http2.cancel(slot, &mut self.out);
        self.under_way[slot] = false;
    }

    fn feed(&mut self, input: &[u8]) -> Result<(), ProtocolError> {
        let Client { http2, under_way, seen, out } = self;
        let result = http2.feed(input, out, &mut |event| {
            let (slot, ended) = match event {
                Event::Header { slot, .. } | Event::Body { slot, .. } => (slot, false),
                Event::Complete { slot, .. } | Event::Reset { slot, .. } => (slot, true),
            };
            assert!(under_way[slot], "{event:?} for a slot without a request");
            under_way[slot] = !ended;
            match event {
                Event::Header { name, value, .. } => {
                    seen.push(Seen::Header(slot, name.to_vec(), value.to_vec()))
                }
                Event::Body { bytes, .. } => match seen.last_mut() {
                    Some(Seen::Body(same, earlier)) if *same == slot => earlier.extend_from_slice(bytes),
                    _ => seen.push(Seen::Body(slot, bytes.to_vec())),
                },
                Event::Complete { status, .. } => seen.push(Seen::Complete(slot, status)),
                Event::Reset { reason, .. } => seen.push(Seen::Reset(slot, reason)),
            }
        });
        let count = self.under_way.iter().filter(|under_way| **under_way).count();
        assert_eq!(count, self.http2.under_way());
        result
    }
}

/// Panics if any of that does not hold.
pub fn check(input: &[u8]) {
    // Two bytes say where to cut, one what to do at the cut.
    let [high, low, action, bytes @ ..] = input else { return };
    let cut = usize::from(u16::from_be_bytes([*high, *low])) % (bytes.len() + 1);
    let (first, second) = bytes.split_at(cut);
    let input_is_first = action & 0x80 != 0;

    let mut whole = Client::new(input_is_first);
    let whole_result = whole.feed(bytes);
    let mut pieces = Client::new(input_is_first);
    let pieces_result = pieces.feed(first).and_then(|()| pieces.feed(second));
    assert_eq!(whole_result, pieces_result);
    assert_eq!(whole.seen, pieces.seen);
    assert_eq!(whole.out, pieces.out);

    let mut changing = Client::new(input_is_first);
    let _ = changing.feed(first);
    let slot = usize::from(action & 3);
    changing.cancel(slot);
    changing.request(usize::from(action >> 2 & 3));
    let _ = changing.feed(second);
    changing.http2.reset();
    assert_eq!((changing.http2.under_way(), changing.http2.capacity()), (0, 1));
}
