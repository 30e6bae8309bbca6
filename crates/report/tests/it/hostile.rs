//! Whatever a service, a file or a certificate calls itself: nothing of it steers a terminal, computes in a spreadsheet or breaks a document.

use loadline_model::printable;
use loadline_model::result::RunResult;
use loadline_report::{csv_slices, csv_summary, junit, list, markdown, terminal};
use proptest::prelude::*;

use crate::html::{self, data, tags};
use crate::rendering::PLAIN;
use crate::support;
use crate::support::free_text::places;

/// What has done harm elsewhere, by itself and between other characters.
fn hostile() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "\u{1b}]0;title\u{7}",
        "\u{1b}[2J\u{1b}[31m",
        "\u{9b}31m",
        "\u{202e}",
        "\u{2066}",
        "\u{2028}",
        "\0",
        "\r",
        "=cmd|' /C calc'!A0",
        "@SUM(1)",
        "+1",
        "-1",
        "<script>alert(1)</script>",
        "]]>",
        "&amp;",
        "|",
        "`",
        "\"",
        ",",
    ]);
    let part = prop_oneof![3 => known.prop_map(str::to_owned), 2 => any::<String>()];
    prop::collection::vec(part, 1..6).prop_map(|parts| parts.concat())
}

/// All elements that a page has.
const ELEMENTS: &str = "a b body caption circle code dd details div dl dt footer h1 h2 head header html li line main meta p path pre rect \
    script section span style summary svg table tbody td text tfoot th thead title tr ul";

fn assert_safe(result: &RunResult) -> Result<(), TestCaseError> {
    let csv = |write: fn(&RunResult, &mut dyn std::io::Write) -> Result<(), loadline_report::ReportError>| {
        let mut out = Vec::new();
        write(result, &mut out).expect("a vector takes everything");
        String::from_utf8(out).expect("UTF-8")
    };
    let (slices, summary, xml) = (csv(csv_slices), csv(csv_summary), csv(junit));
    let listed = list(std::slice::from_ref(result), &PLAIN, str::to_owned);
    let page = markdown(result);
    for text in [&terminal(result, &PLAIN), &page, &slices, &summary, &xml, &listed] {
        let unsafe_line = text.split('\n').find(|line| printable(line) != *line);
        prop_assert_eq!(unsafe_line, None);
    }
    let html = html::page(result, &Default::default());
    let unsafe_line = html.split('\n').find(|line| printable(line) != *line);
    prop_assert_eq!(unsafe_line, None);
    // What is markup is ours: known elements, none of which runs, fetches or listens. The two scripts are the data and the app.
    let tags = tags(&html);
    prop_assert_eq!(tags.iter().filter(|tag| tag.starts_with("script")).count(), 2);
    for tag in tags {
        let name = tag.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        prop_assert!(ELEMENTS.split(' ').any(|element| element == name), "{}", tag);
        let names: String = tag.split('"').step_by(2).collect();
        prop_assert!(![" on", " src"].iter().any(|name| names.contains(name)), "{}", tag);
        // What leads somewhere stays in the page.
        prop_assert!(!names.contains(" href") || tag.contains(" href=\"#trials-"), "{}", tag);
    }
    let read = data(&html);
    prop_assert_eq!(read["result"]["run"]["name"].as_str(), Some(&*printable(&result.run.name)));
    // In a block of code it is text.
    let outside_code = page.split("\n```").step_by(2).collect::<String>();
    prop_assert!(!outside_code.contains("<script>"), "{}", page);
    for table in [slices, summary] {
        for record in csv::Reader::from_reader(table.as_bytes()).records() {
            for field in record.expect("a record").iter() {
                let begins_a_formula =
                    field.starts_with(['=', '+', '-', '@']) && field.parse::<f64>().is_err();
                prop_assert!(!begins_a_formula, "{field}");
            }
        }
    }
    let mut reader = quick_xml::Reader::from_str(&xml);
    loop {
        match reader.read_event() {
            Ok(quick_xml::events::Event::Eof) => break,
            Ok(_) => {}
            Err(error) => return Err(TestCaseError::fail(format!("{error} in {xml}"))),
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn nothing_of_it_does_anything(texts in prop::collection::vec(hostile(), 1..8)) {
        for result in [support::with_conditions(), support::with_starts_and_claims(), support::throttled()] {
            let mut document = serde_json::to_value(&result).expect("JSON");
            for (place, text) in places(&document).iter().zip(texts.iter().cycle()) {
                *document.pointer_mut(place).expect("it is there") = text.as_str().into();
            }
            assert_safe(&serde_json::from_value(document).expect("a result"))?;
        }
    }
}

#[test]
fn a_line_of_a_megabyte_is_shown_in_pieces_or_whole_but_ends_nothing() {
    let mut result = support::with_conditions();
    result.run.failures = vec!["x\u{1b}[2J".repeat(200_000)];
    result.cells.iter_mut().for_each(|cell| cell.label = "y".repeat(1_000_000));
    assert_safe(&result).expect("nothing of it steers anything");
}
