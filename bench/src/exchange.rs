//! Segments on the wire to requests and their responses: pure functions over lists of stamps.

use std::collections::HashMap;

/// A segment with payload, as it passed the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The time, in ns of a clock that all segments share.
    pub at_ns: u64,
    /// The client's port.
    pub connection: u16,
    /// Its direction.
    pub direction: Direction,
}

/// The direction of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To the server, stamped as it leaves.
    Request,
    /// From the server, stamped as it arrives.
    Response,
}

/// A request and its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// When the request's first segment left, ns.
    pub sent_ns: u64,
    /// When the response's last segment arrived, ns; `None` if there was none.
    pub answered_ns: Option<u64>,
}

/// Pairs the segments of connections that have at most one request in flight: what comes from the server until the next
/// request is the response. In the order in which the requests left.
pub fn pair(segments: &[Segment]) -> Vec<Exchange> {
    let mut exchanges: Vec<Exchange> = Vec::with_capacity(segments.len() / 2);
    let mut latest: HashMap<u16, usize> = HashMap::new();
    for segment in segments {
        let open = latest.get(&segment.connection).copied();
        match (segment.direction, open) {
            (Direction::Response, Some(index)) => exchanges[index].answered_ns = Some(segment.at_ns),
            // A response to a request before the tap was opened.
            (Direction::Response, None) => {}
            // A request in several segments left with its first.
            (Direction::Request, Some(index)) if exchanges[index].answered_ns.is_none() => {}
            (Direction::Request, _) => {
                latest.insert(segment.connection, exchanges.len());
                exchanges.push(Exchange { sent_ns: segment.at_ns, answered_ns: None });
            }
        }
    }
    exchanges.sort_by_key(|exchange| exchange.sent_ns);
    exchanges
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Direction::{Request, Response};
    use super::*;

    fn segments(list: &[(u64, u16, Direction)]) -> Vec<Segment> {
        list.iter().map(|&(at_ns, connection, direction)| Segment { at_ns, connection, direction }).collect()
    }

    fn exchange(sent_ns: u64, answered_ns: impl Into<Option<u64>>) -> Exchange {
        Exchange { sent_ns, answered_ns: answered_ns.into() }
    }

    #[test]
    fn a_response_belongs_to_the_request_before_it_on_its_connection() {
        let seen = segments(&[
            (10, 1, Request),
            (12, 2, Request),
            (15, 2, Response),
            (20, 1, Response),
            (30, 2, Request),
            (39, 2, Response),
        ]);
        assert_eq!(pair(&seen), [exchange(10, 20), exchange(12, 15), exchange(30, 39)]);
    }

    #[test]
    fn a_request_counts_from_its_first_segment_and_a_response_to_its_last() {
        let seen = segments(&[(10, 1, Request), (11, 1, Request), (20, 1, Response), (25, 1, Response)]);
        assert_eq!(pair(&seen), [exchange(10, 25)]);
    }

    #[test]
    fn a_request_without_a_response_is_kept_and_a_response_without_a_request_is_not() {
        let seen = segments(&[(5, 1, Response), (10, 1, Request)]);
        assert_eq!(pair(&seen), [exchange(10, None)]);
    }

    proptest! {
        #[test]
        fn every_exchange_of_interleaved_connections_is_found_in_the_order_of_sending(
            plans in prop::collection::vec(prop::collection::vec((1u64..1000, 1u64..1000), 0..20), 1..8)
        ) {
            let mut seen = Vec::new();
            let mut expected = Vec::new();
            for (connection, plan) in plans.iter().enumerate() {
                let mut at = 0;
                for (pause, takes) in plan {
                    let (sent, answered) = (at + pause, at + pause + takes);
                    seen.push((sent, connection as u16, Request));
                    seen.push((answered, connection as u16, Response));
                    expected.push(exchange(sent, answered));
                    at = answered;
                }
            }
            seen.sort_by_key(|segment| segment.0);
            let mut found = pair(&segments(&seen));
            prop_assert!(found.is_sorted_by_key(|exchange| exchange.sent_ns));
            let key = |exchange: &Exchange| (exchange.sent_ns, exchange.answered_ns);
            found.sort_by_key(key);
            expected.sort_by_key(key);
            prop_assert_eq!(found, expected);
        }
    }
}
