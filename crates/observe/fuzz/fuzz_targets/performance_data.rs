//! The reader of a JVM's performance data against whatever the fuzzer makes up.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| loadline_observe::read_perf_data(input));
