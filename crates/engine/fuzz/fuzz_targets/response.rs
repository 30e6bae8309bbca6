//! The parser of HTTP/1 responses against whatever the fuzzer makes up.
#![no_main]

#[path = "../checks/response.rs"]
mod response;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| response::check(input));
