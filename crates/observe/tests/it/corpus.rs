//! What the fuzzer of performance data starts from, and what it found worth keeping on this machine, through the reader once more.

use std::fs;
use std::path::Path;

#[test]
fn performance_data() {
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let mut replayed = 0;
    for corpus in ["seeds", "corpus"] {
        for file in fs::read_dir(fuzz.join(corpus).join("performance_data")).into_iter().flatten() {
            let path = file.expect("an entry").path();
            // Shown if the reader panics.
            println!("{}", path.display());
            loadline_observe::read_perf_data(&fs::read(path).expect("a file"));
            replayed += 1;
        }
    }
    assert!(replayed > 0, "there are no seeds");
}
