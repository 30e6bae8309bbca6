//! What the fuzzers start from, and what they found worth keeping on this machine, through the parsers once more. `make fuzz` looks for
//! more of it.

#[path = "../../fuzz/checks/http2.rs"]
mod http2;
#[path = "../../fuzz/checks/response.rs"]
mod response;

use std::fs;
use std::path::Path;

/// Hands each file of a fuzzer's corpora to its check. `seeds` are in the repository, `corpus` is there once the fuzzer has run.
fn replay(target: &str, check: fn(&[u8])) {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let mut replayed = 0;
    for corpus in ["seeds", "corpus"] {
        for file in fs::read_dir(fuzz.join(corpus).join(target)).into_iter().flatten() {
            let path = file.expect("an entry").path();
            // Shown if the check panics.
            println!("{}", path.display());
            check(&fs::read(path).expect("a file"));
            replayed += 1;
        }
    }
    assert!(replayed > 0, "there are no seeds of {target}");
}

#[test]
fn responses_of_http1() {
    replay("response", response::check);
}

#[test]
fn connections_of_http2() {
    replay("http2", http2::check);
}
