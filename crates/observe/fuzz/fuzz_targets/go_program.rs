//! The reader of a Go program's file against whatever the fuzzer makes up.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| loadline_observe::read_go_program(input));
