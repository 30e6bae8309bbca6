//! Ways to a server: Unix sockets, IPv6, a source address, an interface, a name that is looked up, a network namespace; and the kernel's
//! timestamps. nginx says from where it was reached.

use std::fs::File;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::process::Command;
use std::sync::Arc;

use crate::servers::nginx::{Logged, Nginx};
use crate::servers::{free_port, local};
use crate::support::{drive, options, options_for, slice};
use loadline_engine::{Endpoint, Engine, Options, Record, Request, Reuse, Target, Timestamps};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::os::fd::AsFd;

/// nginx that listens at these places and answers at once.
fn nginx(listen: &[&str]) -> Nginx {
    let listen: String = listen.iter().map(|place| format!("listen {place};")).collect();
    Nginx::start(&format!("server {{ {listen} location / {{ return 200 ok; }} }}"), &[])
}

/// 50 requests, each answered, and what nginx says of them.
fn all_are_answered(nginx: &Nginx, options: &Options) -> (Record, Vec<Logged>) {
    let record = drive(options, "200/s", 0.25);
    assert_eq!((record.due, record.answered, record.errors.total()), (50, 50, 0), "{:?}", record.errors);
    let log = nginx.log(50);
    assert_eq!(log.len(), 50);
    (record, log)
}

#[test]
fn a_unix_socket_is_reached() {
    let nginx = nginx(&["unix:{folder}/socket"]);
    let endpoint = |reuse| {
        let endpoint = Endpoint {
            target: Target::Unix(nginx.path("socket")),
            authority: "shop.test".to_owned(),
            ..Endpoint::from(local(1))
        };
        Options { reuse, ..options(endpoint, 3) }
    };
    let (record, log) = all_are_answered(&nginx, &endpoint(Reuse::Always));
    assert_eq!((record.connect.len(), record.reconnects), (3, 0));
    assert!(log.iter().all(|request| request.client == "unix:"));
    assert_eq!(drive(&endpoint(Reuse::Never), "200/s", 0.25).connect.len(), 50);
}

#[test]
fn a_unix_socket_that_is_not_there_is_named() {
    let endpoint = Endpoint { target: Target::Unix("/nowhere/socket".into()), ..Endpoint::from(local(1)) };
    let error = Engine::start(&options(endpoint, 1)).unwrap().prepare().unwrap_err().to_string();
    assert!(error.contains("/nowhere/socket") && error.contains("No such file"), "{error}");
}

#[test]
fn ipv6_is_spoken() {
    let address = SocketAddr::from((Ipv6Addr::LOCALHOST, free_port()));
    let nginx = nginx(&[&address.to_string()]);
    let (_, log) = all_are_answered(&nginx, &options(address, 2));
    assert!(log.iter().all(|request| request.client == "::1"));
}

#[test]
fn a_source_address_is_kept_to() {
    let address = local(free_port());
    let nginx = nginx(&[&address.to_string()]);
    let source = Some(IpAddr::from([127, 0, 0, 5]));
    let options = options(Endpoint { source, ..Endpoint::from(address) }, 2);
    let (_, log) = all_are_answered(&nginx, &options);
    assert!(log.iter().all(|request| request.client == "127.0.0.5"), "{}", log[0].client);
}

#[test]
fn a_source_address_that_is_not_ours_is_refused_before_the_slice() {
    let source = Some(IpAddr::from([203, 0, 113, 1]));
    let endpoint = Endpoint { source, ..Endpoint::from(local(free_port())) };
    let error = Engine::start(&options(endpoint, 1)).unwrap().prepare().unwrap_err().to_string();
    println!("{error}");
    assert!(error.contains("203.0.113.1"), "{error}");
}

#[test]
fn an_interface_is_kept_to() {
    let address = local(free_port());
    let nginx = nginx(&[&address.to_string()]);
    let through = |interface: &str| {
        let interface = Some(interface.to_owned());
        options(Endpoint { interface, ..Endpoint::from(address) }, 2)
    };
    all_are_answered(&nginx, &through("lo"));
    let error = Engine::start(&through("no-such-link")).unwrap().prepare().unwrap_err().to_string();
    println!("{error}");
    assert!(error.contains("no-such-link"), "{error}");
}

#[test]
fn a_name_is_looked_up_for_every_connection() {
    let port = free_port();
    let nginx = nginx(&[&format!("127.0.0.1:{port}"), &format!("[::1]:{port}")]);
    let named = |name: &str, reuse| {
        let endpoint =
            Endpoint { target: Target::Name(name.to_owned(), port), ..Endpoint::from(local(port)) };
        Options { reuse, ..options(endpoint, 4) }
    };
    let (record, _) = all_are_answered(&nginx, &named("localhost", Reuse::Always));
    assert_eq!((record.resolve.len(), record.connect.len()), (4, 4));
    let record = drive(&named("localhost", Reuse::Never), "200/s", 0.25);
    assert_eq!((record.answered, record.errors.total()), (50, 0), "{:?}", record.errors);
    assert_eq!((record.resolve.len(), record.connect.len()), (50, 50));
    let error = Engine::start(&named("no-such-name.invalid", Reuse::Always)).unwrap().prepare().unwrap_err();
    assert!(error.to_string().contains("no-such-name.invalid"), "{error}");
}

#[test]
fn workers_enter_a_network_namespace() {
    let port = free_port();
    let servers = format!("server {{ listen 0.0.0.0:{port}; location / {{ return 200 ok; }} }}");
    let nginx = Nginx::start_by(&["unshare", "--net"], &servers, &[]);
    let namespace = format!("/proc/{}/ns/net", nginx.id());
    let up = Command::new("nsenter")
        .args([&format!("--net={namespace}"), "ip", "link", "set", "lo", "up"])
        .status();
    assert!(up.unwrap().success());
    let outside = Engine::start(&options(local(port), 2)).unwrap().prepare();
    assert!(outside.is_err(), "the server is reached from outside of its namespace");
    let file = Arc::new(File::open(namespace).unwrap());
    let on_thread_start =
        Arc::new(move || Ok(move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))?));
    all_are_answered(&nginx, &Options { on_thread_start, threads: 2, ..options(local(port), 4) });
}

#[test]
fn a_namespace_that_can_t_be_entered_is_an_error_at_the_start() {
    let on_thread_start = Arc::new(|| Err(std::io::Error::other("no such namespace")));
    let error = Engine::start(&Options { on_thread_start, ..options(local(1), 1) }).err().unwrap();
    assert!(error.to_string().contains("no such namespace"), "{error}");
}

#[test]
fn the_kernel_s_timestamps_leave_the_waking_up_out() {
    let address = local(free_port());
    let nginx = nginx(&[&address.to_string()]);
    let medians = [Timestamps::User, Timestamps::Kernel].map(|timestamps| {
        let mut engine = Engine::start(&Options { timestamps, ..options(address, 4) }).unwrap();
        let record = engine.drive(slice("500/s", 1.0)).unwrap();
        assert_eq!((record.answered, record.errors.total()), (500, 0));
        assert!(record.service.min() > 1_000 && record.response.max() < 5_000_000_000, "times that can't be");
        record.service.value_at_quantile(0.5)
    });
    println!(
        "median service time: {} ns by the engine's clock, {} ns by the kernel's stamps",
        medians[0], medians[1]
    );
    // Stated loosely, because the two slices saw different moments of the machine.
    assert!(medians[1] < 2 * medians[0] + 20_000, "{medians:?}");
    assert_eq!(nginx.log(1000).len(), 1000);
}

#[test]
fn the_kernel_s_timestamps_work_with_everything_that_has_bytes() {
    let address = local(free_port());
    let port = address.port();
    let large = vec![b'x'; 1 << 20];
    let nginx = Nginx::start(
        &format!(
            "server {{ listen {address}; listen [::1]:{port}; listen unix:{{folder}}/socket; root {{folder}}; }}"
        ),
        &[("large", &large)],
    );
    let ipv6 = Endpoint::from(SocketAddr::from((Ipv6Addr::LOCALHOST, port)));
    let unix = Endpoint { target: Target::Unix(nginx.path("socket")), ..Endpoint::from(address) };
    for endpoint in [Endpoint::from(address), ipv6, unix] {
        let options = options_for(endpoint, 2, &[Request::get("/large")]);
        let record = drive(&Options { timestamps: Timestamps::Kernel, ..options }, "50/s", 0.4);
        assert_eq!((record.answered, record.errors.total()), (20, 0), "{:?}", record.errors);
        assert!(record.response.max() < 5_000_000_000, "a response took {} ns", record.response.max());
    }
}
