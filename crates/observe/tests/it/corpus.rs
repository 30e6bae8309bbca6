//! What the fuzzers start from, and what they found worth keeping on this machine, through the readers once more.

use std::fs;
use std::path::Path;

#[test]
fn performance_data() {
    replay("performance_data", loadline_observe::read_perf_data);
}

#[test]
fn go_program() {
    replay("go_program", loadline_observe::read_go_program);
}

/// `seeds` are in the repository, `corpus` is there once the fuzzer has run.
fn replay(fuzzer: &str, read: fn(&[u8])) {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let mut replayed = 0;
    for corpus in ["seeds", "corpus"] {
        for file in fs::read_dir(fuzz.join(corpus).join(fuzzer)).into_iter().flatten() {
            let path = file.expect("an entry").path();
            // Shown if the reader panics.
            println!("{}", path.display());
            read(&fs::read(path).expect("a file"));
            replayed += 1;
        }
    }
    assert!(replayed > 0, "there are no seeds");
}
