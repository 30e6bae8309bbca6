//! The gates, each on a slice that passes and on one that fails.

use std::time::Duration;

use loadline_engine::{Arrivals, Endpoint, Engine, Load, Mix, Options, Record, Request, SliceSpec};
use loadline_model::gates::{CpuUse, Gate, GateFailure, OfOneCpu, is_disturbed};
use loadline_model::metrics::{MACHINE_CPUS, MACHINE_TASKS, OBSERVER_CPU, WALL};
use loadline_model::{MachineCpu, Observations};
use loadline_run::gates::{failures, failures_with_waiting, slice_failures};

const OPEN: fn() -> Load = || Load::Open { rate: "100/s".parse().unwrap(), arrivals: Arrivals::Uniform };

/// A record of a real slice of ten requests, modified by each test. What a busy machine does to it is taken out.
fn record() -> Record {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = Endpoint::from(listener.local_addr().unwrap());
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = listener.accept().unwrap();
        while stream.read(&mut [0; 4096]).is_ok_and(|count| count > 0) {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
        }
    });
    let mix = Mix::new(&[Request::get("/")], &endpoint).unwrap();
    let options = Options { timeout: Duration::from_secs(1), ..Options::new(endpoint, mix) };
    let slice =
        SliceSpec { load: OPEN(), duration: Duration::from_millis(100), seed: 1, offset: Duration::ZERO };
    let mut record = Engine::start(&options).unwrap().drive(slice).unwrap();
    // Whatever else the machine did meanwhile.
    (record.due, record.sent_in_time, record.answered, record.waited) = (10, 10, 10, 0);
    record.send_lag.reset();
    record.service.reset();
    record.service.record_n(200_000, 10).unwrap();
    record.send_lag.record_n(1_000, 10).unwrap();
    record
}

fn failed(load: &Load, record: &Record, cpu: Option<CpuUse>) -> Vec<Gate> {
    failures(load, record, cpu).into_iter().map(|failure| failure.gate()).collect()
}

#[test]
fn an_undisturbed_slice_passes() {
    let cpu = CpuUse { capacity_ns: 1_000, steal_ns: 1, most_stolen: None, foreign_ns: Some(10) };
    assert_eq!(failed(&OPEN(), &record(), Some(cpu)), []);
}

#[test]
fn a_rate_that_was_not_sent_fails() {
    let mut record = record();
    record.due = 2_000;
    record.sent_in_time = 1_998;
    assert_eq!(failed(&OPEN(), &record, None), []);
    record.sent_in_time = 1_997;
    assert_eq!(
        failed(&OPEN(), &record, None),
        [Gate::SendLag],
        "connections were free: the generator was late"
    );
    record.waited = 3;
    assert_eq!(failed(&OPEN(), &record, None), [Gate::Rate], "the service kept its connections busy");
    assert_eq!(failed(&Load::Closed { think: None }, &record, None), [], "a closed loop has no rate to keep");
}

#[test]
fn lag_fails_beyond_its_bound_unless_it_hardly_shows() {
    let mut record = record();
    record.send_lag.record_n(120_000, 10).unwrap();
    assert_eq!(failed(&OPEN(), &record, None), [Gate::SendLag]);
    record.service.record_n(2_000_000, 10).unwrap();
    assert_eq!(failed(&OPEN(), &record, None), [], "120 µs are little beside a p99 of 2 ms");
}

#[test]
fn a_closed_loop_whose_generator_is_always_busy_fails() {
    let mut record = record();
    record.cpu_ns = 90_000_000;
    assert_eq!(failed(&Load::Closed { think: None }, &record, None), []);
    record.cpu_ns = 96_000_000;
    assert_eq!(failed(&Load::Closed { think: None }, &record, None), [Gate::Generator]);
    record.workers = 2;
    assert_eq!(failed(&Load::Closed { think: None }, &record, None), []);
}

/// The gates that fail when the one load thread ran and waited for a CPU for these shares of 100 ms.
fn of_threads(load: &Load, busy_ms: u64, waited_ms: u64) -> Vec<Gate> {
    let record = Record { cpu_ns: busy_ms * 1_000_000, ..record() };
    let failures = failures_with_waiting(load, &record, None, Some(waited_ms * 1_000_000));
    failures.into_iter().map(|failure| failure.gate()).collect()
}

#[test]
fn a_closed_loop_that_always_wants_a_cpu_is_saturated() {
    let closed = Load::Closed { think: None };
    assert_eq!(of_threads(&closed, 60, 38), [Gate::Generator]);
    assert_eq!(of_threads(&closed, 60, 20), [Gate::ForeignCpu]);
    assert_eq!(of_threads(&closed, 60, 5), []);
    assert_eq!(of_threads(&closed, 99, 1), [Gate::Generator], "said once");
    assert_eq!(of_threads(&closed, 96, 30), [Gate::Generator], "said once");
}

#[test]
fn an_open_loop_must_get_its_cpu_when_it_wants_it() {
    assert_eq!(of_threads(&OPEN(), 90, 8), []);
    assert_eq!(of_threads(&OPEN(), 10, 11), [Gate::ForeignCpu]);
    assert_eq!(of_threads(&OPEN(), 90, 38), [Gate::ForeignCpu]);
}

#[test]
fn what_the_kernel_does_not_say_of_waiting_fails_nothing() {
    let closed = Load::Closed { think: None };
    assert_eq!(failures_with_waiting(&closed, &record(), None, None), []);
}

#[test]
fn only_the_gates_of_the_machine_decide_about_a_repeat() {
    let failures = |gates: &[Gate]| -> Vec<GateFailure> {
        gates.iter().map(|gate| GateFailure::Text { gate: *gate, text: String::new() }).collect()
    };
    assert!(!is_disturbed(&[]));
    for gate in [Gate::Pauses, Gate::Steal, Gate::ForeignCpu] {
        assert!(is_disturbed(&failures(&[gate])));
        assert!(is_disturbed(&failures(&[gate, Gate::Rate])), "whatever the service did meanwhile");
    }
    for gate in [Gate::Rate, Gate::SendLag, Gate::Generator, Gate::Errors] {
        assert!(!is_disturbed(&failures(&[gate])), "{gate:?} is seen in the responses");
    }
}

/// The gates that a slice of a run fails when its load thread worked for so long of 100 ms and its CPU was paused for so long.
fn of_slice(record: Record, worked_ms: u64, paused_us: Option<u64>) -> Vec<Gate> {
    let record = Record { cpu_ns: 100_000_000, spun_ns: (100 - worked_ms) * 1_000_000, ..record };
    let failures = slice_failures(&OPEN(), &record, None, paused_us.map(Duration::from_micros));
    failures.into_iter().map(|failure| failure.gate()).collect()
}

#[test]
fn late_requests_are_the_loads_fault_only_if_it_had_too_much_to_do() {
    let late = || {
        let mut record = record();
        record.send_lag.record_n(5_000_000, 10).unwrap();
        (record.due, record.sent_in_time) = (2_000, 1_900);
        record
    };
    assert_eq!(of_slice(late(), 20, None), []);
    assert_eq!(of_slice(late(), 79, None), []);
    assert_eq!(of_slice(late(), 85, None), [Gate::SendLag, Gate::SendLag]);
    let waited = Record { waited: 100, ..late() };
    assert_eq!(of_slice(waited, 20, None), [Gate::Rate], "the service kept its connections busy");
}

#[test]
fn pauses_fail_beyond_a_hundredth_of_the_time_and_two_milliseconds() {
    assert_eq!(of_slice(record(), 20, Some(2_000)), [], "of 100 ms it is 2 %, but a single short pause");
    assert_eq!(of_slice(record(), 20, Some(2_001)), [Gate::Pauses]);
    assert_eq!(of_slice(record(), 20, None), [], "not seen, or not to be judged");
    let long = || Record { duration: Duration::from_secs(1), ..record() };
    assert_eq!(of_slice(long(), 20, Some(10_000)), []);
    assert_eq!(of_slice(long(), 20, Some(10_001)), [Gate::Pauses]);
    let two_workers = Record { workers: 2, ..long() };
    assert_eq!(of_slice(two_workers, 20, Some(10_001)), [], "of two CPUs it is half as much");
}

#[test]
fn errors_fail_even_when_they_are_all_there_is() {
    let mut record = record();
    record.answered = 0;
    assert_eq!(failed(&OPEN(), &record, None), [Gate::Errors]);
}

#[test]
fn stolen_and_foreign_cpu_fail_beyond_their_shares() {
    let share = |steal_ns, foreign_ns| {
        failed(
            &OPEN(),
            &record(),
            Some(CpuUse { capacity_ns: 1_000, steal_ns, most_stolen: None, foreign_ns: Some(foreign_ns) }),
        )
    };
    // Of 100 ms a hundredth of a second, a tenth, may be rounding.
    assert_eq!(share(120, 200), []);
    assert_eq!(share(121, 200), [Gate::Steal]);
    assert_eq!(share(120, 201), [Gate::ForeignCpu]);
}

#[test]
fn time_stolen_from_one_cpu_of_many_fails() {
    let stolen = |part_ns| {
        let most_stolen = Some(OfOneCpu { part_ns, whole_ns: 100_000_000 });
        let cpu = CpuUse { capacity_ns: 6_400_000_000, steal_ns: part_ns, most_stolen, foreign_ns: None };
        failed(&OPEN(), &record(), Some(cpu))
    };
    assert_eq!(stolen(10_000_000), [], "a hundredth of a second may be rounding");
    assert_eq!(stolen(20_000_000), [Gate::Steal], "though of 64 CPUs it is 0.3 %");
}

#[test]
fn foreign_is_what_idling_the_load_and_the_services_leave() {
    let machine = MachineCpu { idle_ns: 900, iowait_ns: 50, steal_ns: 10, ..MachineCpu::default() };
    let observed = Observations::default().with(WALL, 1_000).with(MACHINE_CPUS, 2).with_machine_cpu(&machine);
    let cpu = CpuUse::of(&observed, Some((600, 340))).unwrap();
    assert_eq!(cpu, CpuUse { capacity_ns: 2_000, steal_ns: 10, most_stolen: None, foreign_ns: Some(100) });
    assert_eq!(CpuUse::of(&Observations::default(), Some((0, 0))), None);
    let with_reading = observed.clone().with(OBSERVER_CPU, 390);
    assert_eq!(
        CpuUse::of(&with_reading, Some((600, 340))).unwrap().foreign_ns,
        Some(50),
        "loadline's own reading"
    );
    let rounded = CpuUse::of(&with_reading, Some((700, 340))).unwrap();
    assert_eq!(rounded.foreign_ns, Some(-50), "so that a sum over slices comes out right");
    let counted = with_reading.with(MACHINE_TASKS, 1_010);
    assert_eq!(
        CpuUse::of(&counted, Some((600, 340))).unwrap().foreign_ns,
        Some(20),
        "the time of tasks, where it is known"
    );
    let external = CpuUse::of(&observed, None).unwrap();
    assert_eq!(external.foreign_ns, None, "an external service may run here as well");
}
