//! Any bytes, cut anywhere: the parser must not panic, must not depend on the cut, and must not claim bytes it was not given.
#![no_main]

use libfuzzer_sys::fuzz_target;
use loadline_engine::http1::{Progress, ProtocolError, ResponseParser};

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
    // Which of two faults of one head is found first may depend on the cut; whether there is one may not.
    let faulty = |result: &Result<Progress, ProtocolError>| result.is_err();
    if faulty(&whole) || faulty(&pieces) {
        assert_eq!(faulty(&whole), faulty(&pieces), "{whole:?} {pieces:?}");
    } else {
        assert_eq!(whole, pieces);
    }
});
