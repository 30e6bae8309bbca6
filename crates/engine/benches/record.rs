//! What recording one request costs: its times into their histograms, as a worker does it when a response is complete.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use loadline_engine::Record;
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// How many different requests are recorded in turn, so that neither branch predictor nor cache learns one by heart.
const REQUESTS: usize = 4096;

fn recording(criterion: &mut Criterion) {
    let mut record = Record::empty();
    let mut random = Pcg64::seed_from_u64(7);
    // From 20 µs to 4 ms, evenly over the orders of magnitude: wider than what a service under load shows.
    let times: Vec<[u64; 3]> = (0..REQUESTS)
        .map(|_| {
            let service = 20_000 << (random.next_u64() % 8);
            let service = service + random.next_u64() % service;
            let send_lag = 1_000 + random.next_u64() % 10_000;
            [service + send_lag, service, send_lag]
        })
        .collect();
    let mut next = 0;
    criterion.bench_function("record one request", |bencher| {
        bencher.iter(|| {
            let request = black_box(&times[next % REQUESTS]);
            next += 1;
            let [response, service, send_lag] = *request;
            record.keep_lag(send_lag);
            record.keep(0, response, service);
        });
    });
}

criterion_group!(benches, recording);
criterion_main!(benches);
