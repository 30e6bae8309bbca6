//! Bad flags, and what is said of them. They are validated as files are; these tests cover what flags add.

use crate::support;

use loadline_spec::{Flags, add_conditions, from_flags};

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// The flags of the default job.
fn good() -> Flags {
    Flags {
        services: strings(&["orders"]),
        on: strings(&["host", "pod"]),
        rates: strings(&["2000/s"]),
        ..Flags::default()
    }
}

#[test]
fn every_bad_flag_is_refused_by_its_name_and_with_a_way_out() {
    let cases: Vec<(&str, Flags)> = vec![
        ("no_flags", Flags::default()),
        ("no_load", Flags { rates: Vec::new(), ..good() }),
        ("no_service", Flags { services: Vec::new(), ..good() }),
        ("no_service_but_requests", Flags { services: Vec::new(), requests: strings(&["/"]), ..good() }),
        ("empty_service", Flags { services: strings(&[""]), ..good() }),
        ("unknown_service", Flags { services: strings(&["oders --delay 1ms"]), ..good() }),
        ("service_with_bad_arguments", Flags { services: strings(&["orders --dealy 1ms"]), ..good() }),
        ("service_with_an_open_quote", Flags { services: strings(&["orders '"]), ..good() }),
        ("service_twice", Flags { services: strings(&["orders", "orders"]), ..good() }),
        ("command_that_is_not_there", Flags { commands: strings(&["servr {port}"]), ..good() }),
        ("command_twice", Flags { services: Vec::new(), commands: strings(&["server", "server"]), ..good() }),
        ("vary_without_values", Flags { vary: strings(&["delay"]), ..good() }),
        ("vary_of_nothing", Flags { vary: strings(&["delay=1ms,2ms"]), ..good() }),
        ("vary_of_the_port", Flags { vary: strings(&["port=1,2"]), ..good() }),
        ("bad_request", Flags { requests: strings(&["api"]), ..good() }),
        ("bad_ready_path", good().with("--ready", "healthz")),
        ("unknown_platform", Flags { on: strings(&["hots"]), ..good() }),
        ("ssh_of_a_later_version", Flags { on: strings(&["host", "ssh"]), ..good() }),
        ("network_that_docker_has_not", Flags { on: strings(&["host", "docker:brige"]), ..good() }),
        ("expose_that_is_not_there", Flags { on: strings(&["host", "kubernetes:nodeport"]), ..good() }),
        ("image_that_is_no_name", good().with("--image", "two words")),
        ("platform_twice", Flags { on: strings(&["pod", "pod"]), ..good() }),
        ("unknown_layer", Flags { on: strings(&["host", "local:veth+brigde"]), ..good() }),
        ("no_layers", Flags { on: strings(&["host", "local:"]), ..good() }),
        ("bridge_without_a_veth", Flags { on: strings(&["host", "local:cgroup+bridge"]), ..good() }),
        ("tls_that_nothing_speaks", good().with("--insecure", "")),
        ("certificate_without_its_key", good().with("--https", "").with("--cert", "a.pem")),
        (
            "profile_longer_than_a_slice",
            Flags { rates: strings(&["10/s..200/s@30s"]), ..good() }.with("--slice", "1.2s"),
        ),
        ("profile_longer_than_any_slice", Flags { rates: strings(&["10/s..200/s@11min"]), ..good() }),
        ("bare_rate", Flags { rates: strings(&["1000"]), ..good() }),
        ("rates_alike", Flags { rates: strings(&["1/s", "60/min"]), ..good() }),
        ("rate_negative", Flags { rates: strings(&["-1/s"]), ..good() }),
        (
            "arrivals_of_a_closed_loop",
            Flags { rates: Vec::new(), closed: true, ..good() }.with("--arrivals", "uniform"),
        ),
        ("connections_zero", good().with("--connections", "0")),
        ("limit_cpu_zero", good().with("--limit-cpu", "0")),
        ("limit_memory_bare", good().with("--limit-memory", "512")),
        ("slice_bare", good().with("--slice", "2")),
        ("blocks_zero", good().with("--blocks", "0")),
        ("seed_not_a_number", good().with("--seed", "lucky")),
        ("until_bare", good().with("--until", "1")),
        ("margin_of_nothing", good().with("--margin", "0%")),
        ("margin_bare", good().with("--margin", "5")),
        ("unknown_isolation", good().with("--isolation", "none")),
        ("cpu_that_does_not_exist", good().with("--service-cpus", "0,9")),
        ("cpu_sets_that_overlap", good().with("--service-cpus", "0-1").with("--load-cpus", "1,2")),
        ("no_cpu", good().with("--load-cpus", ",")),
        ("nothing_to_compare", Flags { on: strings(&["host"]), ..good() }.with("--no-twin", "")),
        ("several_problems_at_once", Flags { rates: strings(&["5"]), ..good() }.with("--slice", "1ms")),
        ("line_break_in_a_value", Flags { on: strings(&["ho\nst"]), ..good() }),
    ];
    let programs = support::programs();
    let machine = support::machine(&programs);
    for (name, flags) in cases {
        let error = from_flags(&flags, &machine).expect_err(name);
        let lost = error.problems().iter().find(|problem| problem.help.is_none());
        assert_eq!(lost, None, "{name} names no way out");
        insta::assert_snapshot!(name, error.render(false));
    }
}

#[test]
fn what_is_no_condition_is_refused_with_what_is_accepted() {
    let programs = support::programs();
    let experiment = from_flags(&good(), &support::machine(&programs)).unwrap();
    let texts = [
        "",
        "p99",
        "p98 slower",
        "zebra slower",
        "p99 costlier by > 5%",
        "rate.achieved slower",
        "p99 sloewr by > 5%",
        "p99 slower 5%",
        "p99 slower by 5%",
        "p99 slower by >",
        "p99 slower by > 5",
        "p99 slower by > -5%",
        "p99 slower by > 5Mi",
        "memory.peak costlier by > 1ms",
        "rate.achieved fewer by > 100",
        "softirqs more by > nan",
        "softirqs more by > -1",
        "p99 faster by > 100%",
    ];
    let refused = |text: &&str| {
        let error = add_conditions(&mut experiment.clone(), &strings(&[text])).expect_err(text);
        let [problem] = error.problems() else { panic!("{error}") };
        let help = problem.help.as_ref().unwrap_or_else(|| panic!("{text} names no way out"));
        format!("{text}: {}; {help}", problem.message)
    };
    insta::assert_snapshot!(texts.iter().map(refused).collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_condition_that_is_none_is_refused_with_what_is_accepted_and_a_good_one_added_once() {
    let programs = support::programs();
    let machine = support::machine(&programs);
    let mut experiment = from_flags(&good(), &machine).unwrap();
    let texts = strings(&["p99 slower by > 5%", "p98 slower", "p50 costlier by > 1%", "p99  slower by > 5%"]);
    let error = add_conditions(&mut experiment, &texts).unwrap_err();
    insta::assert_snapshot!("conditions", error.render(false));
    assert_eq!(experiment.fail_if.len(), 1, "{:?}", experiment.fail_if);

    let mut alone = from_flags(&Flags { on: strings(&["host"]), ..good() }, &machine).unwrap();
    let error = add_conditions(&mut alone, &texts[..1]).unwrap_err();
    insta::assert_snapshot!("condition_on_nothing", error.render(false));
}
