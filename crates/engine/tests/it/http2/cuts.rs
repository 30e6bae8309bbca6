//! However the peer's bytes are cut into pieces, they mean the same.

use loadline_engine::http2::ProtocolError;
use proptest::prelude::*;

use super::peer::*;

/// What comes of `pieces` when four requests are under way: events, bytes sent, and how it ended.
fn run(pieces: &[&[u8]]) -> (Vec<Seen>, Vec<u8>, Result<(), ProtocolError>) {
    let mut connection = Connection::ready(4);
    connection.get();
    connection.request("HEAD", b"");
    connection.request("POST", &[9; 70_000]);
    connection.get();
    let result = pieces.iter().try_for_each(|piece| connection.feed(piece));
    (connection.events, connection.out, result)
}

/// Frames of which most are in order, on streams of which most exist.
fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let stream = || prop::sample::select(vec![1_u32, 1, 3, 5, 7, 9, 0, 2]);
    let head = prop::sample::select(vec![
        OK.to_vec(),
        block("204", &[("content-length", "3")]),
        block("200", &[("content-length", "3"), ("server", "nginx")]),
        block("103", &[]),
        b"\x20\x88\x76\x89\xaa\x63\x55\xe5\x80\xae\x21\x2e\x1f".to_vec(),
        field("x-trailer", "v"),
        b"\x88\xbe".to_vec(),
    ]);
    let flags = || prop::sample::select(vec![0, END_STREAM, END_HEADERS, END_HEADERS | END_STREAM]);
    let bytes = || prop::collection::vec(any::<u8>(), 0..12);
    prop_oneof![
        8 => (stream(), head, flags()).prop_map(|(stream, block, flags)| frame(HEADERS, flags | END_HEADERS, stream, &block)),
        2 => (stream(), flags()).prop_map(|(stream, flags)| frame(HEADERS, flags & END_STREAM, stream, OK)),
        2 => (stream(), flags()).prop_map(|(stream, flags)| frame(CONTINUATION, flags, stream, b"")),
        8 => (stream(), bytes(), flags()).prop_map(|(stream, bytes, flags)| frame(DATA, flags, stream, &bytes)),
        3 => (stream(), bytes(), flags())
            .prop_map(|(stream, bytes, flags)| frame(DATA, flags | PADDED, stream, &[&[3][..], &bytes].concat())),
        2 => (0..3_u16, 0..200_000_u32)
            .prop_map(|(id, value)| settings(&[(id + INITIAL_WINDOW_SIZE - 1, value)])),
        2 => (stream(), 0..100_000_u32).prop_map(|(stream, by)| window_update(stream, by)),
        1 => (stream(), 0..9_u32).prop_map(|(stream, code)| rst_stream(stream, code)),
        1 => (stream(), 0..9_u32).prop_map(|(stream, code)| goaway(stream, code)),
        1 => any::<[u8; 8]>().prop_map(|payload| frame(PING, 0, 0, &payload)),
        1 => (any::<u8>(), any::<u8>(), stream(), bytes())
            .prop_map(|(kind, flags, stream, payload)| frame(kind, flags, stream, &payload)),
    ]
}

proptest! {
    #[test]
    fn any_frames_mean_the_same_byte_by_byte_and_in_two_pieces(
        frames in prop::collection::vec(any_frame(), 1..12),
        cut in any::<prop::sample::Index>(),
    ) {
        let input = [settings(&[]), frames.concat()].concat();
        let whole = run(&[&input]);
        let bytes: Vec<&[u8]> = input.chunks(1).collect();
        prop_assert_eq!(&run(&bytes), &whole);
        let (first, second) = input.split_at(cut.index(input.len()));
        prop_assert_eq!(&run(&[first, second]), &whole);
    }

    #[test]
    fn any_bytes_mean_the_same_byte_by_byte(input in prop::collection::vec(any::<u8>(), 0..100)) {
        let input = [settings(&[]), input].concat();
        let bytes: Vec<&[u8]> = input.chunks(1).collect();
        prop_assert_eq!(run(&bytes), run(&[&input]));
    }
}
