//! The program end to end, as its user types it.

mod agent;
mod all_cpus;
mod bad_input;
mod capacity;
mod cells;
mod ci_templates;
mod commands;
mod configuration;
mod decide;
mod disturbance;
mod docker;
mod doctor;
mod documented;
mod external;
mod fail_if;
mod failures;
mod hooks;
mod image;
mod init;
mod interrupt;
mod kill;
mod kubernetes;
mod kubernetes_https;
mod kubernetes_plugs;
mod kubernetes_refusals;
mod language_runtimes;
mod layers;
mod layers_rootless;
mod live;
mod load;
mod load_bad_input;
mod load_connections;
mod load_features;
mod load_live;
mod load_outputs;
mod load_requests;
mod load_watchdog;
mod load_wrk;
mod low_rate;
mod needs;
mod outputs;
mod own_metrics;
mod own_service;
mod positive_control;
#[path = "../../../../tests/proof.rs"]
mod proof;
mod prove;
mod rootless;
mod rootless_outside;
#[path = "../../../image/tests/it/runtimes/mod.rs"]
#[allow(dead_code, reason = "the tests of images use the rest")]
mod runtimes;
mod same_seed;
#[path = "../../../engine/tests/it/servers/mod.rs"]
#[allow(dead_code, reason = "the tests of the engine use the rest")]
mod servers;
mod services_build;
mod store;
mod stored;
mod support;
mod tails;
mod tasks;
mod throttling;
mod try_out;
mod turn;
mod ui;
mod ui_for_others;
mod until;
