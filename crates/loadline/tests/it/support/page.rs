//! A page of the book that is followed to the letter: the files that it shows are written, and its commands are run.

use std::fs;
use std::path::Path;

use super::place::Place;

/// What a section tells a reader to do, in order.
pub enum Step {
    /// To write a file: its path and its text.
    Write(String, String),
    /// To type a command.
    Type(String),
}

/// The steps of a section of `docs/NAME`: of each block of code the file that the line before it names, or the commands in it.
pub fn steps(name: &str, heading: &str) -> Vec<Step> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    let text = fs::read_to_string(page).expect("a page");
    let begin = format!("\n## {heading}\n");
    let (_, section) = text.split_once(&begin).unwrap_or_else(|| panic!("no section {heading}"));
    let section = section.split("\n## ").next().unwrap_or_default();
    let parts: Vec<&str> = section.split("\n```").collect();
    let mut steps = Vec::new();
    for pair in parts.chunks_exact(2) {
        let [before, block] = pair else { unreachable!("pairs") };
        let (kind, text) = block.split_once('\n').expect("a block has lines");
        match before.trim_end().lines().last().and_then(|line| line.strip_prefix('`')?.strip_suffix("`:")) {
            Some(file) => steps.push(Step::Write(file.to_owned(), format!("{text}\n"))),
            None if kind == "sh" => steps.extend(text.lines().map(|line| Step::Type(line.to_owned()))),
            None => panic!("a block of {heading} is neither a file nor commands"),
        }
    }
    steps
}

/// Writes a file, and the folders above it.
pub fn write(place: &Place, file: &str, text: &str) {
    let path = place.path(file);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

/// Runs a command that is not loadline's.
pub fn run_in_shell(place: &Place, line: &str) {
    let ended = std::process::Command::new("sh").args(["-c", line]).current_dir(place.path(".")).output();
    let ended = ended.expect("a shell");
    assert!(ended.status.success(), "{line}: {}", String::from_utf8_lossy(&ended.stderr));
}
