//! What a person reads, kept as snapshots, one per situation.

use crate::support;
use insta::assert_snapshot;
use loadline_model::CellId;
use loadline_model::preview::PreviewTurn;
use loadline_model::result::RunResult;
use loadline_report::{Style, csv_slices, csv_summary, markdown, terminal};

pub const PLAIN: Style = Style { colour: false, width: 100, full: false, by_request: false, spectrum: false };

fn csv(
    write: fn(&RunResult, &mut dyn std::io::Write) -> Result<(), loadline_report::ReportError>,
    result: &RunResult,
) -> String {
    let mut out = Vec::new();
    write(result, &mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("CSV is UTF-8")
}

#[test]
fn a_slower_candidate_is_answered_in_the_first_sentence() {
    assert_snapshot!(terminal(&support::slower(), &PLAIN));
}

#[test]
fn a_service_held_back_by_its_limit_says_so_first() {
    assert_snapshot!(terminal(&support::throttled(), &PLAIN));
    assert_snapshot!(markdown(&support::throttled()));
}

#[test]
fn a_platform_alone_has_the_whole_table_of_its_figures() {
    assert_snapshot!(terminal(&support::alone(), &PLAIN));
    assert_snapshot!(markdown(&support::alone()));
}

#[test]
fn what_services_carry_is_a_table_with_its_knees_and_every_rate_that_was_tried() {
    assert_snapshot!(terminal(&support::capacities(), &PLAIN));
    assert_snapshot!(markdown(&support::capacities()));
}

#[test]
fn cells_that_differ_in_one_number_stand_below_each_other() {
    assert_snapshot!(terminal(&support::cpu_limits(), &PLAIN));
    assert_snapshot!(markdown(&support::cpu_limits()));
    assert_snapshot!(terminal(&support::connections(), &PLAIN));
    let full = terminal(&support::connections(), &Style { full: true, ..PLAIN });
    assert!(full.contains("response mean"), "every figure: {full}");
}

#[test]
fn a_ladder_shows_what_each_layer_adds_and_whether_the_sum_closes() {
    assert_snapshot!(terminal(&support::ladder(), &PLAIN));
    assert_snapshot!(markdown(&support::ladder()));
}

#[test]
fn what_is_compared_with_another_than_the_first_is_named_with_it() {
    assert_snapshot!(terminal(&support::other_baselines(), &PLAIN));
    assert_snapshot!(markdown(&support::other_baselines()));
}

#[test]
fn a_preview_shows_cells_turns_and_where_the_time_goes() {
    let mut preview = support::preview();
    assert_snapshot!(loadline_report::preview(&preview, &PLAIN));
    // Cells that run side by side, one site at a time, and no end that is fixed.
    preview.first_block = vec![PreviewTurn { cells: vec![CellId(1), CellId(2)], seconds: 2.4 }];
    preview.side_by_side_if_idle = true;
    preview.stages = 3;
    preview.first_stage.truncate(1);
    preview.time.open_ended = true;
    preview.time.within_s = Some(900.0);
    preview.time.profiles_s = 3.6;
    assert_snapshot!(loadline_report::preview(&preview, &PLAIN));
}

#[test]
fn a_list_tells_of_each_run_how_it_ended_and_what_came_out() {
    let all = support::all();
    let time = |started: &str| format!("({started})");
    assert_snapshot!(loadline_report::list(&all, &PLAIN, time));
    assert_snapshot!(loadline_report::list(&all[..3], &Style { width: 60, ..PLAIN }, time));
    let about = |text| all.iter().filter(|result| loadline_report::matches(result, text)).count();
    assert!((1..all.len()).contains(&about("DOCKER")));
    assert_eq!((about(""), about("what no run is about")), (all.len(), 0));
}

#[test]
fn what_a_run_went_on_without_is_said_first() {
    let mut result = support::slower();
    result.run.failures = vec!["orders on pod: it exited on its own (exit status: 3)".to_owned()];
    let first = |result: &RunResult| terminal(result, &PLAIN).lines().next().map(str::to_owned);
    assert_eq!(first(&result).as_deref(), Some("A service was given up before the end of this run."));
    assert!(markdown(&result).contains("> **A service was given up before the end of this run.**"));
    let pod = result.cells.iter().find(|cell| cell.label == "pod").expect("a pod").id;
    result.slices.retain(|slice| slice.cell != pod);
    assert_eq!(first(&result).as_deref(), Some("1 of 2 was not measured: pod."));
}

#[test]
fn colour_marks_verdicts_and_trust() {
    assert_snapshot!(terminal(&support::slower(), &Style { colour: true, ..PLAIN }).replace('\u{1b}', "ESC"));
}

#[test]
fn equivalence_states_its_margin() {
    assert_snapshot!(terminal(&support::equivalent(), &PLAIN));
}

#[test]
fn an_unresolved_difference_states_how_large_it_is_at_most() {
    assert_snapshot!(terminal(&support::unresolved(), &PLAIN));
}

#[test]
fn a_faster_candidate_without_a_twin_says_so() {
    assert_snapshot!(terminal(&support::faster_without_a_twin(), &PLAIN));
}

#[test]
fn a_twin_that_differs_is_said_first() {
    assert_snapshot!(terminal(&support::twin_differs(), &PLAIN));
    assert_snapshot!(markdown(&support::twin_differs()));
}

#[test]
fn an_untrusted_run_says_so_first_and_claims_nothing() {
    assert_snapshot!(
        terminal(&support::untrusted(), &Style { colour: true, ..PLAIN }).replace('\u{1b}', "ESC")
    );
}

#[test]
fn a_run_that_can_be_trusted_in_part_says_first_in_which() {
    assert_snapshot!(terminal(&support::trusted_in_part(), &PLAIN));
    let mut one = support::trusted_in_part();
    one.trust.gates[1].cells.clear();
    let whole = terminal(&one, &PLAIN);
    assert!(whole.starts_with("This run can't be trusted: send lag p99 310 µs"), "{whole}");
}

#[test]
fn claims_stand_with_our_figure_beside_them_and_starts_step_by_step() {
    assert_snapshot!(terminal(&support::with_starts_and_claims(), &PLAIN));
    assert_snapshot!(markdown(&support::with_starts_and_claims()));
}

#[test]
fn conditions_stand_before_the_answer_with_what_decides_each() {
    assert_snapshot!(first_section(&terminal(&support::with_conditions(), &PLAIN)));
    assert_snapshot!(first_section(&terminal(&support::with_many_conditions(), &PLAIN)));
    let mut brief = support::with_many_conditions();
    brief.conditions[1].findings.iter_mut().for_each(|finding| finding.interval = None);
    assert!(terminal(&brief, &PLAIN).contains("\n  none of them has an interval\n"));
    let markdown = markdown(&support::with_conditions());
    let (conditions, _) = markdown.split_once("\n**Does").expect("a question");
    assert_snapshot!(conditions);
}

#[test]
fn conditions_of_a_run_that_cannot_be_trusted_are_not_judged() {
    let untrusted = support::untrusted_with_conditions();
    assert_snapshot!(first_section(&terminal(&untrusted, &PLAIN)));
    assert_snapshot!(junit(&untrusted));
}

/// All up to the question.
fn first_section(text: &str) -> String {
    text.lines()
        .take_while(|line| !line.starts_with("What ") && !line.starts_with("Does "))
        .fold(String::new(), |text, line| text + line + "\n")
}

fn junit(result: &RunResult) -> String {
    let mut out = Vec::new();
    loadline_report::junit(result, &mut out).expect("a vector takes everything");
    String::from_utf8(out).expect("XML is UTF-8")
}

#[test]
fn a_condition_is_a_test_case_that_fails_with_its_sentence() {
    assert_snapshot!(junit(&support::with_conditions()));
    assert_snapshot!(junit(&support::slower()));
}

#[test]
fn no_text_breaks_the_xml() {
    let mut result = support::with_conditions();
    result.run.name = "<&\"'> ]]> \u{1b}[31m\0\n".to_owned();
    result.conditions.truncate(1);
    result.claims[0].text = "</testcase>&lt; \u{7}\u{ffff} ü".to_owned();
    result.claims.truncate(1);
    let xml = junit(&result);
    assert_snapshot!(xml);
    let forbidden = |next: char| (next < ' ' && !"\t\n\r".contains(next)) || next == '\u{ffff}';
    assert!(!xml.contains(forbidden));
}

#[test]
fn limits_are_told_by_service_where_that_says_it_all() {
    let mut result = support::six_by_six();
    for (index, cell) in result.cells.iter_mut().enumerate() {
        cell.service = if index % 2 == 0 { "orders".to_owned() } else { "Spring".to_owned() };
        cell.limits.cpus = Some(if index % 2 == 0 { 1.0 } else { 2.0 });
    }
    let first = first_section(&terminal(&result, &PLAIN)).replace('\n', " ");
    assert!(first.contains("limits: 1 CPU for orders, 2 CPUs for Spring"), "{first}");
    result.cells[0].limits.cpus = Some(2.0);
    let first = first_section(&terminal(&result, &PLAIN)).replace('\n', " ");
    assert!(first.contains("2 CPUs for host and docker"), "by their labels: {first}");
}

#[test]
fn deployments_that_lie_far_apart_are_named() {
    let told = |shares: &[f64]| {
        let mut result = support::slower();
        for (cell, share) in result.cells.iter_mut().zip(shares) {
            cell.deployment_spread.as_mut().expect("set by slower").share = *share;
        }
        let text = terminal(&result, &PLAIN).replace("\n       ", " ");
        let sentence =
            text.lines().find_map(|line| line.find("Deployments of a").map(|at| line[at..].to_owned()));
        sentence.expect("the sentence is there")
    };
    assert_snapshot!(
        [told(&[0.01, 0.032, 0.02]), told(&[0.01, 0.08, 0.02]), told(&[0.01, 0.08, 0.14]), told(&[0.2; 3])].join("\n"),
        @"
    Deployments of a cell lie within ±3.2 % (response p50).
    Deployments of a cell differ by more than ±5 % in 1 of 3 cells, by ±8 % at most (response p50).
    Deployments of a cell differ by more than ±5 % in 2 of 3 cells (response p50). Find out why before you quote these: pod ±14 %.
    Deployments of a cell differ by more than ±5 % in 3 of 3 cells (response p50). Find out why before you quote these: host ±20 %, host′ ±20 %, pod ±20 %.
    "
    );
}

#[test]
fn what_settles_a_run_is_told_as_its_author_would_ask_for_it() {
    let told = |change: &dyn Fn(&mut RunResult)| {
        let mut result = support::slower();
        change(&mut result);
        let text = terminal(&result, &PLAIN).replace("\n  ", " ");
        text.lines().find(|line| line.starts_with("To know")).map(str::to_owned)
    };
    let limited = |result: &mut RunResult| {
        result.plan.seconds_to_settle.as_mut().expect("set by slower").needs_more_time = true;
    };
    let from_file = |result: &mut RunResult| result.run.command_line[1] = "run".to_owned();
    let both = |result: &mut RunResult| {
        limited(result);
        from_file(result);
    };
    for (told, how) in [
        (told(&|_| ()), "--deployments 44"),
        (told(&limited), "--deployments 44 --within 43min"),
        (told(&from_file), "`plan: {deployments: 44}`"),
        (told(&both), "`plan: {deployments: 44, within: 43min}`"),
    ] {
        let expected =
            format!("To know response p99 to ±5 %: run again with {how}, about 43 minutes in all.");
        assert_eq!(told, Some(expected));
    }
}

#[test]
fn several_platforms_stand_side_by_side_per_load() {
    let full = Style { full: true, ..PLAIN };
    assert_snapshot!(terminal(&support::platforms_and_loads(), &full));
}

#[test]
fn many_comparisons_begin_with_the_claims_and_a_table_per_metric() {
    let text = terminal(&support::six_by_six(), &PLAIN);
    assert!(text.lines().count() <= 68, "{} lines", text.lines().count());
    assert_snapshot!(text);
    let full = terminal(&support::six_by_six(), &Style { full: true, ..PLAIN });
    assert!(full.contains("response mean") && full.lines().count() > 2 * text.lines().count());
}

#[test]
fn the_overview_fits_into_eighty_columns_and_uses_a_hundred_and_forty() {
    for width in [80, 140] {
        let text = terminal(&support::six_by_six(), &Style { width, ..PLAIN });
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        assert_snapshot!(text);
    }
}

#[test]
fn platforms_under_one_load_stand_below_each_other() {
    let mut result = support::six_by_six();
    result.claims.clear();
    result.contrasts.truncate(5);
    result.cells.truncate(6);
    assert_snapshot!(terminal(&result, &PLAIN));
}

#[test]
fn a_wide_terminal_shows_differences_as_bars() {
    let wide = Style { width: 140, ..PLAIN };
    assert_snapshot!(terminal(&support::slower(), &wide));
    assert!(!terminal(&support::slower(), &Style { width: 119, ..PLAIN }).contains('●'));
}

#[test]
fn an_interrupted_run_shows_figures_without_a_claim() {
    assert_snapshot!(terminal(&support::interrupted(), &PLAIN));
}

#[test]
fn a_run_that_failed_early_shows_why() {
    assert_snapshot!(terminal(&support::empty(), &PLAIN));
}

#[test]
fn every_situation_fits_into_a_hundred_columns() {
    for result in support::all() {
        for line in terminal(&result, &PLAIN).lines() {
            assert!(line.chars().count() <= 100, "{} columns: {line}", line.chars().count());
        }
    }
}

#[test]
fn nothing_is_wider_than_the_terminal() {
    for width in [60, 80, 100, 140] {
        for mut result in support::all() {
            // What a service printed is shown as it is.
            result.run.failures.clear();
            for line in terminal(&result, &Style { width, ..PLAIN }).lines() {
                let long = line.chars().count();
                assert!(long <= width, "{long} columns of {width}: {line}");
            }
        }
    }
}

#[test]
fn a_narrow_terminal_has_a_layout_of_its_own() {
    assert_snapshot!(terminal(&support::slower(), &Style { width: 60, ..PLAIN }));
}

#[test]
fn without_colour_there_are_no_escape_sequences() {
    for result in support::all() {
        assert!(!terminal(&result, &PLAIN).contains('\u{1b}'));
    }
}

#[test]
fn output_of_a_dead_service_does_not_steer_the_terminal() {
    let mut result = support::empty();
    result.run.failures = vec!["orders died:\n\u{1b}[2Jpanic\u{7}\tat line 3".to_owned()];
    assert!(terminal(&result, &PLAIN).contains("  orders died:\n  \\u{1b}[2Jpanic\\u{7}\tat line 3\n"));
}

#[test]
fn markdown_of_a_slower_candidate() {
    assert_snapshot!(markdown(&support::slower()));
}

#[test]
fn markdown_of_several_platforms() {
    assert_snapshot!(markdown(&support::platforms_and_loads()));
}

#[test]
fn markdown_of_an_untrusted_run() {
    assert_snapshot!(markdown(&support::untrusted()));
}

#[test]
fn markdown_of_a_run_that_failed_early() {
    assert_snapshot!(markdown(&support::empty()));
}

#[test]
fn markdown_leaves_no_markup_of_names_alive() {
    let mut result = support::slower();
    result.cells[2].label = "a|b <script> `c` *d*".to_owned();
    let text = markdown(&result);
    assert!(text.contains("a\\|b \\<script\\> \\`c\\` \\*d\\*"), "{text}");
    assert!(!text.contains(" <script>"), "{text}");
}

#[test]
fn slices_as_csv_keep_failures_and_order() {
    let text = csv(csv_slices, &support::untrusted());
    let head: Vec<&str> = text.lines().take(4).collect();
    assert_snapshot!(head.join("\n"));
    assert_eq!(text.lines().count(), 1 + support::untrusted().slices.len());
}

#[test]
fn slices_of_an_empty_run_are_a_heading() {
    assert_eq!(csv(csv_slices, &support::empty()).lines().count(), 1);
}

#[test]
fn the_summary_has_a_row_per_deployment_and_cell() {
    assert_snapshot!(csv(csv_summary, &support::platforms_and_loads()));
}

#[test]
fn the_summary_leaves_figures_of_a_silent_deployment_empty() {
    let mut result = support::slower();
    result.cells[2].rate_per_second = None;
    let deployment = &mut result.cells[2].deployments[1];
    (deployment.rate_per_second, deployment.response_mean_ns, deployment.response_p99_ns) = (0.0, 0.0, 0);
    let text = csv(csv_summary, &result);
    assert!(text.lines().any(|line| line == "2,pod,,,,"), "{text}");
}
