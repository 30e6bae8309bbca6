//! The threads that a JVM says it has (`jcmd Thread.print`), counted by pool: those whose names differ in their numbers alone.

use std::collections::BTreeMap;

/// How many threads each pool has, by its name with `*` for the numbers: `http-nio-8080-exec-*`.
pub(crate) fn pools(text: &str) -> BTreeMap<String, usize> {
    let mut pools = BTreeMap::new();
    for line in text.lines() {
        // `"http-nio-8080-exec-1" #45 [12345] daemon prio=5 …`; the JVM's own threads have no number.
        let Some((name, rest)) = line.strip_prefix('"').and_then(|line| line.rsplit_once("\" #")) else {
            continue;
        };
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            *pools.entry(pool(name)).or_default() += 1;
        }
    }
    pools
}

/// The name without the number that it ends with.
fn pool(name: &str) -> String {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    if stem.len() == name.len() || stem.is_empty() { name.to_owned() } else { format!("{stem}*") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn threads_are_counted_by_pool() {
        let text = "2026-11-01 10:00:00\nFull thread dump OpenJDK 64-Bit Server VM\n\n\
            \"main\" #1 [100] prio=5 os_prio=0 cpu=1.0ms elapsed=1.0s tid=0x1 nid=100 waiting on condition\n\
            \x20  java.lang.Thread.State: WAITING\n\
            \"http-nio-8080-exec-1\" #45 [101] daemon prio=5\n\
            \"http-nio-8080-exec-12\" #56 [102] daemon prio=5\n\
            \"a \"quoted\" one\" #57 [103] daemon\n\
            \"G1 Conc#0\" os_prio=0 cpu=1.0ms\n";
        let found: Vec<(String, usize)> = pools(text).into_iter().collect();
        let expected = [("a \"quoted\" one", 1), ("http-nio-8080-exec-*", 2), ("main", 1)];
        assert_eq!(found, expected.map(|(name, count)| (name.to_owned(), count)));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(?s).*") {
            let _ = pools(&text);
        }
    }
}
