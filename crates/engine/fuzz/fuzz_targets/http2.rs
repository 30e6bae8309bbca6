//! The HTTP/2 connection against whatever the fuzzer makes up.
#![no_main]

#[path = "../checks/http2.rs"]
mod http2;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| http2::check(input));
