//! Names of images: always full, always with a tag that belongs to the program, and never one that a loader refuses.

use crate::made::{elf, open};
use loadline_image::{Image, ImageName};
use proptest::prelude::*;

#[test]
fn names_are_completed_as_docker_does_and_tagged_with_the_digest() {
    let program = open(&elf().bytes()).expect("a program");
    let tag = &program.sha256()[..12];
    for (given, full) in [
        ("orders", format!("docker.io/library/orders:{tag}")),
        ("orders:1.0", "docker.io/library/orders:1.0".to_owned()),
        ("localhost/orders", format!("localhost/orders:{tag}")),
        ("localhost:5000/team/orders", format!("localhost:5000/team/orders:{tag}")),
        ("localhost:5000/team/orders:V2", "localhost:5000/team/orders:V2".to_owned()),
        ("registry.example.com/orders", format!("registry.example.com/orders:{tag}")),
    ] {
        assert_eq!(ImageName::parse(given, program.tag()).expect(given).to_string(), full);
    }
}

#[test]
fn what_is_no_name_is_refused_with_the_rule() {
    let program = open(&elf().bytes()).expect("a program");
    let digest = format!("orders@sha256:{}", program.sha256());
    let long = "a".repeat(300);
    let said: Vec<String> = [
        "",
        "Orders",
        "team/Orders",
        "Team/orders",
        "or ders",
        "-orders",
        "a:b:c",
        "orders:",
        &digest,
        &long,
    ]
    .iter()
    .map(|given| ImageName::parse(given, program.tag()).expect_err(given).to_string())
    .collect();
    insta::assert_snapshot!(said.join("\n").replace(program.sha256(), "DIGEST").replace(&long, "LONG"));
}

#[test]
fn places_that_containers_need_are_no_place_for_the_program() {
    for taken in ["tmp", "etc", "proc", "sys", "dev", ".", "..", "", "a/b", "a\0b", &"a".repeat(256)] {
        let program = open(&elf().bytes()).expect("a program");
        Image::new(program, taken).expect_err(taken);
    }
}

proptest! {
    #[test]
    fn every_file_name_makes_a_default_name_that_is_valid(file_name in "\\PC{0,300}") {
        let program = open(&elf().bytes()).expect("a program");
        let name = ImageName::default_for(program.tag(), &file_name);
        prop_assert_eq!(name.tag(), program.tag());
        prop_assert!(name.to_string().starts_with("localhost/"));
        prop_assert_eq!(ImageName::parse(&name.to_string(), program.tag()).expect("valid"), name);
    }
}
