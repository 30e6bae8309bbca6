//! A connection that the service blocks must hold up nothing but its own request: the other connections take over, those of other workers
//! too, and what has to wait because every connection is busy is counted as waiting.

use std::io::Write;
use std::time::Duration;

use crate::misbehaving;
use crate::misbehaving::{Misbehaving, OK, answer_all, read_request};
use crate::support::{alone, drive, options, response_quantile};
use loadline_engine::{ErrorKind, Options, Record};

const BLOCKED: Duration = Duration::from_millis(800);

/// Far above the delays of a busy machine, far below the time of being blocked.
const QUICK: Duration = Duration::from_millis(200);

/// A server that lets the 20th request wait for `blocked` and answers everything else at once.
fn blocking_once(blocked: Duration) -> Misbehaving {
    Misbehaving::serving(move |mut stream, _, counts| {
        while read_request(&mut stream).is_some() {
            if counts.is_nth_request(20) && counts.misbehave() == 1 {
                std::thread::sleep(blocked);
            }
            if stream.write_all(OK).is_err() {
                return;
            }
        }
    })
}

fn drive_blocked(connections: usize, threads: usize) -> Record {
    let server = blocking_once(BLOCKED);
    let options = Options { threads, ..options(server.address, connections) };
    let record = drive(&options, "200/s", 1.2);
    println!(
        "{connections} connections of {threads} workers: {} waited, longest wait {:.3} s, longest response {:.3} s, the next {:.3} s",
        record.waited,
        record.wait.max() as f64 / 1e9,
        record.response.max() as f64 / 1e9,
        response_quantile(&record, 238.5 / 240.0).as_secs_f64()
    );
    assert_eq!((record.due, record.answered, record.errors.total()), (240, 240, 0), "{:?}", record.errors);
    assert_eq!(record.wait.len(), record.waited);
    assert!(Duration::from_nanos(record.response.max()) >= BLOCKED);
    record
}

fn only_one_request_is_held_up(connections: usize, threads: usize) {
    let _alone = alone();
    let record = drive_blocked(connections, threads);
    // The second longest of 240.
    assert!(response_quantile(&record, 238.5 / 240.0) < QUICK);
    assert!(Duration::from_nanos(record.wait.max()) < QUICK);
}

#[test]
fn the_other_connections_of_a_worker_take_over() {
    only_one_request_is_held_up(4, 1);
}

#[test]
fn one_other_connection_is_enough() {
    only_one_request_is_held_up(2, 1);
}

#[test]
fn a_worker_whose_only_connection_is_blocked_is_helped_by_the_other() {
    only_one_request_is_held_up(2, 2);
}

#[test]
fn a_worker_whose_only_connection_is_blocked_is_helped_by_three_others() {
    only_one_request_is_held_up(4, 4);
}

#[test]
fn workers_with_several_connections_each_take_over() {
    only_one_request_is_held_up(6, 3);
}

#[test]
fn without_another_connection_everything_waits_and_is_counted_as_waiting() {
    let _alone = alone();
    let record = drive_blocked(1, 1);
    // Due every 5 ms while the connection was blocked.
    let due_meanwhile = BLOCKED.as_millis() as u64 / 5;
    assert!((due_meanwhile - 2..=240).contains(&record.waited), "{}", record.waited);
    // The waits fall from 0.8 s to nothing, so that half of those that were due meanwhile waited for more than half of it.
    let long =
        record.wait.iter_recorded().filter(|value| value.value_iterated_to() > BLOCKED.as_nanos() as u64 / 2);
    let long: u64 = long.map(|value| value.count_since_last_iteration()).sum();
    assert!((due_meanwhile / 2 - 4..=due_meanwhile / 2 + 40).contains(&long), "{long}");
    // What waited is not the generator's own lateness.
    assert!(Duration::from_nanos(record.send_lag.value_at_quantile(0.5)) < QUICK / 10);
}

#[test]
fn nothing_waits_while_connections_are_free() {
    let _alone = alone();
    let server = Misbehaving::serving(|mut stream, _, _| answer_all(&mut stream));
    let record = drive(&options(server.address, 16), "200/s", 1.0);
    assert_eq!((record.answered, record.errors.total()), (200, 0));
    // A machine that stops for longer than 16 gaps may make some wait.
    assert!(record.waited < 20, "{}", record.waited);
}

#[test]
fn a_connection_that_is_never_answered_costs_one_time_out_with_any_number_of_workers() {
    let _alone = alone();
    for threads in [1, 3] {
        let server = Misbehaving::serving(move |mut stream, number, _| {
            if number == 0 {
                return misbehaving::discard(&mut stream);
            }
            answer_all(&mut stream);
        });
        let options = Options { threads, timeout: BLOCKED, ..options(server.address, 3) };
        let record = drive(&options, "100/s", 1.0);
        assert_eq!(record.errors.of(ErrorKind::Timeout), 1, "{:?}", record.errors);
        assert_eq!((record.due, record.answered, record.errors.total()), (100, 99, 1), "{:?}", record.errors);
        assert!(response_quantile(&record, 0.985) < QUICK);
    }
}
