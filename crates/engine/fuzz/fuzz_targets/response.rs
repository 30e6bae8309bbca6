//! Any bytes, cut anywhere: the parser must not panic, must not depend on the cut, and must not claim bytes it was not given.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_engine::http1::{Progress, ResponseParser};

fuzz_target!(|input: (usize, bool, &[u8])| {
    let (cut, to_head, bytes) = input;
    let (first, second) = bytes.split_at(cut % (bytes.len() + 1));
    let whole = ResponseParser::default().feed(bytes, to_head);
    let mut parser = ResponseParser::default();
    let pieces = match parser.feed(first, to_head) {
        Ok(Progress::Partial) => parser.feed(second, to_head).map(|progress| match progress {
            Progress::Complete(mut response) => {
                assert!(response.consumed <= second.len());
                response.consumed += first.len();
                Progress::Complete(response)
            }
            Progress::Partial => Progress::Partial,
        }),
        early => early,
    };
    // A fault in a head that came in pieces is only seen at its empty line, so pieces may still be waiting for it.
    match (&whole, &pieces) {
        (Err(_), Err(_) | Ok(Progress::Partial)) => {}
        (whole, pieces) => assert_eq!(whole, pieces),
    }
});
