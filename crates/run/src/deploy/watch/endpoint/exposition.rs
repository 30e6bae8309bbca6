//! Prometheus' text format (prometheus.io/docs/instrumenting/exposition_formats, version 0.0.4), and OpenMetrics' as far as it is the same.
//! Own code, because what is wanted of it is a few lines: sums over labels, and whatever cannot be read left out.

use std::collections::BTreeMap;

/// The counters in the text, and the counts and sums of its histograms and summaries, each added up over its labels.
pub fn counters(text: &str) -> BTreeMap<String, f64> {
    let mut kinds: BTreeMap<&str, &str> = BTreeMap::new();
    let mut found: BTreeMap<String, f64> = BTreeMap::new();
    for line in text.lines().map(str::trim) {
        if let Some(declared) = line.strip_prefix("# TYPE ") {
            if let Some((name, kind)) = declared.split_once(' ') {
                kinds.insert(name, kind.trim());
            }
        } else if !line.starts_with('#')
            && let Some((name, value)) = sample(line)
            && is_counter(name, &kinds)
        {
            *found.entry(name.to_ascii_lowercase()).or_default() += value;
        }
    }
    found
}

/// `name{label="value"} 12 1700000000` is a name and its value.
fn sample(line: &str) -> Option<(&str, f64)> {
    let name_end = line.find(|c: char| c == '{' || c.is_ascii_whitespace())?;
    let (name, rest) = line.split_at(name_end);
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let value = if rest.starts_with('{') { &rest[labels_end(rest)?..] } else { rest };
    let value: f64 = value.split_ascii_whitespace().next()?.parse().ok()?;
    (is_name && value.is_finite()).then_some((name, value))
}

/// Where the labels end, which may contain anything in quotes.
fn labels_end(text: &str) -> Option<usize> {
    let (mut in_quotes, mut escaped) = (false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_quotes => escaped = true,
            b'"' => in_quotes = !in_quotes,
            b'}' if !in_quotes => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn is_counter(name: &str, kinds: &BTreeMap<&str, &str>) -> bool {
    // OpenMetrics declares a counter without its suffix.
    if kinds.get(name) == Some(&"counter") || kinds.get(name.trim_end_matches("_total")) == Some(&"counter") {
        return true;
    }
    let of = name.strip_suffix("_sum").or_else(|| name.strip_suffix("_count"));
    of.is_some_and(|of| matches!(kinds.get(of), Some(&("histogram" | "summary"))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn labels_are_added_up_and_other_kinds_left_out() {
        let text = "# HELP requests_total All.\n\
            # TYPE requests_total counter\n\
            requests_total{path=\"/a\",code=\"200\"} 3\n\
            requests_total{path=\"/}\\\"b\"} 4 1700000000\n\
            # TYPE temperature gauge\n\
            temperature 20\n\
            # TYPE took_seconds histogram\n\
            took_seconds_bucket{le=\"0.1\"} 5\n\
            took_seconds_sum 0.25\n\
            took_seconds_count 5\n\
            undeclared_total 9\n";
        let expected = [("requests_total", 7.0), ("took_seconds_count", 5.0), ("took_seconds_sum", 0.25)];
        let found: Vec<(String, f64)> = counters(text).into_iter().collect();
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value)));
    }

    #[test]
    fn open_metrics_declares_a_counter_without_its_suffix() {
        let found =
            counters("# TYPE requests counter\nrequests_total 3\nrequests_created 1700000000\n# EOF\n");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [("requests_total".to_owned(), 3.0)]);
    }

    #[test]
    fn what_is_no_sample_is_left_out() {
        for line in ["", "a", "a{", "a{b=\"c\" 1", "a NaN", "a one", "1a 2", "a:b 2"] {
            assert_eq!(counters(&format!("# TYPE a counter\n{line}\n")), BTreeMap::new(), "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "(?s)(# TYPE a counter\n)?.*") {
            let _ = counters(&text);
        }
    }
}
