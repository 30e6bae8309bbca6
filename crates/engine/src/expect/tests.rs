use super::*;
use proptest::prelude::*;

/// The verdict on a response whose body comes in these pieces.
fn verdict(texts: &[&str], status: u16, headers: &[(&str, &str)], body: &[&[u8]]) -> Result<(), Failed> {
    let expectation = Expectation::parse(texts).unwrap();
    let Some(mut check) = expectation.new_check() else { return expectation.judge_status(status) };
    // What an earlier response has shown must not count.
    check.header(b"a", b"b");
    check.body(b"earlier");
    check.reset();
    for (name, value) in headers {
        check.header(name.as_bytes(), value.as_bytes());
    }
    body.iter().for_each(|piece| check.body(piece));
    check.finish(status)
}

#[test]
fn without_a_word_on_the_status_a_success_is_expected() {
    for texts in [&[][..], &["body~x"]] {
        for (status, result) in
            [(200, Ok(())), (299, Ok(())), (304, Err(Failed::Status)), (199, Err(Failed::Status))]
        {
            assert_eq!(verdict(texts, status, &[], &[b"x"]), result, "{texts:?} {status}");
        }
    }
}

#[test]
fn a_response_has_one_of_the_statuses() {
    let texts = ["status=204", "status=300..302", "status=4xx"];
    for status in [204, 300, 302, 400, 499] {
        assert_eq!(verdict(&texts, status, &[], &[]), Ok(()), "{status}");
    }
    for status in [200, 203, 303, 500] {
        assert_eq!(verdict(&texts, status, &[], &[]), Err(Failed::Status), "{status}");
    }
}

#[test]
fn headers_are_there_equal_or_contain() {
    let headers = [("Content-Type", " text/html; charset=utf-8 "), ("X", "1"), ("x", "2"), ("Empty", "")];
    for (text, holds) in [
        ("header:content-type", true),
        ("header:Content-Length", false),
        ("header:content-type=text/html; charset=utf-8", true),
        ("header:content-type=text/html", false),
        ("header:content-type~html", true),
        ("header:content-type~HTML", false),
        ("header:x=1", true),
        ("header:X=2", true),
        ("header:X=3", false),
        ("header:Empty=", true),
        ("header:Content-Type=", false),
        ("header:Content-Type~charset=utf", true),
    ] {
        let result = if holds { Ok(()) } else { Err(Failed::Header) };
        assert_eq!(verdict(&[text], 200, &headers, &[]), result, "{text}");
    }
}

#[test]
fn bodies_are_equal_or_contain() {
    for (text, body, holds) in [
        ("body=ok", &[&b"ok"[..]][..], true),
        ("body=ok", &[b"o", b"", b"k"], true),
        ("body=ok", &[b"ok", b"!"], false),
        ("body=ok", &[b"o"], false),
        ("body=ok", &[b"no", b"ok"], false),
        ("body=", &[], true),
        ("body=", &[b"x"], false),
        ("body~needle", &[b"a needle in hay"], true),
        ("body~needle", &[b"a nee", b"d", b"le in hay"], true),
        ("body~needle", &[b"a nee", b"dl"], false),
        ("body~aab", &[b"a", b"a", b"a", b"b"], true),
        ("body~x", &[b"abc", b"x"], true),
    ] {
        let result = if holds { Ok(()) } else { Err(Failed::Body) };
        assert_eq!(verdict(&[text], 200, &[], body), result, "{text} {body:?}");
    }
}

#[test]
fn the_first_thing_that_failed_is_told() {
    let texts = ["status=200", "header:a=b", "header:c", "body~x"];
    let both = [("a", "b"), ("c", "d")];
    assert_eq!(verdict(&texts, 500, &[], &[]), Err(Failed::Status));
    assert_eq!(verdict(&texts, 200, &both[..1], &[]), Err(Failed::Header));
    assert_eq!(verdict(&texts, 200, &both, &[]), Err(Failed::Body));
    assert_eq!(verdict(&texts, 200, &both, &[b"x"]), Ok(()));
}

#[test]
fn only_what_is_checked_is_watched() {
    let watches = |texts: &[&str]| {
        let expectation = Expectation::parse(texts).unwrap();
        let check = expectation.new_check().is_some();
        (expectation.watches_headers(), expectation.watches_body(), check)
    };
    assert_eq!(watches(&["status=200"]), (false, false, false));
    assert_eq!(watches(&["header:a"]), (true, false, true));
    assert_eq!(watches(&["body=x", "status=2xx"]), (false, true, true));
    assert!(Expectation::default().new_check().is_none());
}

#[test]
fn what_is_no_check_says_what_to_write() {
    for (text, message) in [
        (
            "200",
            "`200` is not a check: write status=200, header:NAME, header:NAME=VALUE, header:NAME~TEXT, body=TEXT or body~TEXT",
        ),
        (
            "status=ok",
            "`ok` is not a status: write one from 100 to 599, as in status=200, status=200..299 or status=2xx",
        ),
        (
            "status=9xx",
            "`9xx` is not a status: write one from 100 to 599, as in status=200, status=200..299 or status=2xx",
        ),
        (
            "status=600",
            "`600` is not a status: write one from 100 to 599, as in status=200, status=200..299 or status=2xx",
        ),
        (
            "status=299..200",
            "`299..200` is an empty range: write the smaller status first, as in status=200..299",
        ),
        (
            "header:=x",
            "`header:=x` does not name a header: write header:NAME, as in header:content-type~json",
        ),
        (
            "header:a b",
            "`header:a b` does not name a header: write header:NAME, as in header:content-type~json",
        ),
        (
            "header:a: b",
            "`header:a: b` does not name a header: write header:NAME, as in header:content-type~json",
        ),
        ("body~", "`body~` has nothing to search for: write it after the ~"),
        ("header:a~", "`header:a~` has nothing to search for: write it after the ~"),
    ] {
        assert_eq!(Expectation::parse([text]).unwrap_err().to_string(), message);
    }
}

#[test]
fn a_check_allocates_nothing_once_it_is_made() {
    let finder = memchr::memmem::Finder::new("needle");
    let mut contains = Contains::new(&finder);
    let before = format!("{contains:?}");
    let capacity = contains.capacity();
    for piece in [&b"nnnnnnnnnnn"[..], b"n", b"ne", b"nee", b"need", b"needl", b"ineed", b""].repeat(10) {
        contains.take(&finder, piece);
        assert!(!contains.found());
        assert_eq!(contains.capacity(), capacity);
    }
    contains.reset();
    assert_eq!(format!("{contains:?}"), before);
}

proptest! {
    #[test]
    fn any_cut_gives_the_verdict_of_the_whole(
        needle in "[ab]{1,6}", body in "[ab]{0,40}", mut cuts in prop::collection::vec(0usize..41, 0..12),
    ) {
        cuts.iter_mut().for_each(|cut| *cut = (*cut).min(body.len()));
        cuts.extend([0, body.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &body.as_bytes()[cut[0]..cut[1]]).collect();
        let of = |holds| if holds { Ok(()) } else { Err(Failed::Body) };
        let contains = verdict(&[&format!("body~{needle}")], 200, &[], &pieces);
        prop_assert_eq!(contains, of(body.contains(&needle)));
        for expected in [&needle, &body] {
            let equal = verdict(&[&format!("body={expected}")], 200, &[], &pieces);
            prop_assert_eq!(equal, of(body == *expected));
        }
    }

    #[test]
    fn parsing_never_panics(text in "(status=|header:|body[~=])?.{0,20}") {
        let _ = Expectation::parse([text]);
    }
}
