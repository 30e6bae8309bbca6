//! Any bytes, cut anywhere: the parser must not panic, must not depend on the cut, and must not claim bytes it was not given.

use loadline_engine::http1::{Progress, ResponseParser};

/// Panics if any of that does not hold.
pub fn check(input: &[u8]) {
    // Two bytes say where to cut, one whether the request was HEAD.
    let [high, low, to_head, bytes @ ..] = input else { return };
    let to_head = *to_head == b'H';
    let cut = usize::from(u16::from_be_bytes([*high, *low])) % (bytes.len() + 1);
    let (first, second) = bytes.split_at(cut);
    let whole = ResponseParser::default().feed(bytes, to_head, None, &mut |_| {});
    let mut parser = ResponseParser::default();
    let pieces = match parser.feed(first, to_head, None, &mut |_| {}) {
        Ok(Progress::Partial) => {
            parser.feed(second, to_head, None, &mut |_| {}).map(|progress| match progress {
                Progress::Complete(mut response) => {
                    assert!(response.consumed <= second.len());
                    response.consumed += first.len();
                    Progress::Complete(response)
                }
                Progress::Partial => Progress::Partial,
            })
        }
        early => early,
    };
    // A fault in a head that came in pieces is only seen at its empty line, so pieces may still be waiting for it.
    match (&whole, &pieces) {
        (Err(_), Err(_) | Ok(Progress::Partial)) => {}
        (whole, pieces) => assert_eq!(whole, pieces),
    }
}
