use super::*;
use std::path::Path;

fn endpoint() -> Endpoint {
    Endpoint {
        authority: "shop.test".to_owned(),
        ..Endpoint::from(std::net::SocketAddr::from(([127, 0, 0, 1], 80)))
    }
}

fn feed() -> Feed {
    Feed::parse(Path::new("users.csv"), &b"id,name,page\n1,Ann,/a\n22,\"B ob\",/b?c\n"[..]).unwrap()
}

fn with(request: Request, wire: Wire) -> Result<Mix, MixError> {
    Mix::with(&[request], &endpoint(), &MixOptions { wire, feed: Some(feed()) })
}

fn text(mix: &Mix, number: u64) -> String {
    String::from_utf8(mix.bytes(0, number, &mut Vec::new()).to_vec()).unwrap()
}

fn headers(headers: &[(&str, &str)]) -> Vec<(String, String)> {
    headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn a_post_carries_its_length_and_headers() {
    let request = Request {
        method: "POST".to_owned(),
        headers: headers(&[("Accept", "text/plain")]),
        body: b"{}".to_vec(),
        ..Request::get("/a?b=c")
    };
    let mix = Mix::new(&[request], &endpoint()).unwrap();
    let head = "POST /a?b=c HTTP/1.1\r\nHost: shop.test\r\nAccept: text/plain\r\nContent-Length: 2\r\n\r\n";
    assert_eq!(text(&mix, 0), format!("{head}{{}}"));
    assert_eq!(mix.parts(0, 0, &mut Vec::new()), (head.as_bytes(), &b"{}"[..]));
}

#[test]
fn weights_share_out_the_random_range() {
    let requests = [1, 3].map(|weight| Request { weight, ..Request::get("/") });
    let mix = Mix::new(&requests, &endpoint()).unwrap();
    assert_eq!(mix.choose(0), 0);
    assert_eq!(mix.choose(u64::MAX / 4), 0);
    assert_eq!(mix.choose(u64::MAX / 4 + 1), 1);
    assert_eq!(mix.choose(u64::MAX), 1);
}

#[test]
fn nothing_can_be_smuggled_into_the_head() {
    for request in [
        Request::get("/a b"),
        Request::get("/a\r\nX: y"),
        Request::get("no-slash"),
        Request::get(""),
        Request { method: "GE T".to_owned(), ..Request::get("/") },
        Request { headers: headers(&[("A\n", "b")]), ..Request::get("/") },
        Request { headers: headers(&[("A", "b\r\nC: d")]), ..Request::get("/") },
        Request { headers: headers(&[("host", "other\r\nC: d")]), ..Request::get("/") },
        Request { headers: headers(&[("Host", "a"), ("host", "b")]), ..Request::get("/") },
        Request { headers: headers(&[("content-length", "3")]), ..Request::get("/") },
        Request { headers: headers(&[("Transfer-Encoding", "chunked")]), ..Request::get("/") },
        Request { weight: 0, ..Request::get("/") },
    ] {
        assert!(Mix::new(std::slice::from_ref(&request), &endpoint()).is_err(), "{request:?}");
    }
}

#[test]
fn a_host_of_ones_own_takes_the_place_of_the_authority() {
    let request = Request { headers: headers(&[("host", "other.test"), ("A", "b")]), ..Request::get("/") };
    let mix = Mix::new(&[request], &endpoint()).unwrap();
    assert_eq!(text(&mix, 0), "GET / HTTP/1.1\r\nHost: other.test\r\nA: b\r\n\r\n");
}

#[test]
fn the_last_request_of_a_connection_says_so() {
    let request =
        Request { headers: headers(&[("Connection", "keep-alive"), ("A", "b")]), ..Request::get("/") };
    let mix = Mix::new(&[request], &endpoint()).unwrap();
    let closing = mix.closing();
    let expected = "GET / HTTP/1.1\r\nHost: shop.test\r\nA: b\r\nConnection: close\r\n\r\n";
    assert_eq!(text(&closing, 0), expected);
    assert_eq!(text(&closing.closing(), 0), expected);
    assert!(text(&mix, 0).contains("Connection: keep-alive\r\n"));
}

#[test]
fn rows_fill_path_headers_and_body_in_turn() {
    let request = Request {
        method: "POST".to_owned(),
        headers: headers(&[("Host", "{{name}}.test"), ("X-User", "u-{{id}}")]),
        body: br#"{"id":{{id}},"name":"{{name}}"}"#.to_vec(),
        ..Request::get("{{page}}&n={{name}}")
    };
    let feed = Feed::parse(Path::new("f"), &b"id,name,page\n1,Ann,/a?x\n22,B,/b?c\n"[..]).unwrap();
    let options = MixOptions { wire: Wire::Http1, feed: Some(feed) };
    let mix = Mix::with(&[request], &endpoint(), &options).unwrap();
    let first = "POST /a?x&n=Ann HTTP/1.1\r\nHost: Ann.test\r\nX-User: u-1\r\nContent-Length: 21\r\n\r\n\
                 {\"id\":1,\"name\":\"Ann\"}";
    let second = "POST /b?c&n=B HTTP/1.1\r\nHost: B.test\r\nX-User: u-22\r\nContent-Length: 20\r\n\r\n\
                  {\"id\":22,\"name\":\"B\"}";
    assert_eq!([text(&mix, 0), text(&mix, 1), text(&mix, 2)], [first, second, first]);
    let mut scratch = Vec::new();
    let (head, body) = mix.parts(0, 7, &mut scratch);
    assert_eq!([head, body].concat(), second.as_bytes());
    assert_eq!(body, b"{\"id\":22,\"name\":\"B\"}");
    assert!(text(&mix.closing(), 1).contains("Connection: close\r\nContent-Length: 20\r\n\r\n{"));
}

#[test]
fn values_are_made_fit_for_a_path() {
    let mix = with(Request::get("/u/{{name}}?p={{page}}"), Wire::Http1).unwrap();
    assert_eq!(text(&mix, 1), "GET /u/B%20ob?p=/b?c HTTP/1.1\r\nHost: shop.test\r\n\r\n");
}

#[test]
fn filling_a_request_allocates_only_at_first() {
    let mix = with(Request { body: b"{{name}}".to_vec(), ..Request::get("/{{id}}") }, Wire::Http1).unwrap();
    let mut scratch = Vec::new();
    mix.bytes(0, 0, &mut scratch);
    mix.bytes(0, 1, &mut scratch);
    let (pointer, capacity) = (scratch.as_ptr(), scratch.capacity());
    for number in 0..100 {
        mix.bytes(0, number, &mut scratch);
    }
    assert_eq!((scratch.as_ptr(), scratch.capacity()), (pointer, capacity));
}

#[test]
fn a_fixed_request_leaves_the_scratch_alone() {
    let mix = with(Request::get("/"), Wire::Http1).unwrap();
    let mut scratch = b"kept".to_vec();
    mix.bytes(0, 5, &mut scratch);
    assert_eq!(scratch, b"kept");
}

#[test]
fn errors_of_placeholders_say_where_and_what_to_do() {
    let header = |value| Request { headers: headers(&[("A", value)]), ..Request::get("/") };
    for (request, message) in [
        (
            Request::get("/{{age}}"),
            "the path of request GET /{{age}} has the placeholder {{age}}, but the CSV file has no such column: its columns are id, name, page",
        ),
        (
            Request { body: b"{{id".to_vec(), ..Request::get("/") },
            "the body of request GET / opens a placeholder with `{{` and does not close it: write {{column}}",
        ),
        (
            Request::get("{{id}}"),
            "the value of column `id` in line 2 of the CSV file must begin the path with a `/` in request GET {{id}}: \
             change it",
        ),
    ] {
        assert_eq!(with(request, Wire::Http1).unwrap_err().to_string(), message);
    }
    let smuggled = Feed::parse(Path::new("f"), &b"v\nok\n\"a\r\nB: c\"\n"[..]).unwrap();
    let options = MixOptions { wire: Wire::Http1, feed: Some(smuggled) };
    let error = Mix::with(&[header("x{{v}}")], &endpoint(), &options).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the value of column `v` in line 3 of the CSV file contains a character that is not allowed in a header in request \
         GET /: change it"
    );
    let error = Mix::new(&[header("{{v}}")], &endpoint()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a header value of request GET / has a placeholder, but there is no CSV file to fill it: give one (`feed`), or remove the `{{`"
    );
}

#[test]
fn without_a_feed_braces_in_a_body_are_text() {
    let mix = Mix::new(&[Request { body: b"{{id}}".to_vec(), ..Request::get("/") }], &endpoint()).unwrap();
    assert!(text(&mix, 0).ends_with("Content-Length: 6\r\n\r\n{{id}}"));
}

#[test]
fn http2_heads_are_field_blocks() {
    let request = Request { headers: headers(&[("X-A", "b"), ("Host", "h")]), ..Request::get("/sample") };
    let mix = with(request, Wire::Http2).unwrap();
    let block = b"\x82\x86\x01\x01h\x04\x07/sample\x00\x03x-a\x01b";
    assert_eq!(mix.parts(0, 0, &mut Vec::new()), (&block[..], &b""[..]));
    let keep_alive = Request { headers: headers(&[("Connection", "close")]), ..Request::get("/") };
    assert_eq!(
        with(keep_alive, Wire::Http2).unwrap_err().to_string(),
        "request GET / sets the header Connection, which HTTP/2 forbids: leave it out"
    );
}

#[test]
fn http2_heads_with_placeholders_mean_what_fixed_ones_do() {
    let long = "x".repeat(200);
    let filled = Request {
        method: "PUT".to_owned(),
        headers: headers(&[("Authorization", &format!("{long}{{{{name}}}}")), ("X-Id", "{{id}}")]),
        body: b"<{{name}}>".to_vec(),
        ..Request::get("/{{name}}")
    };
    let fixed = Request {
        headers: headers(&[("Authorization", &format!("{long}Ann")), ("X-Id", "1")]),
        body: b"<Ann>".to_vec(),
        path: "/Ann".to_owned(),
        ..filled.clone()
    };
    let (filled, fixed) = (with(filled, Wire::Http2).unwrap(), with(fixed, Wire::Http2).unwrap());
    let (mut one, mut other) = (Vec::new(), Vec::new());
    assert_eq!(filled.parts(0, 2, &mut one), fixed.parts(0, 0, &mut other));
    assert_eq!(filled.parts(0, 1, &mut one).1, b"<B ob>");
}
