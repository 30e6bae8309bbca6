//! Servers that misbehave towards some requests: each such request ends in the counter that names what went wrong, the others are
//! answered as if nothing were, and every request that was due is accounted for.

mod closing;
mod interrupted;
mod malformed;
mod unasked;

use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use crate::misbehaving::{Misbehaving, Then, write_piece};
use crate::support::undisturbed::undisturbed;
use crate::support::{drive, options, response_quantile};
use loadline_engine::{ErrorKind, Options, Record};

/// Far above what a busy machine delays a response by, so that only a server's silence runs into it.
const TIMEOUT: Duration = Duration::from_millis(700);

/// Drives 50 requests, of which every 10th meets `misbehave`, over 4 connections, by one worker and beside it by two.
fn drive_both_ways(
    misbehave: impl Fn(&mut TcpStream) -> Then + Send + Sync + 'static,
    check: impl Fn(&Record) + Sync,
) {
    let misbehave = Arc::new(misbehave);
    undisturbed(|| {
        std::thread::scope(|scope| {
            for threads in [1, 2] {
                let (misbehave, check) = (misbehave.clone(), &check);
                scope.spawn(move || {
                    let server = Misbehaving::every(10, move |stream| misbehave(stream));
                    let options = Options { threads, timeout: TIMEOUT, ..options(server.address, 4) };
                    let record = drive(&options, "40/s", 1.25);
                    println!(
                        "{threads} workers: {} answered, {:?}",
                        record.answered,
                        record.errors.by_name()
                    );
                    assert_eq!(record.due, 50);
                    check(&record);
                    assert_eq!((server.requests(), server.misbehaved()), (50, 5));
                });
            }
        });
    });
}

/// Every 10th request meets `misbehave` and has to end as an error of this kind, alone.
fn every_tenth_request_fails(
    kind: ErrorKind,
    misbehave: impl Fn(&mut TcpStream) -> Then + Send + Sync + 'static,
) {
    drive_both_ways(misbehave, |record| {
        assert_eq!((record.errors.of(kind), record.errors.total()), (5, 5), "{:?}", record.errors);
        assert_eq!(record.answered, 45);
        // Nine in ten were not held up.
        let most = response_quantile(record, 0.8);
        assert!(most < TIMEOUT / 2, "{most:?}");
    });
}

/// Every 10th request meets `misbehave`, and all are answered without an error.
fn every_request_is_answered(misbehave: impl Fn(&mut TcpStream) -> Then + Send + Sync + 'static) {
    drive_both_ways(misbehave, |record| {
        assert_eq!((record.answered, record.errors.total()), (50, 0), "{:?}", record.errors);
    });
}

fn writes(
    pieces: &'static [&'static [u8]],
    then: fn() -> Then,
) -> impl Fn(&mut TcpStream) -> Then + Send + Sync {
    move |stream| {
        for piece in pieces {
            write_piece(stream, piece);
        }
        then()
    }
}
