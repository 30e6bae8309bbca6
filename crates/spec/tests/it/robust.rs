//! No input makes the parser panic: arbitrary text, arbitrary bytes, valid files with arbitrary damage, arbitrary flags.

use crate::support;

use std::cell::OnceCell;

use loadline_spec::{Flags, from_flags, from_yaml};
use proptest::prelude::*;
use tempfile::TempDir;

const FULL: &str = "name: all
services:
  - name: mine
    command: [server, '{port}']
    env: {A: b}
    requests: [GET /a, {method: POST, path: /b, headers: {X: '1'}, body: x, weight: 3}]
    ready: {http: /up, within: 5s}
  - {builtin: orders, args: --delay 200us}
limits: {cpu: 1.5, memory: 512Mi}
platforms:
  - host
  - local: [cgroup, veth, {nodeport: {backend: nftables, services: 100}}]
  - external: http://localhost:8080
loads:
  - {rate: 100/min, arrivals: uniform, connections: &n 4}
  - {closed: true, connections: *n}
plan: {slice: 2s, blocks: 12, until: 2%}
cpus: {service: [0, 2-3], load: 1}
";

thread_local! {
    static PROGRAMS: OnceCell<TempDir> = const { OnceCell::new() };
}

/// Reads the bytes and renders what is wrong with them; whether there is.
fn is_refused(bytes: &[u8]) -> bool {
    PROGRAMS.with(|programs| {
        let machine = support::machine(programs.get_or_init(support::programs));
        match from_yaml("x.yaml", bytes, &machine) {
            Ok(_) => false,
            Err(error) => {
                assert!(!error.problems().is_empty() && error.render(true).contains("error"));
                true
            }
        }
    })
}

#[test]
fn the_file_that_is_damaged_below_is_valid() {
    assert!(!is_refused(FULL.as_bytes()));
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(is_refused(&bytes));
    }

    #[test]
    fn arbitrary_text_is_refused(text in "(?s).{0,200}") {
        prop_assert!(is_refused(text.as_bytes()));
    }

    #[test]
    fn text_of_yaml_signs_is_refused(text in r"[-:\[\]{}&*!|>'%@`#, \n\ta0~<=]{0,120}") {
        prop_assert!(is_refused(text.as_bytes()));
    }

    #[test]
    fn a_damaged_file_is_read_or_refused(
        start in 0..FULL.len(),
        length in 0usize..20,
        patch in prop_oneof![Just(String::new()), r"[-:\[\]{}&*'#, \n0a%]{0,8}", "(?s).{0,4}"],
    ) {
        let end = (start + length).min(FULL.len());
        let mut bytes = FULL.as_bytes().to_vec();
        bytes.splice(start..end, patch.bytes());
        is_refused(&bytes);
    }

    #[test]
    fn an_arbitrary_scalar_in_every_place_is_read_or_refused(scalar in r#"[^'\n]{0,30}"#, place in 0usize..40) {
        let mut at = FULL.match_indices(": ").map(|(at, _)| at + 2).cycle();
        let start = at.nth(place).unwrap_or(0);
        let end = FULL[start..].find([',', '}', '\n']).map_or(FULL.len(), |length| start + length);
        let damaged = format!("{}'{scalar}'{}", &FULL[..start], &FULL[end..]);
        is_refused(damaged.as_bytes());
    }

    #[test]
    fn arbitrary_flags_are_read_or_refused(words in prop::collection::vec(".{0,20}", 12), closed: bool) {
        let flags = Flags {
            services: vec![words[0].clone()],
            commands: vec![words[1].clone()],
            requests: vec![words[2].clone()],
            on: vec![words[3].clone(), format!("local:{}", words[4]), format!("http://{}", words[5])],
            rates: vec![words[6].clone()],
            closed,
            ..Flags::default()
        }
        .with("--connections", &words[7])
        .with("--limit-memory", &words[8])
        .with("--slice", &words[9])
        .with("--until", &words[10])
        .with("--service-cpus", &words[11]);
        PROGRAMS.with(|programs| {
            let machine = support::machine(programs.get_or_init(support::programs));
            if let Err(error) = from_flags(&flags, &machine) {
                assert!(error.render(false).contains("error"));
            }
        });
    }
}
