//! `GET /cpu?n=N`: the N-th Fibonacci number by naive recursion, work that uses only CPU and no memory.
//! Its cost grows by a factor of 1.6 with each step of `n`, so one service covers microseconds to seconds.

use std::hint::black_box;

use hyper::{Method, Request, StatusCode};

use crate::reply::{self, Reply};

/// The largest `n` that is answered; it takes seconds.
pub const MAX_N: u32 = 45;

/// Above this, about half a millisecond of work, the computation runs on a thread of its own instead of the event loop.
const MAX_INLINE_N: u32 = 25;

pub(crate) async fn answer<B>(request: &Request<B>) -> Reply {
    if request.uri().path() != "/cpu" {
        return reply::not_found("/cpu?n=20");
    }
    if request.method() != Method::GET {
        return reply::method_not_allowed("GET");
    }
    let Some(n) = request.uri().query().and_then(parse_n) else {
        return reply::bad_request(format!("Give a number: /cpu?n=N with N from 0 to {MAX_N}.\n"));
    };
    if n <= MAX_INLINE_N {
        return reply::ok(fibonacci(n).to_string());
    }
    match tokio::task::spawn_blocking(move || fibonacci(n)).await {
        Ok(number) => reply::ok(number.to_string()),
        Err(_) => reply::text(StatusCode::SERVICE_UNAVAILABLE, "The service is shutting down.\n"),
    }
}

/// The value of `n` in a query string, if it is there and within bounds.
fn parse_n(query: &str) -> Option<u32> {
    let value = query.split('&').find_map(|pair| pair.strip_prefix("n="))?;
    value.parse().ok().filter(|n| *n <= MAX_N)
}

/// Naive recursion on purpose: its work is the point, so the compiler must not optimise it away.
fn fibonacci(n: u32) -> u64 {
    match black_box(n) {
        0 => 0,
        1 => 1,
        n => fibonacci(n - 1) + fibonacci(n - 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fibonacci_numbers_are_right() {
        assert_eq!([0, 1, 2, 3, 10, 20].map(fibonacci), [0, 1, 1, 2, 55, 6765]);
    }

    #[test]
    fn n_is_found_among_other_parameters_and_bounded() {
        assert_eq!(parse_n("n=20"), Some(20));
        assert_eq!(parse_n("x=1&n=0&y"), Some(0));
        assert_eq!(parse_n("n=45"), Some(45));
        for wrong in ["", "n=", "n=46", "n=-1", "n=2.5", "m=3", "nn=3"] {
            assert_eq!(parse_n(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_query_is_read_or_refused_without_a_panic(query in ".*") {
            prop_assert!(parse_n(&query).is_none_or(|n| n <= MAX_N));
        }
    }
}
